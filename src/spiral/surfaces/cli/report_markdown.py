"""The morning's page as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from spiral.loop.costs import Share, bar
from spiral.loop.policies import PolicyRow
from spiral.loop.report import Report
from spiral.loop.timeline import LEGEND, timeline
from spiral.loop.wording import clean, count, local, money, tokens
from spiral.surfaces.cli import report_words as words
from spiral.surfaces.cli.printing import columns

MARKS = re.compile(r"([\\`*_\[\]<>|])")
MOST_FAILURES = 6


def safe(said: str, most: int = 300) -> str:
    """Foreign words that stay words: no markup, no line of their own."""
    return MARKS.sub(r"\\\1", clean(said, most))


def markdown(page: Report, app: str, known: Mapping[str, words.Lesson]) -> str:
    """The whole page."""
    parts = [
        [f"# {safe(app)}: {local(page.made, '%A, %d %B %Y, %H:%M')}", "", f"**{words.headline(page)}**", ""],
        [words.bill(page), "", *(f"- {safe(words.run_line(page, run), 600)}" for run in page.runs)],
        section("Waits for you", waiting(page)),
        section("Finished", finished(page)),
        section("Gone red again", [f"- {safe(words.regression(one))}" for one in page.regressions]),
        section("Not finished", troubles(page)),
        section("Repeated approaches", [f"- {safe(words.failure(one, page))}" for one in page.repeats]),
        section("Rate limits", [f"- {safe(line)}" for line in words.pauses(page)]),
        section("Rescued work", rescued(page)),
        section("Spent", spent(page)),
        section("Learned", lessons(page, known)),
        section("Timeline", drawn(page)),
    ]
    return "\n\n".join("\n".join(part).strip() for part in parts if part) + "\n"


def section(title: str, lines: Sequence[str] | Iterator[str]) -> list[str]:
    """A part with its heading; nothing when it has nothing to say."""
    body = list(lines)
    return [f"## {title}", "", *body] if body else []


def waiting(page: Report) -> Iterator[str]:
    """What a person has to do, with the command that does it."""
    shown, rest = words.few(page.waiting)
    for wait in shown:
        word = "asks" if wait.status == "decide" else "is blocked"
        title = f" ({safe(wait.title, 120)})" if wait.title else ""
        yield f"- **{safe(wait.task or 'The work')} {word}**{title}: {safe(wait.reason, 500)}"
        yield f"  - `{clean(wait.cure).replace('`', '')}`"
    if rest:
        yield f"- {rest}"


def finished(page: Report) -> Iterator[str]:
    """What is done, and what shows it."""
    shown, rest = words.few(page.finished)
    for one in shown:
        gone = "" if one.held else " — **has gone red since, see below**"
        title = f" {safe(one.title, 120)}" if one.title else ""
        yield f"- **{safe(one.task or 'The work')}**{title}{gone}"
        yield f"  - {safe(words.proof(one))}; {words.effort(one)}"
    if rest:
        yield f"- {rest}"


def troubles(page: Report) -> Iterator[str]:
    """What was tried without success, newest pass last."""
    shown, rest = words.few(page.troubles)
    for one in shown:
        yield f"- **{safe(one.task or 'The work')}** {safe(one.title, 120)} — {words.standing_of(one)}"
        for story in one.passes[-MOST_FAILURES:]:
            yield f"  - {safe(words.failure(story, page), 400)}"
    if rest:
        yield f"- {rest}"


def rescued(page: Report) -> Iterator[str]:
    """Work beside the branch, and how to look at it."""
    for one in page.rescues:
        ref = clean(one.ref).replace("`", "")
        yield f"- `{ref}` {safe(one.task)} {safe(one.why)}; look at it with `git log -p -1 {ref}`"


def spent(page: Report) -> Iterator[str]:
    """Two small plots."""
    if page.agents:
        yield "```"
        yield from plot(page.agents)
        yield ""
        yield from plot(page.tasks[:12])
        yield "```"


def plot(shares: Sequence[Share]) -> list[str]:
    """Rows with a bar each, of dollars, or of tokens where no dollar is known."""
    dollars = any(share.usage.cost for share in shares)
    size = [share.usage.cost if dollars else float(share.usage.tokens) for share in shares]
    rows = [
        (clean(share.name, 30), tokens(share.usage.tokens), money(share.usage), bar(each, max(size)))
        for share, each in zip(shares, size, strict=True)
    ]
    return columns(rows, right=(1, 2))


def lessons(page: Report, known: Mapping[str, words.Lesson]) -> Iterator[str]:
    """What is known now that was not known before."""
    worth, more = words.learned(page, known)
    for one in worth[:20]:
        about = f" ({one.kind}, {one.authority})" if one.kind else ""
        yield f"- {safe(one.text) + ' ' if one.text else ''}`{clean(one.id)[:9]}`{about}"
    if len(worth) > 20:
        yield f"- … and {len(worth) - 20} more: `spiral memory list`"
    if more:
        yield f"- {count(more, 'memory', 'memories')} of attempts and verdicts: `spiral memory list`"


def drawn(page: Report) -> Iterator[str]:
    """The timeline."""
    rows = timeline(page.passes)
    if rows:
        yield "```"
        yield from rows
        yield ""
        yield LEGEND
        yield "```"


HEADS = (
    "policy", "runs", "passes", "passed", "success", "tasks done", "passes/task", "repeats", "briefing", "tokens",
    "cost",
)  # fmt: skip


def cells(row: PolicyRow) -> tuple[str, ...]:
    """A policy's row."""
    per_task = f"{row.per_task:.1f}" if row.finished else "–"
    return (
        row.policy, str(row.runs), str(row.passes), str(row.passed), f"{row.success:.0%}", str(row.finished), per_task,
        str(row.repeats), f"{row.briefing:,.0f}", tokens(row.usage.tokens), money(row.usage),
    )  # fmt: skip


def policy_table(rows: Sequence[PolicyRow]) -> str:
    """Policies beside each other, in columns that can be read as they are."""
    table = [HEADS, *(tuple(safe(cell) for cell in cells(row)) for row in rows)]
    widths = [max(len(line[place]) for line in table) for place in range(len(HEADS))]
    lines = ["| " + " | ".join(map(str.rjust, line, widths)) + " |" for line in table]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    return "\n".join(lines) + "\n"
