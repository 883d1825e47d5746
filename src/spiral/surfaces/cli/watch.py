"""`spiral watch`: start a run whenever there is something new to do."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from spiral.surfaces.cli.project import Project, opened_project
from spiral.surfaces.cli.starting import asked_rightly, start

EVERY = 1.0
"""Seconds between two looks."""
QUIET = 1.5
"""Seconds without a change before a run is started: a file may be being written."""
FILES = ("STEERING.md", "PROMPT.md", "tasks.json", "tasks/*.json", "prd/PRD.md", "PRD.md", "prd.md")
Mark = tuple[object, ...]


@click.command("watch")
@click.argument("args", nargs=-1, metavar="[-- RUN OPTIONS]")
@click.pass_context
def command(ctx: click.Context, /, args: tuple[str, ...]) -> None:
    """Start a run when tasks, the PRD or the steering change and a task is ready; Ctrl-C ends the watching.

    Answers by `spiral decide` and words by `spiral steer` count too. What comes after -- is handed to `spiral run`.
    """
    from spiral.loop.git import repo_at

    asked_rightly(args)
    with opened_project(ctx) as project:
        repo_at(project.place.project, project.settings.environ)
        try:
            watch(project, args)
        except KeyboardInterrupt:
            click.echo("no longer watching")


def watch(project: Project, args: tuple[str, ...]) -> None:
    """Look, wait for quiet, run, and look again."""
    seen: Mark = ()
    while True:
        if mark(project) != seen:
            seen = settled(project)
            why = reason(project)
            click.echo(f"nothing to do: {why}" if why else "a task is ready")
            if not why:
                code = start(project.place.project, args)
                click.echo(f"the run ended with exit code {code}")
                if code in (130, 143):
                    sys.exit(code)
                # What the run itself wrote is no news.
                seen = mark(project)
            click.echo("watching; Ctrl-C ends it")
        time.sleep(EVERY)


def settled(project: Project) -> Mark:
    """How the files stand, once they have stood so for a moment."""
    now = mark(project)
    while True:
        time.sleep(QUIET)
        later = mark(project)
        if later == now:
            return now
        now = later


def mark(project: Project) -> Mark:
    """What stands for everything that could make a task ready."""
    files = tuple(sorted(stamp(path) for pattern in FILES for path in project.agent_folder.glob(pattern)))
    states = {name: (state.status, state.answer) for name, state in project.journal.states().items()}
    return files, tuple(project.journal.notes("steer/").items()), tuple(sorted(states.items()))


def stamp(path: Path) -> tuple[str, int, int]:
    """A file as it is now."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


def reason(project: Project) -> str:
    """Why there is nothing to do; empty when there is."""
    from spiral.loop.discover import Idle, discover
    from spiral.loop.tasks import load

    chosen = discover(
        load(project.agent_folder), project.journal.states(), project.settings.discover, agent=project.agent_folder,
        planned=project.journal.note("plan/prd"),
    )  # fmt: skip
    return (chosen.detail or f"all is {chosen.reason}") if isinstance(chosen, Idle) else ""
