"""`spiral reindex`: rebuild the index from the files."""

from __future__ import annotations

import click

from spiral.surfaces.cli.options import AS_JSON, opened, progressing, tell


@click.command("reindex")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, as_json: bool) -> None:
    """Rebuild the index from the files alone; recall answers the same before and after."""
    with opened(ctx) as memory, progressing() as progress:
        counts = memory.reindex(progress)
    if as_json:
        tell({"memories": counts.memories, "episodes": counts.episodes, "changes": counts.changes, "owed": counts.owed})
        return
    click.echo(f"{counts.memories} memories, {counts.episodes} episodes, {counts.changes} changes")
