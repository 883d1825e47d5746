"""The index follows the files: whatever a person or another process changed is there at the next use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from spiral.errors import SpiralError, StoreError
from spiral.memory import codec, document, entries, segments
from spiral.memory.files import CHANGES, EPISODES, Folder
from spiral.memory.settle import Moment, next_change, settle
from spiral.memory.silence import concerning, silenced
from spiral.model import Change, Statement
from spiral.ports import Entry, Index, Row, Sighting

BATCH = 400
TWIN = "has the same id as "

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and out of how much."""


@dataclass(slots=True)
class Touched:
    """What has to be judged again after files changed."""

    ids: set[str] = field(default_factory=set)
    slots: set[str] = field(default_factory=set)

    def row(self, row: Row) -> None:
        """A memory or change that came or went concerns its slot and what it points at."""
        if row.type == "memory":
            memory = entries.memory_of(row)
            self.memory(memory)
        elif row.type == "change":
            self.ids.update(entries.change_of(row).targets)

    def memory(self, memory: Statement) -> None:
        """Judge this memory, its slot, and what it supersedes."""
        self.ids.add(memory.id)
        self.ids.update(memory.supersedes)
        if slot := codec.slot(memory):
            self.slots.add(slot)


@dataclass(frozen=True, slots=True)
class Delta:
    """How the files of some folders differ from what the index has read."""

    changed: tuple[Sighting, ...]
    gone: tuple[str, ...]
    folders: tuple[Sighting, ...]
    lost: tuple[str, ...]
    """Folders that are there no more."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.folders or self.lost)


def follow(
    folder: Folder, index: Index, default: Statement, *, full: bool = False, progress: Progress | None = None
) -> int:
    """Bring the index up to the files; how many files were read or dropped.

    Looks at folders first and at the files of those that changed; `full` looks at every file, for edits in place. What
    is found is looked at again inside the index's own transaction, which admits one writer, so two that follow at once
    do the work once; a retry finds nothing left to do.
    """
    if not delta(folder, index, full=full):
        return 0
    with index.atomic():
        found = delta(folder, index, full=full)
        apply(folder, index, found, default, progress)
        return len(found.changed) + len(found.gone)


def delta(folder: Folder, index: Index, *, full: bool) -> Delta:
    """What differs between the folder and the index."""
    known = index.sightings()
    stamps = {path: folder.look(path) for path in known}
    lost = [path for path in known if not stamps[path] and not (folder.root / path).is_dir()]
    stale = [
        path
        for path, seen in known.items()
        if path not in lost and (full or seen.stamp != stamps[path] or not seen.stamp)
    ]
    if not known or any(path.count("/") == 1 or path in stale for path in stale):
        stale.extend(path for path in folder.folders() if path not in known)
    changed: list[Sighting] = []
    gone: list[str] = [path for name in lost for path in index.sightings(name)]
    fresh: list[Sighting] = []
    for name in dict.fromkeys(stale):
        # The folder's stamp is taken before its files are read: a change in between shows at the next look.
        stamp = folder.look(name)
        seen = dict(index.sightings(name))
        for file in folder.files(name):
            before = seen.pop(file.path, None)
            if before is None or before.stamp != file.stamp:
                changed.append(file)
        gone.extend(seen)
        if name not in known or known[name].stamp != stamp:
            fresh.append(Sighting(path=name, stamp=stamp))
    return Delta(tuple(changed), tuple(gone), tuple(fresh), tuple(lost))


def apply(folder: Folder, index: Index, found: Delta, default: Statement, progress: Progress | None = None) -> None:
    """Read what changed and drop what is gone, then judge what that concerns. Inside `atomic`."""
    touched = Touched()
    for path in found.gone:
        drop(index, path, touched)
    changed = {file.path: file for file in found.changed}
    if found.gone or changed:
        # Whoever lost a quarrel over an id may have won it now.
        changed |= {
            file.path: file for file in index.faults() if file.fault.startswith(TWIN) and file.path not in changed
        }
    for done, path in enumerate(sorted(changed), 1):
        read_file(folder, index, changed[path], default, touched)
        if progress:
            progress("reading files", done, len(changed))
    index.unsight([*found.gone, *found.lost])
    index.sight(found.folders)
    judge(index, touched, datetime.now(UTC))


def drop(index: Index, path: str, touched: Touched) -> None:
    """Take out what came from a file."""
    rows = index.select("path", [path])
    for row in rows:
        touched.row(row)
    index.remove(row.id for row in rows)


def read_file(folder: Folder, index: Index, file: Sighting, default: Statement, touched: Touched) -> None:
    """Read one file into the index; one that cannot be read is noted with the reason and left as it is."""
    if file.path.startswith(EPISODES):
        read_segment(folder, index, file, touched)
        return
    drop(index, file.path, touched)
    try:
        raw = folder.read(file.path)
        if file.path.startswith(CHANGES):
            change = document.read_change(raw)
            entry, targets = entries.of_change(change, file.path), change.targets
            touched.ids.update(targets)
        else:
            memory = hand_made(folder, file, raw, default)
            entry = entries.of_memory(memory, file.path)
            touched.memory(memory)
    except SpiralError as fault:
        index.sight([replace(file, fault=str(fault))])
        return
    rival = index.get([entry.id]).get(entry.id)
    if rival is not None and rival.path < file.path and (folder.root / rival.path).exists():
        index.sight([replace(file, fault=TWIN + rival.path)])
        return
    if rival is not None:
        index.sight([Sighting(path=rival.path, stamp="", fault=TWIN + file.path)])
    index.put([entry])
    index.sight([replace(file, fault="")])


def hand_made(folder: Folder, file: Sighting, raw: str, default: Statement) -> Statement:
    """The memory in a file; what a person left out is filled in, with the file's own time as when we learned it."""
    try:
        changed = (folder.root / file.path).stat().st_mtime
    except OSError as fault:
        raise StoreError(f"cannot read {file.path!r}: {fault.strerror}") from fault
    return document.read(raw, default=replace(default, learned=datetime.fromtimestamp(changed, UTC)))


def read_segment(folder: Folder, index: Index, file: Sighting, touched: Touched) -> None:
    """Read a segment; a torn or mangled line is noted and costs no other. What came after its retirement is judged."""
    there = {row.id for row in index.select("path", [file.path])}
    seen: set[str] = set()
    faults: list[str] = []
    fresh: list[Entry] = []
    for line in segments.read(folder, file.path):
        if line.episode is None:
            faults.append(line.fault)
        elif line.episode.id not in seen:
            seen.add(line.episode.id)
            if line.episode.id not in there:
                fresh.append(entries.of_episode(line.episode, file.path))
    index.put(fresh)
    for change in concerning(index, [entry.id for entry in fresh]).values():
        touched.ids.update(change.targets)
    index.remove(there - seen)
    index.sight([replace(file, fault="; ".join(faults[:3]))])


def judge(index: Index, touched: Touched, now: datetime) -> None:
    """Derive the state of everything that was touched and mark it. Inside `atomic`; judging again changes nothing."""
    ids = sorted(touched.ids)
    # An undo names a change: what is touched is what that change was about.
    for at in range(0, len(ids), BATCH):
        for row in index.get(ids[at : at + BATCH]).values():
            if row.type == "change":
                touched.row(row)
    slots = sorted(touched.slots)
    for at in range(0, len(slots), BATCH):
        group = gather(index, [], slots[at : at + BATCH])
        index.mark(group.states(now))
    alone = sorted(touched.ids)
    for at in range(0, len(alone), BATCH):
        group = gather(index, alone[at : at + BATCH], [])
        index.mark(group.states(now))
        episodes = [row.id for row in index.get(alone[at : at + BATCH]).values() if row.type == "episode"]
        quiet = silenced(index, episodes)
        index.mark((name, name not in quiet, 0) for name in episodes)


@dataclass(frozen=True, slots=True)
class Group:
    """Memories to judge, with all that has a say in it."""

    core: tuple[Statement, ...]
    others: tuple[Statement, ...]
    changes: tuple[Change, ...]

    def states(self, now: datetime) -> Iterator[tuple[str, bool, int]]:
        """(id, current, when to judge again) of the core."""
        everyone = (*self.core, *self.others)
        at = self.latest(now)
        versions = settle(everyone, [codec.slot(memory) for memory in everyone], self.changes, Moment(at, at))
        turn = next_change(everyone, now)
        for memory in self.core:
            yield memory.id, versions[memory.id].state == "current", codec.micros(turn) if turn else 0

    def latest(self, now: datetime) -> datetime:
        """Now, or later if the clock has jumped back: what is here is known, whatever the clock says."""
        learned = (memory.learned for memory in (*self.core, *self.others))
        return max((now, *learned, *(change.at for change in self.changes)))


def gather(index: Index, ids: Iterable[str], slots: Iterable[str]) -> Group:
    """Memories by id or slot, their slot-mates, what points at them, and the changes that concern any of these."""
    core = {row.id: entries.memory_of(row) for row in index.get(list(ids)).values() if row.type == "memory"}
    core |= {row.id: entries.memory_of(row) for row in index.select("slot", list(slots))}
    wanted = sorted({codec.slot(memory) for memory in core.values()} - {"", *slots})
    mates = {row.id: entries.memory_of(row) for row in index.select("slot", wanted)} if wanted else {}
    core |= mates
    others: dict[str, Statement] = {}
    if core:
        others = {
            row.id: entries.memory_of(row) for row in index.pointing("supersedes", list(core)) if row.id not in core
        }
    changes: dict[str, Change] = {}
    waiting = [*core, *others]
    while waiting:
        found = [entries.change_of(row) for row in index.pointing("changes", waiting) if row.id not in changes]
        changes |= {change.id: change for change in found}
        waiting = [change.id for change in found]
    return Group(tuple(core.values()), tuple(others.values()), tuple(changes.values()))


def due(index: Index, now: datetime) -> int:
    """Judge again what time alone has changed: expired, ended, begun; how many. Cheap when there is nothing."""
    rows = index.select("due", [codec.micros(now)])
    if rows:
        with index.atomic():
            touched = Touched()
            for row in index.select("due", [codec.micros(now)]):
                touched.row(row)
            judge(index, touched, now)
    return len(rows)
