"""Keeps secrets out of whatever is about to be written, in every field of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from spiral.errors import UsageError
from spiral.memory.codec import printable
from spiral.memory.redact import redact
from spiral.model import Change, Draft, Episode, Evidence, Scope, Statement

Clean = Callable[[str], str]
Noun = TypeVar("Noun", Draft, Statement)


def safe_text(text: str) -> str:
    """The text without secrets, as it can stand in a file."""
    return redact(printable(text))[0]


def safe_draft(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft without secrets, and which kinds were taken out; a session that is one is refused."""
    found: list[str] = []

    def clean(text: str) -> str:
        safe, kinds = redact(printable(text))
        found.extend(kinds)
        return safe

    return replace(_cleaned(draft, clean), session=safe_name(draft.session, "session")), tuple(dict.fromkeys(found))


def safe_memory(memory: Statement) -> Statement:
    """The memory without secrets; one in its id, scope, owner or session is refused, since these name it."""
    safe_name(memory.id, "id")
    safe_scope(memory.scope)
    return replace(
        _cleaned(memory, safe_text),
        owner=safe_name(memory.owner, "owner"),
        session=safe_name(memory.session, "session"),
        conflicts=tuple(map(safe_text, memory.conflicts)),
        quarantine=safe_text(memory.quarantine),
        extra=MappingProxyType({safe_text(name): _nested(value) for name, value in memory.extra.items()}),
    )


def safe_change(change: Change) -> Change:
    """The change without secrets."""
    safe_name(change.id, "id")
    return replace(
        change,
        targets=tuple(map(safe_text, change.targets)),
        by=safe_text(change.by),
        reason=safe_text(change.reason),
        evidence=_evidence(change.evidence, safe_text),
    )


def safe_episode(episode: Episode) -> Episode:
    """The episode without secrets; one in its id, scope, owner or session is refused, since these name it."""
    safe_name(episode.id, "id")
    safe_scope(episode.scope)
    return replace(
        episode,
        text=safe_text(episode.text),
        session=safe_name(episode.session, "session"),
        owner=safe_name(episode.owner, "owner"),
        source=safe_text(episode.source),
        served=tuple(map(safe_text, episode.served)),
        metadata=_table(episode.metadata, safe_text),
    )


def safe_scope(scope: Scope) -> None:
    """Refuse a scope that holds a secret."""
    for level, value in scope.levels().items():
        safe_name(value, level)


def safe_name(value: str, what: str) -> str:
    """The name as it can stand in a file; refused when it is a secret, for a name cannot be taken out."""
    value = printable(value)
    kinds = redact(value)[1]
    if kinds:
        raise UsageError(f"the {what} holds a secret ({', '.join(kinds)}) and would be written down; choose another")
    return value


def _cleaned(noun: Noun, clean: Clean) -> Noun:
    """What drafts and memories have in common."""
    return replace(
        noun,
        text=clean(noun.text),
        key=clean(noun.key),
        source=clean(noun.source),
        tags=tuple(map(clean, noun.tags)),
        entities=tuple(map(clean, noun.entities)),
        files=tuple(map(clean, noun.files)),
        commits=tuple(map(clean, noun.commits)),
        supersedes=tuple(map(clean, noun.supersedes)),
        links=tuple(map(clean, noun.links)),
        evidence=_evidence(noun.evidence, clean),
        metadata=_table(noun.metadata, clean),
    )


def _evidence(evidence: tuple[Evidence, ...], clean: Clean) -> tuple[Evidence, ...]:
    return tuple(replace(item, text=clean(item.text), source=clean(item.source)) for item in evidence)


def _table(table: Mapping[str, str], clean: Clean) -> Mapping[str, str]:
    return MappingProxyType({clean(name): clean(value) for name, value in table.items()})


def _nested(value: object) -> object:
    """A value of a person's own front matter, all the way down."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, Mapping):
        return {safe_text(str(name)): _nested(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nested(item) for item in value]
    return value
