"""`spiral demo`: the same simulated agent without memory and with it, on a real repository."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spiral.surfaces.cli.options import AS_JSON, tell

if TYPE_CHECKING:
    from spiral.demo.half import Half
    from spiral.demo.project import Terms


@click.command("demo")
@click.option("--seed", type=int, default=1, show_default=True, help="What the agent's chances begin from.")
@click.option(
    "--heed", type=click.FloatRange(0, 1), default=0.9, show_default=True,
    help="How likely the agent is to act on what its briefing tells of earlier passes.",
)  # fmt: skip
@click.option("--tasks", type=click.IntRange(1, 8), default=8, show_default=True, help="The first so many tasks.")
@click.option(
    "--keep", type=click.Path(path_type=Path), default=None, help="Keep both repositories in this new folder."
)
@click.option("--memory-only", is_flag=True, help="Show the memory alone, without a loop.")
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context, seed: int, heed: float, tasks: int, keep: Path | None, memory_only: bool, as_json: bool
) -> None:
    """Run the loop twice on a small repository, first without memory (a circle), then with it (a spiral).

    The repository, git and the tests are real; the agent is simulated: a program, no model. It needs no key and no
    network, takes well under a minute, and touches nothing of yours. Exit 0 when the half with memory was completed.
    """
    from spiral.config import environment
    from spiral.demo.project import Terms, apart
    from spiral.surfaces.cli.demo_memory import show_memory

    with folder_for(keep) as folder:
        environ = apart(environment(), folder)
        if memory_only:
            show_memory(folder, environ)
            return
        terms = Terms(seed=seed, heed=heed, tasks=tasks)
        halves = silently(folder, terms, environ) if as_json else shown(folder, terms, environ, kept=keep is not None)
    if as_json:
        tell({"simulated": True, "seed": seed, "heed": heed, "halves": [table(half) for half in halves]})
    ctx.exit(0 if halves[1].complete else 1)


@contextmanager
def folder_for(keep: Path | None) -> Iterator[Path]:
    """A folder that is gone afterwards, or the one that is to be kept."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="spiral-demo-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def silently(folder: Path, terms: Terms, environ: dict[str, str]) -> tuple[Half, Half]:
    """Both halves, told nobody."""
    from spiral.demo.half import run_half

    return (
        run_half(folder / "circle", terms, environ, memory=False),
        run_half(folder / "spiral", terms, environ, memory=True),
    )


def shown(folder: Path, terms: Terms, environ: dict[str, str], *, kept: bool) -> tuple[Half, Half]:
    """Both halves on the screen, and how they compare."""
    from spiral.demo.half import run_half
    from spiral.surfaces.cli.demo_screen import Screen

    screen = Screen(terms)
    screen.open()
    halves = []
    for name, memory in (("circle", False), ("spiral", True)):
        with screen.half(memory=memory) as (show, step):
            half = run_half(folder / name, terms, environ, memory=memory, show=show, step=step)
        if half.reason in ("interrupted", "stopped"):
            raise click.Abort
        screen.ended(half)
        halves.append(half)
    screen.compare(halves[0], halves[1])
    screen.close(folder if kept else None)
    return halves[0], halves[1]


def table(half: Half) -> dict[str, object]:
    """A half for machines."""
    from dataclasses import asdict

    sums = ("complete", "done", "repeats", "cost", "tokens")
    rest = {name: value for name, value in asdict(half).items() if name != "rows"}
    return rest | {name: getattr(half, name) for name in sums} | {"passes": [asdict(row) for row in half.rows]}
