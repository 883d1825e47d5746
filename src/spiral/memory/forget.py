"""Forgetting: softly with an undo, by source with all that was derived, or for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spiral.errors import NotFoundError, UsageError
from spiral.memory import codec, entries, segments
from spiral.memory.remember import restatements, write_change
from spiral.memory.store import Store
from spiral.model import Change, Scope, Statement
from spiral.ports import View


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be forgotten; exactly one way of saying it."""

    ids: tuple[str, ...] = ()
    key: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.ids, self.key, self.source))) != 1:
            raise UsageError("say what to forget in one way: by id, by key or by source")


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased:
    """What was erased for good, and where it may still be."""

    ids: tuple[str, ...]
    files: tuple[str, ...]


def chosen(store: Store, wanted: Wanted, scope: Scope, *, live: bool) -> list[Statement]:
    """The memories that are meant, within what the caller may see."""
    if wanted.ids:
        return [store.find(name, scope) for name in wanted.ids]
    view = store.view(scope, live=live, hidden=True)
    if wanted.key:
        found = [entries.memory_of(row) for row in store.index.select("key", [wanted.key], view=view)]
    else:
        found = derived(store, wanted.source, view)
    if not found:
        what = f"key {wanted.key!r}" if wanted.key else f"source {wanted.source!r}"
        raise NotFoundError(f"there is no memory of {what} in {scope}")
    return found


def derived(store: Store, source: str, view: View) -> list[Statement]:
    """Everything learned from a source, and everything derived from that, to the end."""
    wide = View(scope=view.scope, owner=view.owner, types=("memory", "episode"), live=view.live, hidden=True)
    rows = store.index.select("source", [source], view=wide)
    found = {row.id: row for row in rows}
    waiting = list(found)
    while waiting:
        step = [row for row in store.index.pointing("derives", waiting) if row.id not in found]
        allowed = {row.id for item in step for row in store.index.select("id^", [item.id], view=wide)}
        step = [row for row in step if row.id in allowed]
        found |= {row.id: row for row in step}
        waiting = [row.id for row in step]
    return [entries.memory_of(row) for row in found.values() if row.type == "memory"]


def forget(store: Store, wanted: Wanted, scope: Scope, *, reason: str = "") -> Change:
    """Retire memories in one atomic write; `undo` takes it back. From a source they are revoked: they never counted.

    One winner: the index's transaction. A retry finds nothing current to retire and says so.
    """
    store.use()
    with store.index.atomic():
        memories = chosen(store, wanted, scope, live=True)
        current = [memory for memory in memories if store.index.get([memory.id])[memory.id].live]
        if not current:
            raise NotFoundError(
                f"{memories[0].id!r} is already retired; `spiral memory history {memories[0].id}` tells how"
            )
        targets = tuple(sorted(memory.id for memory in current))
        return write_change(store, "revoke" if wanted.source else "forget", targets, reason=reason)


def undo(store: Store, name: str) -> Change:
    """Take back a change. A second undo of the same change finds it taken back already and says so."""
    store.use()
    with store.index.atomic():
        row = store.index.get([name]).get(name)
        if row is None or row.type != "change":
            raise NotFoundError(f"there is no change {name!r}; `spiral forget` prints the id of the change it makes")
        change = entries.change_of(row)
        if change.verb not in ("forget", "revoke", "undo"):
            raise UsageError(f"{name!r} added evidence and retired nothing; there is nothing to undo")
        if store.index.pointing("changes", [name]):
            raise UsageError(f"{name!r} was undone already")
        return write_change(store, "undo", (name,))


def retire_mates(store: Store, memories: Sequence[Statement]) -> None:
    """Forget what these memories superseded: erasing the successor must not make an outdated fact current again."""
    gone = {memory.id for memory in memories}
    with store.index.atomic():
        slots = sorted({slot for memory in memories if (slot := codec.slot(memory))})
        mates = (
            [row.id for row in store.index.select("slot", slots) if row.id not in gone and not row.live]
            if slots
            else []
        )
        if mates:
            write_change(store, "forget", tuple(sorted(mates)), reason="what superseded it was erased")


def erase(store: Store, wanted: Wanted, scope: Scope) -> Erased:
    """Remove the text from files, segments and index for good, with its other versions and the episodes it quotes.

    Files go first, the index after them: a crash in between leaves an index that drops the rest at the next use, and a
    retry erases what is left.
    """
    store.use()
    asked = chosen(store, wanted, scope, live=False)
    versions = [version for memory in asked for version in (memory, *restatements(store, memory))]
    memories = list({memory.id: memory for memory in versions}.values())
    rows = list(store.index.get([memory.id for memory in memories]).values())
    quoted = sorted({item.source for memory in memories for item in memory.evidence if item.source.startswith("e")})
    episodes = list(store.index.get(quoted).values())
    notes = [row for row in store.index.pointing("changes", [row.id for row in rows]) if '"evidence"' in row.body]
    retire_mates(store, memories)
    for row in (*rows, *notes):
        store.folder.erase(row.path)
    for path in sorted({row.path for row in episodes}):
        segments.rewrite(store.folder, path, [row.id for row in episodes if row.path == path])
    store.index.purge([row.id for row in (*rows, *notes, *episodes)])
    store.use()
    files: Sequence[str] = sorted({row.path for row in (*rows, *notes, *episodes)})
    return Erased(ids=tuple(row.id for row in (*rows, *episodes)), files=tuple(files))
