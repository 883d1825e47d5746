"""MEMORY.md: the page that a fresh agent reads first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from spiral.errors import StoreError
from spiral.memory import entries, guard
from spiral.memory.files import failing
from spiral.memory.store import Store
from spiral.model import AUTHORITIES, Scope, Statement

NAME = "MEMORY.md"
MARK = "<!-- spiral:generated -->"
LINES, BYTES = 200, 25_000
HEADINGS = {"procedural": "How it is done", "semantic": "What is so", "episodic": "What happened"}
SEEN = 2_000
OURS = re.compile(
    rf"{MARK}|## (?:{'|'.join(HEADINGS.values())})"
    rf"|- .*\((?:{'|'.join(AUTHORITIES)}), \d{{4}}-\d\d-\d\d, [a-z0-9._-]{{4,9}}\)"
    r'|\d+ more: `spiral recall "…"`'
)
"""A line of the generated part."""


def write_page(store: Store) -> str:
    """Write MEMORY.md anew and give its text; what a person wrote above the mark stays, byte for byte.

    One winner: inside the index's transaction, so an older page never replaces a newer one. Only a page that differs is
    written; the same store gives the same bytes.
    """
    with store.index.atomic():
        before = read_page(store.folder.root / NAME)
        scope = Scope(org=store.scope.org, app=store.scope.app)
        rows = store.index.select("type", ["memory"], view=store.view(scope), limit=SEEN)
        memories = [memory for memory in map(entries.memory_of, rows) if memory.visibility != "private"]
        text = page(own(before) or "# Memory", memories)
        if text != before:
            # What is no UTF-8 was read as lone surrogates and goes back as the bytes that it was.
            store.folder.write(NAME, text.encode("utf-8", "surrogateescape"))
        store.moved = False
        return text


def read_page(path: Path) -> str:
    """The page as it is, with its line ends; empty when there is none."""
    if not path.exists():
        return ""
    if not path.is_file():
        raise StoreError(f"{str(path)!r} is no file, so the page cannot be written; move it away")
    with failing(path):
        return path.read_bytes().decode("utf-8", "surrogateescape")


def own(text: str) -> str:
    """What a person wrote: all above the line that is the mark; a sentence that speaks of the mark is none.

    Where the mark was deleted, or is there twice after a merge, our lines at the end are told by their shape.
    """
    lines = text.split("\n")
    marks = [at for at, said in enumerate(lines) if said.strip() == MARK]
    kept = lines[: marks[-1]] if marks else lines
    if len(marks) != 1:
        kept = kept[: generated(kept)]
    return "\n".join(kept).rstrip("\r\n")


def generated(lines: Sequence[str]) -> int:
    """Where our lines at the end begin, from a heading or a mark on; the end when there are none."""
    start = len(lines)
    while start and (not lines[start - 1].strip() or OURS.fullmatch(lines[start - 1].strip())):
        start -= 1
    heads = [at for at in range(start, len(lines)) if lines[at].startswith(("## ", MARK))]
    if heads and any(said.startswith(("- ", MARK)) for said in lines[heads[0] :]):
        return heads[0]
    return len(lines)


def excess(text: str) -> str:
    """By how much the page is over its limits; empty when it is within. Only a person's part can be too long."""
    lines, size = len(text.split("\n")) - text.endswith("\n"), len(text.encode("utf-8", "surrogateescape"))
    if lines <= LINES and size <= BYTES:
        return ""
    return f"{lines} lines and {size:,} bytes, more than {LINES} lines or {BYTES:,} bytes"


def usefulness(memory: Statement) -> tuple[int, int, float, str]:
    """Sorts the most useful first: authority, then evidence, then how new it is."""
    return (AUTHORITIES.index(memory.authority), -len(memory.evidence), -memory.learned.timestamp(), memory.id)


def page(above: str, memories: Sequence[Statement]) -> str:
    """The page: at most 200 lines and 25 KB, the person's part first and never cut, in the line ends that it has."""
    text = f"\n\n{MARK}\n"
    chosen: list[Statement] = []
    size = len(above.encode("utf-8", "surrogateescape")) + len(text) + 200
    lines = above.count("\n") + text.count("\n") + 12
    for memory in sorted(memories, key=usefulness):
        width = len(line(memory).encode()) + 1
        if size + width > BYTES or lines >= LINES:
            break
        chosen.append(memory)
        size, lines = size + width, lines + 1
    for kind, heading in HEADINGS.items():
        of_kind = [memory for memory in chosen if memory.kind == kind]
        if of_kind:
            text += f"\n## {heading}\n\n" + "".join(line(memory) for memory in of_kind)
    left = len(memories) - len(chosen)
    text += f'\n{left} more: `spiral recall "…"`\n' if left else ""
    return above + (text.replace("\n", "\r\n") if "\r\n" in above else text)


def line(memory: Statement) -> str:
    """One memory on one line."""
    key = f"**{short(memory.key, 80)}**: " if memory.key else ""
    return f"- {key}{short(memory.text, 240)} ({memory.authority}, {memory.learned:%Y-%m-%d}, {memory.id[:9]})\n"


def short(text: str, most: int) -> str:
    """The text as mere data on one line, cut where it is too long."""
    said = " ".join(guard.neutral(text).split())
    return said[:most] + ("…" if len(said) > most else "")
