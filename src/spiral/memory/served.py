"""What a session was told, kept with it, so that its echo is not taken for news."""

from __future__ import annotations

from collections.abc import Sequence

from spiral.errors import StoreError
from spiral.memory import codec, entries, segments
from spiral.memory.files import stamp_of
from spiral.memory.safe import safe_episode
from spiral.memory.store import Store
from spiral.model import Episode, Scope, sees
from spiral.ports import Sighting


def keep(store: Store, episodes: Sequence[Episode]) -> None:
    """Append episodes, without secrets, to their segment and to the index. Inside `atomic`."""
    if not episodes:
        return
    episodes = [safe_episode(episode) for episode in episodes]
    path = segments.append(store.folder, episodes)
    store.index.otherwise(lambda: segments.withdraw(store.folder, path, episodes))
    store.index.put(entries.of_episode(episode, path) for episode in episodes)
    before = store.index.sightings(path.rpartition("/")[0] + "/").get(path)
    if before is None and len(store.index.select("path", [path])) == len(episodes):
        # Nobody else has written to this segment yet, so all of it is indexed.
        store.index.sight([Sighting(path=path, stamp=stamp_of((store.folder.root / path).stat()))])


def told(store: Store, session: str, scope: Scope) -> list[str]:
    """The texts that were served to a session, as far as the caller may see both the session and the texts."""
    return served_texts(store, in_session(store, session, scope), scope)


def in_session(store: Store, session: str, scope: Scope) -> list[Episode]:
    """The episodes of a session that the caller may see: another application's session of that name is another."""
    view = store.view(scope, types=("episode",), live=False, hidden=True)
    return [entries.episode_of(row) for row in store.index.select("session", [session], view=view)]


def served_texts(store: Store, episodes: Sequence[Episode], scope: Scope | None = None) -> list[str]:
    """The texts that these episodes note as served; with a scope, only those that the caller may see from it."""
    ids = list(dict.fromkeys(name for episode in episodes for name in episode.served))
    rows = store.index.get(ids).values()
    found = [entries.memory_of(row) if row.type == "memory" else entries.episode_of(row) for row in rows]
    return [item.text for item in found if scope is None or sees(scope, store.owner, item)]


def note_served(store: Store, ids: Sequence[str], scope: Scope, session: str) -> tuple[str, ...]:
    """Remember with the session what it was told, so that its echo is not taken for news.

    What kept us from it comes back as a note: who asks a question on a disk that cannot be written is still answered.
    """
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
    try:
        with store.index.atomic():
            keep(store, [note])
    except StoreError as fault:
        return (f"what was served is not noted with the session: {fault}",)
    return ()
