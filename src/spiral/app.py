"""Settings into objects, opened and closed together."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from spiral.backends import load
from spiral.config import Settings, read
from spiral.errors import EmbedderError, StoreError
from spiral.memory.codec import plain, printable
from spiral.memory.entries import episode_of
from spiral.memory.files import Folder
from spiral.memory.given import When, backing, many, one_of, table, when
from spiral.memory.recall import Query, recall
from spiral.memory.store import Store
from spiral.memory.sync import Progress
from spiral.model import (
    AUTHORITIES,
    KINDS,
    VISIBILITIES,
    Authority,
    Change,
    Draft,
    Episode,
    Evidence,
    Kind,
    Message,
    Recall,
    Scope,
    Statement,
    Version,
    Visibility,
)
from spiral.place import Place, find
from spiral.ports import Counts, Embedder, Journal

if TYPE_CHECKING:
    from spiral.memory.brief import Brief
    from spiral.memory.erase import Erased
    from spiral.memory.ingest import Ingested
    from spiral.memory.remember import Remembered

Level = str | None


class Memory:
    """The memory of one place: no server, no key. Methods take scope levels as names: `app=`, `user=`, `agent=`, …"""

    def __init__(self, store: Store, place: Place, settings: Settings) -> None:
        self.store = store
        self.place = place
        self.settings = settings
        self.changed = False
        self.worker: threading.Thread | None = None

    @classmethod
    def open(
        cls,
        start: str | Path | None = None,
        *,
        settings: Settings | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> Memory:
        """The memory that belongs to a folder (the current one): of its repository, or of the user's data folder."""
        here = Path(start) if start is not None else Path.cwd()
        settings = settings or read(here, flags or {})
        wanted = settings.memory
        place = find(here, folders=settings.folders, app=wanted.app, root=wanted.root, index=wanted.index)
        folder = Folder(place.root)
        folder.prepare()
        embedder = open_embedder(settings)
        index = load("index", "sqlite:", place.index, model=embedder.name if embedder else "")
        scope = Scope(org=wanted.org, app=wanted.app, user=wanted.user, agent=wanted.agent)
        store = Store(
            folder=folder,
            index=index,
            locks=place.index,
            scope=scope,
            owner=wanted.owner,
            visibility=wanted.visibility,
            embedder=embedder,
        )
        return cls(store, place, settings)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Bring MEMORY.md up to date if something was written or changed since, and let go of everything."""
        if self.worker is not None:
            self.worker.join()
            self.worker = None
        if self.changed or self.store.moved:
            from spiral.memory.page import write_page

            self.changed = self.store.moved = False
            # The page is derived, and what was asked for is done: the next use renews it, `doctor` tells why not.
            with suppress(StoreError):
                write_page(self.store)
        if self.store.embedder is not None:
            self.store.embedder.close()
        self.store.index.close()

    def remember(
        self,
        text: str,
        *,
        kind: Kind = "semantic",
        key: str | None = "",
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        files: Sequence[str] = (),
        commits: Sequence[str] = (),
        authority: Authority = "observed",
        evidence: Sequence[Evidence | Mapping[str, str] | str] = (),
        source: str = "",
        session: str = "",
        valid_from: When = None,
        valid_to: When = None,
        expires: When = None,
        supersedes: Sequence[str] = (),
        links: Sequence[str] = (),
        visibility: Visibility | None = None,
        metadata: Mapping[str, str | float] | None = None,
        id: str = "",  # noqa: A002 - what everybody calls it
        **scope: Level,
    ) -> Remembered:
        """Keep a statement; on disk when this returns. Saying the same again changes nothing."""
        from spiral.memory.remember import remember
        from spiral.memory.served import told

        one_of(kind, "kind", KINDS)
        one_of(authority, "authority", AUTHORITIES)
        if visibility is not None:
            one_of(visibility, "visibility", VISIBILITIES)
        draft = Draft(
            text=plain(text, "text"),
            kind=kind,
            key=plain(key, "key").strip(),
            tags=many(tags, "tags"),
            entities=many(entities, "entities"),
            files=many(files, "files"),
            commits=many(commits, "commits"),
            authority=authority,
            evidence=backing(evidence),
            source=plain(source, "source"),
            session=plain(session, "session"),
            valid_from=when(valid_from, "valid_from"),
            valid_to=when(valid_to, "valid_to"),
            expires=when(expires, "expires"),
            supersedes=many(supersedes, "supersedes"),
            links=many(links, "links"),
            visibility=visibility,
            metadata=table(metadata, "metadata"),
        )
        home = self.store.home(scope)
        self.store.use()
        served = told(self.store, draft.session, home) if draft.session else ()
        found = remember(self.store, draft, home, name=id, served=served)
        self.wrote()
        return found

    def ingest(
        self,
        messages: Sequence[Message | Mapping[str, object]] | str,
        *,
        session: str = "",
        visibility: Visibility | None = None,
        learn: bool = True,
        **scope: Level,
    ) -> Ingested:
        """Keep a conversation verbatim and learn from it; a text is one message of the user's. The same again changes
        nothing: a turn that is repeated in another call needs an id or a time of its own."""
        from spiral.memory.ingest import ingest
        from spiral.memory.messages import messages_given

        said = messages_given(messages)
        home = self.store.home(scope)
        self.store.use()
        found = ingest(self.store, said, home, session=session, visibility=visibility, learn=learn)
        self.wrote()
        return found

    def recall(
        self,
        text: str,
        *,
        budget: int = 0,
        limit: int = 20,
        kinds: Sequence[Kind] = (),
        episodes: bool = True,
        links: bool = False,
        as_of: When = None,
        true_at: When = None,
        quarantined: bool = False,
        session: str = "",
        **scope: Level,
    ) -> Recall:
        """What is known about a question, best first, within the budget; with a session, what it was told is noted."""
        from spiral.memory.served import note_served

        place = self.store.place(scope)
        query = Query(
            text=printable(text),
            scope=place,
            budget=budget or self.settings.memory.budget,
            limit=limit,
            kinds=tuple(one_of(kind, "kind", KINDS) for kind in kinds),
            episodes=episodes,
            links=links,
            as_of=when(as_of, "as_of"),
            true_at=when(true_at, "true_at"),
            hidden=quarantined,
        )
        found = recall(self.store, query)
        if session and found.hits:
            untold = note_served(self.store, [hit.id for hit in found.hits], self.store.home(scope), session)
            found = replace(found, degraded=(*found.degraded, *untold))
        return found

    def brief(self, task: str, /, *, budget: int = 0, session: str = "", recent: int = 0, **scope: Level) -> Brief:
        """A ready block of context for a task; `recent` keeps the last turns of the session verbatim."""
        from spiral.memory.brief import brief
        from spiral.memory.served import note_served

        place = self.store.place(scope)
        found = brief(
            self.store,
            printable(task),
            place,
            budget=budget or self.settings.memory.budget,
            session=session,
            recent=recent,
        )
        if session and found.hits:
            untold = note_served(self.store, [hit.id for hit in found.hits], self.store.home(scope), session)
            found = replace(found, degraded=(*found.degraded, *untold))
        return found

    def get(self, id: str, **scope: Level) -> Version:  # noqa: A002 - what everybody calls it
        """One memory with its state and all its evidence; the beginning of its id is enough."""
        self.store.use()
        memory = self.store.find(id, self.store.place(scope))
        return self.store.versions([memory.id])[memory.id]

    def list(
        self,
        *,
        kinds: Sequence[Kind] = (),
        retired: bool = False,
        conflicts: bool = False,
        limit: int = 100,
        **scope: Level,
    ) -> Sequence[Statement]:
        """Memories of a scope, the newest last; with `conflicts`, only those that contradict each other."""
        from spiral.memory.listing import listed

        self.store.use()
        view = self.store.view(self.store.place(scope), kinds=tuple(kinds), live=not retired, hidden=retired)
        return listed(self.store, view, conflicts=conflicts, limit=limit)

    def history(self, id: str, **scope: Level) -> Sequence[Version]:  # noqa: A002 - what everybody calls it
        """Everything that was held about the same thing, oldest first; by id, beginning of one, or key."""
        self.store.use()
        place = self.store.place(scope)
        view = self.store.view(place, live=False, hidden=True)
        keyed = [row.id for row in self.store.index.select("key", [id], view=view)]
        ids = keyed or [self.store.find(id, place).id]
        found = self.store.versions(ids)
        return sorted(found.values(), key=lambda version: (version.memory.since, version.memory.learned))

    def forget(
        self, *ids: str, key: str = "", source: str = "", session: str = "", reason: str = "", **scope: Level
    ) -> Change:
        """Retire memories and episodes; `undo` takes it back. By source or session, what was derived goes too."""
        from spiral.memory.forget import Wanted, forget

        wanted = Wanted(ids=ids, key=key, source=source, session=session)
        change = forget(self.store, wanted, self.store.place(scope), reason=reason)
        self.wrote()
        return change

    def erase(self, *ids: str, key: str = "", source: str = "", session: str = "", **scope: Level) -> Erased:
        """Remove the text for good from files, segments, index and page; `left` tells where it could not be done."""
        from spiral.memory.erase import erase
        from spiral.memory.forget import Wanted

        wanted = Wanted(ids=ids, key=key, source=source, session=session)
        erased = erase(self.store, wanted, self.store.place(scope))
        self.wrote()
        return erased

    def undo(self, change: str, **scope: Level) -> Change:
        """Take back a change that `forget` made in this scope."""
        from spiral.memory.forget import undo

        made = undo(self.store, change, self.store.place(scope))
        self.wrote()
        return made

    def explain(self, text: str, id: str, **scope: Level) -> str:  # noqa: A002 - what everybody calls it
        """Why a memory is or is not among the answers to a question, in one line."""
        from spiral.memory.explain import explain

        self.store.use()
        query = Query(text=printable(text), scope=self.store.place(scope), budget=self.settings.memory.budget)
        return explain(self.store, query, id)

    def export(self, **scope: Level) -> Iterator[str]:
        """Everything in a scope as JSON lines."""
        from spiral.memory.transfer import export

        return export(self.store, self.store.place(scope))

    def import_(self, path: str | Path, **scope: Level) -> dict[str, int]:
        """Memories from a Spiral export, mem0, Claude Code's memory folder or Markdown; twice changes nothing."""
        from spiral.memory.transfer import take_in

        try:
            return take_in(self.store, Path(path), scope)
        finally:
            self.wrote()

    def reindex(self, progress: Progress | None = None) -> Counts:
        """Rebuild the index from the files alone and swap it in; others go on with the present one meanwhile."""
        from spiral.memory.reindex import reindex

        counts = reindex(self.store, progress)
        self.wrote()
        return counts

    def embed(self, progress: Progress | None = None, limit: int = 0) -> int:
        """Make the vectors that are owed; how many were made. Stopped half-way, it goes on from there."""
        from spiral.memory.embed import embed

        self.store.use()
        return embed(self.store, progress, limit=limit)

    def episode(self, id: str, **scope: Level) -> Episode:  # noqa: A002
        """One episode, verbatim; the beginning of its id is enough."""
        self.store.use()
        return episode_of(self.store.row(id, self.store.place(scope), ("episode",)))

    def counts(self) -> Counts:
        """How much there is, after a look at every file."""
        self.store.use(every_file=True)
        return self.store.index.counts()

    def served(self, session: str, **scope: Level) -> Sequence[str]:
        """The texts that were served to a session."""
        from spiral.memory.served import told

        return told(self.store, session, self.store.place(scope))

    def wrote(self) -> None:
        """Something was written: the page is behind, and vectors may be owed, which a thread makes meanwhile."""
        self.changed = True
        alive = self.worker is not None and self.worker.is_alive()
        if self.settings.embedder.background and self.store.embedder is not None and not alive:
            self.worker = threading.Thread(target=self.catch_up, name="spiral-embed", daemon=True)
            self.worker.start()

    def catch_up(self) -> None:
        """Make owed vectors in the background; a failing model or disk only leaves them owed, which recall tells."""
        from spiral.memory.embed import embed

        with suppress(EmbedderError, StoreError):
            embed(self.store, None, limit=2_000, wait=False)


def open_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None for words only."""
    wanted = settings.embedder
    if wanted.model in ("none", "none:"):
        return None
    embedder: Embedder = load(
        "embedder", wanted.model, base_url=wanted.base_url, api_key=wanted.api_key, dimensions=wanted.dimensions
    )
    return embedder


def open_journal(place: Place) -> Journal:
    """The journal of a project: in its git dir, shared by all worktrees; outside git beside the index."""
    folder = place.git_dir / "spiral" if place.git_dir else place.index.parent
    journal: Journal = load("journal", "sqlite:", folder / "journal.db")
    return journal
