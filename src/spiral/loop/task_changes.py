"""More tasks in the list: added, or in place of one that was too large."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spiral.errors import NotFoundError, UsageError
from spiral.loop.json_text import begin, changed, indent_of, inserted, laid, members, spliced
from spiral.loop.task_codec import details_of, ids
from spiral.loop.task_files import (
    DETAILS,
    TABLE,
    Entry,
    Table,
    alone,
    detail_names,
    detail_path,
    listed_details,
    object_of,
    read_table,
    read_text,
    table_of,
)
from spiral.loop.task_words import LEVELS, MEDIUM, field_of, fields_of, split_of, texts_of
from spiral.loop.tasks import TaskList, load, restated, word_for
from spiral.memory.files import Folder
from spiral.work import Task

FRESH = '{\n  "tasks": []\n}\n'
FILED = re.compile(r"(?:TASK-)?(.+)\.json")


def add(folder: Path, task: Task) -> Task:
    """The task, under the next id in the style of those there; its own file is written first, then the table.

    One writer at a time, over all processes. A crash between leaves a file that no entry names, and whose id is not
    given again; a second call adds a second task.
    """
    return add_all(folder, [task])[0]


def add_all(folder: Path, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Several tasks in one write of the table; dependencies among them follow the ids that they get."""
    with alone(folder):
        return append(folder, tasks)


def append(
    folder: Path, tasks: Sequence[Task], *, keep: bool = False, extra: Sequence[Mapping[str, object]] = ()
) -> tuple[Task, ...]:
    """The same for who is alone. `extra`: more for each task's own file.

    `keep`: a task keeps its id where that is free and fit for a file's name.
    """
    table = read_table(folder) or table_of(FRESH)
    made = named(tasks, table, listed_details(folder), keep=keep)
    write_details(folder, table, made, extra)
    Folder(folder).write(TABLE, enlarged(folder, table, len(table.entries), made))
    return made


def split(folder: Path, id: str, parts: Sequence[Task]) -> tuple[Task, ...]:  # noqa: A002 - what everybody calls it
    """Put parts in the place of a task, which is skipped with the reason `split into …`.

    The parts inherit what it depends on and its priority. The last one waits for the others and carries the task's
    own checks and criteria, so that a split is no way around them. Who depended on the task depends on all parts.
    The write of the table decides: before it nothing has happened, and after it those who still name the task wait for
    its parts, whether or not their files could be changed.
    """
    if len(parts) < 2:
        raise UsageError(f"{len(parts)} parts are too few to split {id!r}; give at least two")
    with alone(folder):
        table, found = read_table(folder), load(folder)
        task, entry = found.get(id), table.find(id) if table else None
        if table is None or task is None or entry is None:
            raise NotFoundError(f"there is no task {id!r} in {str(folder / TABLE)!r}")
        if split_of(found.reasons.get(id, "")):
            raise UsageError(f"{id!r} is {found.reasons[id]} already")
        made = inherited(task, named(parts, table, listed_details(folder), keep=False))
        names = [part.id for part in made]
        files, pieces = redirected(folder, table, found, id, names)
        pieces.append((entry.start, entry.end, parted(table, entry, f"split into {', '.join(names)}")))
        marked = table_of(spliced(table.text, sorted(pieces)))
        write_details(folder, table, made)
        Folder(folder).write(TABLE, enlarged(folder, marked, table.entries.index(entry) + 1, made))
        for path, text in files.items():
            Folder(folder).write(path, text)
        return made


def named(tasks: Sequence[Task], table: Table, listed: Iterable[str], *, keep: bool) -> tuple[Task, ...]:
    """The tasks under ids of their own, and their dependencies on one another, told by id or by title, by those."""
    taken = {entry.id for entry in table.entries} | {stem[1] for name in listed if (stem := FILED.fullmatch(name))}
    taken |= {name.removesuffix(".json") for name in listed}
    style = [entry.id for entry in table.entries if entry.id]
    names: dict[str, str] = {}
    fresh: list[Task] = []
    for task in tasks:
        alike = {task.id, f"TASK-{task.id}", task.id.removeprefix("TASK-")}
        name = task.id if keep and detail_names(task.id) and not alike & taken else next_id(style, taken)
        names[task.id] = name
        taken.add(name)
        style.append(name)
        fresh.append(replace(task, id=name))
    for task in fresh:
        names.setdefault(task.title, task.id)
    return tuple(
        replace(task, depends=tuple(dict.fromkeys(names.get(need, need) for need in task.depends))) for task in fresh
    )


def next_id(style: Sequence[str], taken: Iterable[str]) -> str:
    """The number after the highest, behind the prefix that the last numbered id has: TASK-002, US-4, 8."""
    numbered = [found for name in style if (found := re.fullmatch(r"(.*?)(\d+)", name))]
    if not numbered:
        return next_id(["TASK-000"], taken)
    prefix, digits = numbered[-1][1], numbered[-1][2]
    used = [int(found[2]) for name in taken if (found := re.fullmatch(re.escape(prefix) + r"()(\d{1,18})", name))]
    width = len(digits) if digits.startswith("0") else 1
    return f"{prefix}{max(used, default=0) + 1:0{width}}"


def inherited(task: Task, parts: Sequence[Task]) -> tuple[Task, ...]:
    """The parts with what the whole hands down to them."""

    def heir(part: Task, more: Sequence[str] = ()) -> Task:
        needs = dict.fromkeys((*task.depends, *part.depends, *more))
        return replace(
            part,
            depends=tuple(need for need in needs if need != task.id),
            priority=task.priority,
            category=part.category or task.category,
        )

    *others, last = parts
    carrier = replace(
        last,
        checks=tuple(dict.fromkeys((*last.checks, *task.checks))),
        acceptance=tuple(dict.fromkeys((*last.acceptance, *task.acceptance))),
    )
    return (*map(heir, others), heir(carrier, [part.id for part in others]))


def parted(table: Table, entry: Entry, reason: str) -> str:
    """The entry of a task that was split; it says so in either shape."""
    key = next((key for key in entry.fields if field_of(key) == "reason"), "statusReason")
    return changed(restated(table, entry, "skipped", reason), {key: json.dumps(reason, ensure_ascii=False)})


def redirected(
    folder: Path, table: Table, found: TaskList, old: str, new: Sequence[str]
) -> tuple[dict[str, str], list[tuple[int, int, str]]]:
    """(files, pieces of the table) in which those who depend on `old` depend on all of `new`."""
    files: dict[str, str] = {}
    pieces: list[tuple[int, int, str]] = []
    listed = listed_details(folder)
    needing = {task.id for task in found.tasks if old in task.depends}
    for entry in table.entries:
        if entry.id not in needing:
            continue
        path = detail_path(folder, entry.id, str(fields_of(entry.fields).get("spec", "")), listed)
        text = (read_text(folder / path) or "") if path else ""
        if text and (turned := turned_to(text, object_of(text, path), old, new)):
            files[path] = turned
        elif turned := turned_to(table.text[entry.start : entry.end], entry.fields, old, new):
            pieces.append((entry.start, entry.end, turned))
    return files, pieces


def turned_to(text: str, fields: Mapping[str, object], old: str, new: Sequence[str]) -> str:
    """The text of an object whose dependencies name `new` in the place of `old`; empty when they do not name it."""
    for key, value in fields.items():
        items = value if isinstance(value, list) else [value]
        if field_of(key) == "depends" and old in texts_of(ids(items)):
            after: list[object] = []
            for item in items:
                hit = texts_of(ids([item])) == (old,)
                after += [typed(name, like=item) for name in new] if hit else [item]
            body = text[begin(text) :]
            raw = next(body[one.value : one.end] for one in members(body, 0) if one.key == key)
            step = (indent_of(body) or "  ") if "\n" in raw else None
            return text[: begin(text)] + changed(body, {key: laid(body, after, step or "", step)})
    return ""


def typed(name: str, *, like: object) -> object:
    """An id as a number where its neighbour is one."""
    return int(name) if isinstance(like, int) and name.isdecimal() else name


def write_details(
    folder: Path, table: Table, tasks: Sequence[Task], extra: Sequence[Mapping[str, object]] = ()
) -> None:
    """A file for each task, durable when this returns."""
    ranked = table.uses("priority") or not table.passing
    for task, more in zip(tasks, extra or [{}] * len(tasks), strict=True):
        rank = {} if ranked or task.priority == MEDIUM else {"priority": task.priority}
        body = json.dumps({**details_of(task), **rank, **more}, ensure_ascii=False, indent=2) + "\n"
        Folder(folder).write(f"{DETAILS}/{detail_names(task.id)[0]}", body)


def enlarged(folder: Path, table: Table, place: int, tasks: Sequence[Task]) -> str:
    """The text of the table with entries for the tasks, in its own shape."""
    return inserted(table.text, table.array, place, [entry_of(folder, table, task) for task in tasks])


def entry_of(folder: Path, table: Table, task: Task) -> dict[str, object]:
    """A task as the table's other entries are."""
    last: Mapping[str, object] = table.entries[-1].fields if table.entries else {}
    told: dict[str, object] = {"id": typed(task.id, like=last.get("id")), "title": task.title}
    if table.passing:
        told["category"] = task.category
        told["specFilePath"] = f"{folder.name}/{DETAILS}/{detail_names(task.id)[0]}"
        ranked = {"priority": rank_of(table, task.priority)} if table.uses("priority") else {}
        return told | ranked | {"passes": task.status == "done"}
    return told | {"priority": rank_of(table, task.priority), "status": word_for(table, task.status)}


def rank_of(table: Table, priority: int) -> object:
    """A priority as the table says it: a number, or a word."""
    words = [entry.fields.get("priority") for entry in table.entries]
    if any(isinstance(word, str) and word.lower() in LEVELS for word in words) or not table.entries:
        return next((word for word, level in LEVELS.items() if level == priority), priority)
    return priority
