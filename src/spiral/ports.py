"""What the middle wishes for from the outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from spiral.model import Scope, Visibility

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from spiral.work import Answer, Event, EventKind, Expense, Order, TaskState, Usage

    Vectors = NDArray[np.float32]
    """One row a text."""

NOTHING: Mapping[str, Any] = MappingProxyType({})

Type = Literal["memory", "episode", "change"]
Relation = Literal["supersedes", "links", "conflicts", "changes", "derives"]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near they are in meaning."""

    @property
    def name(self) -> str:
        """The model, exactly: vectors are comparable only under the same name."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row per text, in order; a text of any length or content gets one (zeros when it is empty).

        Pure: a second call gives the same rows. Raises EmbedderError when the model cannot answer.
        """

    def close(self) -> None:
        """Release what it holds; a second call does nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What the index keeps of one memory, episode or change."""

    id: str
    type: Type
    scope: Scope
    owner: str
    visibility: Visibility
    path: str
    """The file it comes from, relative to the root."""
    at: int
    """When we learned it, in microseconds since 1970."""
    body: str
    """The whole of it, as JSON."""
    text: str = ""
    """What is embedded; empty for what is never searched."""
    kind: str = ""
    slot: str = ""
    """Equal for keyed facts of which one holds at a time."""
    digest: str = ""
    """Equal for exact twins within scope, kind and key."""
    key: str = ""
    session: str = ""
    source: str = ""
    authority: int = 0
    hidden: bool = False
    """Held in quarantine."""
    words: str = ""
    exact: str = ""
    """Terms, separated by blanks: parts that are stemmed, and identifiers as they are."""
    anchors: tuple[str, ...] = ()
    points: tuple[tuple[Relation, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An entry as it comes out of the index."""

    id: str
    type: Type
    path: str
    body: str
    live: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Who asks and what may be seen: compiled into every statement of a search."""

    scope: Scope
    owner: str
    types: tuple[Type, ...] = ("memory",)
    kinds: tuple[str, ...] = ()
    """Empty: all."""
    live: bool = True
    """Only what is current; otherwise the retired too, for questions about the past."""
    hidden: bool = False
    known: int = 0
    """Only what we had learned by that moment, in microseconds since 1970; 0: all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One question in the forms that the channels understand; an empty form leaves its channel out."""

    words: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """Substrings to look for inside the vocabulary, at least three characters each."""
    keys: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    vector: Vectors | None = None
    limit: int = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """A file or folder as it was when it was last read."""

    path: str
    stamp: str
    """Changes whenever the content may have changed."""
    fault: str = ""
    """Why it could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How much the index holds."""

    memories: int
    live: int
    episodes: int
    changes: int
    owed: int
    """How many wait for a vector."""
    faults: int


Scored = list[tuple[str, float]]
"""(id, score) of entries, best first."""
Channels = Mapping[str, Sequence[tuple[str, float]]]
"""For each channel the ids it found with its own score, best first, equal scores by id."""


class Index(Protocol):
    """Finds; can be deleted and rebuilt from the files at any time."""

    def atomic(self) -> AbstractContextManager[None]:
        """Everything inside happens together or not at all.

        Exactly one writer is inside at a time, over all processes; others wait, and get StoreLockedError when the wait
        is too long. Entering again from inside is the same transaction.
        """

    def otherwise(self, action: Callable[[], None]) -> None:
        """Have this done if what is inside `atomic` does not happen, before the next writer is let in, the last first:
        it takes back what was done outside the index. Only inside `atomic`."""

    def put(self, entries: Iterable[Entry]) -> None:
        """Add the entries, current; one whose id is there is replaced. Only inside `atomic`."""

    def remove(self, ids: Iterable[str]) -> None:
        """Take the entries out; an unknown id is no error. Only inside `atomic`."""

    def mark(self, states: Iterable[tuple[str, bool, int]]) -> None:
        """Set (id, live, moment at which this is to be judged again or 0). Only inside `atomic`."""

    def get(self, ids: Sequence[str]) -> Mapping[str, Row]:
        """The entries of that id, in the order asked; the unknown are left out."""

    def select(
        self, column: str, values: Sequence[str | int], *, view: View | None = None, limit: int = 0
    ) -> list[Row]:
        """Entries whose column (`slot`, `digest`, `session`, `source`, `path`, `type`, `due`, `id^` for a prefix) has
        one of the values, oldest first; `due` takes a moment and gives what is to be judged again by then."""

    def pointing(self, relation: Relation, ids: Sequence[str]) -> list[Row]:
        """Entries that point at one of the ids by that relation, oldest first."""

    def search(self, probe: Probe, view: View) -> Channels:
        """What each channel finds within the view: `key`, `words`, `exact`, `part`, `anchor`, `vector`."""

    def sightings(self, folder: str = "") -> Mapping[str, Sighting]:
        """The files of a folder as last read; without one, the folders (their paths end in `/`)."""

    def faults(self) -> list[Sighting]:
        """The files that could not be read, by path."""

    def sight(self, seen: Iterable[Sighting]) -> None:
        """Note them. Only inside `atomic`."""

    def unsight(self, paths: Iterable[str]) -> None:
        """Forget them. Only inside `atomic`."""

    def like(self, name: str, view: View, limit: int) -> Scored:
        """(id, similarity) of the entries whose meaning is nearest to this one's, by the vectors that are there."""

    def owed(self, limit: int) -> list[tuple[str, str]]:
        """(id, text) of entries that have no vector of the present model, current ones first."""

    def owing(self) -> int:
        """How many entries have no vector of the present model."""

    def store(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors of these entries. Only inside `atomic`; a second call changes nothing."""

    def counts(self) -> Counts:
        """How much there is."""

    def refresh(self) -> None:
        """Follow a rebuild that another process may have finished; cheap, to be called before each use."""

    def successor(self) -> Index:
        """An empty index beside this one, to be filled, put in its place by `succeed`, and closed.

        Exactly one successor is being built at a time, over all processes; others wait until it is closed.
        """

    def succeed(self) -> None:
        """Of a successor: be the index that everybody uses from now on, atomically, with the notes of the former."""

    def borrow(self, other: Index) -> int:
        """Take over vectors of the same model and text that are whole; how many were taken."""

    def damage(self) -> list[str]:
        """What is wrong with the index's own files, a line each; a rebuild cures it. Looks at everything."""

    def purge(self, ids: Sequence[str]) -> bool:
        """Remove the entries so that no byte of their text stays in the index's files.

        False when a reader or a rebuild keeps the former bytes until it ends; a second call, also with no ids, finishes
        the work.
        """

    def note(self, name: str, value: str | None = None) -> str:
        """A small value kept beside the entries; without a value, read it (empty when never written)."""

    def close(self) -> None:
        """Let go of everything; a second call does nothing."""


class Agent(Protocol):
    """Does work when told to: a program of its own, or a function of the builder's."""

    @property
    def name(self) -> str:
        """What the settings and the reports call it."""

    def act(self, order: Order, tell: Callable[[str], None], stop: Callable[[], bool]) -> Answer:
        """Do what the order says, in its folder and within its bounds, and say how it went.

        Whatever happens comes back as the answer's `end`, never as an exception: a program that is missing, not signed
        in, out of time, or that writes nonsense. `tell` gets a line for people at each step; `stop` is asked at least
        every second, and when it says so the agent and all its children are ended. What it says is on disk in the
        order's history, raw, as it comes. A second call with the same order does the work again.
        """


class Journal(Protocol):
    """What the runner did and decided, out of the agents' reach. Acknowledged means on disk."""

    def record(
        self,
        events: Sequence[Event] = (),
        *,
        states: Mapping[str, TaskState] = NOTHING,
        notes: Mapping[str, str] = NOTHING,
        expenses: Sequence[Expense] = (),
    ) -> None:
        """Append the events and expenses and set the states and notes: together, or not at all.

        Exactly one writer is inside at a time, over all processes. An event or expense whose id is known is left as
        it is, so a retry with the same ids changes nothing.
        """

    def events(
        self,
        *,
        run: str = "",
        task: str = "",
        pass_id: str = "",
        kinds: Sequence[EventKind] = (),
        after: int = 0,
        limit: int = 0,
    ) -> list[Event]:
        """Events in order; with a limit the newest so many, still in order."""

    def states(self) -> Mapping[str, TaskState]:
        """What is known of each task."""

    def note(self, name: str) -> str:
        """A small value; empty when it was never set."""

    def notes(self, prefix: str) -> Mapping[str, str]:
        """All small values whose name begins so."""

    def expenses(self, *, run: str = "", since: datetime | None = None) -> list[Expense]:
        """What was used up, in order."""

    def spent(self, *, run: str = "", since: datetime | None = None) -> Usage:
        """The sum of that."""

    def keep(self, body: str) -> str:
        """Keep a text under a name that stands for its content; the same text again is kept once."""

    def kept(self, name: str) -> str:
        """The text of that name; NotFoundError when there is none."""

    def close(self) -> None:
        """Let go; a second call does nothing."""
