"""Connections to the present generation of the database, and the lock that lets one writer in at a time.

Every rebuild makes a folder of its own, and the file `CURRENT` names the one that counts. Replacing a database under
open connections would mix its log with another's; replacing a name does not.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from spiral.backends.sqlite import schema
from spiral.backends.sqlite.connection import Connection, hindered, opened
from spiral.errors import StoreError, StoreLockedError, StoreVersionError

WAIT = 120.0
"""Seconds to wait for other writers. A write takes milliseconds, so this is many hundreds of them in a queue."""
NAME = re.compile(r"g-[0-9a-f]{8}")
READERS = 5_000
"""Milliseconds to wait, when a text is erased, for readers that still see it."""


class Held(threading.local):
    """What one thread holds."""

    pid = 0
    generation = ""
    db: Connection | None = None
    fixed = False
    """The disk lets nothing be written, so the database is read as it is, or built in memory."""
    turns = 0
    depth = 0
    amends = ExitStack()
    """What is to be done should the present transaction fail."""


class Generations:
    """The folder of an index; a handle may be pinned to one generation that is still being built."""

    def __init__(self, folder: Path, *, pinned: str = "", wait: float = WAIT) -> None:
        self.folder = folder
        self.pinned = pinned
        self.wait = wait
        self.held = Held()
        self.opened: list[sqlite3.Connection] = []
        self.building = -1
        """The handle of the builders' lock, while this is a generation that is being built."""

    @property
    def home(self) -> Path:
        """The folder of the generation that this thread has open."""
        return self.folder / self.held.generation

    @property
    def db(self) -> Connection:
        """This thread's connection; a forked child gets one of its own, as SQLite demands."""
        if self.held.db is None or self.held.pid != os.getpid():
            self.refresh()
        assert self.held.db is not None
        return self.held.db

    def refresh(self) -> None:
        """Follow `CURRENT`: open the generation that counts now, making the first one if there is none.

        Where nothing can be written, what is there is read; if that cannot be either, an index in memory takes its
        place, to be filled from the files. Both are given up as soon as the disk can be written again.
        """
        held = self.held
        if held.depth:
            return
        current = self.pinned or self.current()
        if held.db is not None and held.pid == os.getpid():
            if held.generation == current and not (held.fixed and self.may_leave(held.db)):
                return
            self.opened.remove(held.db)
            held.db.close()
        held.pid, held.generation, held.db, held.fixed = os.getpid(), current, None, False
        try:
            held.db = (self.connect(self.home) if current else None) or self.found()
        except StoreVersionError:
            raise
        except StoreError:
            if not self.pinned and self.current() not in ("", current):
                # Another process replaced it while we opened it.
                self.refresh()
            elif self.pinned or not hindered(self.folder):
                raise
            else:
                held.db, held.fixed = self.as_it_is(), True

    def may_leave(self, db: Connection) -> bool:
        """Whether a database that cannot be written is to be opened anew: others may have changed one that is read as
        it is, and one in memory is given up once the disk can be written."""
        return not in_memory(db) or not hindered(self.folder)

    def current(self) -> str:
        """The name in `CURRENT`; empty when there is no such generation."""
        try:
            name = (self.folder / "CURRENT").read_text("utf-8").strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, UnicodeDecodeError):
            return ""
        except OSError as fault:
            raise StoreError(f"cannot read the index folder {str(self.folder)!r}: {fault.strerror}") from fault
        return name if NAME.fullmatch(name) and (self.folder / name / "index.db").exists() else ""

    def found(self) -> Connection:
        """Make the first generation. One winner: the writers' lock; who comes second opens what the first made."""
        with self.turn():
            name = self.pinned or self.current()
            db = self.connect(self.folder / name) if name else None
            if db is None:
                name = self.pinned or fresh_name()
                db = self.make(self.folder / name)
                if not self.pinned:
                    self.install(name)
            self.held.generation = name
            return db

    def install(self, name: str) -> None:
        """Make a generation the one that counts and remove the others. Inside `turn`; a retry changes nothing."""
        fresh, mark = self.folder / f"CURRENT.{os.getpid()}", self.folder / "CURRENT"
        try:
            with fresh.open("w", encoding="utf-8") as out:
                out.write(name + "\n")
                out.flush()
                os.fsync(out.fileno())
            if mark.is_dir():
                shutil.rmtree(mark)
            fresh.replace(mark)
        except OSError as fault:
            raise StoreError(f"cannot write to the index folder {str(self.folder)!r}: {fault.strerror}") from fault
        self.sweep(name)

    def sweep(self, name: str) -> bool:
        """Remove every generation but this one, also those that a killed rebuild left; False and nothing when another
        process is building one of them. Inside `turn`."""
        handle = self.building
        if handle < 0:
            with suppress(StoreLockedError):
                handle = self.lock("build.lock", 0.0)
        if handle < 0:
            return False
        for other in self.folder.glob("g-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
        if handle != self.building:
            os.close(handle)
        return True

    def scrub(self) -> bool:
        """Write the present generation anew and remove all others, so that what was deleted is in none of their files.

        False when a reader's open transaction keeps the former pages, or a rebuild what it has read, until it ends; a
        later call finishes the work.
        """
        with self.turn():
            self.refresh()
            alone = self.sweep(self.held.generation)
            try:
                self.db.execute(f"PRAGMA busy_timeout = {READERS}")
                self.db.execute("VACUUM")
                return not self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] and alone
            except StoreLockedError:
                return False
            finally:
                self.db.execute(schema.PRAGMAS[0])

    def notes(self) -> list[tuple[str, str]]:
        """The notes of the generation that counts; none when it cannot be read."""
        with suppress(StoreError), closing(opened(self.folder / self.current(), "ro")) as db:
            return db.execute("SELECT name, value FROM note").fetchall()
        return []

    def connect(self, home: Path) -> Connection | None:
        """Open a generation; a damaged one is an error that names the cure. None if an earlier version made it."""
        if not (home / "index.db").exists():
            return None
        db = opened(home, "rw")
        try:
            prepare(db)
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > schema.VERSION:
                raise StoreVersionError(
                    f"the index {str(home)!r} has version {version}, this Spiral knows {schema.VERSION}; "
                    "upgrade Spiral, or run `spiral reindex` to rebuild it for this one"
                )
            if version == schema.VERSION:
                self.opened.append(db)
                return db
        except StoreError:
            db.close()
            raise
        db.close()
        return None

    def make(self, home: Path) -> Connection:
        """Make an empty generation."""
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreError(
                f"cannot make the index folder {str(home)!r}: {hindered(home) or fault.strerror}"
            ) from fault
        db = opened(home, "rwc")
        prepare(db)
        lay(db)
        self.opened.append(db)
        return db

    def as_it_is(self) -> Connection:
        """A connection without the right to write: to what is there, or to an empty database in memory."""
        log = self.home / "index.db-wal"
        # Without its log a database may be half-way between two states.
        modes = ("ro", "ro&immutable=1") if not log.exists() or not log.stat().st_size else ("ro",)
        for mode in modes if self.held.generation else ():
            with suppress(StoreError):
                db = opened(self.home, mode)
                if db.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION:
                    prepare(db)
                    self.opened.append(db)
                    return db
                db.close()
        db = opened(self.home, "memory")
        prepare(db)
        lay(db)
        self.opened.append(db)
        return db

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """All or nothing. The file lock admits one writer at a time, over all processes and generations; SQLite's own
        lock backs it. Work that was not committed leaves nothing, so a retry starts clean."""
        if self.held.depth and self.held.pid == os.getpid():
            yield
            return
        with self.turn(), ExitStack() as amends:
            self.refresh()
            db = self.db
            db.execute("BEGIN IMMEDIATE")
            amends.callback(rollback, db)
            self.held.depth, self.held.amends = 1, amends
            try:
                yield
                db.execute("COMMIT")
                amends.pop_all()
            finally:
                self.held.depth = 0

    def otherwise(self, action: Callable[[], None]) -> None:
        """Have this done if the transaction fails, before the next writer is let in; the last first."""
        self.held.amends.callback(action)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the writers' lock; again from inside is the same hold. The kernel frees it when a process dies. An index
        in memory is this thread's alone and needs none."""
        alone = self.held.fixed and self.held.db is not None and in_memory(self.held.db)
        if self.held.turns or (alone and hindered(self.folder)):
            yield
            return
        lock = self.lock("write.lock", self.wait)
        self.held.turns = 1
        try:
            yield
        finally:
            self.held.turns = 0
            os.close(lock)

    def lock(self, name: str, wait: float) -> int:
        """The locked file's handle, after waiting for it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            cause = hindered(self.folder) or fault.strerror
            raise StoreError(f"cannot write to the index folder {str(self.folder)!r}: {cause}") from fault
        until, pause = time.monotonic() + wait, 0.0005
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() >= until:
                    os.close(handle)
                    raise StoreLockedError(
                        f"another process has been writing to {str(self.folder)!r} for {wait:.0f} s; "
                        f"`fuser {name}` in that folder tells which"
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)

    def close(self) -> None:
        """Close every connection of this handle."""
        while self.opened:
            self.opened.pop().close()
        self.held = Held()
        if self.building >= 0:
            os.close(self.building)
            self.building = -1


def fresh_name() -> str:
    """A generation's name that was never used."""
    return f"g-{secrets.token_hex(4)}"


def prepare(db: Connection) -> None:
    """Set up a connection."""
    for pragma in schema.PRAGMAS:
        db.execute(pragma)


def in_memory(db: Connection) -> bool:
    """Whether the database is nowhere on disk."""
    return not db.execute("PRAGMA database_list").fetchone()[2]


def lay(db: Connection) -> None:
    """Lay out the tables. One winner: the transaction is immediate and who comes second finds the version set."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in schema.TABLES.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {schema.VERSION}")
    db.execute("COMMIT")


def rollback(db: Connection) -> None:
    """Undo, unless SQLite already has."""
    if db.in_transaction:
        db.execute("ROLLBACK")
