"""One store: its files, its index, and who is asking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from spiral.errors import NotFoundError, StoreError, UsageError
from spiral.memory import codec, entries, sync
from spiral.memory.files import Folder
from spiral.memory.settle import Moment, settle
from spiral.model import Change, Scope, Statement, Version, Visibility, home_of, scope_of
from spiral.ports import Embedder, Index, Row, Type, View

FEW = 2_000
"""Up to so many memories every file is looked at before every use."""
PATIENCE = 30.0
"""Seconds after which a process that lives on looks at every file of a large store."""


@dataclass(slots=True)
class Store:
    """What every operation works on."""

    folder: Folder
    index: Index
    locks: Path
    """Where leases are kept, on this machine."""
    scope: Scope
    """What is assumed where a caller names no level."""
    owner: str
    visibility: Visibility = "team"
    embedder: Embedder | None = None
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    next_scan: float = 0.0
    """When every file is to be looked at again."""
    moved: bool = False
    """Whether files or time changed what is current since the page was last brought up to date."""

    @property
    def default(self) -> Statement:
        """What a file that a person made by hand is taken to be, where it does not say."""
        scope = Scope(org=self.scope.org, app=self.scope.app)
        return replace(entries.BLANK, scope=scope, owner=self.owner, visibility=self.visibility)

    def use(self, *, every_file: bool = False) -> list[str]:
        """Bring the index up to date before a use; what could not be done is told, not hidden.

        Folders are always looked at, which shows files that came, went or were replaced. In a small store, and on
        request, every file is looked at too, which shows edits in place; in a large one as often as costs little.
        """
        self.index.refresh()
        try:
            began = time.monotonic()
            full = every_file or began >= self.next_scan
            if full and not every_file and not self.next_scan and self.index.counts().memories > FEW:
                full, self.next_scan = False, began + PATIENCE
            self.moved |= sync.follow(self.folder, self.index, self.default, full=full) > 0
            if full:
                took = time.monotonic() - began
                self.next_scan = time.monotonic() + (took * 20 if took > 0.1 else 0.0)
            self.moved |= sync.due(self.index, self.clock()) > 0
        except StoreError as fault:
            return [f"the index could not follow the files: {fault}"]
        return []

    def place(self, levels: Mapping[str, str | None]) -> Scope:
        """The scope that a caller means."""
        return scope_of(self.scope, levels)

    def home(self, levels: Mapping[str, str | None]) -> Scope:
        """The scope that something is written to."""
        return home_of(self.scope, levels)

    def view(self, scope: Scope, **rest: object) -> View:
        """What the caller may see."""
        return replace(View(scope=scope, owner=self.owner), **rest)  # type: ignore[arg-type]

    def find(self, name: str, scope: Scope) -> Statement:
        """The memory of that id or unique beginning of one, if the caller may see it."""
        return entries.memory_of(self.row(name, scope))

    def row(self, name: str, scope: Scope, types: tuple[Type, ...] = ("memory",)) -> Row:
        """The entry of that id or unique beginning of one, if the caller may see it."""
        view = self.view(scope, types=types, live=False, hidden=True)
        rows = self.index.select("id^", [name], view=view) if name else []
        exact = [row for row in rows if row.id == name] or rows
        if not exact:
            what = " or ".join(types)
            raise NotFoundError(f"there is no {what} {name!r} in {scope}; `spiral memory list` shows those there are")
        if len(exact) > 1:
            raise UsageError(f"{name!r} is the beginning of {len(exact)} ids; give more of it")
        return exact[0]

    def seen(self, ids: Iterable[str], scope: Scope) -> list[Row]:
        """Those memories and episodes of these ids, retired or not, that the caller may see."""
        view = self.view(scope, types=("memory", "episode"), live=False, hidden=True)
        return [row for name in ids for row in self.index.select("id^", [name], view=view) if row.id == name]

    def versions(self, ids: Sequence[str], at: Moment | None = None) -> dict[str, Version]:
        """The state of these memories and of their slot-mates, with evidence merged in."""
        now = self.clock()
        group = sync.gather(self.index, ids, [])
        everyone = (*group.core, *group.others)
        latest = group.latest(now)
        states = settle(
            everyone, [codec.slot(memory) for memory in everyone], group.changes, at or Moment(latest, latest)
        )
        core = {memory.id for memory in group.core}
        return {
            name: replace(state, memory=merged(state.memory, group.changes))
            for name, state in states.items()
            if name in core
        }


def merged(memory: Statement, changes: Sequence[Change]) -> Statement:
    """The memory with the evidence that later changes brought."""
    more = [
        item
        for change in changes
        if change.verb == "evidence" and memory.id in change.targets
        for item in change.evidence
    ]
    return replace(memory, evidence=tuple(dict.fromkeys((*memory.evidence, *more)))) if more else memory
