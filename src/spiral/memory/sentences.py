"""Splits what was said into sentences, leaving out what was only pasted."""

from __future__ import annotations

import re
from collections.abc import Iterator

HEAD, TAIL = 40_000, 20_000
"""How much of a long text is looked at: a wish stands before or after a paste, rarely in its middle."""

LONGEST = 600
"""A longer run without a full stop is not a sentence anyone said."""

_FENCE = re.compile(r"^[ \t]{0,6}(```|~~~)", re.MULTILINE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,60})(?: [^<>\n]{0,300})?>")
_FRAMING = """
code context document documents example file instructions log memories memory output pre quote recall recalled
reminder stderr stdout system tool
"""
_FRAMES = frozenset(_FRAMING.split())
_QUOTED = re.compile(r"^[ \t]{0,6}>.*$", re.MULTILINE)
_LOG = re.compile(
    r"""^\s*(?:
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d
      | (?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL)\b[ :\[\]] | \[?(?:Error|Warning|WARNING)\]?:\s
      | Traceback\ \(most | File\ ".{1,200}",\ line\ \d | at\ \S{1,200}\ ?\(.{1,200}:\d+
      | (?:npm|yarn|pnpm)\ (?:ERR!|error|warn) | [$%]\ \S | >>>\ | \+{3}\ | -{3}\ | @@\ | diff\ --git
      | E\ {2,}\S | \w{1,60}(?:Error|Exception):\ | \S{1,200}:\d+:\d+:?[ ]
      | (?:import|from)\ [\w.]+(?:\ import\b|;|$) | (?:def|class|function)\ \w+\s?[:(] | (?:const|let|var)\ \w+\s?=
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"[;{}]\s*$|^\s*[)\]}]+[,;]?\s*$|</\w{1,40}>\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+")
_GONE = "\0"
"""Stands where something pasted was, so that no sentence reaches across it."""
_PADDING = f"{_GONE} \t\n\r\f\v"
_STOP = re.compile(rf"[.!?…]+[\"'’”)\]*_]{{0,3}}(?=[\s{_GONE}])|[。！？]|{_GONE}+")
_SHORTENED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|resp|incl|excl|mr|mrs|ms|dr|prof|st|no|nr|fig|sec|cf|ca|dept|inc|ltd|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[A-Z]|a\.m|p\.m|u\.s)\.$",
    re.IGNORECASE,
)


def examined(text: str) -> str:
    """The part of a text that is looked at: all of it, or the head and the tail of a long one."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n\n{text[-TAIL:]}"


def sentences(text: str) -> tuple[str, ...]:
    """What was said, sentence by sentence, each a verbatim part of the text; code, quotes, logs and frames left out."""
    spoken = _without_pastes(examined(text))
    found: list[str] = []
    for start, end in _paragraphs(spoken):
        for first, last in _stops(spoken, start, end):
            sentence = spoken[first:last].strip(_PADDING)
            if len(sentence) <= LONGEST and any(char.isalpha() for char in sentence):
                found.append(_ITEM.sub("", sentence, count=1).strip())
    return tuple(found)


def fenced(text: str) -> tuple[tuple[int, int], ...]:
    """Where the fenced code blocks are; one that is never closed runs to the end."""
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opening is None:
            opening = mark
        elif mark[1] == opening[1]:
            spans.append((opening.start(), mark.end()))
            opening = None
    if opening is not None:
        spans.append((opening.start(), len(text)))
    return tuple(spans)


def framed(text: str) -> tuple[tuple[int, int], ...]:
    """Where text stands inside tags that a program puts around it, such as <system-reminder>…</system-reminder>."""
    spans: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not _is_frame(name):
            continue
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif name in opened:
            spans.append((opened.pop(name), tag.end()))
    # A reminder that was cut off before its end is still not something that a person said.
    spans.extend((start, len(text)) for name, start in opened.items() if "reminder" in name)
    return tuple(spans)


def is_log(line: str) -> bool:
    """Whether a line reads like a program's output or code rather than a person's words."""
    line = line[:400]
    return bool(_LOG.match(line) or _CODE_END.search(line))


def _is_frame(name: str) -> bool:
    return not name.startswith("user") and (name in _FRAMES or "-" in name or "_" in name)


def _without_pastes(text: str) -> str:
    """The text with what was only pasted crossed out; every other character keeps its place."""
    chars = _blanked(text, fenced(text))
    chars = _blanked(chars, framed(chars))
    chars = _QUOTED.sub(lambda match: _blank(match[0]), chars)
    return "\n".join(_blank(line) if is_log(line) else line for line in chars.split("\n"))


def _blanked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        pieces += [text[done:start], _blank(text[max(start, done) : end])]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _blank(text: str) -> str:
    return "\n".join(_GONE * len(line) for line in text.split("\n"))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Runs of lines that belong together: a hard-wrapped paragraph is one, a list has one per item."""
    start, end, before = 0, 0, ""
    for line in text.splitlines(keepends=True):
        if not _continues(before, line):
            yield start, end
            start = end
        end += len(line)
        before = line
    yield start, end


def _continues(before: str, line: str) -> bool:
    """Whether a line is the rest of a hard-wrapped one: that was long, had no full stop, and this begins small."""
    ended = before.rstrip()
    begins = line.lstrip()
    if len(ended) < 60 or not begins or ended[-1] in ".!?:;" or _ITEM.match(line):
        return False
    return begins[0].islower() or begins[0] in "`(\"'"


def _stops(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for stop in _STOP.finditer(text, start, end):
        before = text[max(first, stop.start() - 12) : stop.start() + 1]
        shortened = stop[0].startswith(".") and _SHORTENED.search(before)
        if shortened or (stop[0][0] != _GONE and text.count("`", first, stop.start()) % 2):
            continue
        yield first, stop.end()
        first = stop.end()
    yield first, end
