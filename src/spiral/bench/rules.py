"""Measures the rules of the memory on published, labelled sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from spiral.memory.contradict import contradicts
from spiral.memory.distill import distill
from spiral.memory.echo import is_echo
from spiral.memory.junk import junk
from spiral.model import Draft, Episode, Role, Scope

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
"""When the conversations of the set took place: a Wednesday."""

SPLITS = ("tune", "held")
"""The rules were tuned on the one half and never on the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """How well one set of rules did on one half of its examples."""

    set: str
    split: str
    examples: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Miss:
    """One example that the rules got wrong."""

    set: str
    split: str
    wrong: str
    """`missed` or `invented`."""
    what: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One labelled example and what the rules said about it."""

    split: str
    right: int
    invented: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """A memory that a conversation should yield."""

    words: tuple[str, ...]
    authority: str = ""
    kind: str = ""

    def met_by(self, draft: Draft) -> bool:
        """Whether a draft holds all the words, with the authority and the kind where they are given."""
        text = draft.text.lower()
        return (
            all(word.lower() in text for word in self.words)
            and self.authority in ("", draft.authority)
            and self.kind in ("", draft.kind)
        )


def measure() -> list[Row]:
    """Precision, recall and F1 of each set of rules on each half."""
    rows: list[Row] = []
    for name, examples in _judged().items():
        for split in SPLITS:
            part = [example for example in examples if example.split == split]
            right = sum(example.right for example in part)
            invented = sum(len(example.invented) for example in part)
            missed = sum(len(example.missed) for example in part)
            precision = right / (right + invented) if right + invented else 0.0
            recall = right / (right + missed) if right + missed else 0.0
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            rows.append(Row(set=name, split=split, examples=len(part), precision=precision, recall=recall, f1=f1))
    return rows


def misses(split: str) -> list[Miss]:
    """What the rules got wrong on one half; look at `tune` only, or `held` is no longer held."""
    return [
        Miss(set=name, split=split, wrong=wrong, what=what)
        for name, examples in _judged().items()
        for example in examples
        if example.split == split
        for wrong, found in (("invented", example.invented), ("missed", example.missed))
        for what in found
    ]


def _judged() -> dict[str, list[Example]]:
    return {
        "contradictions": [_contradiction(line) for line in _lines("contradictions")],
        "distill": [_distilled(line) for line in _lines("distill")],
        "echoes": [_echo(line) for line in _lines("echoes")],
        "junk": [_junk(line) for line in _lines("junk")],
    }


def _contradiction(line: dict[str, object]) -> Example:
    one, other = str(line["one"]), str(line["other"])
    return _example(line, f"{one} | {other}", truth=bool(line["contradicts"]), answer=bool(contradicts(one, other)))


def _echo(line: dict[str, object]) -> Example:
    served, text = str(line["served"]), str(line["text"])
    return _example(line, f"{served} | {text}", truth=bool(line["echo"]), answer=is_echo(text, [served]))


def _junk(line: dict[str, object]) -> Example:
    text = str(line["text"])
    return _example(line, text, truth=bool(line["junk"]), answer=bool(junk(text)))


def _lines(name: str) -> Iterator[dict[str, object]]:
    text = (files("spiral.bench") / "sets" / f"{name}.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        yield json.loads(line)


def _example(line: dict[str, object], what: str, *, truth: bool, answer: bool) -> Example:
    return Example(
        split=str(line["split"]),
        right=int(truth and answer),
        invented=(what,) if answer and not truth else (),
        missed=(what,) if truth and not answer else (),
    )


def _distilled(line: dict[str, object]) -> Example:
    """A draft that meets nothing expected is invented; an expected memory that no draft meets is missed."""
    expected = _expected(line["learn"])
    drafts = distill(_episodes(line["turns"]))
    met = [wish for wish in expected if any(wish.met_by(draft) for draft in drafts)]
    invented = [draft for draft in drafts if not any(wish.met_by(draft) for wish in expected)]
    return Example(
        split=str(line["split"]),
        right=len(met),
        invented=tuple(f"{draft.rule}/{draft.authority}/{draft.kind}: {draft.text}" for draft in invented),
        missed=tuple(f"{' … '.join(wish.words)} in {line['turns']}" for wish in expected if wish not in met),
    )


def _expected(raw: object) -> tuple[Expected, ...]:
    assert isinstance(raw, list)
    return tuple(
        Expected(words=tuple(item["words"]), authority=str(item.get("authority", "")), kind=str(item.get("kind", "")))
        for item in raw
    )


def _episodes(raw: object) -> tuple[Episode, ...]:
    assert isinstance(raw, list)
    roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return tuple(
        Episode(
            id=f"e{position}",
            session="s1",
            role=roles[turn["role"]],
            text=turn["text"],
            at=NOW,
            scope=Scope(app="bench"),
            owner="bench",
            source=turn.get("source", ""),
            metadata=turn.get("metadata", {}),
        )
        for position, turn in enumerate(raw)
    )
