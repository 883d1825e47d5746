"""`spiral config`: every setting, its value, and where that came from."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from spiral.config import Row, read, rows
from spiral.errors import ConfigError
from spiral.sources import closest


@click.command(
    "config",
    help="Show every setting with its value, where the value came from, and what it is for. "
    "NAME is one setting (memory.root) or one table (memory).",
    short_help="Show the settings and where they came from.",
)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of objects.")
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Print the settings that hold here."""
    shown = _selected(rows(read(start=ctx.obj.start, flags=ctx.obj.flags)), name)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in shown], ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        _print_table(shown)
    else:
        click.echo("\n".join(_lines(shown)))


def _selected(shown: Sequence[Row], name: str | None) -> Sequence[Row]:
    if name is None:
        return shown
    wanted = [row for row in shown if row.name == name or row.name.startswith(f"{name}.")]
    if not wanted:
        raise ConfigError(f"unknown setting {name!r}; {closest(name, [row.name for row in shown])}")
    return wanted


def _lines(shown: Sequence[Row]) -> list[str]:
    """Name, value as spiral.toml would have it, origin and help, in columns."""
    cells = [(row.name, _spelled(row.value), row.origin, row.help) for row in shown]
    widths = [max(len(cell[column]) for cell in cells) for column in range(3)]
    return ["  ".join((*map(str.ljust, cell[:3], widths), cell[3])) for cell in cells]


def _spelled(value: str | int | float | bool) -> str:
    return json.dumps(value, ensure_ascii=False)


def _print_table(shown: Sequence[Row]) -> None:
    # Drawing a table takes longer than reading the settings: it is loaded for a person only.
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("setting", "value", "from", "what it is for", box=None, pad_edge=False, header_style="bold")
    for row in shown:
        table.add_row(*(escape(cell) for cell in (row.name, _spelled(row.value), row.origin, row.help)))
    Console().print(table)
