"""Planning: from a text to tasks, by an agent that answers in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from spiral.work import Check, Mode, Task

FENCED = re.compile(r"^```[a-z]*\s*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
MOST = 100


def planned(message: str) -> tuple[tuple[Task, ...], str]:
    """(the tasks in an agent's final message, what is wrong with it). The last JSON object with tasks counts."""
    for text in reversed([*candidates(message)]):
        try:
            table = json.loads(text)
        except ValueError:
            continue
        found = table.get("tasks") if isinstance(table, dict) else table
        if isinstance(found, list) and found:
            return tasks_of(found[:MOST])
    return (), "the answer holds no JSON object with tasks"


def candidates(message: str) -> list[str]:
    """Stretches of a message that may be JSON, in order."""
    found = [match[1] for match in FENCED.finditer(message)]
    first, last = message.find("{"), message.rfind("}")
    return [message[first : last + 1], *found] if 0 <= first < last else found


def tasks_of(entries: Sequence[object]) -> tuple[tuple[Task, ...], str]:
    """The entries as tasks; one without a title spoils the plan, because others may depend on it."""
    made: list[Task] = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping) or not str(entry.get("title", "")).strip():
            return (), f"task {number} of the plan has no title"
        made.append(task_of(entry, number))
    known = {task.title: task.id for task in reversed(made)} | {task.id: task.id for task in made}
    unknown = sorted({need for task in made for need in task.depends} - known.keys())
    if unknown:
        return (), f"the plan depends on {unknown[0]!r}, which it does not have"
    return tuple(replace(task, depends=tuple(known[need] for need in task.depends)) for task in made), ""


def task_of(entry: Mapping[str, object], number: int) -> Task:
    """One entry of a plan."""
    mode = str(entry.get("mode", "implement"))
    return Task(
        id=str(entry.get("id") or f"T{number}"),
        title=str(entry["title"]).strip()[:200],
        description=str(entry.get("description", "")),
        priority=number if not isinstance(entry.get("priority"), int) else int(str(entry["priority"])),
        depends=listed(entry, "dependencies", "depends"),
        files=listed(entry, "files"),
        acceptance=listed(entry, "acceptanceCriteria", "acceptance"),
        steps=listed(entry, "steps"),
        checks=tuple(Check(name=command[:60], command=command) for command in listed(entry, "checks")),
        mode=named(mode),
    )


def named(mode: str) -> Mode:
    """A mode by its name; an unknown one is `implement`."""
    known: dict[str, Mode] = {"refactor": "refactor", "review": "review", "test": "test"}
    return known.get(mode, "implement")


def listed(entry: Mapping[str, object], *names: str) -> tuple[str, ...]:
    """A list of texts under one of these names."""
    for name in names:
        value = entry.get(name)
        if isinstance(value, list):
            return tuple(
                str(item.get("command", "")) if isinstance(item, dict) else str(item) for item in value if item
            )
        if isinstance(value, str) and value.strip():
            return (value,)
    return ()


def renamed(tasks: Sequence[Task], names: Mapping[str, str]) -> tuple[Task, ...]:
    """The tasks under the ids that they were given here, their dependencies too."""
    return tuple(
        replace(task, id=names[task.id], depends=tuple(names[need] for need in task.depends)) for task in tasks
    )
