"""Forgetting softly: retire memories and episodes, by source with all that was derived, and take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spiral.errors import NotFoundError, ScopeError, UsageError
from spiral.memory import entries
from spiral.memory.remember import write_change
from spiral.memory.store import Store
from spiral.model import ANY, Change, Episode, Scope, Statement
from spiral.ports import Row


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be forgotten; exactly one way of saying it."""

    ids: tuple[str, ...] = ()
    key: str = ""
    source: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.ids, self.key, self.source, self.session))) != 1:
            raise UsageError("say what to forget in one way: by id, by key, by source or by session")

    def __str__(self) -> str:
        if self.ids:
            return ", ".join(map(repr, self.ids))
        if self.key:
            return f"key {self.key!r}"
        return f"source {self.source!r}" if self.source else f"session {self.session!r}"


def chosen(store: Store, wanted: Wanted, scope: Scope) -> list[Row]:
    """The memories and episodes that are meant, retired ones too, within one app and what the caller may see."""
    for level in ("org", "app"):
        if getattr(scope, level) == ANY:
            raise ScopeError(f"{level}='*' is for asking; what is forgotten belongs to one {level}")
    if wanted.ids:
        return [at_home(store.row(name, scope, ("memory", "episode")), scope) for name in wanted.ids]
    column, value = next((name, value) for name in ("key", "source", "session") if (value := getattr(wanted, name)))
    view = store.view(scope, types=("memory", "episode"), live=False, hidden=True)
    found = [row for row in store.index.select(column, [value], view=view) if is_home(row, scope)]
    if not wanted.key:
        found = derived(store, found, scope)
    if not found:
        raise NotFoundError(f"there is no memory and no episode of {wanted} in {scope}")
    return found


def derived(store: Store, rows: Sequence[Row], scope: Scope) -> list[Row]:
    """These, and everything that was derived from them, to the end."""
    found = {row.id: row for row in rows}
    waiting = list(found)
    while waiting:
        step = [row.id for row in store.index.pointing("derives", waiting) if row.id not in found]
        fresh = {row.id: row for row in store.seen(step, scope) if is_home(row, scope)}
        found |= fresh
        waiting = list(fresh)
    return list(found.values())


def held_in(row: Row) -> Statement | Episode:
    """The memory or the episode in a row."""
    return entries.memory_of(row) if row.type == "memory" else entries.episode_of(row)


def is_home(row: Row, scope: Scope) -> bool:
    """Whether it belongs to the app itself; what another one shares with the organisation is only lent."""
    return held_in(row).scope.app in ("", scope.app)


def at_home(row: Row, scope: Scope) -> Row:
    """The row, if it belongs to the app itself."""
    if not is_home(row, scope):
        raise ScopeError(f"{row.id!r} belongs to another app; name it with --app {held_in(row).scope.app}")
    return row


def forget(store: Store, wanted: Wanted, scope: Scope, *, reason: str = "") -> Change:
    """Retire memories and episodes in one atomic write; `undo` takes it back. From a source they are revoked: they
    never counted.

    One winner: the index's transaction. A retry finds nothing current to retire and says so.
    """
    store.use()
    with store.index.atomic():
        found = chosen(store, wanted, scope)
        targets = tuple(sorted(row.id for row in found if row.live and not is_note(row)))
        if not targets:
            raise NotFoundError(f"{found[0].id!r} is already retired; `spiral memory history {found[0].id}` tells how")
        return write_change(store, "revoke" if wanted.source else "forget", targets, reason=reason)


def is_note(row: Row) -> bool:
    """Whether it is our own note of what a session was told, which is never served."""
    return row.type == "episode" and bool(entries.episode_of(row).served)


def undo(store: Store, name: str, scope: Scope) -> Change:
    """Take back a change, if the caller may see all that it concerns. A second undo of the same change finds it taken
    back already and says so."""
    store.use()
    with store.index.atomic():
        row = store.index.get([name]).get(name)
        if row is None or row.type != "change" or not may_undo(store, entries.change_of(row), scope):
            raise NotFoundError(
                f"there is no change {name!r} in {scope}; `spiral forget` prints the id of the change it makes"
            )
        change = entries.change_of(row)
        if change.verb not in ("forget", "revoke", "undo"):
            raise UsageError(f"{name!r} added evidence and retired nothing; there is nothing to undo")
        if store.index.pointing("changes", [name]):
            raise UsageError(f"{name!r} was undone already")
        return write_change(store, "undo", (name,))


def may_undo(store: Store, change: Change, scope: Scope) -> bool:
    """Whether the caller may see, at home, everything that a change concerns; for an undo, what it took back."""
    reached = {change.id}
    concerned: list[Row] = []
    waiting = list(change.targets)
    while waiting:
        rows = store.index.get([name for name in waiting if name not in reached]).values()
        reached.update(waiting)
        concerned.extend(row for row in rows if row.type != "change")
        waiting = [name for row in rows if row.type == "change" for name in entries.change_of(row).targets]
    seen = store.seen([row.id for row in concerned], scope)
    return bool(concerned) and len(seen) == len(concerned) and all(is_home(row, scope) for row in seen)
