"""The index port on SQLite: one file in WAL mode, many processes at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spiral.backends.sqlite.generations import WAIT, Generations, fresh_name
from spiral.backends.sqlite.names import folder_of, kept, told
from spiral.backends.sqlite.search import condition, partitions, search
from spiral.backends.sqlite.terms import learn, unlearn
from spiral.errors import StoreError
from spiral.model import LEVELS
from spiral.ports import Channels, Counts, Entry, Probe, Relation, Row, Scored, Sighting, View

if TYPE_CHECKING:
    from spiral.backends.sqlite.vectors import VectorFiles
    from spiral.ports import Vectors

COLUMNS = {
    "slot": "slot != '' AND slot",
    "digest": "digest != '' AND digest",
    "session": "session != '' AND session",
    "source": "source != '' AND source",
    "path": "path",
    "type": "type",
    "key": "key != '' AND key",
}
BATCH = 500


class SqliteIndex(Generations):
    """Entries, words, vectors and sightings in one generation's folder."""

    def __init__(self, folder: Path, *, model: str = "", pinned: str = "", wait: float = WAIT) -> None:
        super().__init__(folder, pinned=pinned, wait=wait)
        self.model = model

    def successor(self) -> SqliteIndex:
        """An empty index beside this one, to be filled and then installed by `succeed`."""
        fresh = SqliteIndex(self.folder, model=self.model, pinned=fresh_name(), wait=self.wait)
        # One winner: the builders' lock, held until `close`. Who comes second builds after the first.
        fresh.building = self.lock("build.lock", self.wait)
        return fresh

    def succeed(self) -> None:
        """Make this index, built beside the present one, the one that everybody opens from now on."""
        with self.turn():
            if not self.home.is_dir():
                raise StoreError("somebody removed the index while it was rebuilt; run `spiral reindex` again")
            with self.atomic():
                self.db.executemany("INSERT OR REPLACE INTO note VALUES (?,?)", self.notes())
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.install(self.pinned)

    def put(self, entries: Iterable[Entry]) -> None:
        db = self.db
        for entry in entries:
            old = db.execute("SELECT seq FROM doc WHERE id = ?", (entry.id,)).fetchone()
            if old:
                self.drop(entry.id, old[0])
            searched = entry.type != "change" and bool(entry.text)
            place = [getattr(entry.scope, level) for level in LEVELS]
            part = self.partition((*place, entry.owner, entry.visibility))
            cursor = db.execute(
                "INSERT INTO doc(id, type, part, live, hidden, kind, at, due, model, searched, slot, digest, key,"
                " session, source, path, text, body) VALUES (?,?,?,1,?,?,?,0,0,?,?,?,?,?,?,?,?,?)",
                (entry.id, entry.type, part, entry.hidden, entry.kind, entry.at, searched, entry.slot, entry.digest,
                 entry.key, entry.session, entry.source, kept(entry.path), entry.text[:8000], entry.body),
            )  # fmt: skip
            seq = cursor.lastrowid
            if searched:
                db.execute("INSERT INTO fts(rowid, words, exact) VALUES (?,?,?)", (seq, entry.words, entry.exact))
                learn(db, entry.exact, part)
            db.executemany("INSERT OR IGNORE INTO anchor VALUES (?,?)", [(value, seq) for value in entry.anchors])
            db.executemany(
                "INSERT OR IGNORE INTO point(relation, dst, src) VALUES (?,?,?)",
                [(relation, target, entry.id) for relation, target in entry.points],
            )

    def partition(self, place: tuple[str, ...]) -> int:
        """The number of this scope, owner and visibility."""
        find = (
            "SELECT id FROM partition WHERE org=? AND app=? AND user=? AND agent=? AND run=? AND task=? AND branch=?"
            " AND owner=? AND visibility=?"
        )
        row = self.db.execute(find, place).fetchone()
        if row is None:
            cursor = self.db.execute(
                "INSERT INTO partition(org, app, user, agent, run, task, branch, owner, visibility)"
                " VALUES (?,?,?,?,?,?,?,?,?)",
                place,
            )
            return int(cursor.lastrowid or 0)
        return int(row[0])

    def drop(self, name: str, seq: int) -> None:
        """Take one entry out of every table."""
        find = "SELECT fts.exact, doc.part FROM doc JOIN fts ON fts.rowid = doc.seq WHERE doc.seq = ?"
        if row := self.db.execute(find, (seq,)).fetchone():
            unlearn(self.db, row[0], row[1])
        self.db.execute("DELETE FROM doc WHERE seq = ?", (seq,))
        self.db.execute("DELETE FROM fts WHERE rowid = ?", (seq,))
        self.db.execute("DELETE FROM anchor WHERE seq = ?", (seq,))
        self.db.execute("DELETE FROM point WHERE src = ?", (name,))

    def remove(self, ids: Iterable[str]) -> None:
        for name in ids:
            row = self.db.execute("SELECT seq FROM doc WHERE id = ?", (name,)).fetchone()
            if row:
                self.drop(name, row[0])

    def purge(self, ids: Sequence[str]) -> bool:
        """Remove the entries so that their text is nowhere in the index's files: rows, vocabulary, vectors, log, and
        generations that a killed rebuild left behind."""
        with self.atomic():
            find = "SELECT seq FROM doc WHERE id = ? AND searched = 1"
            rows = [row[0] for name in ids for row in self.db.execute(find, (name,))]
            for number, dimensions in self.db.execute("SELECT id, dimensions FROM model").fetchall():
                self.files(number, dimensions).clear(rows)
            paths = {row.path for row in self.get(ids).values()}
            self.remove(ids)
            # A file's name is made of its text.
            self.unsight(path for path in paths if not self.select("path", [path]))
            self.db.execute("INSERT INTO fts(fts) VALUES ('optimize')")
            self.db.execute("INSERT INTO term_part(term_part) VALUES ('optimize')")
        return self.scrub()

    def mark(self, states: Iterable[tuple[str, bool, int]]) -> None:
        self.db.executemany(
            "UPDATE doc SET live = ?2, due = ?3 WHERE id = ?1 AND (live != ?2 OR due != ?3)", list(states)
        )

    def get(self, ids: Sequence[str]) -> Mapping[str, Row]:
        found: dict[str, Row] = {}
        for at in range(0, len(ids), BATCH):
            some = ids[at : at + BATCH]
            found |= {row.id: row for row in self.rows(f"id IN ({','.join('?' * len(some))})", some)}
        return {name: found[name] for name in ids if name in found}

    def rows(self, where: str, values: Sequence[str | int | bytes], tail: str = "ORDER BY at, id") -> list[Row]:
        """Entries that satisfy a condition."""
        cursor = self.db.execute(f"SELECT id, type, path, body, live FROM doc WHERE {where} {tail}", values)
        return [Row(id=row[0], type=row[1], path=told(row[2]), body=row[3], live=bool(row[4])) for row in cursor]

    def select(
        self, column: str, values: Sequence[str | int], *, view: View | None = None, limit: int = 0
    ) -> list[Row]:
        if column == "due":
            where = "due > 0 AND due <= ?"
        elif column == "id^":
            where = "id >= ?1 AND id < ?1 || char(1114111)"
        else:
            where = f"{COLUMNS[column]} IN ({','.join('?' * len(values))})"
        if view is not None:
            where += f" AND {condition(view, partitions(self.db, view))}"
        tail = f"ORDER BY at DESC, id LIMIT {int(limit)}" if limit else "ORDER BY at, id"
        found = self.rows(where, [kept(str(value)) for value in values] if column == "path" else values, tail)
        return found[::-1] if limit else found

    def pointing(self, relation: Relation, ids: Sequence[str]) -> list[Row]:
        marks = ",".join("?" * len(ids))
        return self.rows(f"id IN (SELECT src FROM point WHERE relation = ? AND dst IN ({marks}))", (relation, *ids))

    def search(self, probe: Probe, view: View) -> Channels:
        vector = probe.vector
        nearest = None
        if vector is not None and (files := self.vectors()) is not None:
            nearest = lambda parts, limit: files.nearest(vector.reshape(-1), parts, limit)  # noqa: E731
        return search(self.db, probe, view, nearest)

    def like(self, name: str, view: View, limit: int) -> Scored:
        row = self.db.execute("SELECT seq FROM doc WHERE id = ? AND model = ?", (name, self.number() or -1)).fetchone()
        files = self.vectors()
        if row is None or files is None:
            return []
        vector = files.read([row[0]])
        if not len(vector):
            return []
        probe = Probe(vector=vector, limit=limit + 1)
        return [hit for hit in self.search(probe, view).get("vector", []) if hit[0] != name][:limit]

    def files(self, number: int, dimensions: int) -> VectorFiles:
        """The vectors of one model; numpy is imported no sooner than here."""
        from spiral.backends.sqlite.vectors import VectorFiles

        return VectorFiles(self.home, number, dimensions)

    def vectors(self) -> VectorFiles | None:
        """The vectors of the present model, if it has made any."""
        row = self.db.execute("SELECT id, dimensions FROM model WHERE name = ?", (self.model,)).fetchone()
        return self.files(row[0], row[1]) if row else None

    def number(self) -> int:
        """The number of the present model; 0 before its first vector."""
        row = self.db.execute("SELECT id FROM model WHERE name = ?", (self.model,)).fetchone()
        return int(row[0]) if row else 0

    def owed(self, limit: int) -> list[tuple[str, str]]:
        number = self.number() or -1
        cursor = self.db.execute(
            "SELECT id, text FROM doc WHERE searched = 1 AND model != ? ORDER BY live DESC, type DESC, seq LIMIT ?",
            (number, limit),
        )
        return [(row[0], row[1]) for row in cursor]

    def store(self, ids: Sequence[str], vectors: Vectors) -> None:
        db = self.db
        db.execute("INSERT OR IGNORE INTO model(name, dimensions) VALUES (?,?)", (self.model, vectors.shape[1]))
        number = self.number()
        found = {
            row[0]: (row[1], row[2])
            for row in db.execute(f"SELECT id, seq, part FROM doc WHERE id IN ({','.join('?' * len(ids))})", list(ids))
        }
        kept = [at for at, name in enumerate(ids) if name in found]
        places = [found[ids[at]] for at in kept]
        self.files(number, vectors.shape[1]).write(
            [seq for seq, _ in places], [part for _, part in places], vectors[kept]
        )
        db.executemany("UPDATE doc SET model = ? WHERE seq = ?", [(number, seq) for seq, _ in places])

    def borrow(self, other: SqliteIndex) -> int:
        """Take over vectors of the same model and text from another generation; how many were taken.

        Only what is whole is taken; the rest stays owed.
        """
        other.refresh()
        files, number = other.vectors(), other.number()
        if files is None:
            return 0
        have = {
            row[0]: (row[1], row[2])
            for row in other.db.execute("SELECT id, seq, text FROM doc WHERE model = ? AND searched = 1", (number,))
        }
        same = {name: have[name][0] for name, text in self.owed(-1) if have.get(name, (0, None))[1] == text}
        try:
            whole = set(files.whole([*same.values()]))
            wanted = [(name, seq) for name, seq in same.items() if seq in whole]
            for at in range(0, len(wanted), BATCH):
                some = wanted[at : at + BATCH]
                with self.atomic():
                    self.store([name for name, _ in some], files.read([seq for _, seq in some]))
        except (OSError, ValueError, IndexError) as fault:
            raise StoreError(f"cannot read the vectors in {str(other.home)!r}: {fault}") from fault
        return len(wanted)

    def damage(self) -> list[str]:
        found = [
            f"the index's database: {row[0]}" for row in self.db.execute("PRAGMA quick_check(3)") if row[0] != "ok"
        ]
        texts = self.db.execute("SELECT count(*) FROM doc WHERE searched = 1").fetchone()[0]
        known = self.db.execute("SELECT count(*) FROM fts_docsize").fetchone()[0]
        if texts != known:
            found.append(f"the words of {known} texts are in the index, and there are {texts}")
        find = "SELECT seq, part FROM doc WHERE searched = 1 AND model = ?"
        rows = dict(self.db.execute(find, (self.number() or -1,)).fetchall())
        files = self.vectors()
        lost = len(rows) - len(files.intact(rows)) if files else 0
        if lost:
            found.append(f"{lost} of {len(rows)} vectors are damaged or lost")
        return found

    def owing(self) -> int:
        if not self.model:
            return 0
        number = self.number() or -1
        # Four ranges of the index instead of a look at every entry.
        ranges = [(live, sign) for live in (0, 1) for sign in ("<", ">")]
        asked = " + ".join(
            f"(SELECT count(*) FROM doc WHERE searched = 1 AND live = {live} AND model {sign} :model)"
            for live, sign in ranges
        )
        return int(self.db.execute(f"SELECT {asked}", {"model": number}).fetchone()[0])

    def counts(self) -> Counts:
        db = self.db
        tally = {
            (row[0], row[1]): row[2] for row in db.execute("SELECT type, live, count(*) FROM doc GROUP BY type, live")
        }
        faults = db.execute("SELECT count(*) FROM sighting WHERE fault != ''").fetchone()[0]
        return Counts(
            memories=tally.get(("memory", 0), 0) + tally.get(("memory", 1), 0),
            live=tally.get(("memory", 1), 0),
            episodes=tally.get(("episode", 0), 0) + tally.get(("episode", 1), 0),
            changes=tally.get(("change", 0), 0) + tally.get(("change", 1), 0),
            owed=self.owing(),
            faults=faults,
        )

    def sightings(self, folder: str = "") -> Mapping[str, Sighting]:
        rows = self.db.execute("SELECT path, stamp, fault FROM sighting WHERE folder = ?", (kept(folder),))
        seen = [Sighting(path=told(row[0]), stamp=row[1], fault=row[2]) for row in rows]
        return {item.path: item for item in seen}

    def faults(self) -> list[Sighting]:
        rows = self.db.execute("SELECT path, stamp, fault FROM sighting WHERE fault != '' ORDER BY path")
        return [Sighting(path=told(row[0]), stamp=row[1], fault=row[2]) for row in rows]

    def sight(self, seen: Iterable[Sighting]) -> None:
        rows = [(kept(folder_of(item.path)), kept(item.path), item.stamp, item.fault) for item in seen]
        self.db.executemany("INSERT OR REPLACE INTO sighting VALUES (?,?,?,?)", rows)

    def unsight(self, paths: Iterable[str]) -> None:
        rows = [(kept(folder_of(path)), kept(path)) for path in paths]
        self.db.executemany("DELETE FROM sighting WHERE folder = ? AND path = ?", rows)

    def note(self, name: str, value: str | None = None) -> str:
        if value is not None:
            self.db.execute("INSERT OR REPLACE INTO note VALUES (?,?)", (name, value))
            return value
        row = self.db.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""


def open_index(_url: str, folder: Path, *, model: str = "", wait: float = WAIT) -> SqliteIndex:
    """The index in this folder, made at its first use."""
    return SqliteIndex(folder, model=model, wait=wait)
