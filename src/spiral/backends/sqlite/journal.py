"""The journal in one SQLite file: events, the state of each task, expenses, notes and kept texts."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from spiral.backends.sqlite.connection import hindered
from spiral.errors import NotFoundError, StoreError, StoreVersionError
from spiral.ports import NOTHING
from spiral.work import Event, EventKind, Expense, TaskState, Usage

VERSION = 1
TABLES = """
CREATE TABLE event(seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, run TEXT NOT NULL,
    kind TEXT NOT NULL, task TEXT NOT NULL, pass TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX event_run ON event(run, kind, seq);
CREATE INDEX event_task ON event(task, kind, seq) WHERE task != '';
CREATE INDEX event_pass ON event(pass, seq) WHERE pass != '';
CREATE INDEX event_kind ON event(kind, seq);
CREATE TABLE state(task TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE note(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE expense(id TEXT PRIMARY KEY, at TEXT NOT NULL, run TEXT NOT NULL, pass TEXT NOT NULL, task TEXT NOT NULL,
    agent TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, turns INTEGER NOT NULL, cost REAL NOT NULL,
    estimated INTEGER NOT NULL, unknown INTEGER NOT NULL);
CREATE INDEX expense_run ON expense(run, at);
CREATE INDEX expense_at ON expense(at);
CREATE TABLE kept(name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
"""
SPENT = ("input", "output", "cache_read", "cache_write", "turns", "cost", "estimated", "unknown")


class SqliteJournal:
    """One file; every process opens it for itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.open(str(path))
            # A milestone that was acknowledged outlives a power cut; there are a handful of them a pass.
            self.db.execute("PRAGMA synchronous = FULL")
            self.lay()
        except (sqlite3.Error, OSError) as fault:
            hindrance = hindered(path.parent)
            if not hindrance or not self.as_it_is():
                raise StoreError(f"cannot open the journal {str(path)!r}: {hindrance or fault}") from fault

    def open(self, place: str) -> None:
        """Connect; a place may be a URI of SQLite's."""
        self.db = sqlite3.connect(place, uri=True, timeout=60.0, isolation_level=None, check_same_thread=False)
        self.db.execute("PRAGMA busy_timeout = 60000")

    def as_it_is(self) -> bool:
        """Where nothing can be written, read what is there, or nothing if there is none; whether that can be done."""
        log = self.path.with_name(self.path.name + "-wal")
        # Without its log a database may be half-way between two states.
        if log.exists() and log.stat().st_size:
            return False
        try:
            if self.path.exists() and self.path.stat().st_size:
                self.open(f"file:{quote(os.fsencode(self.path))}?mode=ro&immutable=1")
            else:
                self.open(":memory:")
            self.lay()
            self.db.execute("PRAGMA query_only = ON")
        except sqlite3.Error:
            return False
        return True

    def lay(self) -> None:
        """Lay out the tables. One winner: the transaction is immediate; who comes second finds the version set."""
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StoreVersionError(
                f"the journal {str(self.path)!r} has version {version}, this Spiral knows {VERSION}; upgrade Spiral"
            )
        if version == 0:
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("BEGIN IMMEDIATE")
            if self.db.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in TABLES.split(";\n"):
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA user_version = {VERSION}")
            self.db.execute("COMMIT")

    def record(
        self,
        events: Sequence[Event] = (),
        *,
        states: Mapping[str, TaskState] = NOTHING,
        notes: Mapping[str, str] = NOTHING,
        expenses: Sequence[Expense] = (),
    ) -> None:
        """One transaction, which admits one writer over all processes; known ids are left as they are."""
        told = [
            (one.id, stamp(one.at), one.run, one.kind, one.task, one.pass_id, json.dumps(one.data, ensure_ascii=False))
            for one in events
        ]
        judged = [(task, json.dumps(asdict(state), ensure_ascii=False)) for task, state in states.items()]
        paid = [row_of(one) for one in expenses]
        with self.lock:
            try:
                self.db.execute("BEGIN IMMEDIATE")
                self.db.executemany(
                    "INSERT INTO event(id, at, run, kind, task, pass, data) SELECT ?1,?2,?3,?4,?5,?6,?7"
                    " WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = ?1)",
                    told,
                )
                self.db.executemany("INSERT OR REPLACE INTO state VALUES (?,?)", judged)
                self.db.executemany("INSERT OR REPLACE INTO note VALUES (?,?)", list(notes.items()))
                self.db.executemany(f"INSERT OR IGNORE INTO expense VALUES ({','.join('?' * 16)})", paid)
                self.db.execute("COMMIT")
            except sqlite3.Error as fault:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise StoreError(f"cannot write to the journal {str(self.path)!r}: {fault}") from fault

    def events(
        self,
        *,
        run: str = "",
        task: str = "",
        pass_id: str = "",
        kinds: Sequence[EventKind] = (),
        after: int = 0,
        limit: int = 0,
    ) -> list[Event]:
        clauses, values = ["seq > ?"], [after]
        for column, value in (("run", run), ("task", task), ("pass", pass_id)):
            if value:
                clauses.append(f"{column} = ?")
                values.append(value)  # type: ignore[arg-type]
        if kinds:
            clauses.append(f"kind IN ({','.join('?' * len(kinds))})")
            values.extend(kinds)  # type: ignore[arg-type]
        tail = f"ORDER BY seq DESC LIMIT {int(limit)}" if limit else "ORDER BY seq"
        rows = self.ask(
            f"SELECT seq, id, at, run, kind, task, pass, data FROM event WHERE {' AND '.join(clauses)} {tail}", values
        )
        found = [
            Event(
                seq=row[0], id=row[1], at=datetime.fromisoformat(row[2]), run=row[3], kind=row[4], task=row[5],
                pass_id=row[6], data=json.loads(row[7]),
            )
            for row in rows
        ]  # fmt: skip
        return found[::-1] if limit else found

    def states(self) -> Mapping[str, TaskState]:
        return {row[0]: TaskState(**json.loads(row[1])) for row in self.ask("SELECT task, body FROM state", ())}

    def note(self, name: str) -> str:
        rows = self.ask("SELECT value FROM note WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def notes(self, prefix: str) -> Mapping[str, str]:
        rows = self.ask(
            "SELECT name, value FROM note WHERE substr(name, 1, ?) = ? ORDER BY name", (len(prefix), prefix)
        )
        return {row[0]: row[1] for row in rows}

    def expenses(self, *, run: str = "", since: datetime | None = None) -> list[Expense]:
        where, values = within(run, since)
        return [expense_of(row) for row in self.ask(f"SELECT * FROM expense WHERE {where} ORDER BY at, id", values)]

    def spent(self, *, run: str = "", since: datetime | None = None) -> Usage:
        where, values = within(run, since)
        sums = ", ".join(f"total({name})" for name in SPENT)
        row = self.ask(f"SELECT {sums} FROM expense WHERE {where}", values)[0]
        return usage_of(row)

    def keep(self, body: str) -> str:
        name = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
        packed = zlib.compress(body.encode("utf-8", "surrogatepass"), 3)
        with self.lock:
            try:
                self.db.execute("INSERT OR IGNORE INTO kept VALUES (?,?)", (name, packed))
            except sqlite3.Error as fault:
                raise StoreError(f"cannot write to the journal {str(self.path)!r}: {fault}") from fault
        return name

    def kept(self, name: str) -> str:
        rows = self.ask("SELECT body FROM kept WHERE name = ?", (name,))
        if not rows:
            raise NotFoundError(f"the journal keeps no text {name!r}")
        return zlib.decompress(rows[0][0]).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        with self.lock:
            self.db.close()

    def ask(self, statement: str, values: Sequence[object]) -> list[tuple]:  # type: ignore[type-arg]
        """The rows of a question."""
        with self.lock:
            try:
                return self.db.execute(statement, tuple(values)).fetchall()
            except sqlite3.Error as fault:
                raise StoreError(f"cannot read the journal {str(self.path)!r}: {fault}") from fault


def stamp(at: datetime) -> str:
    """ISO text in UTC that sorts by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def within(run: str, since: datetime | None) -> tuple[str, list[str]]:
    """A condition on expenses."""
    clauses, values = ["1"], []
    if run:
        clauses.append("run = ?")
        values.append(run)
    if since is not None:
        clauses.append("at >= ?")
        values.append(stamp(since))
    return " AND ".join(clauses), values


def row_of(one: Expense) -> tuple[object, ...]:
    """An expense as a row."""
    usage = one.usage
    return (
        one.id, stamp(one.at), one.run, one.pass_id, one.task, one.agent, one.role, one.model, usage.input,
        usage.output, usage.cache_read, usage.cache_write, usage.turns, usage.cost, usage.estimated, usage.unknown,
    )  # fmt: skip


def usage_of(row: Sequence[float]) -> Usage:
    """Eight numbers as a usage."""
    whole = dict(zip(SPENT[:5], map(int, row[:5]), strict=True))
    return Usage(**whole, cost=float(row[5]), estimated=bool(row[6]), unknown=bool(row[7]))


def expense_of(row: Sequence) -> Expense:  # type: ignore[type-arg]
    """A row as an expense."""
    return Expense(
        id=row[0], at=datetime.fromisoformat(row[1]), run=row[2], pass_id=row[3], task=row[4], agent=row[5],
        role=row[6], model=row[7], usage=usage_of(row[8:16]),
    )  # fmt: skip


def open_journal(_url: str, path: Path) -> SqliteJournal:
    """The journal in this file, made at its first use."""
    return SqliteJournal(path)
