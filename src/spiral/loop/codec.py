"""The loop's nouns as JSON and back."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from spiral.errors import StoreError

Noun = TypeVar("Noun")
HINTS: dict[type, Mapping[str, Any]] = {}


def plain(value: object) -> Any:
    """Lists, tables, texts and numbers, as JSON has them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def dump(value: object) -> str:
    """One line of JSON; equal values give equal text."""
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True)


def load(kind: type[Noun], text: str) -> Noun:
    """The noun in a text that `dump` made."""
    try:
        return noun(kind, json.loads(text))
    except (ValueError, TypeError) as fault:
        raise StoreError(f"a {kind.__name__} cannot be read from {text[:80]!r}: {fault}") from fault


def noun(kind: type[Noun], table: Mapping[str, Any]) -> Noun:
    """The noun in a table; a field that is missing keeps its default, one that is unknown is left out."""
    hints = types_of(kind)
    return kind(**{name: revived(hints[name], value) for name, value in table.items() if name in hints})


def types_of(kind: type) -> Mapping[str, Any]:
    """The type of each field, looked up once for each kind."""
    if kind not in HINTS:
        HINTS[kind] = typing.get_type_hints(kind)
    return HINTS[kind]


def revived(kind: Any, value: Any) -> Any:
    """A value of JSON as the field wants it."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        return revived(next(one for one in inner if one is not type(None)), value)
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(revived(inner[0], item) for item in value)
        return tuple(revived(one, item) for one, item in zip(inner, value, strict=True))
    if origin is Mapping:
        return {key: revived(inner[1], item) for key, item in value.items()}
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return noun(kind, value)
    return float(value) if kind is float else value
