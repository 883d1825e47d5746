"""How much of what answers a question is found, by Spiral and by others, on the same conversations in the same run."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spiral.backends.minilm import MiniLm
from spiral.bench import peers
from spiral.bench.baselines import PEERS, Meaning, Ranks, Spiral, Words
from spiral.bench.data import Question, Talk
from spiral.bench.systems import System
from spiral.errors import UsageError

OURS = ("spiral", "bm25", "minilm", "rrf")
DEPTH = 25
SESSIONS = 400
"""Turns that are asked for where sessions are counted: several of one session count once."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """What a system found for one question: each metric between 0 and 1."""

    question: Question
    found: tuple[str, ...]
    metrics: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One system on all conversations."""

    system: str
    answers: tuple[Answered, ...]
    turns: int
    seconds: float
    """That taking the turns in took, vectors included."""


def measure(talks: Sequence[Talk], name: str, tell: Tell) -> Result:
    """Every conversation in a fresh system of that name."""
    embedder = MiniLm()
    answers: list[Answered] = []
    turns, taking = 0, 0.0
    for at, talk in enumerate(talks, 1):
        tell(f"{name}: conversation {at} of {len(talks)}")
        system = opened(name, embedder)
        try:
            began = time.perf_counter()
            system.take(talk.turns)
            taking += time.perf_counter() - began
            turns += len(talk.turns)
            answers += [answered(system, talk, question) for question in talk.questions]
        finally:
            system.close()
    return Result(system=name, answers=tuple(answers), turns=turns, seconds=taking)


def opened(name: str, embedder: MiniLm) -> System:
    """A fresh system of that name."""
    if name in PEERS:
        peers.settle()
        made: System = getattr(peers, PEERS[name])(embedder)
        return made
    ours: Mapping[str, Callable[[], System]] = {
        "spiral": Spiral, "bm25": Words, "minilm": lambda: Meaning(embedder), "rrf": lambda: Ranks(embedder),
    }  # fmt: skip
    if name not in ours:
        raise UsageError(f"unknown system {name!r}; choose of {', '.join((*OURS, *PEERS))}")
    return ours[name]()


def answered(system: System, talk: Talk, question: Question) -> Answered:
    """What the system finds for one question, and how good that is."""
    began = time.perf_counter()
    turns = system.rank(question, SESSIONS if talk.unit == "session" else DEPTH)
    seconds = time.perf_counter() - began
    of = {turn.id: turn.session for turn in talk.turns}
    sessions = list(dict.fromkeys(of[name] for name in turns))
    if talk.unit == "session":
        return Answered(
            question=question, found=tuple(sessions[:DEPTH]), metrics=by_session(sessions, question), seconds=seconds
        )
    metrics = {f"R@{depth}": share(turns[:depth], question.evidence) for depth in (5, 10, 25)}
    metrics["session R@5"] = share(sessions[:5], {of[name] for name in question.evidence})
    return Answered(question=question, found=tuple(turns), metrics=metrics, seconds=seconds)


def share(found: Sequence[str], wanted: Iterable[str]) -> float:
    """How much of what is wanted was found."""
    needed = set(wanted)
    return len(needed & set(found)) / len(needed)


def by_session(sessions: Sequence[str], question: Question) -> dict[str, float]:
    """LongMemEval's metrics."""
    hits = [name in question.evidence for name in sessions[:10]]
    gain = sum(hit / math.log2(at + 2) for at, hit in enumerate(hits))
    best = sum(1 / math.log2(at + 2) for at in range(min(10, len(question.evidence))))
    top = set(sessions[:5])
    return {
        "any@5": float(bool(top & question.evidence)),
        "all@5": float(question.evidence <= top),
        "NDCG@10": gain / best,
    }


def summary(result: Result) -> dict[str, object]:
    """The figures of a system, in percent, with half the width of their 95 % intervals."""
    groups: dict[str, list[Answered]] = {}
    for answer in result.answers:
        for name in (answer.question.category, *answer.question.marks):
            groups.setdefault(name, []).append(answer)
    times = sorted(answer.seconds * 1000 for answer in result.answers)
    return {
        **means(result.answers),
        "by_category": {
            name: {"questions": len(some), **means(some)} for name, some in sorted(groups.items())
        },
        "ingest_per_s": round(result.turns / result.seconds, 1),
        "recall_ms": {"p50": round(statistics.median(times), 1), "p95": round(times[int(len(times) * 0.95)], 1)},
    }  # fmt: skip


def means(answers: Sequence[Answered]) -> dict[str, object]:
    """The mean of each metric, and the intervals under `ci95`."""
    found: dict[str, object] = {}
    wide: dict[str, float] = {}
    for name in answers[0].metrics:
        values = [answer.metrics[name] for answer in answers]
        found[name] = round(100 * statistics.fmean(values), 1)
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        wide[name] = round(196 * spread / math.sqrt(len(values)), 1)
    return {**found, "ci95": wide}
