"""Splits text into the word pieces that BERT models were trained on.

The same pieces as the `tokenizers` library gives with its uncased BERT normaliser and pre-tokeniser, without what
that library depends on. Two differences: `[SEP]` and the like inside a text are plain words, never special tokens;
and some 500 characters, none of them common, belong to the class that a newer Unicode gives them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

LONGEST_WORD = 100
"""Characters; a longer word is unknown, as in BERT."""
LONGEST_TEXT = 10_000
"""Characters that are looked at: several times what 256 pieces span, so that a text of any size is quick."""
CACHED_WORDS = 50_000

CJK = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""Ideographs, each of which is a word of its own. The gap before 0x2B920 is in the library too."""


class _Cleaned(dict[int, str]):
    """For `str.translate`: drops what cannot be seen, makes every blank a space, sets ideographs apart."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        if char in "\t\n\r":
            result = " "
        elif point == 0xFFFD or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co"):
            result = ""
        elif char.isspace():
            result = " "
        elif any(first <= point <= last for first, last in CJK):
            result = f" {char} "
        else:
            result = char
        self[point] = result
        return result


class _Folded(dict[int, str]):
    """For `str.translate`, after decomposing: drops accents, lowers each letter, sets punctuation apart."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        category = unicodedata.category(char)
        if category == "Mn":
            result = ""
        elif category.startswith("P") or (point < 128 and char.isprintable() and not char.isalnum() and char != " "):
            result = f" {char} "
        else:
            result = char.lower()
        self[point] = result
        return result


class WordPiece:
    """Token ids for texts, by a vocabulary in the order of its ids. Pure; its memory of words is bounded."""

    def __init__(self, vocabulary: Sequence[str], *, limit: int = 256) -> None:
        self._ids = {piece: position for position, piece in enumerate(vocabulary)}
        self._start, self._end, self._unknown = (self._ids[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._room = limit - 2
        self._cleaned = _Cleaned()
        self._folded = _Folded()
        self._known: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> list[int]:
        """The ids between start and end marks, cut to the limit; only the marks when there is nothing to see."""
        ids = [self._start]
        for word in self._words(text[:LONGEST_TEXT]):
            ids += self._known.get(word) or self._learn(word)
            if len(ids) > self._room:
                break
        return [*ids[: self._room + 1], self._end]

    def _words(self, text: str) -> list[str]:
        cleaned = text.translate(self._cleaned)
        decomposed = cleaned if cleaned.isascii() else unicodedata.normalize("NFD", cleaned)
        return decomposed.translate(self._folded).split()

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= CACHED_WORDS:
            self._known.clear()
        pieces = self._known[word] = self._split(word)
        return pieces

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest piece that fits, again and again; unknown as a whole when none does."""
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (found := self._ids.get(mark + word[start:end])) is not None:
                    pieces.append(found)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(pieces)
