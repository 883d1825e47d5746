"""Values out of files that anybody may have written, made fit to be kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spiral.errors import SpiralError, UsageError

DEEPEST = 40
"""Levels of lists and tables within each other."""
MOST = 20_000
"""Values in one file; a few lines of YAML that refer to each other can stand for billions."""


def fit(value: object) -> object:
    """The value with text for every key and no lone surrogate; too deep or too large a one raises UsageError."""
    return fitted(value, iter(range(MOST)), DEEPEST)


def fitted(value: object, left: Iterator[int], depth: int) -> object:
    """One value, counted, with what is inside it."""
    if depth < 0 or next(left, None) is None:
        raise UsageError(f"holds more than {MOST} values or {DEEPEST} levels; make it smaller")
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole(str(key)): fitted(item, left, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [fitted(item, left, depth - 1) for item in value]
    return value


def whole(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def reason(fault: Exception) -> str:
    """Why a file could not be read, on one line, for whoever has to mend it."""
    if isinstance(fault, SpiralError):
        return whole(str(fault))
    return whole(f"cannot be read ({type(fault).__name__}: {' '.join(str(fault).split())[:200]}); correct or remove it")
