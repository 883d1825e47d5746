"""A run drawn in plain text: one row a task, one column a pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spiral.loop.story import PassStory
from spiral.loop.wording import local

MARKS: Mapping[str, str] = {
    "passed": "●", "failed": "✕", "rework": "◐", "rejected": "✕", "nothing": "○", "error": "!", "": "…",
}  # fmt: skip
LEGEND = "● passed  ✕ failed or rejected  ◐ sent back by the checker  ○ nothing done  ! the agent failed  … under way"
WIDEST = 96
MOST_ROWS = 40


def timeline(passes: Sequence[PassStory]) -> list[str]:
    """The newest passes that find room, under the hours in which they began."""
    shown = passes[-WIDEST:]
    tasks = list(dict.fromkeys(one.about for one in shown))
    if not shown:
        return []
    width = min(max(len(task) for task in tasks), 24)
    lines = [f"{'':{width}}  {ruler(shown)}".rstrip()]
    for task in tasks[:MOST_ROWS]:
        marks = "".join(MARKS.get(one.outcome, "?") if one.about == task else "·" for one in shown)
        lines.append(f"{task[:width]:{width}}  {marks}")
    if len(tasks) > MOST_ROWS:
        lines.append(f"… and {len(tasks) - MOST_ROWS} more tasks")
    if len(passes) > len(shown):
        lines.append(f"(the first {len(passes) - len(shown)} passes are left out)")
    return lines


def ruler(passes: Sequence[PassStory]) -> str:
    """The time of the first pass and then of each that finds room."""
    line, free = "", 0
    for place, one in enumerate(passes):
        if place >= free and one.began is not None:
            line = line.ljust(place) + local(one.began, "%H:%M")
            free = place + 8
    return line
