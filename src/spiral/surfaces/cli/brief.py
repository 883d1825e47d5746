"""`spiral brief`: a block of context for a task."""

from __future__ import annotations

import click

from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell, warn


@click.command("brief")
@click.argument("about", metavar="TASK")
@click.option("--budget", type=click.IntRange(60), default=None, help="Tokens that the block may take.")
@click.option("--session", default="", help="The conversation; what it is told is noted.")
@click.option("--recent", type=click.IntRange(0), default=0, help="Keep this many of its last turns verbatim.")
@scoped
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context, /, about: str, budget: int | None, session: str, recent: int, as_json: bool, **scope: str | None
) -> None:
    """Put together what a fresh context should know for TASK, within a token budget."""
    with opened(ctx) as memory:
        found = memory.brief(about, budget=budget or 0, session=session, recent=recent, **scope)
    if as_json:
        tell(
            {
                "text": found.text,
                "tokens": found.tokens,
                "ids": [hit.id for hit in found.hits],
                "degraded": found.degraded,
            }
        )
        return
    click.echo(found.text)
    warn(found.degraded)
