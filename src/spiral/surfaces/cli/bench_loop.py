"""`spiral bench loop`: what the loop itself costs after a long past, and what its memory is worth."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spiral.surfaces.cli.options import AS_JSON, tell

if TYPE_CHECKING:
    from spiral.bench.loop import Cost, Effect
    from spiral.demo.half import Half

HEEDS = (0.9, 1.0)
"""The demo's agent as it is, and one that always acts on what it is told."""


@click.command("loop")
@click.option("--tasks", type=click.IntRange(40), default=1_000, show_default=True, help="Tasks of the project.")
@click.option(
    "--passes", type=click.IntRange(10), default=5_000, show_default=True, help="Passes that it has behind it."
)
@click.option("--memories", type=click.IntRange(1), default=50_000, show_default=True, help="The size of the store.")
@click.option("--seeds", type=click.IntRange(0), default=3, show_default=True, help="Runs of the demo for each agent.")
@AS_JSON
def command(tasks: int, passes: int, memories: int, seeds: int, as_json: bool) -> None:
    """What a pass costs besides the agent and the checks, after a tenth of the passes and after all of them; and how
    often the demo's simulated agent repeats a failed approach, without memory and with it.

    \b
    spiral bench loop
    spiral bench loop --passes 500 --memories 5000 --seeds 0
    """
    from spiral.bench.loop import Size, effect, measure
    from spiral.config import environment
    from spiral.demo.project import apart

    with tempfile.TemporaryDirectory(prefix="spiral-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        environ = apart(environment(), folder)
        project = folder / "project"
        project.mkdir()
        size = Size(tasks=tasks, passes=passes, memories=memories)
        costs = measure(project, size, environ, note)
        effects = [effect(folder, heed, range(1, seeds + 1), environ, note) for heed in HEEDS] if seeds else []
    if as_json:
        tell({"size": asdict(size), "costs": [asdict(cost) for cost in costs], "effects": list(map(table, effects))})
        return
    show(costs, effects)


def note(line: str) -> None:
    """Progress, beside the result."""
    click.echo(line, err=True)


def show(costs: Sequence[Cost], effects: Sequence[Effect]) -> None:
    """Both tables, with what was promised."""
    from spiral.bench.loop import BRIEFING, FLAT, OVERHEAD

    click.echo(f"{'after passes':>12} {'overhead':>10} {'briefing':>10} {'tokens':>8} {'at most':>8}")
    for cost in costs:
        times = f"{cost.overhead * 1000:7.0f} ms {cost.briefing * 1000:7.0f} ms"
        click.echo(f"{cost.after:12,} {times} {cost.tokens:8,} {cost.most:8,}")
    growth = costs[-1].overhead / costs[0].overhead
    click.echo(
        f"promised: overhead {OVERHEAD * 1000:.0f} ms, briefing {BRIEFING * 1000:.0f} ms, growth {FLAT:g}x;"
        f" growth here {growth:.2f}x"
    )
    if effects:
        click.echo(f"\n{'heed':>4} {'':8} {'done':>10} {'passes':>7} {'repeats':>8}")
    for each in effects:
        for name, halves in (("circle", each.circles), ("spiral", each.spirals)):
            row = sums(name, halves)
            click.echo(f"{each.heed:4g} {name:8} {row['done']!s:>10} {row['passes']!s:>7} {row['repeats']!s:>8}")


def table(effect: Effect) -> dict[str, object]:
    """An effect for machines."""
    return {"heed": effect.heed, "rows": [sums("circle", effect.circles), sums("spiral", effect.spirals)]}


def sums(name: str, halves: Sequence[Half]) -> dict[str, object]:
    """The halves of all seeds together."""
    return {
        "half": name,
        "done": sum(half.done for half in halves),
        "passes": sum(len(half.rows) for half in halves),
        "repeats": sum(half.repeats for half in halves),
    }
