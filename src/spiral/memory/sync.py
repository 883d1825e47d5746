"""The index follows the files: whatever a person or another process changed is there at the next use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from spiral.errors import StoreError
from spiral.memory import codec, document, entries, segments
from spiral.memory.files import CHANGES, EPISODES, PARTS, Folder
from spiral.memory.settle import Moment, next_change, settle
from spiral.memory.silence import concerning, silenced
from spiral.memory.values import reason
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
    # A folder that came shows in the one that holds it.
    stale += [path for part in PARTS if (path := f"{part}/") not in known]
    waiting = [*stale]
    while waiting:
        came = [path for path in folder.below(waiting.pop()) if path not in known]
        stale += came
        waiting += came
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
    changed |= rivals(index, {*found.gone, *changed})
    for done, path in enumerate(sorted(changed), 1):
        read_file(folder, index, changed[path], default, touched)
        if progress:
            progress("reading files", done, len(changed))
    index.unsight([*found.gone, *found.lost])
    index.sight(found.folders)
    judge(index, touched, datetime.now(UTC))


def rivals(index: Index, paths: set[str]) -> dict[str, Sighting]:
    """The files that lost a quarrel over an id to one of these, which they may have won now."""
    lost = [file for file in index.faults() if file.fault.startswith(TWIN)] if paths else []
    return {file.path: file for file in lost if file.path not in paths and any(path in file.fault for path in paths)}


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
        entry = entry_of(folder, file, default, touched)
    # A file is a stranger's: whatever is wrong with it must not cost the others.
    except Exception as fault:  # noqa: BLE001
        index.sight([replace(file, fault=reason(fault))])
        return
    rival = index.get([entry.id]).get(entry.id)
    if rival is not None and rival.path < file.path and (folder.root / rival.path).exists():
        index.sight([replace(file, fault=TWIN + rival.path)])
        return
    if rival is not None:
        index.sight([Sighting(path=rival.path, stamp="", fault=TWIN + file.path)])
    index.put([entry])
    index.sight([replace(file, fault="")])


def entry_of(folder: Folder, file: Sighting, default: Statement, touched: Touched) -> Entry:
    """The memory or change in a file, and what it concerns."""
    raw = folder.read(file.path)
    if file.path.startswith(CHANGES):
        change = document.read_change(raw)
        entry = entries.of_change(change, file.path)
        touched.ids.update(change.targets)
        return entry
    memory = hand_made(folder, file, raw, default)
    entry = entries.of_memory(memory, file.path)
    touched.memory(memory)
    return entry


def hand_made(folder: Folder, file: Sighting, raw: str, default: Statement) -> Statement:
    """The memory in a file; what a person left out is filled in, with the file's own time as when we learned it."""
    try:
        changed = (folder.root / file.path).stat().st_mtime
    except OSError as fault:
        raise StoreError(f"cannot read {file.path!r}: {fault.strerror}") from fault
    return document.read(raw, default=replace(default, learned=datetime.fromtimestamp(changed, UTC)))


def read_segment(folder: Folder, index: Index, file: Sighting, touched: Touched) -> None:
    """Read a segment; a torn or mangled line is noted and costs no other. Of two with the same episode, the first by
    name has it, as long as it is there. What came after its retirement is judged."""
    there = {row.id for row in index.select("path", [file.path])}
    found: dict[str, Entry] = {}
    seen: set[str] = set()
    faults: list[str] = []
    try:
        lines = list(segments.read(folder, file.path))
    except StoreError as fault:
        index.sight([replace(file, fault=reason(fault))])
        return
    for line in lines:
        if line.episode is None:
            faults.append(line.fault)
        elif line.episode.id not in seen:
            seen.add(line.episode.id)
            if line.episode.id not in there:
                found[line.episode.id] = entries.of_episode(line.episode, file.path)
    others = {row.id: row.path for row in index.get(list(found)).values() if (folder.root / row.path).exists()}
    earlier = {name: path for name, path in others.items() if path < file.path}
    index.sight(
        Sighting(path=path, stamp="", fault=TWIN + file.path) for path in sorted({*others.values()}) if path > file.path
    )
    fresh = [entry for name, entry in found.items() if name not in earlier]
    index.put(fresh)
    for change in concerning(index, [entry.id for entry in fresh]).values():
        touched.ids.update(change.targets)
    index.remove(there - seen)
    twins = [TWIN + ", ".join(sorted(set(earlier.values())))] if earlier else []
    index.sight([replace(file, fault="; ".join((twins + faults)[:3]))])


def judge(index: Index, touched: Touched, now: datetime) -> None:
    """Derive the state of everything that was touched and mark it. Inside `atomic`; judging again changes nothing."""
    concern(index, touched)
    for some in batches(touched.slots):
        index.mark(gather(index, [], some).states(now))
    for some in batches(touched.ids):
        index.mark(gather(index, some, []).states(now))
        episodes = [row.id for row in index.get(some).values() if row.type == "episode"]
        quiet = silenced(index, episodes)
        index.mark((name, name not in quiet, 0) for name in episodes)


def concern(index: Index, touched: Touched) -> None:
    """An undo names a change, which may be an undo too: what is touched is what the first of them was about."""
    seen: set[str] = set()
    while waiting := sorted(touched.ids - seen):
        seen.update(waiting)
        for row in index.get(waiting).values():
            if row.type == "change":
                touched.row(row)


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
    core |= mates(index, slots)
    core |= mates(index, {codec.slot(memory) for memory in core.values()} - {"", *slots})
    others = {
        row.id: entries.memory_of(row)
        for some in batches(core)
        for row in index.pointing("supersedes", some)
        if row.id not in core
    }
    changes = concerning(index, [*core, *others])
    return Group(tuple(core.values()), tuple(others.values()), tuple(changes.values()))


def mates(index: Index, slots: Iterable[str]) -> dict[str, Statement]:
    """The memories of these slots."""
    return {row.id: entries.memory_of(row) for some in batches(slots) for row in index.select("slot", some)}


def batches(names: Iterable[str]) -> Iterator[list[str]]:
    """The names in order, as many at a time as one statement may take."""
    ordered = sorted(names)
    return (ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH))


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
