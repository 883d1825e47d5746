"""The demo's small project and what the simulated agent knows about it, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CLAIM = "saying that it is done already"
"""The way of doing nothing, which every task has."""
SHOP = Path(__file__).with_name("shop.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One way to go about a task."""

    name: str
    code: str = ""
    """What it makes of the task's file; empty: it does nothing."""
    weight: float = 4.0
    """How tempting it is."""
    fact: str = ""
    """A part of what must be known to think of it at once."""
    works: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One task, and the ways in which the simulated agent would go about it."""

    id: str
    title: str
    file: str
    description: str
    learned: str
    """What who succeeds has learned."""
    ways: tuple[Way, ...]
    depends: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Shop:
    """The project at its beginning."""

    files: Mapping[str, str]
    latin: Mapping[str, str]
    """Files in Latin-1."""
    jobs: tuple[Job, ...]


@cache
def shop() -> Shop:
    """What the demo is made of."""
    table = tomllib.loads(SHOP.read_text("utf-8"))
    return Shop(files=table["files"], latin=table["latin"], jobs=tuple(job_of(row) for row in table["tasks"]))


def job_of(row: Mapping[str, object]) -> Job:
    """A task from its table, with the way of doing nothing among the others."""
    fields = dict(row) | {"depends": tuple(row.get("depends", ()))}  # type: ignore[arg-type]
    ways = tuple(Way(**way) for way in row["ways"])  # type: ignore[attr-defined]
    return Job(**{**fields, "ways": (*ways, Way(name=CLAIM, weight=12.0))})  # type: ignore[arg-type]
