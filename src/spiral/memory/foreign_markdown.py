"""Markdown as passages, each of which can stand as a memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

GENERATED = "<!-- spiral:generated -->"
"""What stands below this line Spiral wrote itself."""
_TOGETHER = 500
"""A bullet and what is nested under it stay one passage up to so many characters."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)[\s#]*\Z")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*\Z")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*\Z")
_BULLET = re.compile(r"(\s*)[-*+•]\s+(.*)")
_STEP = re.compile(r"(\s*)(\d{1,3}[.)]\s+.*)")
_ROW = re.compile(r"\s*\|(.*?)\|?\s*\Z")
_DASHES = re.compile(r"[\s|:-]+\Z")

Sort = Literal["heading", "text", "bullet", "step", "code", "row"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A part of a document that says one thing."""

    text: str
    headings: tuple[str, ...] = ()
    """The headings that it stands under, outermost first."""
    ordered: bool = False
    """Whether it is a list of steps."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    sort: Sort
    text: str
    depth: int = 0
    """A heading's level, or how far a list's line is indented."""


def passages(text: str) -> tuple[Passage, ...]:
    """The bullets, paragraphs, lists of steps and rows of a table, in order; nothing that Spiral wrote itself."""
    found: list[Passage] = []
    headings: dict[int, str] = {}
    for titled, group in groupby(_blocks(_visible(text)), key=lambda block: block.sort == "heading"):
        if not titled:
            found += (replace(passage, headings=tuple(headings.values())) for passage in _section(group))
            continue
        for heading in group:
            headings = {level: name for level, name in headings.items() if level < heading.depth}
            headings[heading.depth] = heading.text
    return tuple(passage for passage in found if any(char.isalnum() for char in passage.text))


def _visible(text: str) -> list[str]:
    """The lines without HTML comments; in code, a comment is a part of the code."""
    lines: list[str] = []
    fence = ""
    commented = False
    for line in text.splitlines():
        if line.strip() == GENERATED and not fence:
            break
        shown = line
        if not fence:
            shown, commented = _uncommented(line, commented=commented)
        marker = _FENCE.match(shown)
        if marker and not commented:
            fence = "" if fence and marker[1].startswith(fence) else fence or marker[1]
        if shown.strip() or not line.strip():
            lines.append(shown)
    return lines


def _uncommented(line: str, *, commented: bool) -> tuple[str, bool]:
    shown = ""
    while line:
        mark = "-->" if commented else "<!--"
        before, found, line = line.partition(mark)
        shown += "" if commented else before
        commented = commented != bool(found)
    return shown.rstrip(), commented


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Each block once it is complete: a line that continues one is joined to it."""
    block: _Block | None = None
    fence = ""
    gap = False
    for line in lines:
        marker = _FENCE.match(line)
        if fence or marker:
            opened = not fence
            fence = "" if fence and marker and marker[1].startswith(fence) else fence or (marker[1] if marker else "")
            if opened:
                if block:
                    yield block
                block = _Block(sort="code", text=line.strip())
            elif block:
                block = replace(block, text=f"{block.text}\n{line}")
            gap = True
        elif joined := _continued(block, line, gap=gap):
            block, gap = joined, not line.strip()
        else:
            if block:
                yield block
            block, gap = _opened(line), not line.strip()
    if block:
        yield block


def _opened(line: str) -> _Block | None:
    if not line.strip() or _RULE.match(line):
        return None
    if found := _HEADING.match(line):
        return _Block(sort="heading", text=found[2], depth=len(found[1]))
    if found := _BULLET.match(line):
        return _Block(sort="bullet", text=found[2].strip(), depth=len(found[1].expandtabs(4)))
    if found := _STEP.match(line):
        return _Block(sort="step", text=found[2].strip(), depth=len(found[1].expandtabs(4)))
    if line.lstrip().startswith("|"):
        return _Block(sort="row", text=line.strip())
    return _Block(sort="text", text=line.lstrip("> ").strip())


def _continued(block: _Block | None, line: str, *, gap: bool) -> _Block | None:
    """The block with the line joined to it, or None when the line begins another."""
    if not block or block.sort in ("heading", "row", "code"):
        return None
    if not line.strip():
        return block
    if block.sort == "text" and not gap and (found := _UNDERLINE.match(line)):
        return _Block(sort="heading", text=block.text, depth=1 if found[1][0] == "=" else 2)
    opened = _opened(line)
    if opened is None or opened.sort != "text":
        return None
    if gap and (block.sort == "text" or not line.startswith(("  ", "\t"))):
        return None
    return replace(block, text=f"{block.text}{chr(10) if gap else ' '}{opened.text}")


def _section(blocks: Iterable[_Block]) -> Iterator[Passage]:
    """The passages of what stands under one heading; code goes with what it follows."""
    held: Passage | None = None
    lead = ""
    for sort, group in groupby(blocks, key=lambda block: "list" if block.sort in ("bullet", "step") else block.sort):
        run = list(group)
        if sort == "code":
            code = "\n".join(block.text for block in run)
            held = replace(held, text=f"{held.text}\n{code}") if held else Passage(text=f"{lead}\n{code}".strip())
            lead = ""
            continue
        if sort == "list" and held and held.text.endswith(":") and not lead:
            lead, held = held.text, None
        parts = list(_parts(sort, run, lead))
        lead = ""
        if held:
            yield held
        yield from parts[:-1]
        held = parts[-1] if parts else None
    if held:
        yield held


def _parts(sort: str, run: list[_Block], lead: str) -> Iterator[Passage]:
    if sort == "row":
        yield from _rows(run)
    elif sort == "list":
        yield from _list(run, lead)
    else:
        yield from (Passage(text=block.text) for block in run)


def _rows(run: list[_Block]) -> Iterator[Passage]:
    rows = [[cell.strip() for cell in found[1].split("|")] for block in run if (found := _ROW.match(block.text))]
    names = rows[0] if len(run) > 1 and _DASHES.match(run[1].text) else []
    for cells in rows[2:] if names else rows:
        named = zip([*names, *[""] * len(cells)], cells, strict=False)
        yield Passage(text="; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell))


def _list(run: list[_Block], lead: str) -> Iterator[Passage]:
    """Steps stay together, in their order; a bullet stays with what is nested under it."""
    outer = run[0].depth
    starts = [at for at, block in enumerate(run) if block.depth <= outer]
    items = [run[start:end] for start, end in zip(starts, [*starts[1:], len(run)], strict=True)]
    for sort, group in groupby(items, key=lambda item: item[0].sort):
        if sort == "step":
            lines = [" " * max(0, block.depth - outer) + _marked(block) for item in group for block in item]
            yield Passage(text="\n".join([lead, *lines] if lead else lines), ordered=True)
        else:
            for parent, *nested in group:
                yield from _bullet(parent, nested, lead)
        lead = ""


def _bullet(parent: _Block, nested: list[_Block], lead: str) -> Iterator[Passage]:
    said = f"{lead} {parent.text}" if lead else parent.text
    lines = [" " * (block.depth - parent.depth) + _marked(block) for block in nested]
    if len(said) + sum(map(len, lines)) <= _TOGETHER or len(nested) < 2:
        yield Passage(text="\n".join([said, *lines]))
        return
    yield from (Passage(text=f"{said.rstrip(':')}: {block.text}") for block in nested)


def _marked(block: _Block) -> str:
    return block.text if block.sort == "step" else f"- {block.text}"
