"""`spiral stop`: end the run that is at work."""

from __future__ import annotations

from typing import Literal

import click

from spiral.errors import NotFoundError
from spiral.surfaces.cli.project import Project, opened_project
from spiral.surfaces.cli.wishes import CONTROL


@click.command("stop")
@click.option("--now", is_flag=True, help="Do not wait for the pass under way; what its agent did is kept.")
@click.pass_context
def command(ctx: click.Context, /, now: bool) -> None:
    """End the run that is at work in this repository, after the pass under way."""
    with opened_project(ctx) as project:
        run = ask(project, "now" if now else "stop")
    when = "now" if now else "after the pass under way"
    click.echo(f"{run} ends {when}; `spiral resume` goes on with it")


def ask(project: Project, wish: Literal["stop", "now"]) -> str:
    """Tell the run that is at work what is wanted of it; its id."""
    from spiral.loop.lock import holder

    git_dir = project.place.git_dir
    who = holder(git_dir / "spiral") if git_dir else None
    if who is None:
        raise NotFoundError("no run is at work here; `spiral run` starts one, `spiral resume` goes on with the last")
    project.journal.record(notes={CONTROL: wish})
    return who.run
