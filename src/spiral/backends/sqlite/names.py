"""File names as the database keeps them: a name may hold any bytes, a text of the database may not."""

from __future__ import annotations

import os


def kept(path: str) -> str | bytes:
    """The path as it is stored and compared: text, or the bytes of a name that is none."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def told(stored: str | bytes) -> str:
    """The path as the rest of the program knows it."""
    return stored if isinstance(stored, str) else os.fsdecode(stored)


def folder_of(path: str) -> str:
    """The folder that lists a file; folders themselves are listed under the empty name."""
    return "" if path.endswith("/") else path.rpartition("/")[0] + "/"
