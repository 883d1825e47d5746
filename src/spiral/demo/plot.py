"""Tasks done over passes, drawn in text."""

from __future__ import annotations

from collections.abc import Sequence

MARKS = ("○", "●", "◉")
"""The first half, the second, and both in one place."""


def plot(first: Sequence[int], second: Sequence[int], top: int, width: int = 60) -> list[str]:
    """Rows from the top down; the sequences tell how many tasks were done after each pass."""
    longest = max(len(first), len(second), 1)
    scale = max(1.0, longest / width)
    columns = [sampled(series, scale, int(longest / scale)) for series in (first, second)]
    rows = [
        f"{height:3} ┤" + "".join(cell(a == height, b == height) for a, b in zip(*columns, strict=True)).rstrip()
        for height in range(top, -1, -1)
    ]
    end = str(longest)
    axis = f"    └{'─' * (int(longest / scale) + 1)}"
    return [*rows, axis, f"     0{end.rjust(int(longest / scale))}  passes"]


def sampled(series: Sequence[int], scale: float, count: int) -> list[int]:
    """The series at each column, from before the first pass on; -1 where it has ended."""
    known = [0, *series]
    return [known[at] if (at := round(column * scale)) < len(known) else -1 for column in range(count + 1)]


def cell(first: bool, second: bool) -> str:  # noqa: FBT001 - two halves, in order
    """What stands in one place."""
    if first and second:
        return MARKS[2]
    return MARKS[0] if first else MARKS[1] if second else " "
