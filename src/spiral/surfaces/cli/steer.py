"""`spiral steer`: say something to every pass from the next one on."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from spiral.errors import UsageError
from spiral.surfaces.cli.options import AS_JSON, tell
from spiral.surfaces.cli.project import opened_project


@click.command("steer")
@click.argument("text", required=False)
@click.option("--list", "listed", is_flag=True, help="Show what is said now.")
@click.option("--drop", metavar="NAME", help="Stop saying something.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, text: str | None, listed: bool, drop: str | None, as_json: bool) -> None:
    """Say something to every pass from the next one on, until it is dropped.

    \b
    spiral steer "Leave the API as it is; only the CLI changes."
    spiral steer --list
    spiral steer --drop 3fa2c1

    What stands in .agent/STEERING.md is told as well.
    """
    from spiral.loop.steering import PREFIX, steer, take_back

    if sum((text is not None, listed, drop is not None)) != 1:
        raise UsageError('give a TEXT in quotes, --list, or --drop NAME: spiral steer "Only the CLI changes."')
    with opened_project(ctx) as project:
        journal = project.journal
        if drop is not None:
            take_back(journal, drop)
            said = {"dropped": drop}
        elif text is not None:
            run = journal.note("run/last")
            said = {"name": steer(journal, text, run=run, now=datetime.now(UTC)), "text": text.strip()}
        else:
            notes = journal.notes(PREFIX).items()
            said = {key.rpartition("-")[2]: told for key, told in notes if told}
    if as_json:
        tell({"steering": said} if listed else said)
    elif listed:
        click.echo("\n".join(f"{name}  {told}" for name, told in said.items()) or "nothing is steered")
    elif drop is not None:
        click.echo(f"dropped {drop}")
    else:
        click.echo(f"told to every pass from the next one on; `spiral steer --drop {said['name']}` takes it back")
