"""`spiral cost`: what was used up, and on what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from spiral.loop.costs import KEYS, Share, bar, shares
from spiral.loop.story import find_run
from spiral.loop.wording import money, tokens
from spiral.surfaces.cli.options import AS_JSON
from spiral.surfaces.cli.printing import coloured, columns, spending, tell_json
from spiral.surfaces.cli.project import opened_project
from spiral.surfaces.cli.since import since
from spiral.work import Usage


@click.command("cost")
@click.option("--by", type=click.Choice(tuple(KEYS)), default="task", show_default=True, help="One row for each.")
@click.option("--run", default="", help="Only this run: its id, the beginning of it, or `last`.")
@click.option("--since", "when", default="", help="Only since then: 12h, 3d, 2026-03-01.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, by: str, run: str, when: str, as_json: bool) -> None:
    """Show what makers, checkers and planners used up. `est.` marks what comes from a price table or belongs to a
    subscription; `at least` what an agent did not tell the whole cost of.

    \b
    spiral cost --by agent
    spiral cost --by day --since 7d
    """
    moment = since(when, datetime.now(UTC))
    with opened_project(ctx) as project:
        mine = find_run(project.journal, run).id if run else ""
        expenses = project.journal.expenses(run=mine, since=moment)
    parts = shares(expenses, by)
    total = sum((one.usage for one in expenses), Usage())
    if as_json:
        rows = [{"name": part.name, "passes": part.passes, **spending(part.usage)} for part in parts]
        tell_json({"by": by, "run": mine, "since": moment, "rows": rows, "total": spending(total)})
        return
    if not parts:
        click.echo("nothing was used up" + (" since then" if moment else " yet"))
        return
    whole = Share(name="all", usage=total, passes=len({one.pass_id for one in expenses}))
    for place, line in enumerate(table(by, parts, whole)):
        click.echo(coloured(line, "bold") if not place else line)
    if total.unknown:
        click.echo("note: some agents did not tell a cost; `at least` and `unknown` mark where", err=True)


def table(by: str, parts: Sequence[Share], whole: Share) -> list[str]:
    """The rows with a bar each: of dollars, or of tokens where no dollar is known."""
    dollars = whole.usage.cost > 0
    size = [part.usage.cost if dollars else float(part.usage.tokens) for part in parts]
    rows = [(*cells(part), bar(each, max(size))) for part, each in zip(parts, size, strict=True)]
    return columns(
        [*rows, (*cells(whole), "")], (by, "passes", "in", "out", "cached", "cost", ""), right=(1, 2, 3, 4, 5)
    )


def cells(part: Share) -> tuple[str, ...]:
    """A row without its bar."""
    used = part.usage
    cached = used.cache_read + used.cache_write
    return part.name, str(part.passes), tokens(used.input), tokens(used.output), tokens(cached), money(used)
