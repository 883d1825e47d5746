"""`spiral pause`: let the run rest after the pass under way."""

from __future__ import annotations

import click

from spiral.surfaces.cli.project import opened_project
from spiral.surfaces.cli.stop import ask


@click.command("pause")
@click.pass_context
def command(ctx: click.Context, /) -> None:
    """Let the run that is at work end its pass and rest; `spiral resume` goes on where it was."""
    with opened_project(ctx) as project:
        run = ask(project, "stop")
    click.echo(f"{run} rests after the pass under way; `spiral resume` goes on")
