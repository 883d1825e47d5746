"""Spiral itself and the plain ways of searching, as systems to be measured."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from spiral.app import Memory
from spiral.backends.minilm import MiniLm
from spiral.bench.data import Question, Turn
from spiral.bench.speed import SETTINGS
from spiral.memory.words import content, terms

DEEP = 100
"""Findings of each way that are fused."""
RRF = 60
"""The constant of reciprocal rank fusion, as it was published."""


def line(turn: Turn) -> str:
    """A turn as the plain ways are given it: with its date."""
    return f"({turn.message.at:%d %B %Y}) {turn.message.text}" if turn.message.at else turn.message.text


class Spiral:
    """The product as it comes: episodes are ingested session by session, then embedded, then recalled."""

    name = "spiral"

    def __init__(self) -> None:
        self.place = tempfile.TemporaryDirectory(prefix="spiral-bench-")
        Path(self.place.name, "spiral.toml").write_text(SETTINGS, "utf-8")
        self.memory = Memory.open(Path(self.place.name), flags={"embedder.background": "false"})
        self.turns: dict[str, str] = {}

    def take(self, turns: Sequence[Turn]) -> None:
        """Ingest and embed; an episode that is there already stands for its twin."""
        for number, (_, group) in enumerate(groupby(turns, key=lambda turn: turn.session)):
            said = list(group)
            messages = [replace(turn.message, id=f"{number}/{at}") for at, turn in enumerate(said)]
            taken = self.memory.ingest(messages, session=f"s{number}", learn=False)
            known = iter(said)
            for episode in taken.episodes:
                self.turns[episode.id] = next(turn.id for turn in known if turn.message.text.strip())
        self.memory.embed()

    def rank(self, question: Question, limit: int) -> list[str]:
        """By recall with room enough; what a hit speaks for follows it."""
        found = self.memory.recall(question.text, limit=limit, budget=1_000_000)
        ids = [name for hit in found.hits for name in (hit.id, *hit.twins)]
        return list(dict.fromkeys(self.turns[name] for name in ids if name in self.turns))[:limit]

    def close(self) -> None:
        """Leave nothing behind."""
        self.memory.close()
        self.place.cleanup()


class Words:
    """FTS5's BM25 alone, stemmed, without stop words."""

    name = "bm25"

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE turn USING fts5(text, tokenize='porter unicode61')")
        self.ids: list[str] = []

    def take(self, turns: Sequence[Turn]) -> None:
        """Index the words."""
        self.ids = [turn.id for turn in turns]
        rows = [(at, " ".join(terms(line(turn)).words)) for at, turn in enumerate(turns)]
        self.db.executemany("INSERT INTO turn(rowid, text) VALUES (?,?)", rows)

    def rank(self, question: Question, limit: int) -> list[str]:
        """By BM25."""
        asked = " OR ".join(f'"{word}"' for word in content(question.text))
        if not asked:
            return []
        rows = self.db.execute(
            "SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY bm25(turn), rowid LIMIT ?", (asked, limit)
        )
        return [self.ids[row[0]] for row in rows]

    def close(self) -> None:
        """Let go."""
        self.db.close()


class Meaning:
    """MiniLM alone: one matrix product."""

    name = "minilm"

    def __init__(self, embedder: MiniLm) -> None:
        self.embedder = embedder
        self.ids: list[str] = []
        self.vectors = np.zeros((0, 0), np.float32)

    def take(self, turns: Sequence[Turn]) -> None:
        """Embed the turns."""
        self.ids = [turn.id for turn in turns]
        self.vectors = self.embedder.embed([line(turn) for turn in turns])

    def rank(self, question: Question, limit: int) -> list[str]:
        """By cosine."""
        near = self.vectors @ self.embedder.embed([question.text])[0]
        return [self.ids[at] for at in np.argsort(-near, kind="stable")[:limit]]

    def close(self) -> None:
        """Nothing is held."""


class Ranks:
    """Plain reciprocal rank fusion of both."""

    name = "rrf"

    def __init__(self, embedder: MiniLm) -> None:
        self.parts = (Words(), Meaning(embedder))

    def take(self, turns: Sequence[Turn]) -> None:
        """Both take them."""
        for part in self.parts:
            part.take(turns)

    def rank(self, question: Question, limit: int) -> list[str]:
        """By the sum of the reciprocal ranks."""
        scores: dict[str, float] = {}
        for part in self.parts:
            for at, name in enumerate(part.rank(question, DEEP), 1):
                scores[name] = scores.get(name, 0.0) + 1 / (RRF + at)
        return sorted(scores, key=lambda name: -scores[name])[:limit]

    def close(self) -> None:
        """Both let go."""
        for part in self.parts:
            part.close()


PEERS: Mapping[str, str] = {"chroma": "Chroma", "langgraph": "LangGraph", "mem0": "Mem0", "mempalace": "MemPalace"}
"""Systems of the extra `bench-peers`, and their classes."""
