"""A connection whose failures are ours: each names what happened to the disk, and the cure that fits it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spiral.errors import StoreError, StoreLockedError

ROOM = 256_000
"""Bytes without which SQLite can open nothing."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Connection(sqlite3.Connection):
    """Gives cursors that raise StoreError."""

    home: Path

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any]) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).executemany(sql, parameters)


class Cursor(sqlite3.Cursor):
    """Raises StoreError where SQLite fails; a wrong use of it stays what it is."""

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        """As in sqlite3."""
        try:
            super().execute(sql, parameters)
        except sqlite3.DatabaseError as fault:
            raise ours(fault, self.connection) from fault
        return self

    def executemany(self, sql: str, parameters: Iterable[Any]) -> Cursor:
        """As in sqlite3."""
        try:
            super().executemany(sql, parameters)
        except sqlite3.DatabaseError as fault:
            raise ours(fault, self.connection) from fault
        return self

    def fetchone(self) -> Any:
        """As in sqlite3."""
        return next(self, None)

    def fetchall(self) -> list[Any]:
        """As in sqlite3."""
        try:
            return super().fetchall()
        except sqlite3.DatabaseError as fault:
            raise ours(fault, self.connection) from fault

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except sqlite3.DatabaseError as fault:
            raise ours(fault, self.connection) from fault


def opened(home: Path, mode: str) -> Connection:
    """A connection to the database in a folder; `mode` is SQLite's, `memory` for one that is nowhere."""
    place = ":memory:" if mode == "memory" else f"file:{quote(os.fsencode(home / 'index.db'))}?mode={mode}"
    try:
        db = sqlite3.connect(
            place, uri=True, timeout=60.0, isolation_level=None, check_same_thread=False, factory=Connection
        )
    except sqlite3.DatabaseError as fault:
        raise told(fault, home) from fault
    db.home = home
    return db


def ours(fault: sqlite3.DatabaseError, db: sqlite3.Connection) -> Exception:
    """The failure as a StoreError, unless it is a mistake of the caller's."""
    if not hasattr(fault, "sqlite_errorcode"):
        return fault
    return told(fault, db.home if isinstance(db, Connection) else Path())


def told(fault: sqlite3.DatabaseError, home: Path) -> StoreError:
    """What went wrong, and the cure that fits."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    what = f"cannot use the index {str(home)!r}: {fault}"
    if code in BUSY:
        return StoreLockedError(f"{what}; another process holds it, try again")
    if code in DAMAGED:
        return StoreError(f"{what}; `spiral reindex` rebuilds it")
    if hindrance := hindered(home):
        return StoreError(f"cannot use the index {str(home)!r}: {hindrance}")
    return StoreError(f"{what}; if it stays so, `spiral reindex` rebuilds it")


def hindered(folder: Path) -> str:
    """Why nothing can be written there, with the cure; empty if it can."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return "the file system is read-only; mount it writable, or set memory.index elsewhere"
    if not os.access(there, os.W_OK):
        return f"{str(there)!r} may not be written; check who owns it"
    found = os.statvfs(there)
    if found.f_bavail * found.f_frsize < ROOM:
        return "the disk is full; free some space and try again"
    return ""
