"""What became of memories: the current state, derived from files that are never rewritten.

Two clocks. *Known* is when we learned something or changed our mind; *true* is when it held. A state is always a state
at one moment of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from spiral.model import Change, Statement, Version, sees


@dataclass(frozen=True, slots=True)
class Moment:
    """When we ask about, on both axes."""

    true: datetime
    known: datetime


def active(changes: Iterable[Change], known: datetime) -> list[Change]:
    """The changes that hold: made by then and not taken back. An undo can itself be undone.

    What undoes what decides, not the time of either: the clock may have been set back in between.
    """
    made = sorted((change for change in changes if change.at <= known), key=lambda change: (change.at, change.id))
    waiting = [change for change in reversed(made) if change.verb == "undo"]
    void: set[str] = set()
    while waiting:
        doubted = {target for change in waiting for target in change.targets}
        # In a ring, which only a hand can make, the newest decides.
        certain = [change for change in waiting if change.id not in doubted] or waiting[:1]
        void.update(target for change in certain if change.id not in void for target in change.targets)
        done = {change.id for change in certain}
        waiting = [change for change in waiting if change.id not in done]
    return [change for change in made if change.id not in void]


def order(memory: Statement) -> tuple[datetime, datetime, str]:
    """Facts of one slot follow each other by when they began to be true, then by when we learned them."""
    return (memory.since, memory.learned, memory.id)


def settle(
    memories: Sequence[Statement], slots: Sequence[str], changes: Iterable[Change], at: Moment
) -> dict[str, Version]:
    """The state of each memory, given all that share a slot with it or point at it.

    - A keyed fact is superseded by the latest one of its slot that holds then. One that came late but was true earlier
      supersedes nothing that came after it; one whose time is over gives way to what held before.
    - A memory named in `supersedes` is retired by the one that names it, if that one's owner sees it from its scope.
    - A forgotten memory still counts as having superseded others; a revoked one never happened.
    """
    standing = active(changes, at.known)
    removed = {
        target: change for change in reversed(standing) if change.verb != "evidence" for target in change.targets
    }
    known = {memory.id: memory for memory in memories if memory.learned <= at.known}
    counting = {
        name: memory
        for name, memory in known.items()
        if not (name in removed and removed[name].verb == "revoke") and not memory.quarantine
    }
    holders = holders_of(memories, slots, counting, at)
    named = {
        target: memory
        for memory in sorted(counting.values(), key=order, reverse=True)
        if memory.since <= at.true
        for target in memory.supersedes
        if target in known and sees(memory.scope, memory.owner, known[target])
    }
    found: dict[str, Version] = {}
    for memory, slot in zip(memories, slots, strict=True):
        if memory.id not in known:
            continue
        found[memory.id] = version(memory, removed.get(memory.id), named.get(memory.id), holders.get(slot), at)
    return found


def holders_of(
    memories: Sequence[Statement], slots: Sequence[str], counting: dict[str, Statement], at: Moment
) -> dict[str, Statement]:
    """For each slot the fact that holds at that moment."""
    held: dict[str, Statement] = {}
    pairs = [(memory, slot) for memory, slot in zip(memories, slots, strict=True) if slot and memory.id in counting]
    for memory, slot in sorted(pairs, key=lambda pair: order(pair[0])):
        if memory.since <= at.true and not (memory.valid_to and memory.valid_to <= at.true):
            held[slot] = memory
    return held


def version(
    memory: Statement, removal: Change | None, successor: Statement | None, holder: Statement | None, at: Moment
) -> Version:
    """One memory's state, the strongest reason first."""
    if removal is not None:
        state = Version(
            memory=memory,
            state="revoked" if removal.verb == "revoke" else "forgotten",
            retired=removal.at,
            by=removal.id,
        )
    elif successor is not None and successor.id != memory.id:
        state = Version(memory=memory, state="superseded", retired=successor.learned, by=successor.id)
    elif memory.since > at.true:
        state = Version(memory=memory, state="pending")
    elif memory.expires and memory.expires <= at.true:
        state = Version(memory=memory, state="expired", retired=memory.expires)
    elif memory.valid_to and memory.valid_to <= at.true:
        state = Version(memory=memory, state="ended", retired=memory.valid_to)
    elif holder is not None and holder.id != memory.id and order(holder) > order(memory):
        retired = max(holder.learned, memory.learned)
        state = Version(memory=memory, state="superseded", retired=retired, by=holder.id)
    else:
        state = Version(memory=memory, state="current")
    return state


def next_change(memories: Iterable[Statement], now: datetime) -> datetime | None:
    """The first moment after now at which time alone changes one of these states."""
    turns = [
        turn
        for memory in memories
        for turn in (memory.valid_from, memory.valid_to, memory.expires)
        if turn is not None and turn > now
    ]
    return min(turns, default=None)
