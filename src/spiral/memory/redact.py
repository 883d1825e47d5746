"""Takes secrets out of a text before it is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spiral.memory.redact_headers import header_spans
from spiral.memory.redact_named import named_spans
from spiral.memory.redact_tokens import Span, token_spans

_MARK = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_LONGEST_KEY = 64_000
_REACH = 66_000
"""No rule looks farther than this from a secret."""
_KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{16}")
_KEY_HEAD = re.compile(
    r"(?:(?:[\s\"'+,|>#*]|\\[nrt\\\"])*+(?:[A-Za-z-]{2,20}: [^\n\\]{0,120}+(?=\n|\\n)|[A-Za-z0-9+/=]{16,}+))++"
)
_KEY_TAIL = re.compile(r"(?:\s|[nr]\\)*+=*[A-Za-z0-9+/]+(?:(?:\s|[nr]\\)+=*[A-Za-z0-9+/]{16,})*")
"""Matched against the text backwards."""


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with every secret replaced by `[redacted:<what>]`, and what was found, sorted.

    Doing it again changes nothing: what one replacement lays bare is looked at before the text is given back. Each
    round leaves fewer characters outside the marks, so it comes to an end.
    """
    what: set[str] = set()
    spans = _merged(text, _spans(text))
    while spans:
        what.update(span.what for span in spans)
        text, places = _replaced(text, spans)
        spans = _merged(text, (span for start, end in _around(text, places) for span in _spans(text[start:end], start)))
    return text, tuple(sorted(what))


def _spans(text: str, offset: int = 0) -> Iterator[Span]:
    """Secrets in a part of a text that begins at `offset`."""
    for find in (_private_keys, token_spans, header_spans, named_spans):
        for start, end, what in find(text):
            yield Span(start + offset, end + offset, what)


def _merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans that overlap become one; marks are taken in whole; spans of marks alone are left out."""
    found = list(spans)
    if not found:
        return []
    merged: list[Span] = []
    for start, end, what in sorted([*found, *(Span(*mark.span(), "") for mark in _MARK.finditer(text))]):
        if merged and start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(end, last.end), last.what or what)
        else:
            merged.append(Span(start, end, what))
    return [span for span in merged if span.what and not _MARK.fullmatch(text, span.start, span.end)]


def _replaced(text: str, spans: list[Span]) -> tuple[str, list[int]]:
    """The new text, and where in it the marks stand."""
    parts: list[str] = []
    places: list[int] = []
    done = length = 0
    for start, end, what in spans:
        mark = f"[redacted:{what}]"
        parts += text[done:start], mark
        places.append(length + start - done)
        length += start - done + len(mark)
        done = end
    return "".join([*parts, text[done:]]), places


def _around(text: str, places: list[int]) -> list[tuple[int, int]]:
    """Whole lines around the places, as far as any rule looks; stretches that touch are one."""
    stretches: list[tuple[int, int]] = []
    for place in places:
        if stretches and place + _REACH <= stretches[-1][1]:
            continue
        start = text.rfind("\n", 0, max(0, place - _REACH)) + 1
        end = text.find("\n", place + _REACH) + 1 or len(text)
        if stretches and start <= stretches[-1][1]:
            start = stretches.pop()[0]
        stretches.append((start, end))
    return stretches


def _private_keys(text: str) -> Iterator[Span]:
    """Key blocks, whole or cut off at either end."""
    if "PRIVATE KEY" not in text:
        return
    heads = [found.span() for found in _BEGIN.finditer(text)]
    tails = [found.span() for found in _END.finditer(text)]
    position = 0
    for (start, opened), following in zip(heads, [*(head[0] for head in heads[1:]), len(text)], strict=False):
        while position < len(tails) and tails[position][0] < opened:
            yield from _cut_tail(text, tails[position - 1][1] if position else 0, tails[position])
            position += 1
        limit = min(following, opened + _LONGEST_KEY)
        if position < len(tails) and tails[position][0] < limit:
            if _KEY_RUN.search(text, opened, tails[position][0]):
                yield Span(start, tails[position][1], "private-key")
            position += 1
        elif body := _KEY_HEAD.match(text, opened, limit):
            yield Span(start, body.end(), "private-key")
    for place in range(position, len(tails)):
        yield from _cut_tail(text, tails[place - 1][1] if place else 0, tails[place])


def _cut_tail(text: str, earliest: int, tail: tuple[int, int]) -> Iterator[Span]:
    """What is left of a key whose beginning is missing."""
    backwards = text[max(earliest, tail[0] - _LONGEST_KEY) : tail[0]][::-1]
    body = _KEY_TAIL.match(backwards)
    if body and _KEY_RUN.search(body[0]):
        yield Span(tail[0] - body.end(), tail[1], "private-key")
