"""Tasks from the fields of their files, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from spiral.loop.task_words import MEDIUM, checks_of, mode_of, priority_of, status_of, text_of, texts_of
from spiral.work import Check, Task

Value = TypeVar("Value")


def task_of(fields: Mapping[str, object]) -> tuple[Task, tuple[str, ...]]:
    """The task in fields by our names, and where a guess was made; ValueError when it cannot be read."""
    notes: list[str] = []

    def guessed(read: Callable[[], Value], otherwise: Value) -> Value:
        try:
            return read()
        except ValueError as fault:
            notes.append(f"{fault}; {otherwise} is assumed")
            return otherwise

    name = text_of(fields.get("id"))
    if not name:
        raise ValueError("there is no id; give it one")
    description = prose(fields)
    screenshot = fields.get("screenshot")
    task = Task(
        id=name,
        title=" ".join(text_of(fields.get("title")).split()) or first_line(description) or name,
        description=description,
        priority=guessed(lambda: priority_of(fields.get("priority")), MEDIUM),
        depends=tuple(dict.fromkeys(texts_of(ids(fields.get("depends"))))),
        files=texts_of(fields.get("files")),
        acceptance=texts_of(fields.get("acceptance")),
        steps=texts_of(fields.get("steps")),
        checks=checks_of(fields.get("checks")),
        mode=guessed(lambda: mode_of(fields.get("mode", "implement")), "implement"),
        category=text_of(fields.get("category")),
        spec=text_of(fields.get("spec")),
        screenshot=text_of(screenshot.get("command") if isinstance(screenshot, Mapping) else screenshot),
        status=guessed(lambda: status_of(fields), "open"),
    )
    return task, tuple(notes)


def prose(fields: Mapping[str, object]) -> str:
    """The description, with the notes that earlier workers left."""
    described, notes = ("\n".join(texts_of(fields.get(name))) for name in ("description", "notes"))
    return f"{described}\n\nNotes: {notes}".strip() if notes else described


def first_line(text: str) -> str:
    """As much of a text as makes a title."""
    return text.partition("\n")[0][:100].strip()


def ids(value: object) -> object:
    """Dependencies as a list of ids; an object names its task by `id`."""
    items = value if isinstance(value, list) else [value]
    return [item.get("id") or item.get("task") if isinstance(item, Mapping) else item for item in items]


def details_of(task: Task) -> dict[str, object]:
    """What a task's own file holds."""
    told: dict[str, object] = {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "acceptanceCriteria": list(task.acceptance),
        "steps": list(task.steps),
        "dependencies": list(task.depends),
        "files": list(task.files),
        "checks": [plain_check(check) for check in task.checks],
        "mode": task.mode,
    }
    extras = {"category": task.category, "specFilePath": task.spec, "screenshot": task.screenshot}
    return told | {name: value for name, value in extras.items() if value}


def plain_check(check: Check) -> object:
    """A check as short as it can be said."""
    if check.name == check.command and not check.timeout:
        return check.command
    told: dict[str, object] = {"name": check.name, "command": check.command}
    return told | ({"timeout": check.timeout} if check.timeout else {})
