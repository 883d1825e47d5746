"""The channels of a search, each within the partitions that the view allows."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from spiral.backends.sqlite.terms import holding, literal
from spiral.model import ANY, LEVELS
from spiral.ports import Probe, Scored, View

Nearest = Callable[[Sequence[int], int], list[tuple[int, float]]]

FEW = 64
"""Up to so many texts how often a word occurs says little about it."""
MANY = 10_000
"""Texts from which on it matters how many of them a word finds."""
ENOUGH = 4
"""Words that are enough to go by."""


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
    if view.known:
        clauses.append(f"doc.at <= {int(view.known)}")
    if view.kinds:
        clauses.append(f"doc.kind IN ({quoted((*view.kinds, ''))})")
    return " AND ".join(clauses)


def quoted(values: Iterable[str]) -> str:
    """SQL text literals."""
    return ",".join("'" + value.replace("'", "''") + "'" for value in values)


def phrase(column: str, words: Iterable[str]) -> str:
    """An FTS5 expression that any of the words satisfies."""
    return f"{column} : (" + " OR ".join(map(literal, words)) + ")"


def match(db: sqlite3.Connection, column: str, words: Sequence[str], within: str, limit: int) -> Scored:
    """BM25 over one column."""
    total = db.execute("SELECT count(*) FROM (SELECT 1 FROM fts_docsize LIMIT ?)", (FEW + 1,)).fetchone()[0]
    if total <= FEW:
        return match_few(db, [phrase(column, [word]) for word in words], within, limit, total)
    statement = (
        "SELECT doc.id, -bm25(fts) AS score FROM fts CROSS JOIN doc ON doc.seq = fts.rowid "
        f"WHERE fts MATCH ? AND {within} ORDER BY score DESC, doc.id LIMIT ?"
    )
    return [(row[0], float(row[1])) for row in db.execute(statement, (phrase(column, words), limit))]


def match_few(db: sqlite3.Connection, asked: Sequence[str], within: str, limit: int, total: int) -> Scored:
    """BM25 among few texts, where FTS5 would count a word that half of them have as no finding at all: a word weighs as
    much as its rarity says, and at least its share of the question."""
    seen = dict(db.execute(f"SELECT doc.seq, doc.id FROM doc WHERE searched = 1 AND {within}").fetchall())
    scores: dict[str, float] = {}
    for word in asked:
        rows = db.execute("SELECT rowid, -bm25(fts) FROM fts WHERE fts MATCH ?", (word,)).fetchall()
        odds = (total - len(rows) + 0.5) / (len(rows) + 0.5)
        # What is left of FTS5's score without its weight, which it keeps above zero: how prominent the word is.
        counted = max(1e-6, math.log(odds))
        weight = max(math.log1p(odds), 1 / len(asked))
        for seq, score in rows:
            if seq in seen:
                scores[seen[seq]] = scores.get(seen[seq], 0.0) + weight * score / counted
    return sorted(((name, round(score, 9)) for name, score in scores.items()), key=lambda hit: (-hit[1], hit[0]))[
        :limit
    ]


def telling(db: sqlite3.Connection, column: str, words: Sequence[str]) -> Sequence[str]:
    """The words without those that a fifth of all texts have, where there are many texts and enough other words.

    Such a word says next to nothing, and makes the others wait for the score of every text that has it.
    """
    total = db.execute("SELECT count(*) FROM doc WHERE searched = 1").fetchone()[0]
    if total < MANY or len(words) <= ENOUGH:
        return words
    most = total // 5
    statement = "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?)"
    rare = [word for word in words if db.execute(statement, (phrase(column, [word]), most)).fetchone()[0] < most]
    return rare if len(rare) >= ENOUGH else words


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
        found["words"] = match(db, "words", telling(db, "words", probe.words), within, probe.limit)
    if probe.exact:
        found["exact"] = match(db, "exact", probe.exact, within, probe.limit)
    if probe.parts and (names := holding(db, probe.parts, probe.exact, allowed, within)):
        found["part"] = match(db, "exact", names, within, probe.limit)
    if probe.anchors:
        found["anchor"] = anchored(db, probe.anchors, within, probe.limit)
    if nearest is not None:
        found["vector"] = nearby(db, nearest, allowed, within, probe.limit)
    return {channel: hits for channel, hits in found.items() if hits}
