"""Tells whether a text only repeats what was served, so that nothing is learned from its own recall."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spiral.memory.junk import junk
from spiral.memory.opposites import opposed
from spiral.memory.sentences import examined, sentences
from spiral.memory.stems import WRAPPERS, Said, said

CLOSE = 0.7
"""The share of a sentence's words that must have been served for it to be an echo."""

LOOKED_AT = 200
"""Sentences of a text that are compared."""

_CLAUSES = re.compile(r"[;—]\s*|,\s+(?:and|so|but)\s+|\s+and\s+", re.IGNORECASE)
_OPENINGS = re.compile(
    r"^(?:as (?:you )?(?:noted|mentioned|said|expected|asked|prefer(?:red)?)[^,:]{0,40}[,:]|"
    r"according to [^,:]{0,40}[,:]|"
    r"(?:noted|okay|ok|understood|right|sure|i (?:checked|see|know|recall|remember))[:,]| *(?:\w+|the user): )\s*",
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


def echoes(text: str, served: Sequence[str]) -> Echo:
    """How much a text repeats what was served, verbatim or in other words; what differs or adds is news."""
    if not served:
        return Echo(share=0.0)
    flat = " ".join(examined(text).lower().split())
    verbatim = next((item for item in served if flat and flat in " ".join(item.lower().split())), "")
    if verbatim:
        return Echo(share=1.0, served=verbatim)
    sources = [(item, tuple(said(part) for part in (item, *sentences(item)))) for item in served]
    spoken = [sentence for sentence in sentences(text) if not junk(sentence)] or [text[:LOOKED_AT]]
    least = Echo(share=1.0, served=served[0])
    for sentence in spoken[:LOOKED_AT]:
        least = min(least, _nearest(sentence, sources), key=_rank)
    return least


def is_echo(text: str, served: Sequence[str]) -> bool:
    """Whether a text says nothing that was not served."""
    found = echoes(text, served)
    return found.share >= CLOSE and not found.news


def _rank(echo: Echo) -> tuple[bool, float]:
    return (not echo.news, echo.share)


def _nearest(sentence: str, sources: Sequence[tuple[str, tuple[Said, ...]]]) -> Echo:
    """The best that one served text does for a sentence, or several for its clauses."""
    whole = _best(sentence, sources)
    clauses = [clause for clause in _CLAUSES.split(sentence) if len(clause.split()) > 2]
    if (whole.share >= CLOSE and not whole.news) or len(clauses) < 2:
        return whole
    apart = min((_best(clause, sources) for clause in clauses), key=_rank)
    return max(whole, apart, key=_rank)


def _best(sentence: str, sources: Sequence[tuple[str, tuple[Said, ...]]]) -> Echo:
    spoken = said(_OPENINGS.sub("", sentence))
    found = [_covered(spoken, item, part) for item, parts in sources for part in parts]
    return max(found, key=_rank)


def _covered(spoken: Said, item: str, source: Said) -> Echo:
    """How much one served text covers; names and numbers count double, since they cannot be put otherwise."""
    have = set(source.words)
    words = [word for word in dict.fromkeys(spoken.words) if word not in WRAPPERS or word in have]
    if not words:
        return Echo(share=0.0, served=item)
    weights = {word: 2.0 if word in spoken.exact else 1.0 for word in words}
    share = sum(weight for word, weight in weights.items() if word in have) / sum(weights.values())
    news = {word for word in words if word in spoken.exact and word not in have}
    return Echo(share=share, served=item, news=(*sorted(news), *turned(spoken, source), *exchanged(spoken, source)))


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
