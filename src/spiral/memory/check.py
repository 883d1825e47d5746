"""Words and moments as a caller may write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from spiral.errors import UsageError
from spiral.memory.codec import moment

Word = TypeVar("Word", bound=str)
When = str | datetime | None


def when(value: When, name: str) -> datetime | None:
    """A moment as a caller may write it."""
    return None if value in (None, "") else moment(value, name)


def one_of(value: Word, name: str, known: Sequence[str]) -> Word:
    """The value, if it is one of the known words."""
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value
