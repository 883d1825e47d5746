"""`spiral status`: what runs, what waits for a person, and what the memory holds."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import click

from spiral.loop.lock import holder
from spiral.loop.standing import Standing, standing
from spiral.loop.tasks import load
from spiral.surfaces.cli.options import AS_JSON, opened
from spiral.surfaces.cli.printing import tell_json
from spiral.surfaces.cli.project import Project, opened_project
from spiral.surfaces.cli.run_view import for_machines, lines, summary

REFRESH = 1.0


@click.command("status")
@click.option("--watch", is_flag=True, help="Go on showing the run until Ctrl-C.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, watch: bool, as_json: bool) -> None:
    """Show the run, what waits for you and how to answer it, where the memory is, how much it holds, and what is
    degraded."""
    with opened_project(ctx) as project:
        if watch:
            follow(project, as_json=as_json)
            return
        now = datetime.now(UTC)
        seen, alive = look(project, now)
    held = memory_facts(ctx)
    if as_json:
        tell_json({**held, **for_machines(seen, alive=alive)})
        return
    for line in lines(seen, now, alive=alive):
        click.echo(line)
    click.echo("")
    for name, value in held.items():
        click.echo(f"{name:11} {value}")
    if held["owed"]:
        click.echo("note: `spiral memory embed` makes the vectors that are owed", err=True)
    if held["unreadable"]:
        click.echo("note: `spiral doctor` tells what cannot be read and why", err=True)


def memory_facts(ctx: click.Context) -> dict[str, object]:
    """Where the memory is and how much it holds."""
    with opened(ctx) as memory:
        counts = memory.counts()
        return {
            "memory": str(memory.place.root),
            "index": str(memory.place.index),
            "app": memory.store.scope.app,
            "owner": memory.store.owner,
            "embedder": memory.store.embedder.name if memory.store.embedder else "none (words only)",
            "memories": counts.memories,
            "current": counts.live,
            "episodes": counts.episodes,
            "changes": counts.changes,
            "owed": counts.owed,
            "unreadable": counts.faults,
        }


def look(project: Project, now: datetime) -> tuple[Standing, bool]:
    """How the run stands, and whether its runner is alive."""
    seen = standing(project.journal, now, load(project.agent_folder))
    git_dir = project.place.git_dir
    at_work = holder(git_dir / "spiral") if git_dir is not None else None
    return seen, at_work is not None


def follow(project: Project, *, as_json: bool) -> None:
    """Redraw on a terminal; elsewhere a line whenever something has changed."""
    if as_json or not sys.stdout.isatty():
        before = ""
        while True:
            now = datetime.now(UTC)
            seen, alive = look(project, now)
            said = f"{seen.step} {seen.run} {seen.current} {seen.waiting}"
            if said != before:
                before = said
                tell_json(for_machines(seen, alive=alive)) if as_json else click.echo(summary(seen, now, alive=alive))
            time.sleep(REFRESH)
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as live:
        while True:
            now = datetime.now(UTC)
            seen, alive = look(project, now)
            live.update(Text.from_ansi("\n".join(lines(seen, now, alive=alive))), refresh=True)
            time.sleep(REFRESH)
