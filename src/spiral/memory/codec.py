"""The nouns as plain mappings and back: for front matter, for the index and for exports."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import fields
from datetime import MAXYEAR, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Literal, TypeVar

from spiral.errors import UsageError
from spiral.model import (
    AUTHORITIES,
    EMPTY,
    KINDS,
    LEVELS,
    ROLES,
    VISIBILITIES,
    Change,
    Episode,
    Evidence,
    Scope,
    Statement,
    Visibility,
    utc,
)

EPOCH = utc(datetime(1970, 1, 1))  # noqa: DTZ001 - utc() makes it aware
TUPLES = ("tags", "entities", "files", "commits", "supersedes", "links", "conflicts")
MOMENTS = ("valid_from", "valid_to", "expires")
PLAIN = ("key", "source", "session", "quarantine")
OWN = {field.name for field in fields(Statement)} - {"extra"} | set(LEVELS)
T = TypeVar("T", bound=str)
ID = re.compile(r"[a-z0-9][a-z0-9._-]{3,79}")


def identity(name: str) -> str:
    """The id, if it is one: it stands in file names and must not lead elsewhere."""
    if not ID.fullmatch(name):
        raise UsageError(f"id must be 4 to 80 lower-case letters, digits, dots or dashes, not {name!r}")
    return name


def micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment(value: object, name: str) -> datetime:
    """A point in time from ISO text, a date (its first instant) or a datetime."""
    try:
        if isinstance(value, datetime):
            return utc(value)
        if isinstance(value, date):
            return utc(datetime.combine(value, time()))
        return utc(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError):
        raise UsageError(
            f"{name} must be a date or time such as 2026-03-01 or 2026-03-01T12:00:00Z, not {value!r}"
        ) from None


def stamp(at: datetime) -> str:
    """ISO text in UTC."""
    return utc(at).isoformat().replace("+00:00", "Z")


def fold(text: str) -> str:
    """One spelling for texts that differ in case, width and spacing alone."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def digest(*parts: str) -> str:
    """Twenty hexadecimal digits that stand for these texts."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()[:20]


def twin(text: str, kind: str, key: str, place: tuple[Scope, str, Visibility]) -> str:
    """Equal for statements that say the same in the same scope, kind and key; whose it is counts if it is private."""
    scope, owner, visibility = place
    levels = [getattr(scope, level) for level in LEVELS]
    return digest(*levels, visibility, owner if visibility == "private" else "", kind, key, fold(text).rstrip(" .!"))


def slot(memory: Statement) -> str:
    """Equal for keyed facts of which one holds at a time; empty without a key, and in quarantine,
    which displaces nothing."""
    if not memory.key or memory.quarantine:
        return ""
    levels = [getattr(memory.scope, level) for level in LEVELS]
    owner = memory.owner if memory.visibility == "private" else ""
    return digest(*levels, memory.visibility, owner, memory.kind, memory.key)


def choice(value: object, name: str, known: tuple[T, ...], default: T) -> T:
    """One of the known words."""
    if value in (None, ""):
        return default
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return known[known.index(value)]


def texts(value: object, name: str) -> tuple[str, ...]:
    """A list of texts; a single text is a list of one."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, list | tuple) and all(isinstance(item, str | int | float) for item in value):
        return tuple(dict.fromkeys(str(item) for item in value))
    raise UsageError(f"{name} must be a list of texts, not {value!r}")


def plain(value: object, name: str) -> str:
    """A text; numbers and dates as they are written."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | date):
        return str(value)
    raise UsageError(f"{name} must be text, not {value!r}")


def mapping(value: object, name: str) -> Mapping[str, object]:
    """A table with text for keys."""
    if value is None:
        return EMPTY
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    raise UsageError(f"{name} must be a table of names and values, not {value!r}")


def evidence_to(evidence: Evidence) -> dict[str, object]:
    """Plain mapping of one piece of evidence."""
    at = {"at": stamp(evidence.at)} if evidence.at else {}
    source = {"source": evidence.source} if evidence.source else {}
    return {"kind": evidence.kind, "text": evidence.text, **source, **at}


def evidence_from(value: object) -> tuple[Evidence, ...]:
    """Evidence from a list of mappings, or of texts that are quotes."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise UsageError(f"evidence must be a list, not {value!r}")
    found = []
    for item in value:
        table = {"text": item} if isinstance(item, str) else mapping(item, "evidence")
        kind: Literal["quote", "check", "verdict"] = choice(
            table.get("kind"), "evidence kind", ("quote", "check", "verdict"), "quote"
        )
        at = moment(table["at"], "evidence at") if table.get("at") else None
        found.append(
            Evidence(
                kind=kind,
                text=plain(table.get("text"), "evidence text"),
                source=plain(table.get("source"), "source"),
                at=at,
            )
        )
    return tuple(found)


def statement_to(memory: Statement) -> dict[str, object]:
    """Plain mapping of a memory, without what is empty; the text comes last."""
    found: dict[str, object] = {"id": memory.id, "kind": memory.kind}
    if memory.key:
        found["key"] = memory.key
    found["scope"] = memory.scope.levels()
    found |= {"authority": memory.authority, "owner": memory.owner, "visibility": memory.visibility}
    found["learned"] = stamp(memory.learned)
    found |= {name: stamp(at) for name in MOMENTS if (at := getattr(memory, name))}
    found |= {name: value for name in PLAIN if (value := getattr(memory, name)) and name != "key"}
    found |= {name: list(value) for name in TUPLES if (value := getattr(memory, name))}
    if memory.evidence:
        found["evidence"] = [evidence_to(item) for item in memory.evidence]
    if memory.metadata:
        found["metadata"] = dict(memory.metadata)
    return found | dict(memory.extra) | {"text": memory.text}


def statement_from(table: Mapping[str, object], *, default: Statement) -> Statement:
    """A memory from its mapping; what is missing is taken from the default, what is unknown is kept as found."""
    name = identity(plain(table.get("id"), "id") or default.id)
    levels = mapping(table.get("scope"), "scope")
    if unknown := sorted(set(levels) - set(LEVELS)):
        raise UsageError(f"unknown scope level {unknown[0]!r}; choose one of {', '.join(LEVELS)}")
    scope = Scope(**{level: plain(value, level) for level, value in levels.items()}) if levels else default.scope

    def word(part: str) -> str:
        return plain(table.get(part), part)

    def listed(part: str) -> tuple[str, ...]:
        return texts(table.get(part), part)

    def when(part: str) -> datetime | None:
        return moment(table[part], part) if table.get(part) else None

    learned = when("learned") or default.learned
    if learned.year == MAXYEAR:
        raise UsageError(f"learned must leave room for what is learned later, not {stamp(learned)!r}")
    return Statement(
        id=name,
        text=plain(table.get("text"), "text") or default.text,
        kind=choice(table.get("kind"), "kind", KINDS, default.kind),
        scope=scope,
        owner=plain(table.get("owner"), "owner") or default.owner,
        learned=learned,
        visibility=choice(table.get("visibility"), "visibility", VISIBILITIES, default.visibility),
        authority=choice(table.get("authority"), "authority", AUTHORITIES, default.authority),
        evidence=evidence_from(table.get("evidence")),
        metadata=MappingProxyType(
            {key: plain(value, f"metadata {key}") for key, value in mapping(table.get("metadata"), "metadata").items()}
        ),
        extra=MappingProxyType({key: value for key, value in table.items() if key not in OWN and key != "scope"}),
        key=word("key"),
        source=word("source"),
        session=word("session"),
        quarantine=word("quarantine"),
        tags=listed("tags"),
        entities=listed("entities"),
        files=listed("files"),
        commits=listed("commits"),
        supersedes=listed("supersedes"),
        links=listed("links"),
        conflicts=listed("conflicts"),
        valid_from=when("valid_from"),
        valid_to=when("valid_to"),
        expires=when("expires"),
    )


def change_to(change: Change) -> dict[str, object]:
    """Plain mapping of a change."""
    found: dict[str, object] = {
        "id": change.id,
        "verb": change.verb,
        "targets": list(change.targets),
        "at": stamp(change.at),
    }
    if change.by:
        found["by"] = change.by
    if change.reason:
        found["reason"] = change.reason
    if change.evidence:
        found["evidence"] = [evidence_to(item) for item in change.evidence]
    return found


def change_from(table: Mapping[str, object]) -> Change:
    """A change from its mapping."""
    verb: Literal["forget", "revoke", "undo", "evidence"] = choice(
        table.get("verb"), "verb", ("forget", "revoke", "undo", "evidence"), "evidence"
    )
    return Change(
        id=identity(plain(table.get("id"), "id")),
        verb=verb,
        targets=texts(table.get("targets"), "targets"),
        at=moment(table.get("at"), "at"),
        by=plain(table.get("by"), "by"),
        reason=plain(table.get("reason"), "reason"),
        evidence=evidence_from(table.get("evidence")),
    )


def episode_to(episode: Episode) -> dict[str, object]:
    """Plain mapping of an episode."""
    found: dict[str, object] = {
        "id": episode.id,
        "session": episode.session,
        "role": episode.role,
        "at": stamp(episode.at),
        "scope": episode.scope.levels(),
        "owner": episode.owner,
        "visibility": episode.visibility,
    }
    if episode.source:
        found["source"] = episode.source
    if episode.served:
        found["served"] = list(episode.served)
    if episode.metadata:
        found["metadata"] = dict(episode.metadata)
    return found | {"text": episode.text}


def episode_from(table: Mapping[str, object]) -> Episode:
    """An episode from its mapping."""
    levels = mapping(table.get("scope"), "scope")
    return Episode(
        id=identity(plain(table.get("id"), "id")),
        session=plain(table.get("session"), "session"),
        role=choice(table.get("role"), "role", ROLES, "user"),
        text=plain(table.get("text"), "text"),
        at=moment(table.get("at"), "at"),
        scope=Scope(**{level: plain(value, level) for level, value in levels.items()}),
        owner=plain(table.get("owner"), "owner"),
        visibility=choice(table.get("visibility"), "visibility", VISIBILITIES, "team"),
        source=plain(table.get("source"), "source"),
        served=texts(table.get("served"), "served"),
        metadata=MappingProxyType(
            {key: plain(value, key) for key, value in mapping(table.get("metadata"), "metadata").items()}
        ),
    )


def to_json(table: Mapping[str, object]) -> str:
    """Compact JSON on one line; a lone surrogate becomes an escape, so any text survives."""
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if text.isprintable() or is_clean(text) else json.dumps(table, separators=(",", ":"), default=str)


def is_clean(text: str) -> bool:
    """Whether the text can be written as UTF-8 on one line."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\u2028" not in text and "\u2029" not in text and "\x85" not in text


def printable(text: str) -> str:
    """The text as it can stand in a UTF-8 file: lone surrogates become the replacement mark."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()
