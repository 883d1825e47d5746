"""Output that the views of the loop share: rows in columns, and JSON for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import click

from spiral.loop.codec import plain
from spiral.loop.wording import TONES, clean
from spiral.work import Usage

STYLES: Mapping[str, Mapping[str, bool | str]] = {"bold": {"bold": True}, "dim": {"dim": True}}


def coloured(words: str, tone: str) -> str:
    """The words in a colour, which `click.echo` takes away again where there is no terminal."""
    if not tone:
        return words
    return click.style(words, **STYLES[tone]) if tone in STYLES else click.style(words, fg=tone)  # type: ignore[arg-type]


def outcome(word: str) -> str:
    """An outcome in its colour."""
    return coloured(word, TONES.get(word, ""))


def heading(words: str) -> None:
    """A line above a part."""
    click.echo(coloured(words, "bold"))


def columns(rows: Sequence[Sequence[str]], heads: Sequence[str] = (), right: Sequence[int] = ()) -> list[str]:
    """Rows in columns, those in `right` flush right; a head above them."""
    cells = [[clean(cell) for cell in row] for row in ([heads] if heads else []) + list(rows)]
    if not cells:
        return []
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def show(rows: Sequence[Sequence[str]], heads: Sequence[str] = (), right: Sequence[int] = ()) -> None:
    """Print rows in columns."""
    for place, line in enumerate(columns(rows, heads, right)):
        click.echo(coloured(line, "bold") if heads and not place else line)


def tell_json(value: object) -> None:
    """One line of JSON on standard output, whatever the text is made of."""
    line = json.dumps(finite(plain(value)), ensure_ascii=False, default=str)
    # A lone surrogate has no UTF-8; as `\ud800` it is JSON's own escape.
    click.echo(line.encode("utf-8", "backslashreplace"))


def finite(value: object) -> object:
    """The value with nothing in it that JSON cannot say."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


def spending(used: Usage) -> dict[str, object]:
    """What was used up, for machines."""
    return {
        "cost": used.cost, "estimated": used.estimated, "unknown": used.unknown, "tokens": used.tokens,
        "input": used.input, "output": used.output, "cache_read": used.cache_read, "cache_write": used.cache_write,
        "turns": used.turns,
    }  # fmt: skip
