"""What is wrong with a project, or soon will be, and the cure."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from spiral.config import Settings
from spiral.errors import SpiralError
from spiral.loop import history
from spiral.loop.checkout import checkout_folder, remove
from spiral.loop.codec import load
from spiral.loop.context import Pass
from spiral.loop.detect import programs
from spiral.loop.git import Repo
from spiral.loop.lint import lint
from spiral.loop.lock import holder
from spiral.loop.passes import OPEN
from spiral.loop.sweep import OPERATIONS
from spiral.loop.tasks import load as load_tasks
from spiral.ports import Journal

OLDEST_GIT = (2, 30)
LITTLE = 1_000_000_000
"""Bytes of free space below which a run may soon fail."""
MUCH = 2_000_000_000
"""Bytes of history that are worth a word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """How one thing stands."""

    area: str
    level: Literal["ok", "warning", "fault"]
    """A fault keeps something from working; a warning may."""
    text: str
    cure: str = ""

    @property
    def line(self) -> str:
        """For people, without the mark."""
        return f"{self.text}; {self.cure}" if self.cure else self.text


def ok(area: str, text: str) -> Finding:
    """Nothing to cure."""
    return Finding(area=area, level="ok", text=text)


def warning(area: str, text: str, cure: str = "") -> Finding:
    """Something that may go wrong."""
    return Finding(area=area, level="warning", text=text, cure=cure)


def fault(area: str, text: str, cure: str = "") -> Finding:
    """Something that does not work."""
    return Finding(area=area, level="fault", text=text, cure=cure)


@dataclass(frozen=True, kw_only=True, slots=True)
class Patient:
    """A project to be looked at."""

    repo: Repo
    journal: Journal
    settings: Settings
    top: Path
    alive: Callable[[Path], bool]
    """Whether the agent of a `command.json` still runs."""

    @property
    def agent(self) -> Path:
        """The `.agent/` folder."""
        return self.top / ".agent"

    @property
    def checkouts(self) -> Path:
        """The first of the folders that checks run in."""
        return checkout_folder(self.repo.git_dir, self.settings.folders.cache)


def look(patient: Patient) -> list[Finding]:
    """How everything about the loop stands. Reads, and changes nothing."""
    found: list[Finding] = []
    for part in (repository, runs, checkouts, tasks, checks, sizes):
        try:
            found += part(patient)
        except SpiralError as trouble:
            found.append(fault(part.__name__, str(trouble)))
    return found


def repository(patient: Patient) -> Iterator[Finding]:
    """Git, who commits, and whether a run could begin."""
    repo = patient.repo
    version = repo.git("--version").strip().removeprefix("git version ")
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_GIT:
        yield fault("git", f"git {version} is too old", f"install {'.'.join(map(str, OLDEST_GIT))} or newer")
    known = repo.git("config", "--get-regexp", r"^user\.(name|email)$", good=(0, 1)).lower()
    if "user.name " not in known or "user.email " not in known:
        cure = 'run `git config --global user.name "…"` and `git config --global user.email "…"`'
        yield warning("git", "git does not know your name: agents cannot commit, and Spiral commits as itself", cure)
    own = repo.own_dir()
    under_way = [name for name, _ in OPERATIONS if (own / name).exists()]
    if not repo.branch():
        yield fault("git", "no branch is checked out", "`git switch -c NAME` makes one")
    elif under_way:
        yield fault("git", f"something is under way ({under_way[0]})", "finish it, or abort it; `git status` tells how")
    else:
        yield ok("git", f"git {version}, on branch {repo.branch()}")
    dirty = repo.status_lines(exclude=(".agent", "spiral.toml"))
    if dirty and not holder(repo.git_dir / "spiral"):
        yield warning("git", f"{len(dirty)} files are not committed", "commit or stash them before `spiral run`")


def runs(patient: Patient) -> Iterator[Finding]:
    """Who is at work, and what an ended runner left behind."""
    private = patient.repo.git_dir / "spiral"
    who = holder(private)
    if who is not None:
        yield ok("run", f"run {who.run} is at work (process {who.pid} on {who.host})")
        return
    text = patient.journal.note(OPEN)
    if not text:
        yield ok("run", "nothing is under way")
        return
    under = load(Pass, text)
    yield warning("run", f"pass {under.number} was interrupted", "`spiral resume` brings it to its end")
    if any(patient.alive(path) for path in commands(patient.agent, under)):
        cure = "`spiral doctor --fix` or `spiral resume` ends it"
        yield fault("run", f"the agent of pass {under.number} outlived its runner", cure)


def commands(agent: Path, under: Pass) -> tuple[Path, ...]:
    """Where it is written down which processes a pass started."""
    folder = history.pass_folder(agent, under.run, under.id)
    return folder / "command.json", folder / "checker" / "command.json"


def orphans(patient: Patient) -> tuple[Path, ...]:
    """The agents that outlived their runner."""
    text = patient.journal.note(OPEN)
    if not text or holder(patient.repo.git_dir / "spiral") is not None:
        return ()
    return tuple(path for path in commands(patient.agent, load(Pass, text)) if patient.alive(path))


def checkouts(patient: Patient) -> Iterator[Finding]:
    """Checkouts of ours whose folder is gone."""
    gone = stale(patient)
    if gone:
        told = f"{len(gone)} checkouts for checks are registered, but their folders are gone"
        yield warning("checkouts", told, "`spiral doctor --fix` forgets them")


def stale(patient: Patient) -> list[Path]:
    """The git dirs of our own checkouts that are gone; other worktrees may be on a disk that is away."""
    ours = patient.checkouts
    found = []
    for own in sorted((patient.repo.git_dir / "worktrees").glob("*")):
        try:
            folder = Path((own / "gitdir").read_text("utf-8").strip()).parent
        except (OSError, UnicodeDecodeError):
            continue
        if folder.parent == ours.parent and folder.name.startswith(ours.name) and not folder.exists():
            found.append(own)
    return found


def tasks(patient: Patient) -> Iterator[Finding]:
    """Whether the task list can be worked through."""
    listed = load_tasks(patient.agent)
    for trouble in listed.faults:
        yield fault("tasks", trouble)
    states = listed.states(patient.journal.states())
    known = [replace(task, status=states[task.id].status) for task in listed.tasks]
    largest, own = patient.settings.discover.largest, patient.settings.verify.checks
    lints = lint(known, patient.top, largest, checks=own)
    for one in lints:
        if one.level == "error":
            yield fault("tasks", f"{one.task}: {one.text}")
    small = sum(one.level == "warning" for one in lints)
    if small:
        yield warning("tasks", f"{small} remarks about the tasks", "`spiral tasks lint` tells them")
    parked = [f"{name} ({state.status})" for name, state in states.items() if state.status in ("blocked", "decide")]
    if parked:
        cure = "`spiral tasks show ID` tells why, `spiral decide ID …` answers, `spiral tasks retry ID` opens it again"
        yield warning("tasks", f"waiting for you: {', '.join(parked[:5])}", cure)
    if known and not lints and not listed.faults:
        yield ok("tasks", f"{len(known)} tasks, nothing to say against them")


def checks(patient: Patient) -> Iterator[Finding]:
    """Whether there is a check, and the programs that checks need."""
    settings = patient.settings.verify
    path = patient.settings.environ.get("PATH")
    missing = [name for name in programs([settings.setup, *settings.checks]) if not shutil.which(name, path=path)]
    for name in missing:
        yield fault("checks", f"the checks need {name!r}, which is not installed", "install it, or correct [verify]")
    if not settings.checks and patient.agent.is_dir() and load_tasks(patient.agent).tasks:
        yield warning("checks", "the project has no checks of its own", "set verify.checks in spiral.toml")
    elif settings.checks and not missing:
        yield ok("checks", f"{len(settings.checks)} for every task: {', '.join(settings.checks)}")


def sizes(patient: Patient) -> Iterator[Finding]:
    """Room on the disk, and how much of it the history takes."""
    free = shutil.disk_usage(patient.top).free
    if free < LITTLE:
        yield warning("disk", f"only {free // 1_000_000} MB are free", "free some space before a long run")
    folder = patient.agent / "history"
    taken = size(folder)
    count = sum(1 for path in folder.glob("r-*") if path.is_dir())
    if taken > MUCH:
        cure = "old runs in there may be deleted: what is remembered and decided is kept elsewhere"
        yield warning("history", f"{folder} takes {taken // 1_000_000} MB in {count} runs", cure)
    elif count:
        yield ok("history", f"{count} runs, {taken / 1_000_000:.1f} MB")


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    total = 0
    for name, _, names in os.walk(folder):
        for one in names:
            try:
                total += Path(name, one).lstat().st_size
            except OSError:
                continue
    return total


def mend(patient: Patient, end: Callable[[Path], bool]) -> Sequence[str]:
    """Cure what is safe to cure; what was done, a line each. A second call finds nothing to do."""
    done = [
        f"ended an agent that had outlived its runner ({path.parent.name})" for path in orphans(patient) if end(path)
    ]
    gone = stale(patient)
    for own in gone:
        remove(own)
    if gone:
        done.append(f"forgot {len(gone)} checkouts whose folders are gone")
    for folder in sorted((patient.agent / "history").glob("r-*")):
        mirror = folder / history.MIRROR
        before = mirror.stat().st_size if mirror.exists() else -1
        history.mirror(patient.agent, patient.journal, folder.name)
        if mirror.stat().st_size != before:
            done.append(f"wrote {mirror.relative_to(patient.top)} again from the journal")
    return done
