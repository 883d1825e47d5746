"""`spiral bench …`: measure how well it does."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import click

from spiral.surfaces.cli import bench_loop, bench_recall
from spiral.surfaces.cli.options import AS_JSON, tell

FIELDS = ("set", "split", "examples", "precision", "recall", "f1")


class Measured(Protocol):
    """A row of a measurement."""

    @property
    def set(self) -> str: ...
    @property
    def split(self) -> str: ...
    @property
    def examples(self) -> int: ...
    @property
    def precision(self) -> float: ...
    @property
    def recall(self) -> float: ...
    @property
    def f1(self) -> float: ...


@click.group("bench")
def command() -> None:
    """Measure how well it does."""


command.add_command(bench_loop.command)
command.add_command(bench_recall.command)


@command.command("rules")
@AS_JSON
def rules(as_json: bool) -> None:
    """How well the rules do on the published sets: distilling, junk, echoes, contradictions, injections."""
    from spiral.bench import guard
    from spiral.bench import rules as distilling

    rows: list[Measured] = [*distilling.measure(), *guard.measure()]
    if as_json:
        tell({"rows": [{name: getattr(row, name) for name in FIELDS} for row in rows]})
        return
    show(rows)


def show(rows: Iterable[Measured]) -> None:
    """An aligned table."""
    click.echo(f"{'set':16} {'split':6} {'examples':>8} {'precision':>9} {'recall':>7} {'f1':>6}")
    for row in rows:
        click.echo(f"{row.set:16} {row.split:6} {row.examples:8} {row.precision:9.2f} {row.recall:7.2f} {row.f1:6.2f}")


@command.command("speed")
@click.option("--memories", type=click.IntRange(1), default=100_000, show_default=True, help="The size of the store.")
@AS_JSON
def speed(memories: int, as_json: bool) -> None:
    """How long a new process takes to import, capture and recall, over a bare interpreter."""
    from spiral.bench.speed import fill, measure

    with tempfile.TemporaryDirectory(prefix="spiral-bench-") as name:
        folder = Path(name)
        fill(folder, memories, lambda line: click.echo(line, err=True))
        rows = measure(folder)
    if as_json:
        tell(
            {
                "memories": memories,
                "rows": [{"what": row.what, "seconds": row.seconds, "limit": row.limit} for row in rows],
            }
        )
        return
    for row in rows:
        click.echo(f"{row.what:14} {row.seconds * 1000:6.0f} ms   (promised {row.limit * 1000:.0f} ms)")
