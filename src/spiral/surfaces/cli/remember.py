"""`spiral remember`: keep a statement."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from spiral.model import AUTHORITIES, KINDS, VISIBILITIES
from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell


@click.command("remember")
@click.argument("text")
@click.option("--kind", type=click.Choice(KINDS), default="semantic", show_default=True, help="What sort of memory.")
@click.option("--key", default="", help="What it is about; a newer statement of the same key supersedes it.")
@click.option("--authority", type=click.Choice(AUTHORITIES), default="observed", show_default=True)
@click.option("--visibility", type=click.Choice(VISIBILITIES), default=None, help="Who may see it.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given again.")
@click.option("--file", "files", multiple=True, help="A file that it is about; may be given again.")
@click.option("--commit", "commits", multiple=True, help="A commit that it is about.")
@click.option("--source", default="", help="Who or what says so: user, tool:bash, web:https://…")
@click.option("--session", default="", help="The session it comes from; an echo of what was served to it is no news.")
@click.option("--valid-from", default=None, help="When it began to be true: 2026-03-01.")
@click.option("--valid-to", default=None, help="When it ceased to be true.")
@click.option("--expires", default=None, help="When to stop serving it.")
@click.option("--supersedes", multiple=True, help="The id of a memory that this one replaces.")
@click.option("--id", "name", default="", help="An id of your own, so that a retry changes nothing.")
@scoped
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, text: str, name: str, as_json: bool, **options: object) -> None:
    """Keep a statement. TEXT of - reads it from standard input. It is on disk when this returns.

    \b
    spiral remember "Deploys go out on Fridays"
    spiral remember "The staging port is 5433" --key staging/port
    """
    if text == "-":
        text = sys.stdin.read()
    with opened(ctx) as memory:
        # One process, one statement: its vector is made by whoever embeds next, so that this returns at once.
        memory.settings = replace(memory.settings, embedder=replace(memory.settings.embedder, background=False))
        found = memory.remember(text, id=name, **options)  # type: ignore[arg-type]
    if as_json:
        tell(
            {
                "id": found.id,
                "outcome": found.outcome,
                "superseded": found.superseded,
                "conflicts": found.memory.conflicts,
                "quarantine": found.memory.quarantine,
                "redacted": found.redacted,
            }
        )
        return
    click.echo(f"{found.outcome} {found.id}")
    for old in found.superseded:
        click.echo(f"supersedes {old}")
    for other in found.memory.conflicts:
        click.echo(f"seems to contradict {other}; both wait for review")
    if found.memory.quarantine:
        click.echo(f"quarantined: {found.memory.quarantine}")
    if found.redacted:
        click.echo(f"redacted: {', '.join(found.redacted)}")
