"""Many channels into one order, purely: the same findings always give the same answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from spiral.memory.similar import near
from spiral.model import Authority, Dropped, Hit
from spiral.ports import Channels

WEIGHTS: Mapping[str, float] = {"key": 1.2, "exact": 1.5, "words": 0.8, "vector": 1.0, "anchor": 0.4, "part": 0.35}
FLOOR = 0.25
"""A similarity below this says nothing about meaning."""
TELLING = 1.0
"""A BM25 score below this comes from words that nearly every text has; it must not count as a channel's best."""
AUTHORITY: Mapping[Authority, float] = {"directive": 1.12, "verified": 1.08, "observed": 1.0, "inferred": 0.9}
EPISODE = 0.85
"""A raw episode counts for less than what was distilled from one."""
ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class Fused:
    """One candidate with what each channel adds."""

    id: str
    score: float
    channels: Mapping[str, float]


def fuse(found: Channels) -> list[Fused]:
    """The union of the channels: each adds its weight times how near its finding comes to its best one."""
    parts: dict[str, dict[str, float]] = {}
    for channel, hits in found.items():
        kept = [hit for hit in hits if channel != "vector" or hit[1] >= FLOOR]
        if not kept:
            continue
        # Similarity is comparable between questions as it stands; a BM25 score only within one.
        best = 1.0 if channel == "vector" else max(TELLING, *(score for _, score in kept))
        for name, score in kept:
            share = WEIGHTS.get(channel, 0.5) * score / best
            parts.setdefault(name, {})[channel] = max(share, parts.get(name, {}).get(channel, 0.0))
    fused = [Fused(name, sum(channels.values()), channels) for name, channels in parts.items()]
    return sorted(fused, key=lambda item: (-item.score, item.id))


def prior(hit: Hit, now: datetime) -> float:
    """How much what a hit is, apart from the question, speaks for it: authority, and a little its age."""
    if hit.memory is None:
        return EPISODE
    # Whole days: two questions in a row are answered in the same order.
    age = max(0, (now.date() - hit.memory.since.date()).days)
    return AUTHORITY[hit.memory.authority] * (1.0 + 0.05 / (1.0 + age / 30))


def collapse(hits: Sequence[Hit]) -> tuple[list[Hit], list[Dropped]]:
    """Near-duplicates become one hit, the best; a memory stands for the episodes that it quotes."""
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    for hit in hits:
        match = next((at for at, other in enumerate(kept) if same(hit, other)), None)
        if match is None:
            kept.append(hit)
            continue
        first, second = kept[match], hit
        if first.memory is None and second.memory is not None:
            first, second = second, first
        kept[match] = _standing_for(first, second, max(first.score, second.score))
        dropped.append(
            Dropped(id=second.id, text=second.text, score=second.score, reason=f"says the same as {first.id}")
        )
    return kept, dropped


def _standing_for(first: Hit, second: Hit, score: float) -> Hit:
    """The first hit, which speaks for the second too."""
    return Hit(
        id=first.id,
        text=first.text,
        score=score,
        tokens=first.tokens,
        channels=first.channels,
        memory=first.memory,
        episode=first.episode,
        twins=(*first.twins, second.id, *second.twins),
        via=first.via,
    )


def same(one: Hit, other: Hit) -> bool:
    """Whether two hits say the same, or one quotes the other."""
    for mine, theirs in ((one, other), (other, one)):
        if mine.memory is not None and theirs.episode is not None:
            quoted = any(item.source == theirs.episode.id for item in mine.memory.evidence)
            if quoted and len(theirs.text) < 3 * len(mine.text):
                return True
    return near(one.text[:2000], other.text[:2000], least=ALIKE)


def within(hits: Sequence[Hit], budget: int, limit: int) -> tuple[list[Hit], list[Dropped]]:
    """The best hits that fit into the budget together; what did not fit is told."""
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    left = budget
    for hit in hits:
        if len(kept) >= limit:
            dropped.append(Dropped(id=hit.id, text=hit.text, score=hit.score, reason=f"beyond the {limit} best"))
        elif hit.tokens > left:
            reason = f"over budget: needs {hit.tokens} tokens, {left} of {budget} were left"
            dropped.append(Dropped(id=hit.id, text=hit.text, score=hit.score, reason=reason))
        else:
            kept.append(hit)
            left -= hit.tokens
    return kept, dropped
