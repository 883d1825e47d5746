"""Memories in the order in which they were learned, for people to look through."""

from __future__ import annotations

from spiral.memory.entries import memory_of
from spiral.memory.store import Store
from spiral.model import Statement
from spiral.ports import View

MOST = 1_000_000_000
"""A limit beyond this is none; no database counts further than it must."""


def listed(store: Store, view: View, *, conflicts: bool, limit: int) -> list[Statement]:
    """The newest memories of a view, the newest last; with `conflicts`, both sides of what is still contradictory."""
    if not conflicts:
        rows = store.index.select("type", ["memory"], view=view, limit=min(limit, MOST))
        return [memory_of(row) for row in rows]
    there = {row.id: row for row in store.index.select("type", ["memory"], view=view)}
    doubtful = [memory_of(row) for row in there.values() if '"conflicts"' in row.body]
    pairs = {(memory.id, other) for memory in doubtful for other in memory.conflicts if other in there}
    sides = {name for pair in pairs for name in pair}
    return [memory_of(row) for name, row in there.items() if name in sides][-limit:]
