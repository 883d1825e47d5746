"""The dependencies of tasks, drawn: for a terminal, as Mermaid, as DOT."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from spiral.loop.order import by_id, cycles, drawn, levels, status_in
from spiral.work import Status, Task, TaskState

MARKS: Mapping[Status, str] = {"open": "○", "done": "●", "blocked": "✗", "decide": "?", "skipped": "–"}
COLOURS: Mapping[Status, str] = {
    "open": "#ffffff", "done": "#c8e6c9", "blocked": "#ffcdd2", "decide": "#fff9c4", "skipped": "#eeeeee",
}  # fmt: skip


def text(tasks: Iterable[Task], states: Mapping[str, TaskState]) -> str:
    """Levels for a terminal: what stands on one needs only what stands above it."""
    known = by_id(tasks)
    width = max(map(len, known), default=0)
    circles = cycles(known.values())
    stuck = {name for circle in circles for name in circle}
    lines = []
    for number, row in enumerate(levels(known.values()), 1):
        lead = "∞" if any(task.id in stuck for task in row) else str(number)
        for task in row:
            needs = f"  ← {', '.join(task.depends)}" if task.depends else ""
            lines.append(f"{lead:>3}  {MARKS[status_in(task, states)]} {task.id:{width}}  {task.title}{needs}")
            lead = ""
    lines += [f"circle: {drawn(circle)}" for circle in circles]
    return "\n".join(lines)


def mermaid(tasks: Iterable[Task], states: Mapping[str, TaskState]) -> str:
    """A flow chart that Markdown viewers draw; arrows go from what comes first to what needs it."""
    known = by_id(tasks)
    names = {name: f"t{number}" for number, name in enumerate(known)}
    lines = ["flowchart TD"]
    for task in known.values():
        shown = f"{task.id}: {task.title}".translate({ord('"'): "#quot;", ord("\n"): " ", ord("`"): "'"})
        lines.append(f'  {names[task.id]}["{shown}"]:::{status_in(task, states)}')
    lines += [
        f"  {names[need]} --> {names[task.id]}" for task in known.values() for need in task.depends if need in names
    ]
    lines += [f"  classDef {status} fill:{colour},color:#000000" for status, colour in COLOURS.items()]
    return "\n".join(lines)


def dot(tasks: Iterable[Task], states: Mapping[str, TaskState]) -> str:
    """A graph for Graphviz."""
    known = by_id(tasks)
    lines = ["digraph tasks {", "  rankdir=LR;", "  node [shape=box, style=filled];"]
    for task in known.values():
        label, colour = f"{task.id}\n{task.title}", COLOURS[status_in(task, states)]
        lines.append(f"  {quoted(task.id)} [label={quoted(label)}, fillcolor={quoted(colour)}];")
    lines += [
        f"  {quoted(need)} -> {quoted(task.id)};" for task in known.values() for need in task.depends if need in known
    ]
    return "\n".join([*lines, "}"])


def quoted(words: str) -> str:
    """A text as DOT quotes it."""
    return json.dumps(words, ensure_ascii=False)
