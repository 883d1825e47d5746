"""Rows for people: a table on a terminal, aligned text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

STYLES = {
    "done": "green", "blocked": "red", "decide": "yellow", "skipped": "dim", "error": "red", "warning": "yellow",
}  # fmt: skip


def show_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the rows; the heads are for a terminal only, so that a pipe gets nothing but rows."""
    if sys.stdout.isatty():
        print_table(heads, rows)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))] if rows else []
    for row in rows:
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The rows as a table."""
    # Drawing a table takes longer than reading the tasks: it is loaded for a person only.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    Console().print(table)
