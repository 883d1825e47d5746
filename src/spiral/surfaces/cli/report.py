"""`spiral report`: one page for the morning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from spiral.errors import SpiralError, UsageError
from spiral.loop.codec import plain
from spiral.loop.policies import PolicyRow, by_policy
from spiral.loop.report import Report, alive_since, report
from spiral.loop.story import OUTLINE, find_run, passes, runs
from spiral.loop.tasks import load
from spiral.surfaces.cli.options import AS_JSON, opened
from spiral.surfaces.cli.printing import spending, tell_json
from spiral.surfaces.cli.project import Project, opened_project
from spiral.surfaces.cli.report_html import page_of, policies_of
from spiral.surfaces.cli.report_markdown import markdown, policy_table
from spiral.surfaces.cli.report_words import Lesson
from spiral.surfaces.cli.since import since


@click.command("report")
@click.option("--run", default="", help="The run: its id, the beginning of it, or `last` (what is taken by default).")
@click.option("--since", "when", default="", help="All runs since then instead: 12h, 3d, 2026-03-01.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write one HTML file.")
@click.option("--by", type=click.Choice(("policy",)), default=None, help="Compare briefing policies across runs.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, run: str, when: str, html: Path | None, by: str | None, as_json: bool) -> None:
    """Write one page: what was finished and what shows it, what waits for you, what failed and how, what it cost, and
    what was learned. Markdown on standard output; with --html one file that needs nothing else.

    \b
    spiral report
    spiral report --since 12h --html morning.html
    spiral report --by policy
    """
    now = datetime.now(UTC)
    moment = since(when, now)
    if run and moment:
        raise UsageError("give --run or --since, not both")
    with opened_project(ctx) as project:
        if by:
            rows = compared(project, run, moment)
            body = policies_of(rows) if html else policy_table(rows)
            put(html, body, {"policies": [policy_row(row) for row in rows]}, as_json=as_json)
            return
        page = report(project.journal, now, load(project.agent_folder), run=run, since=moment)
        app = project.place.project.name
    known = lessons(ctx, page.memories)
    body = page_of(page, app, known) if html else "" if as_json else markdown(page, app, known)
    put(html, body, for_machines(page, known), as_json=as_json)


def put(html: Path | None, body: str, table: Mapping[str, object], *, as_json: bool) -> None:
    """Write the page to where it was asked for."""
    if html is not None:
        try:
            html.write_text(body, "utf-8", errors="replace")
        except OSError as fault:
            raise UsageError(f"cannot write to {str(html)!r}: {fault.strerror}; choose another file") from fault
    if as_json:
        tell_json(table)
    else:
        click.echo(f"written to {html}" if html is not None else body, nl=html is not None)


def compared(project: Project, run: str, moment: datetime | None) -> Sequence[PolicyRow]:
    """The policies of the runs that were asked for: all of them, unless told otherwise."""
    journal = project.journal
    chosen = [find_run(journal, run)] if run else runs(journal) if moment is None else alive_since(journal, moment)
    made = passes(journal, kinds=OUTLINE)
    mine = {one.id for one in chosen}
    return by_policy(chosen, [one for one in made if one.run in mine])


def lessons(ctx: click.Context, ids: Sequence[str]) -> Mapping[str, Lesson]:
    """The memories behind the ids. The page is worth reading without them: a memory that cannot be opened is told of
    and no reason to fail."""
    if not ids:
        return {}
    try:
        with opened(ctx) as memory:
            memory.store.use()
            found = memory.store.versions(ids)
    except SpiralError as fault:
        click.echo(f"note: what was learned is shown by id only: {fault}", err=True)
        return {}
    return {
        name: Lesson(
            id=name, text=version.memory.text, kind=version.memory.kind, authority=version.memory.authority
        )
        for name, version in found.items()
        if version.memory.quarantine == ""
    }  # fmt: skip


def for_machines(page: Report, known: Mapping[str, Lesson]) -> dict[str, object]:
    """The page as a table."""
    return {
        "made": page.made, "runs": page.runs, "progress": page.progress, "seconds": page.seconds,
        "spent": spending(page.spent), "passes": len(page.passes),
        "finished": [
            {
                "task": one.task, "title": one.title, "pass": one.proof.number, "passes": len(one.passes),
                "sha": one.proof.sha, "held": one.held, "checks": [result.check.name for result in one.proof.checks],
                "opinions": [{"agent": said.agent, "outcome": said.outcome} for said in one.proof.opinions],
            }
            for one in page.finished
        ],
        "waiting": [{**plain(wait), "cure": wait.cure} for wait in page.waiting],
        "troubles": [
            {
                "task": one.task, "title": one.title, "status": one.status,
                "passes": [
                    {"number": story.number, "outcome": story.outcome, "reason": story.reason} for story in one.passes
                ],
            }
            for one in page.troubles
        ],
        "regressions": page.regressions, "rescues": page.rescues,
        "repeats": [{"number": one.number, "task": one.task, "repeats": one.repeats} for one in page.repeats],
        "by_agent": [{"name": share.name, "passes": share.passes, **spending(share.usage)} for share in page.agents],
        "by_task": [{"name": share.name, "passes": share.passes, **spending(share.usage)} for share in page.tasks],
        "learned": [known.get(name, Lesson(id=name)) for name in page.memories],
    }  # fmt: skip


def policy_row(row: PolicyRow) -> dict[str, object]:
    """A policy's row as a table."""
    found: dict[str, object] = plain(row)
    found.pop("usage")
    return found | {"success": row.success, "passes_per_task": row.per_task or None, **spending(row.usage)}
