"""Changes a JSON text where it must change and leaves every other character as it was found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

DECODER = json.JSONDecoder()
BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, by its places in the text."""

    key: str
    start: int
    """Where the key begins."""
    value: int
    """Where the value begins."""
    end: int
    """Where the value ends."""


def begin(text: str) -> int:
    """Where the value of a text begins, after a byte order mark and blanks."""
    return skip(text, 1 if text.startswith("\ufeff") else 0)


def parse(text: str) -> object:
    """The value of a text; ValueError says where it is not JSON."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def members(text: str, start: int) -> Iterator[Member]:
    """The members of the object that begins at `start`, in a text that is known to be JSON."""
    at = skip(text, start + 1)
    while text[at] != "}":
        key, end = DECODER.raw_decode(text, at)
        value = skip(text, skip(text, end) + 1)
        _, end = DECODER.raw_decode(text, value)
        yield Member(key, at, value, end)
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each element of the array that begins at `start`."""
    at = skip(text, start + 1)
    while text[at] != "]":
        _, end = DECODER.raw_decode(text, at)
        yield at, end
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def changed(text: str, changes: Mapping[str, str | None]) -> str:
    """The text of an object with these members set to a JSON text, or taken out for None; the rest is untouched."""
    for key, raw in changes.items():
        found = list(members(text, 0))
        # Of members with the same key the last one counts.
        places = [index for index, member in enumerate(found) if member.key == key][::-1]
        if raw is None:
            for place in places:
                text = without(text, list(members(text, 0)), place)
        elif places:
            text = text[: found[places[0]].value] + raw + text[found[places[0]].end :]
        else:
            text = with_member(text, found, key, raw)
    return text


def without(text: str, found: Sequence[Member], place: int) -> str:
    """The object without one member and its comma."""
    if place > 0:
        return text[: found[place - 1].end] + text[found[place].end :]
    if len(found) > 1:
        return text[: found[0].start] + text[found[1].start :]
    return text[: found[0].start] + text[skip(text, found[0].end) :]


def with_member(text: str, found: Sequence[Member], key: str, raw: str) -> str:
    """The object with one member more at its end, laid out like the others."""
    if not found:
        return f"{{{json.dumps(key)}: {raw}}}"
    first, last = found[0], found[-1]
    colon = text[first.start : first.value].rpartition('"')[2]
    gap = text[found[-2].end : last.start] if len(found) > 1 else "," + (text[1 : first.start] or " ")
    return f"{text[: last.end]}{gap}{json.dumps(key)}{colon}{raw}{text[last.end :]}"


def inserted(text: str, start: int, place: int, values: Sequence[object]) -> str:
    """The text with more elements in the array at `start`, before the one at `place`, laid out like its neighbours."""
    found = list(elements(text, start))
    margin = margin_of(text, start)
    if not found:
        step = indent_of(text) or "  "
        pieces = [laid(text, value, margin + step, step) for value in values]
        inner = f",\n{margin}{step}".join(pieces)
        return f"{text[: start + 1]}\n{margin}{step}{inner}\n{margin}{text[skip(text, start + 1) :]}"
    model = text[found[-1][0] : found[-1][1]]
    gap = gap_of(text, start)
    if "\n" in model:
        inner_margin = margin_of(text, found[-1][0])
        step = indent_of(model.replace("\n" + inner_margin, "\n")) or indent_of(text) or "  "
        pieces = [laid(text, value, inner_margin, step) for value in values]
    else:
        pieces = [laid(text, value, "", None) for value in values]
    if place >= len(found):
        at = found[-1][1]
        return text[:at] + "".join(gap + piece for piece in pieces) + text[at:]
    at = found[place][0]
    return text[:at] + "".join(piece + gap for piece in pieces) + text[at:]


def gap_of(text: str, start: int) -> str:
    """What stands between two elements of the array at `start`, which is not empty."""
    found = list(elements(text, start))
    return text[found[-2][1] : found[-1][0]] if len(found) > 1 else "," + (text[start + 1 : found[0][0]] or " ")


def laid(text: str, value: object, margin: str, step: str | None) -> str:
    """A value as JSON in the manner of the text: its escapes, its line ends, indented by `step` after `margin`."""
    escaped = text.isascii() and "\\u" in text
    raw = json.dumps(value, ensure_ascii=escaped, indent=step)
    return raw.replace("\n", ("\r\n" if "\r\n" in text else "\n") + margin)


def indent_of(text: str) -> str:
    """The blanks that one level is indented by; empty when all is on one line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else ""


def margin_of(text: str, at: int) -> str:
    """The blanks that the line of a place begins with."""
    line = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[line:at])
    return found[0] if found else ""


def skip(text: str, at: int) -> int:
    """The next place that is not blank."""
    found = BLANK.match(text, at)
    return found.end() if found else at


def spliced(text: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    """The text with each span replaced; spans come in order and do not overlap."""
    parts, at = [], 0
    for start, end, new in pieces:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])
