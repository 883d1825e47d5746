"""The task list: the files of `.agent/` as tasks, and a task's status written back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from spiral.errors import NotFoundError, StoreError
from spiral.loop.json_text import changed, spliced
from spiral.loop.task_codec import task_of
from spiral.loop.task_files import (
    TABLE,
    Entry,
    Table,
    alone,
    detail_path,
    inside,
    listed_details,
    object_of,
    read_table,
    read_text,
)
from spiral.loop.task_words import field_of, fields_of, resting, status_of
from spiral.memory.files import Folder
from spiral.model import EMPTY
from spiral.work import Status, Task, TaskState

STATUS = ("status", "passes", "reason")
FIRST = ("id", "title", "priority", "category")
"""What the table decides when the task's own file says it too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """All tasks that can be read, in the order of the table."""

    tasks: tuple[Task, ...] = ()
    faults: tuple[str, ...] = ()
    """What cannot be read, or was read with a guess; one line each, with the cure."""
    reasons: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    """What the table says about why a task has its status."""

    def get(self, id: str) -> Task | None:  # noqa: A002 - what everybody calls it
        """The first task of that id."""
        return next((task for task in self.tasks if task.id == id), None)

    def find(self, name: str) -> Task:
        """The task that a person means: by its id, in any letters, or by its number alone where one has that."""
        exact = self.get(name)
        alike = [task for task in self.tasks if task.id.casefold() == name.strip().casefold()]
        if not exact and not alike and name.isdecimal():
            alike = [task for task in self.tasks if re.search(rf"(?<!\d)0*{int(name)}$", task.id)]
        if exact or len(alike) == 1:
            return exact or alike[0]
        if not self.tasks:
            raise NotFoundError(f'there is no task {name!r}, nor any other; add one with `spiral tasks add "…"`')
        if alike:
            raise NotFoundError(f"{name!r} may mean {', '.join(task.id for task in alike)}; give the whole id")
        near = get_close_matches(name, [task.id for task in self.tasks], n=1)
        cure = f"did you mean {near[0]!r}?" if near else "`spiral tasks list` shows all"
        raise NotFoundError(f"there is no task {name!r}; {cure}")

    def states(self, known: Mapping[str, TaskState]) -> dict[str, TaskState]:
        """What holds for each task: the journal's word where it knows the task, else the file's."""
        return {
            task.id: known.get(task.id) or TaskState(status=task.status, reason=self.reasons.get(task.id, ""))
            for task in reversed(self.tasks)
        }


def load(folder: Path) -> TaskList:
    """The tasks of an `.agent/` folder; an entry that cannot be read is a fault and stops none of the others."""
    try:
        table = read_table(folder)
    except StoreError as fault:
        return TaskList(faults=(str(fault),))
    tasks: list[Task] = []
    faults: list[str] = []
    reasons: dict[str, str] = {}
    listed = listed_details(folder)
    for number, entry in enumerate(table.entries if table else (), 1):
        name = entry.id or f"entry {number} of {TABLE}"
        try:
            task, notes, reason = task_in(folder, table, entry, listed)
        except (ValueError, StoreError) as fault:
            faults.append(f"{name}: {fault}")
            continue
        tasks.append(task)
        faults += [f"{name}: {note}" for note in notes]
        reasons.setdefault(task.id, reason)
    return TaskList(tasks=tuple(tasks), faults=tuple(faults), reasons={key: why for key, why in reasons.items() if why})


def task_in(
    folder: Path, table: Table | None, entry: Entry, listed: frozenset[str]
) -> tuple[Task, tuple[str, ...], str]:
    """(the task of an entry, where a guess was made, why it has its status); StoreError or ValueError without one."""
    assert table is not None
    if not str(fields_of(entry.fields).get("spec", "")):
        path = detail_path(folder, entry.id, "", listed)
        text = read_text(folder / path) if path else None
        if found := known_task(table.text[entry.start : entry.end], path, text):
            return found
    fields = described(folder, entry, listed)
    task, notes = task_of(fields)
    return task, notes, str(fields.get("reason", ""))


@lru_cache(maxsize=8_192)
def known_task(raw: str, path: str, text: str | None) -> tuple[Task, tuple[str, ...], str] | None:
    """What two texts say of a task: kept, because both seldom change. None where a specification is to be found too."""
    fields = merged(fields_of(object_of(raw, TABLE)), fields_of(object_of(text, path)) if text is not None else {})
    if fields.get("spec"):
        return None
    task, notes = task_of(fields)
    return task, notes, str(fields.get("reason", ""))


def described(folder: Path, entry: Entry, listed: frozenset[str]) -> Mapping[str, object]:
    """The fields of a task from its entry and its own file; StoreError when that file cannot be read.

    A task whose file is unreadable is not offered: its checks and dependencies are unknown.
    """
    told = fields_of(entry.fields)
    spec = str(told.get("spec", ""))
    path = detail_path(folder, entry.id, spec, listed)
    text = read_text(folder / path) if path else None
    if text is None:
        return told | {"spec": from_project(folder, spec)}
    own = fields_of(object_of(text, path))
    if path == inside(folder, spec):
        spec = str(own.get("spec", ""))
    return {**merged(told, own), "spec": from_project(folder, spec or str(own.get("spec", "")))}


def merged(told: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """The fields of a task from its entry and from its own file."""
    if not own:
        return dict(told)
    decided = (*FIRST, *STATUS) if "status" in told or "passes" in told else FIRST
    return {name: value for name, value in told.items() if name not in STATUS or name in decided} | {
        name: value for name, value in own.items() if name not in decided or (name in FIRST and name not in told)
    }


def from_project(folder: Path, spec: str) -> str:
    """The path of a specification, relative to the project; as it was told when there is no such file."""
    found = inside(folder, spec) if spec else ""
    return Path(os.path.normpath(folder / found)).relative_to(folder.parent).as_posix() if found else spec


def write_status(folder: Path, id: str, status: Status, reason: str = "") -> bool:  # noqa: A002
    """Make the table say a task's status, and touch nothing else; whether anything had to change.

    The word is the one that other entries use for it. A table of `passes` can only tell done from not done, and the
    reason goes beside a status only. One writer at a time; a second call finds nothing to do and writes nothing.
    """
    with alone(folder):
        table = read_table(folder)
        entry = table.find(id) if table else None
        if table is None or entry is None:
            raise NotFoundError(f"there is no task {id!r} in {str(folder / TABLE)!r}")
        text = spliced(table.text, [(entry.start, entry.end, restated(table, entry, status, reason))])
        if text == table.text:
            return False
        Folder(folder).write(TABLE, text)
        return True


def restated(table: Table, entry: Entry, status: Status, reason: str) -> str:
    """The text of an entry that says this status."""
    keys = {name: key for key in entry.fields if (name := field_of(key)) in STATUS}
    changes: dict[str, str | None] = {}
    worded = "status" in keys or not table.passing
    passes = keys.get("passes", "passes")
    if (passes in entry.fields or not worded) and (entry.fields.get(passes) is True) != (status == "done"):
        changes[passes] = json.dumps(status == "done")
    if worded and ("status" not in keys or known_status({"status": entry.fields[keys["status"]]}) != status):
        changes[keys.get("status", "status")] = json.dumps(word_for(table, status))
    told = reason if status != "done" else ""
    if told != entry.fields.get(keys.get("reason", ""), "") and (worded or "reason" in keys):
        wanted = json.dumps(told, ensure_ascii=False) if told and worded else None
        changes[keys.get("reason", "statusReason")] = wanted
    return changed(table.text[entry.start : entry.end], changes)


def known_status(fields: Mapping[str, object]) -> str:
    """The status that the fields say; empty for a word that nobody knows."""
    try:
        return status_of(fields)
    except ValueError:
        return ""


def word_for(table: Table, status: Status) -> str:
    """The word that the table's other entries use for a status, else our own."""
    for entry in table.entries:
        word = entry.fields.get("status")
        if isinstance(word, str) and known_status({"status": word}) == status and (status != "open" or resting(word)):
            return word
    return status
