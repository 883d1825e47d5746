"""The nouns of the memory, as frozen data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal

from spiral.errors import ScopeError

Kind = Literal["episodic", "semantic", "procedural"]
KINDS: tuple[Kind, ...] = ("episodic", "semantic", "procedural")

Authority = Literal["directive", "verified", "observed", "inferred"]
AUTHORITIES: tuple[Authority, ...] = ("directive", "verified", "observed", "inferred")
"""Strongest first."""

Visibility = Literal["private", "team", "org"]
VISIBILITIES: tuple[Visibility, ...] = ("private", "team", "org")

Role = Literal["user", "assistant", "tool", "system"]
ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "system")

LEVELS = ("org", "app", "user", "agent", "run", "task", "branch")
ANY = "*"
"""In a question's scope: whatever that level holds."""

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Whose it is. An empty level means "all of them": a memory of an app with no agent serves every agent of it."""

    org: str = ""
    app: str = ""
    user: str = ""
    agent: str = ""
    run: str = ""
    task: str = ""
    branch: str = ""

    def __post_init__(self) -> None:
        for level in LEVELS:
            value = getattr(self, level)
            if not isinstance(value, str):
                raise ScopeError(f"scope level {level} must be text, not {value!r}")
            if len(value) > 200 or any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in value):
                raise ScopeError(f"scope level {level} must be one line of at most 200 characters, not {value[:60]!r}")

    def levels(self) -> dict[str, str]:
        """The levels that are set, outermost first."""
        return {level: value for level in LEVELS if (value := getattr(self, level))}

    def admits(self, other: Scope) -> bool:
        """Whether a question in this scope may see what belongs to `other`."""
        return all(
            getattr(other, level) in ("", getattr(self, level)) or getattr(self, level) == ANY for level in LEVELS
        )

    def __str__(self) -> str:
        return " ".join(f"{level}={value}" for level, value in self.levels().items()) or "(everything)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What backs a memory: the words that were said, a check that ran, a verdict that was given."""

    kind: Literal["quote", "check", "verdict"]
    text: str
    source: str = ""
    """Where it comes from: an episode's id, a command, a commit."""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One memory: a statement that outlives the pass it was made in. Never edited; a newer one supersedes it."""

    id: str
    text: str
    kind: Kind
    scope: Scope
    owner: str
    learned: datetime
    """When we came to know it."""
    visibility: Visibility = "team"
    key: str = ""
    """What it is about, for facts of which one holds at a time: `payments/retries`."""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    authority: Authority = "observed"
    evidence: tuple[Evidence, ...] = ()
    source: str = ""
    """Who or what said it: `user`, `tool:bash`, `web:https://…`, `session:…`."""
    session: str = ""
    valid_from: datetime | None = None
    """When it began to be true; unknown means "when we learned it"."""
    valid_to: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Memories that this one seems to contradict; both wait for review."""
    quarantine: str = ""
    """Why it is held back: it reads like an instruction and comes from a tool or the web."""
    metadata: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    extra: Mapping[str, object] = field(default_factory=lambda: EMPTY)
    """Front matter of a newer version or of a person's own, kept as found."""

    @property
    def since(self) -> datetime:
        """When it began to be true, as far as we know."""
        return self.valid_from or self.learned


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What happened to memories after they were written: a file of its own, so that no file is ever rewritten."""

    id: str
    verb: Literal["forget", "revoke", "undo", "evidence"]
    """forget: no longer wanted. revoke: never was right. undo: takes back the changes it names. evidence: adds some."""
    targets: tuple[str, ...]
    """The memories it concerns; for undo, the changes."""
    at: datetime
    by: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """A raw event, verbatim: a message, a tool's result, what was served to a session."""

    id: str
    session: str
    role: Role
    text: str
    at: datetime
    scope: Scope
    owner: str
    visibility: Visibility = "team"
    source: str = ""
    served: tuple[str, ...] = ()
    """Ids that were served to the session; such an episode is a note of ours, not something that was said."""
    metadata: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What is handed to `ingest`: somebody said something."""

    role: Role
    text: str
    at: datetime | None = None
    source: str = ""
    id: str = ""


State = Literal["current", "superseded", "forgotten", "revoked", "expired", "ended", "pending"]
"""pending: true only from a moment that is still to come."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """A memory and what became of it."""

    memory: Statement
    state: State
    retired: datetime | None = None
    """When we stopped holding it true."""
    by: str = ""
    """The memory or the change that retired it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One answer of recall: a memory or an episode, with why it is there."""

    id: str
    text: str
    score: float
    tokens: int
    channels: Mapping[str, float]
    """What each channel added to the score."""
    memory: Statement | None = None
    episode: Episode | None = None
    twins: tuple[str, ...] = ()
    """Ids of near-duplicates that this hit stands for."""
    via: str = ""
    """The hit whose link led here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """Something that was found and not served, with the reason."""

    id: str
    text: str
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """What recall found, best first; iterate over it for the hits."""

    question: str
    hits: tuple[Hit, ...]
    dropped: tuple[Dropped, ...] = ()
    degraded: tuple[str, ...] = ()
    """What was off or behind while this was answered."""
    tokens: int = 0

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A memory that is about to be: what the rules take from a conversation, or an import from a file."""

    text: str
    kind: Kind = "semantic"
    key: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    authority: Authority = "observed"
    evidence: tuple[Evidence, ...] = ()
    source: str = ""
    session: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    visibility: Visibility | None = None
    metadata: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    learned: datetime | None = None
    """Only for an import: when the other store learned it."""
    rule: str = ""
    """The rule that took it."""


def utc(moment: datetime) -> datetime:
    """The same moment in UTC; a naive one is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def sees(scope: Scope, owner: str, other: Statement | Episode) -> bool:
    """Whether an owner who asks in a scope may see something: the rule that an index compiles into its searches."""
    asked = replace(scope, app=ANY) if other.visibility == "org" else scope
    return asked.admits(other.scope) and (other.visibility != "private" or other.owner == owner)


ALIASES = {f"{level}_id": level for level in ("org", "app", "user", "agent", "run")}
"""Other names for levels, as mem0 has them."""


def scope_of(default: Scope, levels: Mapping[str, str | None]) -> Scope:
    """The scope that a caller means: what was named, over what is assumed. It always has an app."""
    named = {ALIASES.get(level, level): value for level, value in levels.items() if value is not None}
    unknown = sorted({ALIASES.get(level, level) for level in levels} - set(LEVELS))
    if unknown:
        raise ScopeError(f"unknown scope level {unknown[0]!r}; choose one of {', '.join(LEVELS)}")
    scope = replace(default, **named)
    if not scope.app:
        raise ScopeError("a scope needs an app; name it with app=…, --app or memory.app in spiral.toml")
    return scope


def home_of(default: Scope, levels: Mapping[str, str | None]) -> Scope:
    """The scope that something is written to: as `scope_of`, and every level is one value."""
    scope = scope_of(default, levels)
    if wild := [level for level, value in scope.levels().items() if value == ANY]:
        raise ScopeError(f"{wild[0]}='*' is for asking; what is written belongs to one {wild[0]}")
    return scope
