"""Whether two statements say the same: exactly, before one is kept; nearly, before one stands for both in an answer."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from spiral.memory.words import STOP, terms

IDLE = frozenset(("a", "an", "the", "please", "also"))
"""Words that never turn a statement, wherever they stand."""
TURNING = frozenset(
    """no not never none nothing without neither nor cannot stop stopped don doesn didn isn won aren
    on off in out up down over under above below before after until from or if all any only more most""".split()
)
"""Words of which a single one may turn the meaning."""
NUMBER = re.compile(r"\d[\d.,:]*")
SYMBOL = re.compile(r"[<>=+*%&|^~\\?\u2190-\u22ff]|(?<=\w)#|!(?=[=\w(])|(?<![\w)])-+(?=[\w.])")
"""Operators and signs: `<`, `C++`, `C#`, `!x`, `-5`."""
DAY = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december)s?\W*",
    re.IGNORECASE,
)
NEAR = 0.85


def restates(one: str, other: str) -> bool:
    """Whether two texts say the same, word for word and sign for sign.

    Only spacing, articles, the final stop, and the case of a sentence's first word and of days and months may differ:
    whatever else differs may make another statement of it, and then both are kept.
    """
    return spoken(one) == spoken(other)


@lru_cache(maxsize=1_024)
def spoken(text: str) -> tuple[str, ...]:
    """The words of a text, in order, as `restates` compares them."""
    tokens = unicodedata.normalize("NFC", text).rstrip(" .!\n\t").split()
    found: list[str] = []
    first = True
    for number, token in enumerate(tokens, 1):
        word = leveled(token, first=first)
        first = token.endswith((".", "!", "?"))
        if word not in IDLE or number == len(tokens):
            found.append(word)
    return tuple(found)


def leveled(token: str, *, first: bool) -> str:
    """The word without a capital that says nothing: that of a sentence's first word, of a day or a month."""
    capital = token[:1].isupper() and token[1:].islower()
    lone = token in ("A", "I")
    return token.lower() if (first and (capital or lone)) or DAY.fullmatch(token) else token


def near(one: str, other: str, *, least: float = NEAR) -> bool:
    """Whether the words agree for the most part, and everything that could turn the meaning agrees wholly: order,
    numbers, identifiers, negation, spelling. With operators or signs in it, a text is near only to its restatement."""
    if restates(one, other):
        return True
    first, second = traits(one), traits(other)
    if first.signs or second.signs or first.numbers != second.numbers or first.exact != second.exact:
        return False
    mine, theirs = first.words, second.words
    if mine & TURNING != theirs & TURNING:
        return False
    shared = (mine & theirs) - STOP
    if not shared or len(shared) / len((mine | theirs) - STOP) < least:
        return False
    if [word for word in first.order if word in shared] != [word for word in second.order if word in shared]:
        return False
    return not other_case(one, other)


@dataclass(frozen=True, slots=True)
class Traits:
    """What of a text is compared with every other one."""

    signs: bool
    numbers: tuple[str, ...]
    exact: frozenset[str]
    order: tuple[str, ...]
    words: frozenset[str]


@lru_cache(maxsize=1_024)
def traits(text: str) -> Traits:
    """The traits of a text: an answer compares each of its texts with all the others."""
    found = terms(text)
    return Traits(
        bool(SYMBOL.search(text)), tuple(NUMBER.findall(text)), frozenset(found.exact), found.words,
        frozenset(found.words),
    )  # fmt: skip


def other_case(one: str, other: str) -> bool:
    """Whether a word of both texts is spelled `Foo` in one alone, and `foo` in the other."""
    here, there = spellings(one), spellings(other)
    return any(here[word].isdisjoint(there[word]) for word in here.keys() & there.keys())


def spellings(text: str) -> dict[str, set[str]]:
    """How each word is spelled where its case says something."""
    found: dict[str, set[str]] = {}
    first = True
    for token in text.split():
        if not first and not DAY.fullmatch(token):
            word = token.strip(".,;:!?\"'`()")
            found.setdefault(word.lower(), set()).add(word)
        first = token.endswith((".", "!", "?"))
    return found
