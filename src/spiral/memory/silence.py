"""Episodes that are no longer served, because a change retired them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from spiral.memory import entries
from spiral.memory.settle import active
from spiral.model import Change
from spiral.ports import Index

BATCH = 400


def concerning(index: Index, ids: Iterable[str]) -> dict[str, Change]:
    """Every change that names one of the ids, and every change that names such a change, to the end."""
    found: dict[str, Change] = {}
    waiting = list(ids)
    while waiting:
        some, waiting = waiting[:BATCH], waiting[BATCH:]
        fresh = [entries.change_of(row) for row in index.pointing("changes", some) if row.id not in found]
        found |= {change.id: change for change in fresh}
        waiting.extend(change.id for change in fresh)
    return found


def silenced(index: Index, ids: Sequence[str], known: datetime | None = None) -> set[str]:
    """Those of these episodes that were forgotten or revoked by then; without a moment, by what is here now."""
    changes = concerning(index, ids).values()
    if not changes:
        return set()
    standing = active(changes, known or max(change.at for change in changes))
    removed = {target for change in standing if change.verb in ("forget", "revoke") for target in change.targets}
    return removed & set(ids)
