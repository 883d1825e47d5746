"""The channels of a search, each within the partitions that the view allows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from spiral.model import ANY, LEVELS
from spiral.ports import Probe, Scored, View

Nearest = Callable[[Sequence[int], int], list[tuple[int, float]]]

VOCABULARY = 40
"""Identifiers that one substring may stand for."""


def partitions(db: sqlite3.Connection, view: View) -> list[int]:
    """The partitions that this view may see: its levels or wider ones, private ones only for their owner, and what is
    shared with the organisation from every application of it."""
    clauses: list[str] = []
    values: list[str] = []
    for level in LEVELS:
        value = getattr(view.scope, level)
        if value == ANY:
            continue
        shared = " OR visibility = 'org'" if level == "app" else ""
        clauses.append(f"({level} IN ('', ?){shared})")
        values.append(value)
    clauses.append("(visibility != 'private' OR owner = ?)")
    values.append(view.owner)
    return [row[0] for row in db.execute(f"SELECT id FROM partition WHERE {' AND '.join(clauses)}", values)]


def condition(view: View, parts: Sequence[int]) -> str:
    """The part of a WHERE clause that keeps a search within its view."""
    clauses = [f"doc.part IN ({','.join(map(str, parts))})", f"doc.type IN ({quoted(view.types)})"]
    if view.live:
        clauses.append("doc.live = 1")
    if not view.hidden:
        clauses.append("doc.hidden = 0")
    if view.kinds:
        clauses.append(f"(doc.kind IN ({quoted(view.kinds)}) OR doc.kind = '')")
    return " AND ".join(clauses)


def quoted(values: Iterable[str]) -> str:
    """SQL text literals."""
    return ",".join("'" + value.replace("'", "''") + "'" for value in values)


def literal(word: str) -> str:
    """An FTS5 string, which is never an operator."""
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'


def phrase(column: str, words: Iterable[str]) -> str:
    """An FTS5 expression that any of the words satisfies."""
    return f"{column} : (" + " OR ".join(map(literal, words)) + ")"


def match(db: sqlite3.Connection, column: str, words: Iterable[str], within: str, limit: int) -> Scored:
    """BM25 over one column."""
    statement = (
        "SELECT doc.id, -bm25(fts) AS score FROM fts CROSS JOIN doc ON doc.seq = fts.rowid "
        f"WHERE fts MATCH ? AND {within} ORDER BY score DESC, doc.id LIMIT ?"
    )
    return [(row[0], float(row[1])) for row in db.execute(statement, (phrase(column, words), limit))]


def holding(db: sqlite3.Connection, parts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Identifiers of the vocabulary that hold one of the substrings, the shortest first."""
    found: dict[str, None] = {}
    skip = set(known)
    for part in parts:
        rows = db.execute(
            "SELECT text FROM term_part WHERE term_part MATCH ? ORDER BY length(text), text LIMIT ?",
            (literal(part), VOCABULARY),
        )
        found.update(dict.fromkeys(row[0] for row in rows if row[0] not in skip))
    return list(found)


def keyed(db: sqlite3.Connection, keys: Sequence[str], within: str, limit: int) -> Scored:
    """Entries of exactly that key, and of keys below it."""
    found: Scored = []
    for key in keys:
        statement = (
            "SELECT doc.id, doc.key = ? FROM doc WHERE key != '' AND (key = ? OR (key >= ? AND key < ?)) "
            f"AND {within} ORDER BY doc.key = ? DESC, doc.at DESC, doc.id LIMIT ?"
        )
        rows = db.execute(statement, (key, key, key + "/", key + "0", key, limit))
        found.extend((row[0], 1.0 if row[1] else 0.6) for row in rows)
    return found


def anchored(db: sqlite3.Connection, anchors: Sequence[str], within: str, limit: int) -> Scored:
    """Entries that name these entities, files or commits; the more of them the better."""
    marks = ",".join("?" * len(anchors))
    statement = (
        f"SELECT doc.id, count(*) AS score FROM anchor CROSS JOIN doc ON doc.seq = anchor.seq "
        f"WHERE anchor.value IN ({marks}) AND {within} GROUP BY doc.seq ORDER BY score DESC, doc.id LIMIT ?"
    )
    return [(row[0], row[1] / len(anchors)) for row in db.execute(statement, (*anchors, limit))]


def nearby(db: sqlite3.Connection, nearest: Nearest, parts: Sequence[int], within: str, limit: int) -> Scored:
    """By meaning: ask for more until enough of what is near may be seen."""
    wanted = limit * 2
    while True:
        near = dict(nearest(parts, wanted))
        marks = ",".join(map(str, near))
        rows = db.execute(f"SELECT doc.seq, doc.id FROM doc WHERE doc.seq IN ({marks}) AND {within}").fetchall()
        if len(rows) >= limit or len(near) < wanted:
            scored = sorted(((row[1], round(near[row[0]], 5)) for row in rows), key=lambda hit: (-hit[1], hit[0]))
            return scored[:limit]
        wanted *= 4


def search(db: sqlite3.Connection, probe: Probe, view: View, nearest: Nearest | None) -> dict[str, Scored]:
    """What each channel finds; one without anything to look for is left out."""
    allowed = partitions(db, view)
    if not allowed:
        return {}
    within = condition(view, allowed)
    found: dict[str, Scored] = {}
    if probe.keys:
        found["key"] = keyed(db, probe.keys, within, probe.limit)
    if probe.words:
        found["words"] = match(db, "words", probe.words, within, probe.limit)
    if probe.exact:
        found["exact"] = match(db, "exact", probe.exact, within, probe.limit)
    if probe.parts and (names := holding(db, probe.parts, probe.exact)):
        found["part"] = match(db, "exact", names, within, probe.limit)
    if probe.anchors:
        found["anchor"] = anchored(db, probe.anchors, within, probe.limit)
    if nearest is not None:
        found["vector"] = nearby(db, nearest, allowed, within, probe.limit)
    return {channel: hits for channel, hits in found.items() if hits}
