"""The vocabulary: identifiers and the partitions that use them, so that a part of one finds those that hold it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

VOCABULARY = 40
"""Identifiers that one substring may stand for."""
TRIED = 400
"""Identifiers that are looked at for that, the shortest first."""


def literal(word: str) -> str:
    """An FTS5 string, which is never an operator."""
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'


def worth(exact: str) -> Iterator[str]:
    """The identifiers of an entry that the vocabulary takes, each once."""
    return (term for term in sorted(set(exact.split())) if 3 <= len(term) <= 120)


def learn(db: sqlite3.Connection, exact: str, part: int) -> None:
    """Count an entry's identifiers as used in its partition."""
    uses: list[tuple[int, int]] = []
    for term in worth(exact):
        row = db.execute("SELECT id FROM term WHERE text = ?", (term,)).fetchone()
        number = row[0] if row else db.execute("INSERT INTO term(text) VALUES (?)", (term,)).lastrowid
        if row is None:
            db.execute("INSERT INTO term_part(rowid, text) VALUES (?,?)", (number, term))
        uses.append((int(number or 0), part))
    db.executemany("INSERT INTO term_use VALUES (?,?,1) ON CONFLICT(term, part) DO UPDATE SET uses = uses + 1", uses)


def unlearn(db: sqlite3.Connection, exact: str, part: int) -> None:
    """Take the uses back; an identifier that nobody uses is dropped."""
    for term in worth(exact):
        row = db.execute("SELECT id FROM term WHERE text = ?", (term,)).fetchone()
        if row is None:
            continue
        db.execute("UPDATE term_use SET uses = uses - 1 WHERE term = ? AND part = ?", (row[0], part))
        db.execute("DELETE FROM term_use WHERE term = ? AND part = ? AND uses <= 0", (row[0], part))
        if db.execute("SELECT 1 FROM term_use WHERE term = ? LIMIT 1", row).fetchone() is None:
            db.execute("INSERT INTO term_part(term_part, rowid, text) VALUES ('delete', ?, ?)", (row[0], term))
            db.execute("DELETE FROM term WHERE id = ?", row)


def holding(
    db: sqlite3.Connection, parts: Iterable[str], known: Iterable[str], allowed: Sequence[int], within: str
) -> list[str]:
    """Identifiers that hold one of the substrings and stand in an entry that may be seen, the shortest first."""
    found: dict[str, None] = {}
    skip = set(known)
    for part in parts:
        seen = (name for name in candidates(db, part, allowed) if name not in skip and stands(db, name, within))
        found.update(dict.fromkeys(islice(seen, VOCABULARY)))
    return list(found)


def candidates(db: sqlite3.Connection, part: str, allowed: Sequence[int]) -> list[str]:
    """The shortest identifiers that hold the substring and are used in one of the partitions."""
    inside = "term_part MATCH ?"
    used = f"EXISTS (SELECT 1 FROM term_use WHERE term = {{}} AND part IN ({','.join(map(str, allowed))}))"
    order = "ORDER BY length(text), text LIMIT ?"
    asked = (literal(part), TRIED)
    # Asking of every identifier whether it is used costs more than sorting them, and is needed only in a crowd.
    whole = db.execute(f"SELECT rowid, text FROM term_part WHERE {inside} {order}", asked).fetchall()
    names = [row[1] for row in whole if db.execute(f"SELECT {used.format('?')}", row[:1]).fetchone()[0]]
    if len(names) >= VOCABULARY or len(whole) < TRIED:
        return names
    crowd = db.execute(f"SELECT text FROM term_part WHERE {inside} AND {used.format('term_part.rowid')} {order}", asked)
    return [row[0] for row in crowd]


def stands(db: sqlite3.Connection, name: str, within: str) -> bool:
    """Whether an entry that may be seen has this identifier."""
    statement = f"SELECT 1 FROM fts CROSS JOIN doc ON doc.seq = fts.rowid WHERE fts MATCH ? AND {within} LIMIT 1"
    return db.execute(statement, (f"exact : {literal(name)}",)).fetchone() is not None
