"""Small plots as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

from spiral.loop.report import Report
from spiral.loop.story import PassStory
from spiral.loop.timeline import MOST_ROWS
from spiral.loop.wording import clean, local, money, span

FILLS = {
    "passed": "var(--good)", "failed": "var(--bad)", "rejected": "var(--bad)", "error": "var(--bad)",
    "rework": "var(--warn)", "nothing": "var(--warn)",
}  # fmt: skip
WIDTH, LEFT, ROW, TOP = 900, 130, 20, 22


def meter(part: float, whole: float) -> str:
    """A bar of a share."""
    width = max(round(160 * part / whole, 1), 1.0) if part > 0 and whole > 0 else 0
    return (
        f"<svg width='160' height='12' role='img' aria-label='{part / whole if whole else 0:.0%} of the largest'>"
        f"<rect width='{width}' height='12' rx='2' fill='var(--cool)'/></svg>"
    )


def gantt(page: Report) -> str:
    """One row a task, one box a pass, from left to right as time went by."""
    shown = [one for one in page.passes if one.began is not None]
    if not shown:
        return ""
    tasks = list(dict.fromkeys(one.about for one in shown))[-MOST_ROWS:]
    first = min(one.began for one in shown if one.began is not None)
    last = max(end(one, page.made) for one in shown)
    if last <= first:
        last = first + timedelta(minutes=1)
    height = TOP + ROW * len(tasks) + 6
    scale = (WIDTH - LEFT - 10) / (last - first).total_seconds()
    body = [*hours(first, last, scale, height), *names(tasks)]
    for one in shown:
        if one.about in tasks and one.began is not None:
            left = LEFT + (one.began - first).total_seconds() * scale
            wide = max((end(one, page.made) - one.began).total_seconds() * scale, 2.0)
            body.append(box(one, left, TOP + ROW * tasks.index(one.about), wide))
    label = f"{len(shown)} passes at {len(tasks)} tasks"
    return f"<svg viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{label}'>{''.join(body)}</svg>"


def end(one: PassStory, now: datetime) -> datetime:
    """When a pass ended, or now."""
    return one.ended or (now if not one.outcome else one.began or now)


def box(one: PassStory, left: float, top: float, wide: float) -> str:
    """A pass."""
    fill = FILLS.get(one.outcome, "var(--cool)")
    how = f"{one.outcome or 'under way'} · {one.reason} · {span(one.seconds)}, {money(one.usage)}"
    said = f"pass {one.number} · {one.about} · {how}"
    return (
        f"<rect x='{left:.1f}' y='{top + 3}' width='{wide:.1f}' height='{ROW - 6}' rx='2' fill='{fill}' "
        f"stroke='var(--paper)'><title>{escape(clean(said, 300))}</title></rect>"
    )


def names(tasks: Sequence[str]) -> list[str]:
    """The name of each row."""
    return [
        f"<text x='{LEFT - 8}' y='{TOP + ROW * place + 14}' text-anchor='end'>{escape(clean(task, 18))}</text>"
        for place, task in enumerate(tasks)
    ]


def hours(first: datetime, last: datetime, scale: float, height: int) -> list[str]:
    """Lines at round times, at most a dozen."""
    total = (last - first).total_seconds()
    step = next((each for each in (300, 900, 1800, 3600, 7200, 14400, 43200, 86400) if total / each <= 11), 604_800)
    start = first.astimezone()
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    tick = midnight + timedelta(seconds=((start - midnight).total_seconds() // step + 1) * step)
    form = "%H:%M" if step < 43_200 else "%d.%m."
    lines: list[str] = []
    while tick < last and len(lines) < 24:
        x = LEFT + (tick - first).total_seconds() * scale
        lines.append(f"<line x1='{x:.1f}' y1='16' x2='{x:.1f}' y2='{height}' stroke='var(--line)'/>")
        lines.append(f"<text x='{x:.1f}' y='12' text-anchor='middle'>{local(tick, form)}</text>")
        tick += timedelta(seconds=step)
    return lines
