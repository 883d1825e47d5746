"""Reads what a briefing is made of from disk, memory and journal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spiral.loop.codec import noun
from spiral.loop.hydrate import POLICIES, Known, Text
from spiral.memory.brief import frame, standing
from spiral.memory.recall import Query, recall
from spiral.memory.store import Store
from spiral.model import Hit, Scope
from spiral.ports import Journal
from spiral.work import Effort, Task

FILES = (
    ("prompt", ("PROMPT.md",)),
    ("vision", ("VISION.md",)),
    ("summary", ("prd/SUMMARY.md", "SUMMARY.md")),
    ("log", ("logs/LOG.md",)),
)
ANCHORS = ("AGENTS.md", "CLAUDE.md")
LONGEST = 60_000
"""Bytes read of any one file; no policy has room for more."""
EFFORTS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What recall gave for a task."""

    known: tuple[Known, ...] = ()
    degraded: tuple[str, ...] = ()


def texts(project: Path, page: Path, task: Task, steering: str) -> dict[str, Text]:
    """The files that people and agents keep for each other, as they are now."""
    folder = project / ".agent"
    found: dict[str, Text] = {}
    for name, paths in FILES:
        for path in paths:
            if text := read(folder / path, tail=name == "log"):
                found[name] = Text(source=f".agent/{path}", text=text)
                break
    for name in ANCHORS:
        if text := read(project / name):
            found["anchors"] = Text(source=name, text=text)
            break
    if task.spec and (text := read(project / task.spec) or read(folder / task.spec)):
        found["spec"] = Text(source=task.spec, text=text)
    if text := read(page):
        found["page"] = Text(source="MEMORY.md", text=text)
    if text := skills(folder / "skills"):
        found["skills"] = Text(source=".agent/skills", text=text)
    if steering:
        found["steering"] = Text(source=".agent/STEERING.md", text=steering)
    return found


def read(path: Path, *, tail: bool = False) -> str:
    """A file's text, bounded; empty when it cannot be read, whatever its bytes."""
    try:
        with path.open("rb") as source:
            if tail:
                source.seek(0, 2)
                source.seek(max(0, source.tell() - LONGEST))
            return source.read(LONGEST).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def skills(folder: Path) -> str:
    """One line for each skill: its name, what it is for, and where it stands."""
    lines = []
    for path in sorted(folder.glob("*/SKILL.md"))[:40]:
        head = read(path)[:2_000]
        about = re.search(r"^description:\s*(.+)$", head, re.MULTILINE)
        lines.append(
            f"- {path.parent.name}: {about[1].strip() if about else ''} (.agent/skills/{path.parent.name}/SKILL.md)"
        )
    return "\n".join(lines)


def efforts(journal: Journal, task: str) -> tuple[Effort, ...]:
    """The earlier passes at a task, oldest first, as many as any briefing can use."""
    ended = journal.events(task=task, kinds=("pass.ended",), limit=EFFORTS)
    return tuple(noun(Effort, event.data["effort"]) for event in ended if isinstance(event.data.get("effort"), dict))  # type: ignore[arg-type]


def question(task: Task, tried: Sequence[Effort]) -> str:
    """What to ask the memory about a task: what it is about, and what went wrong the last time."""
    failing = tried[-1].failing[:1] if tried else ()
    parts = (
        task.title,
        task.description[:600],
        *task.acceptance[:6],
        *task.files[:6],
        *(out[-200:] for _, out in failing),
    )
    return "\n".join(part for part in parts if part)[:2_000]


def remembered(store: Store, scope: Scope, task: Task, tried: Sequence[Effort]) -> Remembered:
    """What the memory has about a task, framed as data, enough for the richest policy."""
    asked = question(task, tried)
    if not asked.strip():
        return Remembered()
    room = POLICIES["rich"]["memories"]
    found = recall(store, Query(text=asked, scope=scope, budget=room, limit=40))
    now = store.clock()
    hits: list[Hit] = [*standing(store, scope, found.hits), *found.hits]
    return Remembered(
        known=tuple(Known(id=hit.id, line=frame(hit, now)) for hit in hits), degraded=tuple(found.degraded)
    )
