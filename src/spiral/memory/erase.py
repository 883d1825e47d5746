"""Erasing for good: no byte of the text stays in files, segments, index or page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spiral.errors import SpiralError
from spiral.memory import codec, document, entries, segments, sync
from spiral.memory.files import CHANGES, EPISODES, failing
from spiral.memory.forget import Wanted, chosen, derived, is_home
from spiral.memory.page import NAME, write_page
from spiral.memory.remember import enter, restatements, write_change
from spiral.memory.silence import BATCH
from spiral.memory.store import Store
from spiral.model import Change, Scope, Statement
from spiral.ports import Row

OWED = "erasing"
"""The note in the index that says that its files may hold erased bytes."""
HELD = (
    "another process reads or rebuilds the index, so its files keep the erased text until it ends; "
    "`spiral doctor` finishes the work then, `spiral reindex` at once"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased:
    """What was erased for good, and where it still is."""

    ids: tuple[str, ...]
    files: tuple[str, ...]
    left: str = ""
    """Where the text still is and until when; empty when it is nowhere."""


def erase(store: Store, wanted: Wanted, scope: Scope) -> Erased:
    """Remove the text for good: a memory with its twins and the episodes that it quotes, an episode with the memories
    that were derived from it.

    One winner: what is erased is decided, and the files go, inside the index's transaction; the index's own bytes and
    the page follow. What must outlast a failure is committed before, for a file that is gone cannot be taken back. So a
    crash in between leaves an index that drops the rest at the next use, and a retry or `doctor` erases what is left.
    """
    store.use(every_file=True)
    finish(store)
    with store.index.atomic():
        rows = doomed(store, wanted, scope)
        if not wanted.source:
            retire_mates(store, [entries.memory_of(row) for row in rows if row.type == "memory"], scope)
        store.index.note(OWED, "1")
    with store.index.atomic():
        rows = doomed(store, wanted, scope)
        gone = {row.id for row in rows}
        changes = list(speaking_of(store, gone))
        files = {*wipe_files(store, rows, changes), *wipe_segments(store, gone)}
        wipe_leftovers(store, files)
    lost = [row.id for row, rest in changes if rest is None]
    whole = finish(store, [*(row.id for row in rows), *lost])
    judge_rest(store, rows)
    store.use(every_file=True)
    write_page(store)
    return Erased(ids=tuple(row.id for row in rows), files=tuple(sorted(files)), left="" if whole else HELD)


def finish(store: Store, ids: Sequence[str] = ()) -> bool:
    """Take the entries out of the index's files; whether nothing is left there. A second call goes on from there."""
    if not store.index.note(OWED):
        return True
    if not store.index.purge(ids):
        return False
    with store.index.atomic():
        store.index.note(OWED, "")
    return True


def judge_rest(store: Store, rows: Sequence[Row]) -> None:
    """Derive the state of what the erased memories had a say in; judging again changes nothing."""
    touched = sync.Touched()
    for row in rows:
        touched.row(row)
    with store.index.atomic():
        sync.judge(store.index, touched, store.clock())


def doomed(store: Store, wanted: Wanted, scope: Scope) -> list[Row]:
    """What goes: what was named, and what says the same because it was made from it or quoted by it."""
    rows = chosen(store, wanted, scope)
    episodes = [row for row in rows if row.type == "episode"]
    found = {row.id: row for row in (*rows, *derived(store, episodes, scope))}
    if wanted.ids or wanted.key:
        memories = [row for row in rows if row.type == "memory"]
        found |= {row.id: row for row in said_again(store, memories, scope)}
    return list(found.values())


def said_again(store: Store, rows: Sequence[Row], scope: Scope) -> Iterator[Row]:
    """Memories of the same words, and the episodes that any of these quotes, also those that later evidence quotes."""
    asked = [entries.memory_of(row) for row in rows]
    twins = [store.index.get([again.id])[again.id] for memory in asked for again in restatements(store, memory)]
    ids = [row.id for row in (*rows, *twins)]
    versions = store.versions(ids)
    quoted = {item.source for name in ids if name in versions for item in versions[name].memory.evidence}
    for row in store.seen((*(row.id for row in twins), *sorted(quoted - {""})), scope):
        if is_home(row, scope) and (row.type == "episode" or row.id in ids):
            yield row


def retire_mates(store: Store, memories: Sequence[Statement], scope: Scope) -> None:
    """Forget what these memories superseded: erasing the successor must not make an outdated fact current again.
    Inside `atomic`."""
    gone = {memory.id for memory in memories}
    slots = sorted({slot for memory in memories if (slot := codec.slot(memory))})
    mates = [row.id for row in store.index.select("slot", slots)] if slots else []
    named = [row.id for row in store.seen({name for memory in memories for name in memory.supersedes}, scope)]
    versions = store.versions(sorted({*mates, *named} - gone))
    outdated = [
        name
        for name, version in versions.items()
        if version.state == "superseded" and version.by in gone and name not in gone
    ]
    if outdated:
        write_change(store, "forget", tuple(sorted(outdated)), reason="what superseded it was erased")


def speaking_of(store: Store, gone: Iterable[str]) -> Iterator[tuple[Row, Change | None]]:
    """Changes that may repeat what is erased, each with what may stay of it; None when nothing may."""
    lost = set(gone)
    seen: set[str] = set()
    waiting = sorted(lost)
    quoting = [row for row in store.index.select("type", ["change"]) if '"evidence"' in row.body and quotes(row) & lost]
    while waiting or quoting:
        some, waiting = waiting[:BATCH], waiting[BATCH:]
        rows = [*quoting, *(store.index.pointing("changes", some) if some else [])]
        quoting = []
        for row in rows:
            if row.id not in seen:
                seen.add(row.id)
                rest = without(entries.change_of(row), lost)
                if rest is None:
                    lost.add(row.id)
                    waiting.append(row.id)
                yield row, rest


def quotes(row: Row) -> set[str]:
    """The ids that a change's evidence comes from."""
    return {item.source for item in entries.change_of(row).evidence}


def without(change: Change, gone: set[str]) -> Change | None:
    """The change as far as it concerns others, without a reason, which may repeat the text; None if nothing is left."""
    targets = tuple(target for target in change.targets if target not in gone)
    evidence = tuple(item for item in change.evidence if item.source not in gone)
    if not targets or (change.verb == "evidence" and not evidence):
        return None
    return replace(change, targets=targets, evidence=evidence, reason="")


def wipe_files(store: Store, rows: Sequence[Row], changes: Sequence[tuple[Row, Change | None]]) -> Iterator[str]:
    """Erase the files of memories and changes with every copy of them; write anew what concerns others too."""
    gone = {row.id: row.path for row in rows if row.type == "memory"}
    gone |= {row.id: row.path for row, rest in changes if rest is None}
    spoken = {row.id for row, _ in changes}
    copies = [path for path, name in copied(store) if name in gone or name in spoken]
    store.index.unsight(copies)
    for path in (*gone.values(), *copies):
        store.folder.erase(path)
        yield path
    for row, rest in changes:
        if rest is not None:
            store.folder.write(row.path, document.write_change(rest))
            enter(store, row.path, entries.of_change(rest, row.path))
            yield row.path


def copied(store: Store) -> Iterator[tuple[str, str]]:
    """(path, id) of files that have the id of another one and so are not in the index."""
    for file in store.index.faults():
        if file.fault.startswith(sync.TWIN) and not file.path.startswith(EPISODES):
            try:
                raw = store.folder.read(file.path)
                is_change = file.path.startswith(CHANGES)
                found = document.read_change(raw) if is_change else document.read(raw, default=store.default)
            except SpiralError:
                continue
            yield file.path, found.id


def wipe_segments(store: Store, gone: set[str]) -> Iterator[str]:
    """Write every segment anew that holds one of these episodes; a copied segment holds them too."""
    for name in store.folder.folders():
        for file in store.folder.files(name) if name.startswith(EPISODES) else ():
            with failing(store.folder.root / file.path):
                held = segments.named((store.folder.root / file.path).read_bytes())
            if gone & held and segments.rewrite(store.folder, file.path, gone):
                yield file.path


def wipe_leftovers(store: Store, files: Iterable[str]) -> None:
    """Remove what a killed writer left half-written beside these files. Inside `atomic`, so nobody is writing there."""
    for parent in sorted({(store.folder.root / path).parent for path in files}):
        for leftover in parent.glob(".*.tmp"):
            leftover.unlink(missing_ok=True)
    for leftover in store.folder.root.glob(f".{NAME}.*.tmp"):
        leftover.unlink(missing_ok=True)
