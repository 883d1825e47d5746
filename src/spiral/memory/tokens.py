"""How much room a text takes, estimated on the safe side and always the same."""

from __future__ import annotations

import re

PIECES = re.compile(r"[A-Za-z]{1,6}|\d{1,2}|[^\sA-Za-z\d]|\n")
"""A token each: a long word has several."""
LONG = 200_000


def tokens(text: str) -> int:
    """An upper estimate of the tokens of a text, for any model's tokenizer."""
    if len(text) > LONG:
        return len(text) // 2
    return len(PIECES.findall(text))


def excerpt(text: str, words: tuple[str, ...], room: int) -> str:
    """The text, or the stretch of it that holds most of the words, cut so that it takes at most `room` tokens."""
    if tokens(text) <= room:
        return text
    width = max(40, room * 3)
    low = text[:LONG].lower()
    spots = sorted(spot for word in words[:12] if (spot := low.find(word)) >= 0)
    start = (
        max(0, max(spots, key=lambda spot: sum(spot <= other < spot + width for other in spots)) - 80) if spots else 0
    )
    piece = text[start : start + width]
    while piece and tokens(piece) > room - 2:
        piece = piece[: len(piece) * 9 // 10]
    return f"{'…' if start else ''}{piece.strip()}…"
