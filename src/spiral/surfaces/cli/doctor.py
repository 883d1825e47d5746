"""`spiral doctor`: look for what is wrong and say how to cure it."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from spiral.errors import SpiralError, StoreError
from spiral.surfaces.cli.options import AS_JSON, opened, tell

if TYPE_CHECKING:
    from spiral.app import Memory

SPACE = 200_000_000


@click.command("doctor")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, as_json: bool) -> None:
    """Look for what is wrong and say how to cure it. Exit 0 when all is well, else 2."""
    with opened(ctx) as memory:
        found = [*faults(memory), *erasing(memory), *page(memory), *model(memory), *space(memory)]
    if as_json:
        tell({"faults": found})
    else:
        for line in found or ["all is well"]:
            click.echo(line)
    if found:
        sys.exit(2)


def faults(memory: Memory) -> list[str]:
    """What could not be read, and what the index could not follow."""
    notes = memory.store.use(every_file=True)
    unread = [f"{memory.place.root / item.path}: {item.fault}" for item in memory.store.index.faults()]
    owed = memory.store.index.owing()
    return [*notes, *unread, *([f"{owed} texts wait for their vectors; run `spiral memory embed`"] if owed else [])]


def erasing(memory: Memory) -> list[str]:
    """Finish an erasure that a reader held up; whether it still does."""
    from spiral.memory.erase import HELD, finish

    return [] if finish(memory.store) else [HELD]


def page(memory: Memory) -> list[str]:
    """Whether the page can be brought up to date and keeps its limits."""
    from spiral.memory.page import NAME, excess, write_page

    try:
        over = excess(write_page(memory.store))
    except StoreError as fault:
        return [str(fault)]
    return [f"{memory.place.root / NAME} has {over}; shorten what stands above its mark"] if over else []


def model(memory: Memory) -> list[str]:
    """Whether the embedding model is whole and answers."""
    embedder = memory.store.embedder
    if embedder is None:
        return []
    try:
        if verify := getattr(embedder, "verify", None):
            verify()
        embedder.embed(["is anybody there?"])
    except SpiralError as fault:
        return [f"the embedding model: {fault}"]
    return []


def space(memory: Memory) -> list[str]:
    """Whether the disks have room."""
    return [
        f"only {free // 1_000_000} MB are free at {place}; free some space"
        for place in (memory.place.root, memory.place.index)
        if (free := shutil.disk_usage(place).free) < SPACE
    ]
