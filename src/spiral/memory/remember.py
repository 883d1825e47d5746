"""Writing one memory: guarded, deduplicated, superseding, in one atomic write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from spiral.errors import UsageError
from spiral.memory import anchors, codec, document, entries, sync
from spiral.memory.contradict import contradicts
from spiral.memory.echo import is_echo
from spiral.memory.files import stamp_of
from spiral.memory.guard import quarantine
from spiral.memory.redact import redact
from spiral.memory.similar import near
from spiral.memory.store import Store
from spiral.memory.words import content
from spiral.model import AUTHORITIES, Change, Draft, Evidence, Scope, Statement
from spiral.ports import Entry, Probe, Sighting

LONGEST = 200_000
LINKS = 4

Outcome = Literal["added", "merged", "unchanged", "echo"]


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
    that the next use reads. A retry finds the same text current, or the same id, and changes nothing.
    """
    draft, found = guarded(draft)
    if not draft.text:
        raise UsageError("there is nothing to remember: the text is empty")
    if len(draft.text) > LONGEST:
        raise UsageError(f"a memory of {len(draft.text):,} characters is too long; ingest it as an episode instead")
    if name and not codec.ID.fullmatch(name):
        raise UsageError(f"id must be 4 to 80 lower-case letters, digits, dots or dashes, not {name!r}")
    with store.index.atomic():
        fresh = shaped(store, draft, scope)
        if served and is_echo(fresh.text, served):
            return Remembered(memory=fresh, outcome="echo", redacted=found)
        known = already(store, fresh, draft, name)
        if known is not None:
            return replace(known, redacted=found)
        fresh, superseded = placed(store, fresh, name)
        save(store, fresh)
        return Remembered(memory=fresh, outcome="added", superseded=superseded, redacted=found)


def guarded(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft without secrets, and which kinds were taken out."""
    found: list[str] = []

    def clean(text: str) -> str:
        safe, kinds = redact(codec.printable(text))
        found.extend(kinds)
        return safe

    evidence = tuple(replace(item, text=clean(item.text), source=clean(item.source)) for item in draft.evidence)
    cleaned = replace(
        draft,
        text=clean(draft.text),
        key=clean(draft.key),
        source=clean(draft.source),
        tags=tuple(clean(tag) for tag in draft.tags),
        entities=tuple(clean(entity) for entity in draft.entities),
        evidence=evidence,
        metadata={clean(key): clean(value) for key, value in draft.metadata.items()},
    )
    return cleaned, tuple(dict.fromkeys(found))


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
        supersedes=draft.supersedes,
        links=draft.links,
        quarantine=quarantine(draft.text, draft.source, ""),
        metadata=draft.metadata,
    )


def already(store: Store, fresh: Statement, draft: Draft, name: str) -> Remembered | None:
    """What is there already and says the same, with this draft's evidence merged into it; None if it is news."""
    if name and (row := store.index.get([name]).get(name)):
        memory = entries.memory_of(row)
        if codec.twin(memory.text, memory.kind, memory.key, place(memory)) != twin(fresh):
            raise UsageError(f"the id {name!r} is taken by another memory: {memory.text[:60]!r}")
        return Remembered(memory=memory, outcome="unchanged")
    rows = store.index.select("digest", [twin(fresh)])
    sources = {item.source for item in draft.evidence if item.source}
    for row in rows:
        memory = entries.memory_of(row)
        if row.live:
            return merge(store, memory, fresh)
        # Learned from the same words before, and retired since: hearing them again is not news.
        if sources and sources <= {item.source for item in memory.evidence}:
            return Remembered(memory=memory, outcome="unchanged")
    for memory in neighbours(store, fresh):
        same = (memory.kind, memory.key, *place(memory)) == (fresh.kind, fresh.key, *place(fresh))
        if same and near(memory.text, fresh.text):
            return merge(store, memory, fresh)
    return None


def merge(store: Store, memory: Statement, fresh: Statement) -> Remembered | None:
    """Add what is new in the evidence; a stronger authority instead makes a new version, so None."""
    if AUTHORITIES.index(fresh.authority) < AUTHORITIES.index(memory.authority):
        return None
    held = store.versions([memory.id])[memory.id].memory
    more = tuple(item for item in fresh.evidence if item not in held.evidence)
    if not more:
        return Remembered(memory=held, outcome="unchanged")
    write_change(store, "evidence", (memory.id,), evidence=more)
    return Remembered(memory=replace(held, evidence=(*held.evidence, *more)), outcome="merged")


def placed(store: Store, fresh: Statement, name: str) -> tuple[Statement, tuple[str, ...]]:
    """The memory with its id, its place in the chain of its key, its links and what it contradicts."""
    slot = codec.slot(fresh)
    chain = [entries.memory_of(row) for row in store.index.select("slot", [slot])] if slot else []
    heads = [row.id for row in (store.index.select("slot", [slot]) if slot else []) if row.live]
    # The clock may have jumped back; within a chain what is learned later stays later.
    latest = max((memory.learned for memory in chain), default=fresh.learned - timedelta(microseconds=1))
    fresh = replace(fresh, learned=max(fresh.learned, latest + timedelta(microseconds=1)))
    twins = [row.id for row in store.index.select("digest", [twin(fresh)])]
    outranked = [row for row in twins if store.index.get([row])[row].live]
    supersedes = tuple(dict.fromkeys((*fresh.supersedes, *outranked)))
    identity = name or "m" + codec.digest(twin(fresh), *sorted(twins), *sorted(heads if twins else []))
    nearby = [memory for memory in neighbours(store, fresh) if memory.id not in (*heads, *supersedes)]
    fresh = replace(
        fresh,
        id=identity,
        supersedes=supersedes,
        links=tuple(dict.fromkeys((*fresh.links, *linked(fresh, nearby))))[: LINKS + len(fresh.links)],
        conflicts=() if fresh.key or fresh.quarantine else conflicting(fresh, nearby),
    )
    return fresh, (*heads, *supersedes)


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
    """Write the file, then the index. Inside `atomic`."""
    path = store.folder.path_of(memory)
    store.folder.write(path, document.write(memory))
    enter(store, path, entries.of_memory(memory, path), memory)


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
    path = store.folder.path_of_change(change)
    store.folder.write(path, document.write_change(change))
    enter(store, path, entries.of_change(change, path))
    return change


def place(memory: Statement) -> tuple[Scope, str, Literal["private", "team", "org"]]:
    """Whose it is."""
    return memory.scope, memory.owner if memory.visibility == "private" else "", memory.visibility


def twin(memory: Statement) -> str:
    """Equal for memories that say the same in the same place."""
    return codec.twin(memory.text, memory.kind, memory.key, (memory.scope, memory.owner, memory.visibility))
