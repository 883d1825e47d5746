"""Tasks from a checklist in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from spiral.loop.task_words import MEDIUM, priority_of
from spiral.work import Check, Task

FENCE = re.compile(r"\s*(```|~~~)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
ITEM = re.compile(r"(?P<margin>\s*)(?:[-*+]|\d+[.)])\s+(?:\[(?P<mark>[ xX])\]\s+)?(?P<text>\S.*)")
NAMED = re.compile(r"(?:\*\*|`)?(?P<id>[A-Z][A-Z0-9]*-\d+|T\d{3,})(?:\*\*|`)?\s*(?:[:.)\]—–-]+\s*)?(?P<title>\S.*)")
MARKER = re.compile(r"^(?:\[[A-Z][A-Z0-9]*\]\s*)+")
LABEL = re.compile(
    r"\**(?P<name>acceptance(?: criteri(?:a|on))?|checks?|depends(?: on)?|files?|notes?)\**\s*:\**\s*(?P<rest>.*)", re.I
)
PRIORITY = re.compile(r"\s*[(\[](?:priority:?\s*)?(?P<word>P[0-3]|critical|high|medium|low)[)\]]\s*", re.I)


def checklist(text: str) -> list[Task]:
    """One task for each outer `- [ ]` item, in order; `- [x]` is done, what is nested are its steps.

    A nested `check: …`, `depends on: …`, `files: …` or `acceptance: …` is that. Items may begin with an id. The
    heading above is the category.
    """
    found: list[Task] = []
    outer, heading = -1, ""
    for line in unfenced(text):
        item, title = ITEM.fullmatch(line), HEADING.fullmatch(line.strip())
        margin = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if title and margin < 4:
            outer, heading = -1, title[1]
        elif item and item["mark"] and not 0 <= outer < margin:
            outer = margin
            found.append(begun(item, heading))
        elif line.strip() and found and 0 <= outer < margin:
            found[-1] = told(found[-1], item["text"].strip() if item else line.strip(), listed=item is not None)
        elif line.strip():
            outer = -1
    return found


def unfenced(text: str) -> Iterator[str]:
    """The lines outside of fenced code."""
    fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        elif not fence:
            yield line.rstrip()


def begun(item: re.Match[str], heading: str) -> Task:
    """The task that an item begins."""
    words = item["text"].strip()
    named = NAMED.fullmatch(words)
    title = MARKER.sub("", named["title"] if named else words)
    ranked = PRIORITY.search(title)
    return Task(
        id=named["id"] if named else "",
        title=PRIORITY.sub(" ", title).replace("**", "").strip() or words,
        priority=priority_of(ranked["word"]) if ranked else MEDIUM,
        category=heading,
        status="done" if item["mark"] in "xX" else "open",
    )


def told(task: Task, words: str, *, listed: bool) -> Task:
    """The task with what one line below it says."""
    label = LABEL.fullmatch(words)
    if not label:
        if listed:
            return replace(task, steps=(*task.steps, words))
        return replace(task, description=f"{task.description}\n{words}".strip())
    name, rest = label["name"].lower(), label["rest"].strip()
    if not rest:
        return task
    if name.startswith("check"):
        command = rest.strip("`").strip()
        return replace(task, checks=(*task.checks, Check(name=command, command=command)))
    if name.startswith("accept"):
        return replace(task, acceptance=(*task.acceptance, rest))
    if name.startswith("note"):
        return replace(task, description=f"{task.description}\n{rest}".strip())
    several = tuple(part.strip("` ") for part in rest.split(",") if part.strip("` "))
    if name.startswith("file"):
        return replace(task, files=(*task.files, *several))
    return replace(task, depends=(*task.depends, *several))
