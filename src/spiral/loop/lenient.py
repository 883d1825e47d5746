"""Reads plain JSON of any version: what is missing or of another kind becomes its empty value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from spiral.work import Usage

Json = Mapping[str, object]
WHOLE = ("input", "output", "cache_read", "cache_write", "turns")


def text(data: Json, name: str) -> str:
    """A text; a number as its digits."""
    value = data.get(name)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def number(data: Json, name: str) -> float:
    """A finite number, or 0."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        return float(value) if math.isfinite(value) else 0.0
    except OverflowError:
        return 0.0


def whole(data: Json, name: str) -> int:
    """A whole number, or 0."""
    return int(number(data, name))


def table(data: Json, name: str) -> Json:
    """A table, or an empty one."""
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def tables(data: Json, name: str) -> list[Json]:
    """The tables of a list."""
    return [item for item in listed(data, name) if isinstance(item, Mapping)]


def texts(data: Json, name: str) -> tuple[str, ...]:
    """The texts of a list."""
    return tuple(item for item in listed(data, name) if isinstance(item, str))


def listed(data: Json, name: str) -> Sequence[object]:
    """A list, or an empty one."""
    value = data.get(name)
    return value if isinstance(value, list | tuple) else ()


def moment(value: str) -> datetime | None:
    """A moment in ISO form, in UTC where it names no zone; None when it is none."""
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def usage(data: Json) -> Usage:
    """What was used up; a cost that is no number is unknown."""
    cost = data.get("cost", 0.0)
    known = isinstance(cost, int | float) and math.isfinite(cost)
    return Usage(
        **{name: whole(data, name) for name in WHOLE},
        cost=number(data, "cost"),
        estimated=data.get("estimated") is True,
        unknown=data.get("unknown") is True or not known,
    )
