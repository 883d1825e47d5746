"""Whether two statements say nearly the same."""

from __future__ import annotations

import re

from spiral.memory.words import STOP, terms

NEGATION = frozenset(
    "no not never none nothing without neither nor cannot stop stopped don doesn didn isn won aren".split()
)
NUMBER = re.compile(r"\d[\d.,:]*")
NEAR = 0.85


def near(one: str, other: str, *, least: float = NEAR) -> bool:
    """Whether the words agree for the most part and everything that could turn the meaning agrees wholly."""
    if sorted(NUMBER.findall(one)) != sorted(NUMBER.findall(other)):
        return False
    first, second = terms(one), terms(other)
    if set(first.exact) != set(second.exact):
        return False
    mine, theirs = set(first.words), set(second.words)
    if mine & NEGATION != theirs & NEGATION:
        return False
    mine, theirs = mine - STOP, theirs - STOP
    return bool(mine) and len(mine & theirs) / len(mine | theirs) >= least
