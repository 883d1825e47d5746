"""Taking in a conversation: episodes verbatim, memories distilled from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spiral.errors import UsageError
from spiral.memory import codec, entries, segments
from spiral.memory.distill import distill
from spiral.memory.document import printable
from spiral.memory.files import stamp_of
from spiral.memory.junk import junk
from spiral.memory.redact import redact
from spiral.memory.remember import Remembered, remember
from spiral.memory.store import Store
from spiral.model import Episode, Message, Scope, Visibility
from spiral.ports import Sighting

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
) -> Ingested:
    """Keep the messages as episodes and learn from them. Ingesting the same again changes nothing.

    One winner: what is new is decided and written inside the index's transaction. The segment is synced before the
    commit; a crash in between leaves episodes that the next use reads, and a retry finds them by their ids.
    """
    if not messages:
        raise UsageError("there is nothing to ingest: no message was given")
    session = session or scope.run or "s" + codec.digest(str(scope), messages[0].role, messages[0].text)[:12]
    made, found = made_of(store, messages, scope, session, visibility or store.visibility)
    with store.index.atomic():
        there = store.index.get([episode.id for episode in made])
        fresh = [episode for episode in made if episode.id not in there]
        keep(store, fresh)
        earlier = [entries.episode_of(row) for row in store.index.select("session", [session]) if row.type == "episode"]
    learned = learn_from(store, earlier, fresh, scope) if learn and fresh else ()
    return Ingested(session=session, episodes=tuple(fresh), memories=learned, redacted=found)


def capture(store: Store, messages: Sequence[Message], scope: Scope, *, session: str) -> tuple[Episode, ...]:
    """Append the messages to the session's segment and nothing else: the index follows at the next use."""
    made, _ = made_of(store, messages, scope, session, store.visibility)
    if made:
        segments.append(store.folder, made)
    return tuple(made)


def made_of(
    store: Store, messages: Sequence[Message], scope: Scope, session: str, visibility: Visibility
) -> tuple[list[Episode], tuple[str, ...]]:
    """The messages as episodes, without secrets. An id stands for who said what when, or as the how-manieth time."""
    made: list[Episode] = []
    found: list[str] = []
    times: Counter[tuple[str, str, str]] = Counter()
    for message in messages:
        text, kinds = redact(printable(message.text))
        found.extend(kinds)
        said = (message.role, text, codec.stamp(message.at) if message.at else "")
        times[said] += 1
        source = redact(message.source)[0] or message.role
        made.append(
            Episode(
                id="e" + codec.digest(str(scope), session, *said, str(times[said]), message.id),
                session=session,
                role=message.role,
                text=text,
                at=message.at or store.clock(),
                scope=scope,
                owner=store.owner,
                visibility=visibility,
                source=source,
            )
        )
    return made, tuple(dict.fromkeys(found))


def keep(store: Store, episodes: Sequence[Episode]) -> None:
    """Append episodes to their segment and to the index. Inside `atomic`."""
    if not episodes:
        return
    path = segments.append(store.folder, episodes)
    store.index.put(entries.of_episode(episode, path) for episode in episodes)
    before = store.index.sightings(path.rpartition("/")[0] + "/").get(path)
    if before is None and len(store.index.select("path", [path])) == len(episodes):
        # Nobody else has written to this segment yet, so all of it is indexed.
        store.index.sight([Sighting(path=path, stamp=stamp_of((store.folder.root / path).stat()))])


def learn_from(
    store: Store, earlier: Sequence[Episode], fresh: Sequence[Episode], scope: Scope
) -> tuple[Remembered, ...]:
    """Distil the new episodes, read with those before them, and keep what is neither junk nor an echo."""
    new = {episode.id for episode in fresh}
    start = next((at for at, episode in enumerate(earlier) if episode.id in new), 0)
    served = served_texts(store, earlier)
    learned = []
    for draft in distill(earlier[max(0, start - BEFORE) :]):
        if not junk(draft.text) and any(item.source in new for item in draft.evidence):
            learned.append(remember(store, draft, scope, served=served))
    return tuple(learned)


def served_texts(store: Store, episodes: Sequence[Episode]) -> list[str]:
    """The texts that were served to the session."""
    ids = list(dict.fromkeys(name for episode in episodes for name in episode.served))
    rows = store.index.get(ids).values()
    return [entries.memory_of(row).text if row.type == "memory" else entries.episode_of(row).text for row in rows]


def note_served(store: Store, ids: Sequence[str], scope: Scope, session: str) -> None:
    """Remember with the session what it was told, so that its echo is not taken for news."""
    now = store.clock()
    note = Episode(
        id="e" + codec.digest("served", session, codec.stamp(now), *ids),
        session=session,
        role="system",
        text="",
        at=now,
        scope=scope,
        owner=store.owner,
        visibility=store.visibility,
        served=tuple(ids),
    )
    with store.index.atomic():
        keep(store, [note])
