"""What a caller may write for the parts of a memory, as the types that they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from spiral.errors import UsageError
from spiral.memory.codec import evidence_from, mapping, moment, plain, texts
from spiral.model import Evidence

Word = TypeVar("Word", bound=str)
When = str | datetime | None


def many(value: object, name: str) -> tuple[str, ...]:
    """Several texts; a single one is a list of one."""
    if value is None or isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return texts(value, name)
    return texts(tuple(value), name)


def table(value: object, name: str) -> dict[str, str]:
    """A table of texts; numbers and dates as they are written."""
    return {key: plain(item, f"{name} {key!r}") for key, item in mapping(value, name).items()}


def backing(value: object) -> tuple[Evidence, ...]:
    """Evidence as such, as tables of `kind`, `text` and `source`, or as texts, which are quotes."""
    if isinstance(value, str | Evidence | Mapping):
        value = [value]
    if value is not None and not isinstance(value, Iterable):
        raise UsageError(f"evidence must be a list, not {value!r}")
    found: list[Evidence] = []
    for item in value or ():
        found.extend([item] if isinstance(item, Evidence) else evidence_from([item]))
    return tuple(found)


def when(value: When, name: str) -> datetime | None:
    """A moment as a caller may write it."""
    return None if value in (None, "") else moment(value, name)


def one_of(value: Word, name: str, known: Sequence[str]) -> Word:
    """The value, if it is one of the known words."""
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value
