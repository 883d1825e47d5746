"""The demo's repository: real git, real checks, a task list, and settings that name the simulated agent."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import spiral
from spiral.config import Settings, read
from spiral.demo.shop import Job, shop
from spiral.errors import MissingToolError, UsageError
from spiral.place import Folders

SETTINGS = """\
# Made by `spiral demo`. The agent is simulated: a program that acts on the text of its briefing alone, no model.
[hydrate]
memory = {memory}         # whether a pass is told what is remembered and what was tried before

[consolidate]
learn = {memory}          # whether passes write to the memory

[act]
agent = "simulated"

[act.agents.simulated]
command = {command}
stream = "claude"
set = {{ PYTHONPATH = {package}, PYTHONDONTWRITEBYTECODE = "1" }}

[verify]
checker = "none"       # the tests alone judge

[iterate]
retries = 2
pivots = 8             # ten failures, then the task is parked
split = false

[budget]
passes = {passes}

[embedder]
model = "none"         # words are enough for eight tasks, and start faster
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What both halves have in common."""

    seed: int = 1
    heed: float = 0.9
    passes: int = 40
    """Most passes of a half."""
    tasks: int = 8
    """The first so many."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The tasks of the demo."""
        return shop().jobs[: self.tasks]


def make(folder: Path, terms: Terms, environ: Mapping[str, str], *, memory: bool) -> None:
    """Make the repository in a folder that is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{str(folder)!r} is there already; name another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written(terms, memory=memory).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    author = ["-c", "user.name=Spiral demo", "-c", "user.email=demo@localhost"]
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], [*author, "commit", "-qm", "chore: a till to be built"]):
        git(folder, environ, args)


def written(terms: Terms, *, memory: bool) -> Mapping[str, bytes]:
    """Every file of the repository by its path."""
    texts = {name: text.lstrip("\n").encode() for name, text in shop().files.items()}
    texts |= {name: text.lstrip("\n").encode("latin-1") for name, text in shop().latin.items()}
    table = {"tasks": [{"id": job.id, "title": job.title, "status": "pending"} for job in terms.jobs]}
    texts[".agent/tasks.json"] = laid(table)
    texts |= {f".agent/tasks/TASK-{job.id}.json": laid(described(job)) for job in terms.jobs}
    texts["spiral.toml"] = settings(terms, memory=memory).encode()
    return texts


def described(job: Job) -> dict[str, object]:
    """A task as its own file has it."""
    module = Path(job.file).stem
    command = f"{shlex.quote(sys.executable)} -B -m unittest -q tests.test_{module}"
    return {
        "id": job.id, "title": job.title, "description": job.description, "dependencies": list(job.depends),
        "files": [job.file], "acceptanceCriteria": [f"tests/test_{module}.py is green, unchanged"],
        "checks": [{"name": f"test_{module}", "command": command}],
    }  # fmt: skip


def laid(value: object) -> bytes:
    """JSON for people."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def settings(terms: Terms, *, memory: bool) -> str:
    """The text of spiral.toml: all that differs between the halves is the memory."""
    command = [sys.executable, "-m", "spiral.demo.agent", "--seed", str(terms.seed), "--heed", str(terms.heed)]
    return SETTINGS.format(
        memory=str(memory).lower(),
        command=json.dumps(command),
        package=json.dumps(str(Path(spiral.__file__).parents[1])),
        passes=terms.passes,
    )


def held(folder: Path, environ: Mapping[str, str]) -> Settings:
    """What holds in the repository: its own file alone, nothing of the user's, and checkouts inside its git dir."""
    return replace(read(folder, {}, environ), folders=Folders())


def apart(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """An environment in which neither settings nor folders of the user's are found."""
    kept = ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ")
    return {name: environ[name] for name in kept if name in environ} | {"HOME": str(home)}


def git(folder: Path, environ: Mapping[str, str], args: Sequence[str]) -> None:
    """Run git."""
    try:
        subprocess.run(["git", *args], cwd=folder, env=dict(environ), check=True, capture_output=True)
    except FileNotFoundError as fault:
        raise MissingToolError("git is not installed; the demo works on a real repository") from fault
