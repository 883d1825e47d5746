"""Taking in a conversation: episodes verbatim, memories distilled from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spiral.errors import UsageError
from spiral.memory import codec
from spiral.memory.capture import made_of
from spiral.memory.distill import distill
from spiral.memory.junk import junk
from spiral.memory.remember import Remembered, remember
from spiral.memory.served import in_session, keep, served_texts
from spiral.memory.store import Store
from spiral.model import AUTHORITIES, VISIBILITIES, Authority, Episode, Message, Scope, Visibility

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
    messages = [message for message in messages if codec.printable(message.text)]
    if not messages:
        raise UsageError("there is nothing to ingest: no message with a text was given")
    session = session or scope.run or "s" + codec.digest(str(scope), messages[0].role, messages[0].text)[:12]
    whose = codec.choice(visibility, "visibility", VISIBILITIES, store.visibility)
    made, found = made_of(messages, scope, session=session, owner=store.owner, visibility=whose, now=store.clock())
    with store.index.atomic():
        there = store.index.get([episode.id for episode in made])
        fresh = [episode for episode in made if episode.id not in there]
        keep(store, fresh)
        earlier = in_session(store, made[0].session, scope)
    learned = learn_from(store, earlier, fresh, scope, most) if learn and fresh else ()
    return Ingested(session=made[0].session, episodes=tuple(fresh), memories=learned, redacted=found)


def learn_from(
    store: Store, earlier: Sequence[Episode], fresh: Sequence[Episode], scope: Scope, most: Authority
) -> tuple[Remembered, ...]:
    """Distil the new episodes, read with those before them, and keep what is neither junk nor an echo.

    What is learned is seen by those who see the new episodes, so earlier ones that fewer may see are not read.
    """
    whose = fresh[0].visibility
    new = {episode.id for episode in fresh}
    open_ones = [one for one in earlier if VISIBILITIES.index(one.visibility) >= VISIBILITIES.index(whose)]
    start = next((at for at, episode in enumerate(open_ones) if episode.id in new), 0)
    served = served_texts(store, earlier, scope)
    learned = []
    for draft in distill(open_ones[max(0, start - BEFORE) :]):
        if not junk(draft.text) and any(item.source in new for item in draft.evidence):
            weaker = max(draft.authority, most, key=AUTHORITIES.index)
            theirs = replace(draft, authority=weaker, visibility=whose)
            learned.append(remember(store, theirs, scope, served=served))
    return tuple(learned)
