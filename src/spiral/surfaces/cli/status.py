"""`spiral status`: where the memory is and how much it holds."""

from __future__ import annotations

import click

from spiral.surfaces.cli.options import AS_JSON, opened, tell


@click.command("status")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, as_json: bool) -> None:
    """Show where the memory is, how much it holds, and what is degraded."""
    with opened(ctx) as memory:
        counts = memory.counts()
        table = {
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
    if as_json:
        tell(table)
        return
    for name, value in table.items():
        click.echo(f"{name:11} {value}")
    if counts.owed:
        click.echo("note: `spiral memory embed` makes the vectors that are owed", err=True)
    if counts.faults:
        click.echo("note: `spiral doctor` tells what cannot be read and why", err=True)
