"""Taking in a conversation: episodes verbatim, memories distilled from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spiral.errors import UsageError
from spiral.memory import codec, entries
from spiral.memory.capture import made_of
from spiral.memory.distill import distill
from spiral.memory.junk import junk
from spiral.memory.remember import Remembered, remember
from spiral.memory.served import keep, served_texts
from spiral.memory.store import Store
from spiral.model import AUTHORITIES, Authority, Episode, Message, Scope, Visibility

BEFORE = 50
"""Earlier episodes of the session that are read again, so that a fix finds the error it belongs to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingested:
    """What was taken in."""

    session: str
    episodes: tuple[Episode, ...]
    """New ones only: what was there already changes nothing."""
    memories: tuple[Remembered, ...]
    """What the rules took from them; nothing is a good outcome."""
    redacted: tuple[str, ...] = ()


def ingest(
    store: Store,
    messages: Sequence[Message],
    scope: Scope,
    *,
    session: str = "",
    visibility: Visibility | None = None,
    learn: bool = True,
    most: Authority = "directive",
) -> Ingested:
    """Keep the messages as episodes and learn from them, at most with that authority. Ingesting the same again changes
    nothing.

    One winner: what is new is decided and written inside the index's transaction. The segment is synced before the
    commit; a crash in between leaves episodes that the next use reads, and a retry finds them by their ids.
    """
    if not messages:
        raise UsageError("there is nothing to ingest: no message was given")
    session = session or scope.run or "s" + codec.digest(str(scope), messages[0].role, messages[0].text)[:12]
    whose = visibility or store.visibility
    made, found = made_of(messages, scope, session=session, owner=store.owner, visibility=whose, now=store.clock())
    with store.index.atomic():
        there = store.index.get([episode.id for episode in made])
        fresh = [episode for episode in made if episode.id not in there]
        keep(store, fresh)
        earlier = [entries.episode_of(row) for row in store.index.select("session", [session]) if row.type == "episode"]
    learned = learn_from(store, earlier, fresh, scope, most) if learn and fresh else ()
    return Ingested(session=session, episodes=tuple(fresh), memories=learned, redacted=found)


def learn_from(
    store: Store, earlier: Sequence[Episode], fresh: Sequence[Episode], scope: Scope, most: Authority
) -> tuple[Remembered, ...]:
    """Distil the new episodes, read with those before them, and keep what is neither junk nor an echo."""
    new = {episode.id for episode in fresh}
    start = next((at for at, episode in enumerate(earlier) if episode.id in new), 0)
    served = served_texts(store, earlier)
    learned = []
    for draft in distill(earlier[max(0, start - BEFORE) :]):
        if not junk(draft.text) and any(item.source in new for item in draft.evidence):
            weaker = max(draft.authority, most, key=AUTHORITIES.index)
            learned.append(remember(store, replace(draft, authority=weaker), scope, served=served))
    return tuple(learned)
