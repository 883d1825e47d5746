"""`spiral bench …`: measure how well it does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import click

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
