"""Finding what matters to a question: channels, fused, judged, cut to a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from spiral.errors import EmbedderError, UsageError
from spiral.memory import anchors, entries, rank
from spiral.memory.codec import micros
from spiral.memory.settle import Moment
from spiral.memory.silence import silenced
from spiral.memory.store import Store
from spiral.memory.tokens import excerpt, tokens
from spiral.memory.words import STOP, content, terms
from spiral.model import Dropped, Hit, Kind, Recall, Scope
from spiral.ports import Probe, Row, View

FRAME = 28
"""Tokens that the frame around a hit takes: source, age and authority."""
LONGEST_HIT = 400
CANDIDATES = 80
MOST = CANDIDATES * 64
"""Candidates of a channel for a question about the past, at most."""
NEIGHBOURS = 3
NEAR = 0.6
"""Similarity from which a memory counts as a neighbour in meaning; unrelated sentences stay below 0.4."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What to look for, and how much room the answer may take."""

    text: str
    scope: Scope
    budget: int = 2_000
    limit: int = 20
    kinds: tuple[Kind, ...] = ()
    episodes: bool = True
    links: bool = False
    as_of: datetime | None = None
    """What did we know then?"""
    true_at: datetime | None = None
    """What was true then?"""
    hidden: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise UsageError("there is no question; say what to look for")
        if self.budget < 1 or self.limit < 1:
            raise UsageError(f"budget and limit must be at least 1, not {self.budget} and {self.limit}")


def recall(store: Store, query: Query) -> Recall:
    """The best hits within the budget, with what was dropped and what was degraded. No network; no model but a local
    one for the question itself, and never a wait for vectors that are still owed."""
    degraded = store.use()
    view = store.view(
        query.scope,
        types=("memory", "episode") if query.episodes else ("memory",),
        kinds=query.kinds,
        live=query.as_of is None and query.true_at is None,
        hidden=query.hidden,
        known=micros(query.as_of) if query.as_of else 0,
    )
    probe, notes = probed(store, query)
    degraded += notes
    hits, dropped = holding(store, query, probe, view)
    now = store.clock()
    hits = sorted((replace(hit, score=hit.score * rank.prior(hit, now)) for hit in hits), key=best_first)
    if query.links:
        linked, over = judged(store, hop(store, hits, view, query), query)
        hits, dropped = sorted(hits + linked, key=best_first), dropped + over
    hits, twins = rank.collapse(hits)
    hits, cut = rank.within(hits, query.budget, query.limit)
    return Recall(
        question=query.text,
        hits=tuple(hits),
        dropped=(*dropped, *twins, *cut),
        degraded=tuple(degraded),
        tokens=sum(hit.tokens for hit in hits),
    )


def holding(store: Store, query: Query, probe: Probe, view: View) -> tuple[list[Hit], list[Dropped]]:
    """Candidates that hold at the moment asked about, and those that do not. What was retired since or before may come
    first in great numbers, so a question about the past looks at more until enough are left."""
    while True:
        found = store.index.search(probe, view)
        fused = rank.fuse(found)[: probe.limit * 2]
        rows = store.index.get([item.id for item in fused])
        hits, dropped = judged(store, [shown(rows[item.id], item, query) for item in fused if item.id in rows], query)
        cut = any(len(hits) >= probe.limit for hits in found.values())
        if view.live or not cut or len(hits) >= query.limit or probe.limit >= MOST:
            return hits, dropped
        probe = replace(probe, limit=probe.limit * 4)


def best_first(hit: Hit) -> tuple[float, str]:
    """Sorts hits by score, equal ones by id."""
    return (-round(hit.score, 9), hit.id)


def probed(store: Store, query: Query) -> tuple[Probe, list[str]]:
    """The question in the forms that the channels understand, and what could not be asked."""
    found = terms(query.text)
    words = content(query.text) or tuple(dict.fromkeys(found.words))
    exact = tuple(dict.fromkeys(term for term in (*found.exact, *words) if term not in STOP))
    notes: list[str] = []
    vector = None
    if store.embedder is None:
        notes.append("words only: no embedding model is set (embedder.model)")
    else:
        try:
            vector = store.embedder.embed([query.text])
        except EmbedderError as fault:
            notes.append(f"words only: {fault}")
        owed = store.index.owing()
        if owed:
            notes.append(f"{owed} texts wait for their vectors; `spiral memory embed` makes them")
    key = query.text.strip()
    names = (*anchors.entities(query.text), *anchors.files(query.text))
    lowered = tuple(
        dict.fromkeys(name.lower() for name in (*names, *(file.rsplit("/", 1)[-1] for file in names), *words))
    )
    probe = Probe(
        words=words[:40],
        exact=exact[:40],
        parts=tuple(part for part in exact if len(part) >= 4)[:8],
        keys=(key,) if " " not in key else (),
        anchors=lowered[:40],
        vector=vector,
        limit=CANDIDATES,
    )
    return probe, notes


def shown(row: Row, item: rank.Fused, query: Query) -> Hit:
    """A candidate as a hit; a long one is cut to the stretch that matters."""
    room = min(LONGEST_HIT, query.budget)
    if row.type == "memory":
        memory = entries.memory_of(row)
        text = excerpt(memory.text, content(query.text), room - FRAME) if room > FRAME else memory.text
        return Hit(
            id=row.id, text=text, score=item.score, tokens=tokens(text) + FRAME, channels=item.channels, memory=memory
        )
    episode = entries.episode_of(row)
    text = excerpt(episode.text, content(query.text), room - FRAME) if room > FRAME else episode.text
    return Hit(
        id=row.id, text=text, score=item.score, tokens=tokens(text) + FRAME, channels=item.channels, episode=episode
    )


def judged(store: Store, hits: Sequence[Hit], query: Query) -> tuple[list[Hit], list[Dropped]]:
    """Only what holds at the moment that is asked about, on both axes."""
    now = store.clock()
    if query.as_of is None and query.true_at is None:
        # The index knows what is current; time may have passed since on a disk that cannot be written.
        over = [
            hit
            for hit in hits
            if hit.memory and any(end and end <= now for end in (hit.memory.expires, hit.memory.valid_to))
        ]
        gone = {hit.id for hit in over}
        return [hit for hit in hits if hit.id not in gone], [
            Dropped(id=hit.id, text=hit.text, score=hit.score, reason="its time is over") for hit in over
        ]
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    at = Moment(query.true_at or query.as_of or now, query.as_of or now)
    states = store.versions([hit.id for hit in hits if hit.memory], at)
    quiet = silenced(store.index, [hit.id for hit in hits if hit.episode], at.known)
    for hit in hits:
        if hit.memory is not None:
            state = states[hit.id].state if hit.id in states else "not known yet"
        elif hit.id in quiet:
            state = "forgotten"
        else:
            state = "current" if hit.episode is not None and hit.episode.at <= at.known else "not known yet"
        if state == "current":
            kept.append(hit)
        else:
            dropped.append(Dropped(id=hit.id, text=hit.text, score=hit.score, reason=f"{state} at that moment"))
    return kept, dropped


def hop(store: Store, hits: Sequence[Hit], view: View, query: Query) -> list[Hit]:
    """What the best hits link to, in either direction, and their neighbours in meaning: one step, half the score."""
    have = {hit.id for hit in hits}
    found: list[Hit] = []
    for hit in [hit for hit in hits if hit.memory][:5]:
        assert hit.memory is not None
        ids = [*hit.memory.links, *(row.id for row in store.index.pointing("links", [hit.id]))]
        ids += [name for name, score in store.index.like(hit.id, view, NEIGHBOURS) if score >= NEAR]
        visible = {row.id for name in ids for row in store.index.select("id^", [name], view=view)}
        for row in store.index.get(
            [name for name in dict.fromkeys(ids) if name in visible and name not in have]
        ).values():
            have.add(row.id)
            linked = shown(row, rank.Fused(row.id, hit.score * 0.5, {"link": hit.score * 0.5}), query)
            found.append(replace(linked, via=hit.id))
    return found
