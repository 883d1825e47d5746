"""Keeps texts from tools and from the web from commanding an agent."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Iterator

from spiral.memory.guard_layout import LAID_OUT
from spiral.memory.guard_rules import SAID
from spiral.memory.guard_signs import Sign
from spiral.memory.guard_tongues import TONGUES

RELAYED = ("tool:", "web:", "file:", "mcp:")
"""A source that begins so passes on what others wrote."""

_ENOUGH = 1.0
_NEAR = 600
"""Signs add up when they stand within so many characters."""
_PART = 4_000
"""A long text is heard in parts of so many characters."""
_HIDDEN_ENOUGH = 0.4
"""Where a reader would not see it, less is enough."""

_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{2,6}\U000e007f")
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{4,}")
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_OVERRIDE = re.compile("[\u202d\u202e]")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]")
_GAP = re.compile(r"[^\S\n]+")
_BREAK = re.compile(r" ?\n[ \n]*")
_SPACED = re.compile(r"\b(?:\w ){5,}\w\b")
_UNSEEN = re.compile(
    r"<\w+[^<>]{0,200}(?:display: ?none|font-size: ?0|visibility: ?hidden|opacity: ?0\b"
    r"|color: ?(?:white|#fff))[^<>]{0,200}>([^<]{1,4000})",
    re.IGNORECASE,
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{32,4000}={0,2}(?![A-Za-z0-9+/=])")
_BLOBS = 200
"""So many blobs of one text are looked into."""
_TWINS = str.maketrans("аеорсухіјѕԁɡοαιѵԛԝ", "aeopcyxijsdgoaivqw")
"""Letters of other scripts that look like Latin ones."""
_LATIN_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u052f\u0261]|[\u0370-\u03ff\u0400-\u052f\u0261][a-z]")

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_JOINER = re.compile("(?<![^\x00-\u02ff\u2000-\u206f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff\u2000-\u206f])")
_STRIPPED = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_SELECTORS = re.compile("[\ufe00-\ufe0f]+(?=[\ufe00-\ufe0f])")
_TAG = re.compile(
    r"[<\uff1c\ufe64](?=\s{0,4}[/\uff0f]?\s{0,4}(?:memor(?:y|ies)|(?:system|user|assistant|human)\b|tool_|function_|antml:)|\|)",
    re.IGNORECASE,
)
_INST = re.compile(r"\[(/?INST)\]|<<(/?SYS)>>", re.IGNORECASE)
_ROLE = re.compile(
    r"^([ \t>#*_]{0,8})(human|assistant|system|user)([*_]{0,2}[ \t]?[:\uff1a])", re.IGNORECASE | re.MULTILINE
)


def quarantine(text: str, source: str, role: str) -> str:
    """Why a relayed text reads like an instruction to an agent, or "" when it is fine.

    What a person says is never held back, however much it commands: only what a tool, a page, a file or a server
    passed on is looked at.
    """
    if role != "tool" and not source.startswith(RELAYED):
        return ""
    return _smuggled(text) or _heard(text, _ENOUGH) or _unseen(text) or _encoded(text)


def neutral(text: str) -> str:
    """The text as mere data: nothing invisible in it, and nothing that could close a frame or open a turn."""
    seen = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")))
    seen = _SELECTORS.sub("", _JOINER.sub("", _STRIPPED.sub("", seen)))
    seen = _TAG.sub("&lt;", seen)
    seen = _INST.sub(lambda found: f"({found[1] or found[2]})", seen)
    return _ROLE.sub(r"\1[\2]\3", seen)


def framed(text: str, source: str, age: str, authority: str) -> str:
    """The text within a frame that tells where it comes from; it cannot break out of it."""
    facts = (("source", source), ("age", age), ("authority", authority))
    said = "".join(f' {name}="{_attribute(value)}"' for name, value in facts if value)
    return f"<memory{said}>\n{neutral(text).strip()}\n</memory>"


def _attribute(value: str) -> str:
    return " ".join(neutral(value).split()).replace('"', "'").replace("<", "&lt;").replace(">", "&gt;")[:200]


def _smuggled(text: str) -> str:
    """Whether characters that nobody sees carry something."""
    if text.isascii():
        return ""
    if _TAGS.search(_FLAG.sub("", text)):
        return "hides text in invisible tag characters"
    if _ZERO_WIDTH_RUN.search(text):
        return "hides data in zero-width characters"
    if _SELECTOR_RUN.search(text):
        return "hides data in variation selectors"
    return "overrides the direction of writing" if _OVERRIDE.search(text) else ""


def _unseen(text: str) -> str:
    """Whether a part that a reader of the page would not see speaks to an agent."""
    for where, parts in (
        ("an HTML comment", _comments(text)),
        ("text that is not shown", (found[1] for found in _UNSEEN.finditer(text))),
    ):
        for part in parts:
            if reason := _heard(part, _HIDDEN_ENOUGH):
                return f"{reason}, hidden in {where}"
    return ""


def _comments(text: str) -> Iterator[str]:
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            yield text[start + 4 :]
            return
        yield text[start + 4 : end]


def _encoded(text: str) -> str:
    """Whether a base64 blob, once decoded, speaks to an agent."""
    for _, found in zip(range(_BLOBS), _BLOB.finditer(text), strict=False):
        blob = found[0].rstrip("=")
        try:
            inner = base64.b64decode(blob + "=" * (-len(blob) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if reason := _heard(inner, _HIDDEN_ENOUGH):
            return f"{reason}, hidden in base64"
    return ""


def _heard(text: str, enough: float) -> str:
    """The weightiest reason where signs close together reach `enough`, or ""."""
    plain = _plain(text)
    # Parts overlap, so that whatever stands close together stands in one of them together.
    for start in range(0, max(len(plain) - _NEAR, 1), _PART - _NEAR):
        part = plain[start : start + _PART]
        flat = part.replace("\n", " ")
        if reason := _reached([*_found(LAID_OUT, part), *_found(SAID, flat), *_found(TONGUES, flat)], enough, flat):
            return reason
    return ""


def _plain(text: str) -> str:
    """The text as a reader hears it: no invisible letters, one case, look-alikes and spaced-out words put right."""
    plain = text.casefold()
    if not text.isascii():
        plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
        if _LATIN_MIXED.search(plain):
            plain = plain.translate(_TWINS)
    plain = _SPACED.sub(lambda found: found[0].replace(" ", ""), plain)
    return _BREAK.sub("\n", _GAP.sub(" ", plain))


def _found(signs: Iterable[Sign], text: str) -> list[tuple[int, int, Sign]]:
    return [
        (found.start(), found.end(), sign)
        for sign in signs
        if any(needle in text for needle in sign.needles)
        for found in sign.pattern.finditer(text)
    ]


def _reached(hits: list[tuple[int, int, Sign]], enough: float, text: str) -> str:
    hits = sorted(hits, key=lambda hit: hit[0])
    first = 0
    for last, (start, _, _) in enumerate(hits):
        while start - hits[first][0] > _NEAR:
            first += 1
        near = {sign: (begin, end) for begin, end, sign in hits[first : last + 1]}
        if sum(sign.weight for sign in near) >= enough - 1e-9:
            worst = max(near, key=lambda sign: sign.weight)
            begin, end = near[worst]
            return f"{worst.reason} ({neutral(text[begin : min(end, begin + 60)]).strip()!r})"
    return ""
