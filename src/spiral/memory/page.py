"""MEMORY.md: the page that a fresh agent reads first."""

from __future__ import annotations

from collections.abc import Sequence

from spiral.memory import entries, guard
from spiral.memory.store import Store
from spiral.model import ANY, AUTHORITIES, Scope, Statement

MARK = "<!-- spiral:generated -->"
LINES, BYTES = 200, 25_000
HEADINGS = {"procedural": "How it is done", "semantic": "What is so", "episodic": "What happened"}
SEEN = 2_000


def write_page(store: Store) -> str:
    """Write MEMORY.md anew and give its text; what a person wrote above the mark stays.

    One winner: inside the index's transaction, so an older page never replaces a newer one. Only a page that differs is
    written; the same store gives the same bytes.
    """
    with store.index.atomic():
        path = store.folder.root / "MEMORY.md"
        before = path.read_text("utf-8", errors="replace") if path.exists() else ""
        above = before.split(MARK, 1)[0].rstrip() if MARK in before else before.rstrip()
        scope = Scope(org=store.scope.org, app=ANY)
        rows = store.index.select("type", ["memory"], view=store.view(scope), limit=SEEN)
        memories = [memory for memory in map(entries.memory_of, rows) if memory.visibility != "private"]
        text = page(above or "# Memory", memories)
        if text != before:
            store.folder.write("MEMORY.md", text)
        return text


def usefulness(memory: Statement) -> tuple[int, int, float, str]:
    """Sorts the most useful first: authority, then evidence, then how new it is."""
    return (AUTHORITIES.index(memory.authority), -len(memory.evidence), -memory.learned.timestamp(), memory.id)


def page(above: str, memories: Sequence[Statement]) -> str:
    """The page: at most 200 lines and 25 KB, the person's part first and never cut."""
    text = f"{above}\n\n{MARK}\n"
    chosen: list[Statement] = []
    size, lines = len(text.encode()) + 200, text.count("\n") + 12
    for memory in sorted(memories, key=usefulness):
        width = len(line(memory).encode())
        if size + width > BYTES or lines >= LINES:
            break
        chosen.append(memory)
        size, lines = size + width, lines + 1
    for kind, heading in HEADINGS.items():
        of_kind = [memory for memory in chosen if memory.kind == kind]
        if of_kind:
            text += f"\n## {heading}\n\n" + "".join(line(memory) for memory in of_kind)
    left = len(memories) - len(chosen)
    return text + (f'\n{left} more: `spiral recall "…"`\n' if left else "")


def line(memory: Statement) -> str:
    """One memory on one line."""
    said = " ".join(guard.neutral(memory.text).split())
    key = f"**{memory.key}**: " if memory.key else ""
    cut = "…" if len(said) > 240 else ""
    return f"- {key}{said[:240]}{cut} ({memory.authority}, {memory.learned:%Y-%m-%d}, {memory.id[:9]})\n"
