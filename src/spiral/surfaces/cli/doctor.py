"""`spiral doctor`: look for what is wrong and say how to cure it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from spiral.errors import ConfigError, SpiralError, StoreError
from spiral.surfaces.cli.options import AS_JSON, opened, tell

if TYPE_CHECKING:
    from spiral.app import Memory
    from spiral.loop.health import Finding, Patient
    from spiral.ports import Journal

SPACE = 200_000_000
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "fault": ("✗", "red")}


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Cure what is safe to cure, and say what was done.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, fix: bool, as_json: bool) -> None:
    """Look for what is wrong with the memory, the repository, the agents, the settings and the tasks, and say how to
    cure it. Exit 0 when nothing is broken, else 2; warnings (!) do not count."""
    from spiral.loop.health import Finding

    done: list[str] = []
    try:
        with opened(ctx) as memory:
            found, done = examined(memory, fix=fix)
    except ConfigError as trouble:
        found = [Finding(area="settings", level="fault", text=str(trouble))]
    broken = [one.line for one in found if one.level == "fault"]
    if as_json:
        rows = [{"area": one.area, "level": one.level, "text": one.text, "cure": one.cure} for one in found]
        warnings = [one.line for one in found if one.level == "warning"]
        tell({"faults": broken, "warnings": warnings, "findings": rows, "done": done})
    else:
        show(found, done)
    if broken:
        sys.exit(2)


def examined(memory: Memory, *, fix: bool) -> tuple[list[Finding], list[str]]:
    """How everything stands, after the cures if they are asked for; and what those did."""
    from spiral.app import open_journal
    from spiral.loop.health import look, mend
    from spiral.runner import end_agent

    done: list[str] = []
    found: list[Finding] = []
    if memory.place.repository is not None and memory.place.git_dir is not None:
        journal = open_journal(memory.place)
        try:
            sick = patient(memory, journal)
            done += mend(sick, end_agent) if fix else []
            found += look(sick)
        finally:
            journal.close()
        found += [*agents(memory), *settings(memory)]
    done += cured(memory) if fix else []
    return [*found, *remembering(memory)], done


def patient(memory: Memory, journal: Journal) -> Patient:
    """The project of a memory, to be looked at."""
    from spiral.loop.git import Repo
    from spiral.loop.health import Patient
    from spiral.runner import still_runs

    place = memory.place
    assert place.repository is not None
    assert place.git_dir is not None
    repo = Repo(top=place.repository, git_dir=place.git_dir, env=memory.settings.environ)
    return Patient(repo=repo, journal=journal, settings=memory.settings, top=place.project, alive=still_runs)


def agents(memory: Memory) -> list[Finding]:
    """The agents that are installed, whether they look ready, and what was not tried with the real program."""
    from spiral.loop.health import ok, warning
    from spiral.runner import installed_agents

    found: list[Finding] = []
    try:
        there = installed_agents(memory.settings)
    except ConfigError:
        # What is wrong with the table is told among the settings.
        return found
    for one in there:
        mark = "" if one.verified else ", unverified: not tried with the real program"
        text = f"{one.name} {one.version or '(tells no version)'}"
        if one.signed_in is False:
            found.append(warning("agents", f"{text}, not signed in ({one.how}){mark}", f"start `{one.name}` once"))
        else:
            how = f", signed in by {one.how}" if one.signed_in else ", sign-in unknown"
            found.append(ok("agents", text + how + mark))
    if not there:
        cure = "install one (claude, codex, gemini, …), or name a command under [act.agents.mine] in spiral.toml"
        found.append(warning("agents", "no agent is installed", cure))
    return found


def settings(memory: Memory) -> list[Finding]:
    """What the settings name and is not there."""
    from spiral.loop.health import fault
    from spiral.runner import settings_faults

    return [fault("settings", line) for line in settings_faults(memory.settings)]


def remembering(memory: Memory) -> list[Finding]:
    """How the memory stands."""
    from spiral.loop.health import fault, ok, warning

    broken = [*faults(memory), *erasing(memory), *page(memory), *model(memory), *space(memory)]
    owed = memory.store.index.owing()
    # A statement is kept before its vector is made, so that texts wait for theirs is nothing broken.
    waiting = f"{owed} texts wait for their vectors", "`spiral memory embed` makes them"
    return [
        *(fault("memory", line) for line in broken),
        *([warning("memory", *waiting)] if owed else []),
        *([] if broken else [ok("memory", f"{memory.store.index.counts().memories} memories in {memory.place.root}")]),
    ]


def cured(memory: Memory) -> list[str]:
    """Make the vectors that are owed; the page is brought up to date by looking at it."""
    if memory.store.embedder is None:
        return []
    try:
        made = memory.embed()
    except SpiralError:
        # Why the model does not answer is told among the findings.
        return []
    return [f"made {made} vectors that were owed"] if made else []


def show(found: Sequence[Finding], done: Sequence[str]) -> None:
    """A line for each finding, those that are well first, and the sum of it."""
    for line in done:
        click.echo(f"fixed: {line}")
    order = list(MARKS)
    for one in sorted(found, key=lambda one: order.index(one.level)):
        mark, colour = MARKS[one.level]
        click.echo(f"{click.style(mark, fg=colour)} {one.area:9} {one.text}")
        if one.cure:
            click.echo(f"{'':11} → {one.cure}")
    broken, doubtful = (sum(one.level == level for one in found) for level in ("fault", "warning"))
    click.echo(f"{broken} broken, {doubtful} to look at" if broken or doubtful else "all is well")


def faults(memory: Memory) -> list[str]:
    """What could not be read, and what the index could not follow."""
    notes = memory.store.use(every_file=True)
    unread = [f"{memory.place.root / item.path}: {item.fault}" for item in memory.store.index.faults()]
    try:
        damage = memory.store.index.damage()
    except StoreError as fault:
        damage = [str(fault)]
    return [*notes, *unread, *(f"{line}; run `spiral reindex`" for line in damage)]


def erasing(memory: Memory) -> list[str]:
    """Finish an erasure that a reader held up; whether it still does."""
    from spiral.memory.erase import HELD, finish

    try:
        return [] if finish(memory.store) else [HELD]
    except StoreError as fault:
        return [str(fault)]


def page(memory: Memory) -> list[str]:
    """Whether the page can be brought up to date and keeps its limits."""
    from spiral.memory.page import NAME, excess, write_page

    try:
        over = excess(write_page(memory.store))
    except StoreError as fault:
        return [str(fault)]
    return [f"{memory.place.root / NAME} has {over}; shorten what stands above its mark"] if over else []


def model(memory: Memory) -> list[str]:
    """Whether the embedding model is whole and answers."""
    embedder = memory.store.embedder
    if embedder is None:
        return []
    try:
        if verify := getattr(embedder, "verify", None):
            verify()
        embedder.embed(["is anybody there?"])
    except SpiralError as fault:
        return [f"the embedding model: {fault}"]
    return []


def space(memory: Memory) -> list[str]:
    """Whether the disks have room."""
    return [
        f"only {free // 1_000_000} MB are free at {place}; free some space"
        for place in (memory.place.root, memory.place.index)
        if (free := shutil.disk_usage(place).free) < SPACE
    ]
