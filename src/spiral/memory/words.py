"""Text into terms, aware of code: an identifier is found whole and by its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LIMIT = 400_000
"""Characters of one text whose words are indexed; the rest is kept verbatim and not searched."""

CHUNK = re.compile(r"\w(?:[\w./:#@+-]*\w)?")
PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
BREAK = re.compile(r"[^0-9A-Za-z\u0080-\U0010ffff]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")

STOP = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing don down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just let me more most my no nor not now of off on once only or other our ours out
    over own please same she should so some such than that the their them then there these they this those through to
    too under until up us very was we were what when where which while who whom why will with would you your yours
    s t re ve ll d m""".split()
)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a text: what is matched by stem, and the identifiers as they are."""

    words: tuple[str, ...]
    exact: tuple[str, ...]


def terms(text: str) -> Terms:
    """All terms of a text, in order, repeats kept for the sake of frequency."""
    words: list[str] = []
    exact: list[str] = []
    for match in CHUNK.finditer(text[:LIMIT]):
        chunk = match.group()
        if chunk.isascii() and (chunk.islower() or chunk.istitle()) and chunk.isalpha():
            words.append(chunk.lower())
            continue
        if CJK.search(chunk):
            words.extend(grams(chunk))
            continue
        take(chunk, words, exact)
    return Terms(tuple(words), tuple(exact))


def take(chunk: str, words: list[str], exact: list[str]) -> None:
    """Add an identifier, path, number or accented word to the terms."""
    pieces = [piece.group().lower() for part in BREAK.split(chunk) for piece in PIECE.finditer(part)]
    if len(pieces) == 1 and len(pieces[0]) == len(chunk):
        words.append(pieces[0])
        if chunk.isupper() or chunk.isdigit():
            exact.append(pieces[0])
        return
    words.extend(piece for piece in pieces if len(piece) > 1)
    for name in names(chunk):
        exact.append(name)
    squeezed = "".join(pieces)
    if squeezed and squeezed not in exact[-6:]:
        exact.append(squeezed)


def names(chunk: str) -> list[str]:
    """The whole identifier, and for a path what it ends in: `a/b/c.py` is also `b/c.py` and `c.py`."""
    whole = chunk.lower()
    steps = whole.split("/")
    return [whole, *("/".join(steps[at:]) for at in range(max(1, len(steps) - 3), len(steps)) if len(steps[at]) > 1)]


def grams(chunk: str) -> list[str]:
    """Overlapping pairs of a script that is written without blanks, and what stands between such runs."""
    found: list[str] = []
    for run in CJK.findall(chunk):
        found.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    for rest in CJK.split(chunk):
        found.extend(piece.group().lower() for part in BREAK.split(rest) for piece in PIECE.finditer(part))
    return found


@lru_cache(maxsize=64)
def content(text: str) -> tuple[str, ...]:
    """The words that carry meaning, each once, in order; kept, because a question is put to each of its answers."""
    return tuple(dict.fromkeys(word for word in terms(text).words if word not in STOP))
