"""Writing one memory: guarded, deduplicated, superseding, in one atomic write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Literal

from spiral.errors import UsageError
from spiral.memory import anchors, codec, document, entries, sync
from spiral.memory.contradict import contradicts
from spiral.memory.echo import is_echo
from spiral.memory.files import stamp_of
from spiral.memory.guard import quarantine
from spiral.memory.renew import adds, imported, renewed
from spiral.memory.safe import safe_change, safe_draft, safe_memory
from spiral.memory.similar import restates
from spiral.memory.store import Store
from spiral.memory.words import content
from spiral.model import Change, Draft, Evidence, Scope, Statement
from spiral.ports import Entry, Probe, Sighting

LONGEST = 200_000
LINKS = 4

Outcome = Literal["added", "merged", "unchanged", "echo"]
Nearby = Callable[[], Sequence[Statement]]
"""Memories that share words with a new one; looked for when they are wanted, and once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What became of something that was to be remembered."""

    memory: Statement
    """The memory that holds it now, new or not."""
    outcome: Outcome
    superseded: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


def remember(store: Store, draft: Draft, scope: Scope, *, name: str = "", served: Sequence[str] = ()) -> Remembered:
    """Keep a statement; on disk when this returns.

    One winner: everything is decided and written inside the index's transaction, which admits one writer over all
    processes. The file is renamed into place before the transaction commits, so a crash in between leaves a whole file
    that the next use reads; if the transaction fails, the file goes again. A retry finds the same text current, or the
    same id, and changes nothing.
    """
    draft, found = safe_draft(draft)
    check(draft, name)
    with store.index.atomic():
        fresh = shaped(store, draft, scope)
        if served and is_echo(fresh.text, served):
            return Remembered(memory=fresh, outcome="echo", redacted=found)
        known = named(store, fresh, name) if name else None
        nearby = cache(lambda: neighbours(store, fresh))
        if known is None:
            held, known = already(store, fresh, draft, nearby)
        if known is not None:
            return replace(known, redacted=found)
        if held:
            fresh = renewed(held, fresh, draft)
            nearby.cache_clear()
        fresh, rivals = placed(store, fresh, held, name, nearby)
        save(store, fresh)
        superseded = tuple(row.id for row in store.index.get(rivals).values() if not row.live)
        return Remembered(memory=fresh, outcome="added", superseded=superseded, redacted=found)


def check(draft: Draft, name: str) -> None:
    """Refuse what cannot be kept."""
    if not draft.text:
        raise UsageError("there is nothing to remember: the text is empty")
    if len(draft.text) > LONGEST:
        raise UsageError(f"a memory of {len(draft.text):,} characters is too long; ingest it as an episode instead")
    if draft.valid_from and draft.valid_to and draft.valid_from > draft.valid_to:
        raise UsageError(
            f"valid_from {codec.stamp(draft.valid_from)} is after valid_to {codec.stamp(draft.valid_to)}; swap them"
        )
    if name:
        codec.identity(name)


def shaped(store: Store, draft: Draft, scope: Scope) -> Statement:
    """The draft as a memory that has no id yet."""
    return Statement(
        id="m-fresh",
        text=draft.text,
        kind=draft.kind,
        scope=scope,
        owner=store.owner,
        learned=draft.learned or store.clock(),
        visibility=draft.visibility or store.visibility,
        key=draft.key,
        tags=draft.tags,
        entities=tuple(dict.fromkeys((*draft.entities, *anchors.entities(draft.text)))),
        files=tuple(dict.fromkeys((*draft.files, *anchors.files(draft.text)))),
        commits=draft.commits,
        authority=draft.authority,
        evidence=draft.evidence,
        source=draft.source,
        session=draft.session,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        expires=draft.expires,
        supersedes=tuple(dict.fromkeys(store.find(target, scope).id for target in draft.supersedes)),
        links=draft.links,
        quarantine=quarantine(draft.text, draft.source, ""),
        metadata=draft.metadata,
    )


def named(store: Store, fresh: Statement, name: str) -> Remembered | None:
    """The memory that has this id already; None if there is none. Whose words it holds is not told to others."""
    row = store.index.get([name]).get(name)
    if row is None:
        return None
    memory = entries.memory_of(row) if row.type == "memory" else None
    if memory is None or twin(memory) != twin(fresh) or not restates(memory.text, fresh.text):
        raise UsageError(f"the id {name!r} is taken by something else; choose another, or leave it out")
    return Remembered(memory=memory, outcome="unchanged")


def already(store: Store, fresh: Statement, draft: Draft, nearby: Nearby) -> tuple[Statement | None, Remembered | None]:
    """The current memory that says the same, if any, and what became of the draft when no new version is due."""
    same = restatements(store, fresh)
    rows = store.index.get([memory.id for memory in same])
    held = next((memory for memory in same if rows[memory.id].live), None) or rephrased(fresh, nearby())
    if held is None:
        # Learned from the same words before, and retired since: hearing them again is not news.
        sources = {item.source for item in draft.evidence if item.source}
        retired = (memory for memory in same if sources and sources <= {item.source for item in memory.evidence})
        return None, next((Remembered(memory=memory, outcome="unchanged") for memory in retired), None)
    # An import that is read again says what its versions say together, in whatever order they came.
    versions = [held, *(same if imported(draft) else [])]
    if all(adds(memory, fresh, draft) for memory in versions):
        return held, None
    return held, merge(store, held, fresh)


def restatements(store: Store, memory: Statement) -> list[Statement]:
    """Every version, current or not, that says the same in the same place, oldest first."""
    same = [entries.memory_of(row) for row in store.index.select("digest", [twin(memory)])]
    return [version for version in same if restates(version.text, memory.text)]


def rephrased(fresh: Statement, nearby: Sequence[Statement]) -> Statement | None:
    """A current memory of the same place that says the same with other articles or spacing."""
    for memory in nearby:
        same = (memory.kind, memory.key, *place(memory)) == (fresh.kind, fresh.key, *place(fresh))
        if same and restates(memory.text, fresh.text):
            return memory
    return None


def merge(store: Store, memory: Statement, fresh: Statement) -> Remembered:
    """Add what is new in the evidence."""
    held = store.versions([memory.id])[memory.id].memory
    more = tuple(item for item in fresh.evidence if item not in held.evidence)
    if not more:
        return Remembered(memory=held, outcome="unchanged")
    write_change(store, "evidence", (memory.id,), evidence=more)
    return Remembered(memory=replace(held, evidence=(*held.evidence, *more)), outcome="merged")


def placed(
    store: Store, fresh: Statement, held: Statement | None, name: str, around: Nearby
) -> tuple[Statement, list[str]]:
    """The memory with its id, its place in the chain of its key, its links and what it contradicts; and the current
    memories whose place it may take, among them the one that it renews."""
    slot = codec.slot(fresh)
    chain = store.index.select("slot", [slot]) if slot else []
    heads = [row.id for row in chain if row.live]
    # The clock may have jumped back; within a chain what is learned later stays later.
    learned = [entries.memory_of(row).learned + timedelta(microseconds=1) for row in chain]
    supersedes = tuple(dict.fromkeys((*fresh.supersedes, *([held.id] if held else []))))
    rivals = [row.id for row in store.index.get(list(dict.fromkeys((*heads, *supersedes)))).values() if row.live]
    nearby = [memory for memory in around() if memory.id not in (*heads, *supersedes)]
    fresh = replace(
        fresh,
        learned=max((fresh.learned, *learned)),
        supersedes=supersedes,
        links=tuple(dict.fromkeys((*fresh.links, *linked(fresh, nearby))))[: LINKS + len(fresh.links)],
        conflicts=() if fresh.key or fresh.quarantine else conflicting(fresh, nearby),
    )
    return replace(fresh, id=name or minted(store, fresh, heads)), rivals


def minted(store: Store, fresh: Statement, heads: Sequence[str]) -> str:
    """An id that nobody has: neither in the index, nor as a file, which a person may have edited."""
    twins = [row.id for row in store.index.select("digest", [twin(fresh)])]
    found = "m" + codec.digest(twin(fresh), *sorted(twins), *sorted(heads if twins else []))
    while store.index.get([found]) or store.folder.holds(store.folder.path_of(replace(fresh, id=found))):
        found = "m" + codec.digest(found)
    return found


def neighbours(store: Store, fresh: Statement) -> list[Statement]:
    """Current memories of the same place that share words, files or names, the nearest first."""
    probe = Probe(words=content(fresh.text)[:16], anchors=entries.anchors(fresh), limit=12)
    found = store.index.search(probe, store.view(fresh.scope))
    ranks: dict[str, float] = {}
    for hits in found.values():
        for rank, (hit, _) in enumerate(hits):
            ranks[hit] = ranks.get(hit, 0.0) + 1 / (10 + rank)
    rows = store.index.get(sorted(ranks, key=lambda hit: (-ranks[hit], hit))[:12])
    return [entries.memory_of(row) for row in rows.values()]


def linked(fresh: Statement, nearby: Sequence[Statement]) -> list[str]:
    """Neighbours that speak of the same files or names, or in mostly the same words."""
    mine = set(entries.anchors(fresh))
    words = set(content(fresh.text))
    found = []
    for memory in nearby:
        theirs = set(content(memory.text))
        alike = len(words & theirs) / (len(words | theirs) or 1)
        if mine & set(entries.anchors(memory)) or alike >= 0.4:
            found.append(memory.id)
    return found[:LINKS]


def conflicting(fresh: Statement, nearby: Sequence[Statement]) -> tuple[str, ...]:
    """Neighbours without a key that seem to say the opposite."""
    return tuple(memory.id for memory in nearby if not memory.key and contradicts(fresh.text, memory.text))


def save(store: Store, memory: Statement) -> None:
    """Write the file without secrets, then the index. Inside `atomic`. No file that is there is replaced."""
    memory = safe_memory(memory)
    path = store.folder.free(store.folder.path_of(memory))
    write(store, path, document.write(memory))
    enter(store, path, entries.of_memory(memory, path), memory)


def save_change(store: Store, change: Change) -> Change:
    """Write the change's file without secrets, then the index; as it was written. Inside `atomic`."""
    change = safe_change(change)
    path = store.folder.free(store.folder.path_of_change(change))
    write(store, path, document.write_change(change))
    enter(store, path, entries.of_change(change, path))
    return change


def write(store: Store, path: str, content: str) -> None:
    """Write a file that goes again if the transaction fails: an error means that nothing was kept. Inside `atomic`."""

    def take_back() -> None:
        if store.folder.holds(path):
            store.folder.erase(path)

    store.index.otherwise(take_back)
    store.folder.write(path, content)


def enter(store: Store, path: str, entry: Entry, memory: Statement | None = None) -> None:
    """Put what was just written into the index and judge what it concerns."""
    store.index.put([entry])
    store.index.sight([Sighting(path=path, stamp=stamp_of((store.folder.root / path).stat()))])
    if path.rpartition("/")[0] + "/" not in store.index.sightings():
        store.index.sight([Sighting(path=path.rpartition("/")[0] + "/", stamp="")])
    touched = sync.Touched()
    if memory is not None:
        touched.memory(memory)
    else:
        touched.ids.update(target for _, target in entry.points)
    sync.judge(store.index, touched, store.clock())


def write_change(
    store: Store,
    verb: Literal["forget", "revoke", "undo", "evidence"],
    targets: tuple[str, ...],
    *,
    reason: str = "",
    evidence: tuple[Evidence, ...] = (),
    at: datetime | None = None,
) -> Change:
    """Write a change and let the index follow it. Inside `atomic`; a crash before the rename leaves nothing."""
    at = at or store.clock()
    salt = codec.stamp(at) if verb != "evidence" else "".join(item.text + item.source for item in evidence)
    change = Change(
        id="c" + codec.digest(verb, *targets, salt),
        verb=verb,
        targets=targets,
        at=at,
        by=store.owner,
        reason=reason,
        evidence=evidence,
    )
    return save_change(store, change)


def place(memory: Statement) -> tuple[Scope, str, Literal["private", "team", "org"]]:
    """Whose it is."""
    return memory.scope, memory.owner if memory.visibility == "private" else "", memory.visibility


def twin(memory: Statement) -> str:
    """Equal for memories that say the same in the same place."""
    return codec.twin(memory.text, memory.kind, memory.key, (memory.scope, memory.owner, memory.visibility))
