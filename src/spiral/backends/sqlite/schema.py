"""The tables of the index."""

from __future__ import annotations

VERSION = 2
"""The index holds nothing that the files do not: another version is rebuilt, never migrated."""

TABLES = """
CREATE TABLE note(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sighting(folder TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, fault TEXT NOT NULL,
    PRIMARY KEY(folder, path)) WITHOUT ROWID;
CREATE INDEX sighting_fault ON sighting(path) WHERE fault != '';

-- Who may see it. Every entry belongs to one, and every statement of a search names those it may look into.
CREATE TABLE partition(
    id INTEGER PRIMARY KEY,
    org TEXT NOT NULL, app TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
    run TEXT NOT NULL, task TEXT NOT NULL, branch TEXT NOT NULL,
    owner TEXT NOT NULL, visibility TEXT NOT NULL,
    UNIQUE(org, app, user, agent, run, task, branch, owner, visibility)
);

-- AUTOINCREMENT: a number is never given twice, so the vector at that place always belongs to this entry.
CREATE TABLE doc(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    part INTEGER NOT NULL,
    live INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    due INTEGER NOT NULL,
    model INTEGER NOT NULL,
    searched INTEGER NOT NULL,
    slot TEXT NOT NULL,
    digest TEXT NOT NULL,
    key TEXT NOT NULL,
    session TEXT NOT NULL,
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX doc_slot ON doc(slot) WHERE slot != '';
CREATE INDEX doc_digest ON doc(digest) WHERE digest != '';
CREATE INDEX doc_key ON doc(key) WHERE key != '';
CREATE INDEX doc_session ON doc(session, at) WHERE session != '';
CREATE INDEX doc_source ON doc(source) WHERE source != '';
CREATE INDEX doc_path ON doc(path);
CREATE INDEX doc_due ON doc(due) WHERE due > 0;
CREATE INDEX doc_recent ON doc(type, live, at);
CREATE INDEX doc_kind ON doc(type, live, kind, at);
CREATE INDEX doc_owed ON doc(live, model, seq) WHERE searched = 1;

CREATE TABLE point(dst TEXT NOT NULL, relation TEXT NOT NULL, src TEXT NOT NULL,
    PRIMARY KEY(dst, relation, src)) WITHOUT ROWID;
CREATE INDEX point_src ON point(src);

CREATE TABLE anchor(value TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(value, seq)) WITHOUT ROWID;
CREATE INDEX anchor_seq ON anchor(seq);

CREATE TABLE model(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);

CREATE VIRTUAL TABLE fts USING fts5(words, exact, tokenize = "porter unicode61 tokenchars '_./-:#@+'");

-- The vocabulary, so that a part of an identifier finds the identifiers that hold it.
CREATE TABLE term(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE term_use(term INTEGER NOT NULL, part INTEGER NOT NULL, uses INTEGER NOT NULL,
    PRIMARY KEY(term, part)) WITHOUT ROWID;
CREATE VIRTUAL TABLE term_part USING fts5(text, content = 'term', content_rowid = 'id', tokenize = 'trigram');
"""

PRAGMAS = (
    "PRAGMA busy_timeout = 60000",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -32000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 1073741824",
)
