"""Connections to the present generation of the database, and the lock that lets one writer in at a time.

Every rebuild makes a folder of its own, and the file `CURRENT` names the one that counts. Replacing a database under
open connections would mix its log with another's; replacing a name does not.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spiral.backends.sqlite import schema
from spiral.errors import StoreError, StoreLockedError, StoreVersionError

WAIT = 120.0
"""Seconds to wait for other writers. A write takes milliseconds, so this is many hundreds of them in a queue."""
READERS = 5_000
"""Milliseconds to wait, when a text is erased, for readers that still see it."""


class Held(threading.local):
    """What one thread holds."""

    pid = 0
    generation = ""
    db: sqlite3.Connection | None = None
    turns = 0
    depth = 0


class Generations:
    """The folder of an index; a handle may be pinned to one generation that is still being built."""

    def __init__(self, folder: Path, *, pinned: str = "", wait: float = WAIT) -> None:
        self.folder = folder
        self.pinned = pinned
        self.wait = wait
        self.held = Held()
        self.opened: list[sqlite3.Connection] = []

    @property
    def home(self) -> Path:
        """The folder of the generation that this thread has open."""
        return self.folder / self.held.generation

    @property
    def db(self) -> sqlite3.Connection:
        """This thread's connection; a forked child gets one of its own, as SQLite demands."""
        if self.held.db is None or self.held.pid != os.getpid():
            self.refresh()
        assert self.held.db is not None
        return self.held.db

    def refresh(self) -> None:
        """Follow `CURRENT`: open the generation that counts now, making the first one if there is none."""
        held = self.held
        if held.depth:
            return
        current = self.pinned or self.current()
        if held.db is not None and held.pid == os.getpid():
            if held.generation == current:
                return
            held.db.close()
        held.pid, held.generation, held.db = os.getpid(), current, None
        held.db = self.connect(self.home) if current else self.found()

    def current(self) -> str:
        """The name in `CURRENT`; empty when there is no such generation."""
        try:
            name = (self.folder / "CURRENT").read_text("utf-8").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""
        return name if name and (self.folder / name / "index.db").exists() else ""

    def found(self) -> sqlite3.Connection:
        """Make the first generation. One winner: the writers' lock; who comes second opens what the first made."""
        with self.turn():
            name = self.current()
            if not name:
                name = fresh_name()
                self.connect(self.folder / name).close()
                self.install(name)
            self.held.generation = name
            return self.connect(self.folder / name)

    def install(self, name: str) -> None:
        """Make a generation the one that counts and remove the others. Inside `turn`; a retry changes nothing."""
        fresh = self.folder / f"CURRENT.{os.getpid()}"
        with fresh.open("w", encoding="utf-8") as out:
            out.write(name + "\n")
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.folder / "CURRENT")
        self.sweep(name)

    def sweep(self, name: str) -> None:
        """Remove every generation but this one, also those that a killed rebuild left. Inside `turn`."""
        for other in self.folder.glob("g-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)

    def scrub(self) -> bool:
        """Write the present generation anew and remove all others, so that what was deleted is in none of their files.

        False when a reader's open transaction keeps the former pages until it ends; a later call finishes the work.
        """
        with self.turn():
            self.refresh()
            self.sweep(self.held.generation)
            try:
                self.db.execute(f"PRAGMA busy_timeout = {READERS}")
                self.db.execute("VACUUM")
                return not self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError as fault:
                if "locked" in str(fault):
                    return False
                raise StoreError(f"cannot write to the index {str(self.home)!r}: {fault}") from fault
            finally:
                self.db.execute(schema.PRAGMAS[0])

    def connect(self, home: Path) -> sqlite3.Connection:
        """Open a generation; a damaged one is an error that names the cure."""
        path = home / "index.db"
        try:
            home.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
            for pragma in schema.PRAGMAS:
                db.execute(pragma)
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                lay(db)
        except sqlite3.Error as fault:
            raise StoreError(f"cannot open the index {str(path)!r}: {fault}; `spiral reindex` rebuilds it") from fault
        except OSError as fault:
            raise StoreError(f"cannot make the index folder {str(home)!r}: {fault.strerror}") from fault
        if version > schema.VERSION:
            raise StoreVersionError(
                f"the index {str(path)!r} has version {version}, this Spiral knows {schema.VERSION}; "
                "upgrade Spiral, or run `spiral reindex` to rebuild it for this one"
            )
        self.opened.append(db)
        return db

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """All or nothing. The file lock admits one writer at a time, over all processes and generations; SQLite's own
        lock backs it. Work that was not committed leaves nothing, so a retry starts clean."""
        if self.held.depth and self.held.pid == os.getpid():
            yield
            return
        with self.turn():
            self.refresh()
            db = self.db
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as fault:
                raise StoreError(f"cannot write to the index {str(self.home)!r}: {fault}") from fault
            self.held.depth = 1
            try:
                yield
                db.execute("COMMIT")
            except sqlite3.OperationalError as fault:
                rollback(db)
                raise StoreError(f"cannot write to the index {str(self.home)!r}: {fault}") from fault
            except BaseException:
                rollback(db)
                raise
            finally:
                self.held.depth = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the writers' lock; again from inside is the same hold. The kernel frees it when a process dies."""
        if self.held.turns:
            yield
            return
        lock = self.lock()
        self.held.turns = 1
        try:
            yield
        finally:
            self.held.turns = 0
            os.close(lock)

    def lock(self) -> int:
        """The locked file's handle, after waiting for it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder / "write.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            raise StoreError(f"cannot write to the index folder {str(self.folder)!r}: {fault.strerror}") from fault
        until, pause = time.monotonic() + self.wait, 0.0005
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() > until:
                    os.close(handle)
                    raise StoreLockedError(
                        f"another process has been writing to {str(self.folder)!r} for {self.wait:.0f} s; "
                        "`fuser write.lock` in that folder tells which"
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)

    def close(self) -> None:
        """Close every connection of this handle."""
        while self.opened:
            self.opened.pop().close()
        self.held = Held()


def fresh_name() -> str:
    """A generation's name that was never used."""
    return f"g-{secrets.token_hex(4)}"


def lay(db: sqlite3.Connection) -> None:
    """Lay out the tables. One winner: the transaction is immediate and who comes second finds the version set."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in schema.TABLES.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {schema.VERSION}")
    db.execute("COMMIT")


def rollback(db: sqlite3.Connection) -> None:
    """Undo, unless SQLite already has."""
    if db.in_transaction:
        db.execute("ROLLBACK")
