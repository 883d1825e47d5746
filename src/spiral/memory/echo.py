"""Tells whether a text only repeats what was served, so that nothing is learned from its own recall."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spiral.memory.junk import junk
from spiral.memory.opposites import opposed
from spiral.memory.sentences import examined, sentences
from spiral.memory.stems import WRAPPERS, Said, said

CLOSE = 0.7
"""The share of a sentence's words that must have been served for it to be an echo."""

LOOKED_AT = 200
"""Sentences of a text that are compared."""

WHOLE, PARTS = 2_000, 20_000
"""Characters of a served text that are compared as one, and sentence by sentence."""

_CLAUSES = re.compile(r"[;—]\s*|,\s+(?:and|so|but)\s+|\s+and\s+", re.IGNORECASE)
_OPENINGS = re.compile(
    r"^(?:as (?:you )?(?:noted|mentioned|said|expected|asked|prefer(?:red)?)[^,:]{0,40}[,:]|"
    r"according to [^,:]{0,40}[,:]|(?:noted|okay|ok|understood|right|sure|i (?:checked|see|know|recall|remember))[:,]|"
    r" *(?:\w+|the user): )\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Echo:
    """How much of a text was served before."""

    share: float
    """The share of its words that a served text holds, in its least covered sentence."""
    served: str = ""
    """The served text that the least covered sentence is nearest to."""
    news: tuple[str, ...] = ()
    """What it says that was not served: a number, a name, an identifier, a negation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A served text, or a sentence of it, reduced to its words."""

    text: str
    said: Said
    words: frozenset[str]


def echoes(text: str, served: Sequence[str]) -> Echo:
    """How much a text repeats what was served, verbatim or in other words; what differs or adds is news."""
    if not served:
        return Echo(share=0.0)
    flat = _flat(text)
    verbatim = next((item for item in served if flat and flat in _flat(item)), "")
    if verbatim:
        return Echo(share=1.0, served=verbatim)
    sources = [source for item in served for source in _sources(item)]
    spoken = [sentence for sentence in sentences(text) if not junk(sentence)] or [text[:LOOKED_AT]]
    return min((_nearest(sentence, sources) for sentence in spoken[:LOOKED_AT]), key=_rank)


def is_echo(text: str, served: Sequence[str]) -> bool:
    """Whether a text says nothing that was not served."""
    return _repeats(echoes(text, served))


def _repeats(echo: Echo) -> bool:
    return echo.share >= CLOSE and not echo.news


def _rank(echo: Echo) -> tuple[bool, float]:
    return (_repeats(echo), echo.share)


def _flat(text: str) -> str:
    return " ".join(examined(text).lower().split())


def _sources(item: str) -> Iterator[Source]:
    """What was served, as a whole and sentence by sentence."""
    whole = item[:WHOLE].strip()
    for part in dict.fromkeys((whole, *sentences(item[:PARTS]))):
        reduced = said(part)
        yield Source(text=item, said=reduced, words=frozenset(reduced.words))


def _nearest(sentence: str, sources: Sequence[Source]) -> Echo:
    """The best that one served text does for a sentence, or several for its clauses."""
    whole = _best(sentence, sources)
    clauses = [clause for clause in _CLAUSES.split(sentence) if len(clause.split()) > 2]
    if _repeats(whole) or len(clauses) < 2:
        return whole
    apart = min((_best(clause, sources) for clause in clauses), key=_rank)
    return max(whole, apart, key=_rank)


def _best(sentence: str, sources: Sequence[Source]) -> Echo:
    spoken = said(_OPENINGS.sub("", sentence))
    return max((_covered(spoken, source) for source in sources), key=_rank)


def _covered(spoken: Said, source: Source) -> Echo:
    """How much one served text covers; names and numbers count double, since they cannot be put otherwise."""
    if source.words.isdisjoint(spoken.words):
        return Echo(share=0.0, served=source.text)
    words = [word for word in dict.fromkeys(spoken.words) if word not in WRAPPERS or word in source.words]
    weights = {word: 2.0 if word in spoken.exact else 1.0 for word in words}
    share = sum(weight for word, weight in weights.items() if word in source.words) / sum(weights.values())
    news = sorted(word for word in words if word in spoken.exact and word not in source.words)
    if share >= CLOSE:
        news += [*turned(spoken, source.said), *exchanged(spoken, source.said)]
    return Echo(share=share, served=source.text, news=tuple(news))


def turned(one: Said, other: Said) -> tuple[str, ...]:
    """The words that one sentence affirms and the other denies.

    Where both deny the same word, how far the negation reaches is a matter of word order and tells nothing:
    "do not edit gen/" and "gen/ must not be edited". Only an exchange does: "pnpm, not npm" and "npm, not pnpm".
    """
    shared = set(one.words) & set(other.words)
    here, there = shared & one.denied, shared & other.denied
    if here & there and not (here - there and there - here):
        return ()
    return tuple(sorted(here ^ there))


def exchanged(one: Said, other: Said) -> tuple[str, ...]:
    """The words of one sentence that take the place of an opposite, or of the only word that differs."""
    mine = [word for word in one.words if word not in other.words]
    theirs = [word for word in other.words if word not in one.words]
    opposites = tuple(word for word in mine if any(opposed(word, foreign) for foreign in theirs))
    if opposites:
        return opposites
    if len(mine) == len(theirs) == 1 and one.words.index(mine[0]) == other.words.index(theirs[0]):
        return tuple(mine)
    return ()
