"""Tasks from other files: prd.json, either shape of tasks.json, or a checklist in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spiral.errors import StoreError, UsageError
from spiral.loop.checklist import checklist
from spiral.loop.json_text import parse
from spiral.loop.task_changes import append
from spiral.loop.task_codec import task_of
from spiral.loop.task_files import (
    TABLE,
    alone,
    detail_path,
    listed_details,
    object_of,
    read_table,
    read_text,
)
from spiral.loop.task_words import fields_of
from spiral.loop.tasks import load
from spiral.memory.files import slug
from spiral.work import Task

LISTS = ("userStories", "user_stories", "tasks", "stories", "items")


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What came of an import."""

    added: tuple[Task, ...]
    known: tuple[str, ...]
    """Ids, or titles, of what was there already."""
    faults: tuple[str, ...]
    """What could not be read, or was read with a guess."""


def take_in(folder: Path, path: Path) -> Imported:
    """Add the tasks of a file; ids are kept where they are free. The same file again adds nothing.

    What came from where is kept in each task's `importedFrom`, so a task may be renamed meanwhile. A task of the same
    id and title is taken for the same one, wherever it came from.
    """
    tasks, faults = drafts(path)
    with alone(folder):
        there, kept = load(folder), origins(folder)
        same = {(task.id, squeezed(task.title)) for task in there.tasks}
        fresh: dict[str, Task] = {}
        known: dict[str, str] = {}
        for origin, task in origins_of(name_of(folder, path), tasks).items():
            if origin in kept or (task.id, squeezed(task.title)) in same:
                known[task.id or task.title] = kept.get(origin, task.id)
            else:
                fresh[origin] = task
        wanted = [
            replace(task, id=task.id or f"?{number}", depends=tuple(known.get(need, need) for need in task.depends))
            for number, task in enumerate(fresh.values())
        ]
        extra = [{"importedFrom": origin} for origin in fresh]
        made = append(folder, wanted, keep=True, extra=extra) if wanted else ()
    return Imported(added=made, known=tuple(known), faults=faults)


def name_of(folder: Path, path: Path) -> str:
    """A file by its path in the project, so that it is the same from every folder; outside by its name."""
    source, project = path.resolve(), folder.parent.resolve()
    return source.relative_to(project).as_posix() if source.is_relative_to(project) else source.name


def drafts(path: Path) -> tuple[list[Task], tuple[str, ...]]:
    """(the tasks in a file, what could not be read); a task that the file gives no id has none."""
    text = read_text(path)
    if text is None:
        raise UsageError(f"there is no file {str(path)!r}")
    try:
        value = parse(text)
    except ValueError as fault:
        if path.suffix == ".json":
            raise UsageError(f"{str(path)!r} is not JSON: {fault}") from fault
        found = checklist(text)
        if not found:
            raise UsageError(
                f"{str(path)!r} has no `- [ ]` items; write some, or let an agent plan: `spiral plan {path}`"
            ) from None
        return found, ()
    return from_table(path, value)


def from_table(path: Path, value: object) -> tuple[list[Task], tuple[str, ...]]:
    """The tasks of a JSON file; those of a tasks.json are read with the files beside it."""
    if path.name == TABLE:
        beside = load(path.parent)
        return list(beside.tasks), beside.faults
    listed = value
    if isinstance(value, Mapping):
        listed = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
    if not isinstance(listed, list):
        raise UsageError(f"{str(path)!r} holds no list of tasks; looked for {', '.join(LISTS)} and a plain list")
    tasks, faults = [], []
    for number, entry in enumerate(listed, 1):
        try:
            if not isinstance(entry, Mapping):
                raise ValueError("it is no object")
            fields = fields_of(entry)
            task, notes = task_of({"id": f"entry {number}", **fields})
        except ValueError as fault:
            faults.append(f"entry {number}: {fault}")
            continue
        tasks.append(task if "id" in fields else replace(task, id=""))
        faults += [f"{task.id}: {note}" for note in notes]
    return tasks, tuple(faults)


def origins_of(name: str, tasks: Sequence[Task]) -> dict[str, Task]:
    """The tasks of a file by what stands for them from one import to the next: the id, else the words of the title."""
    seen: Counter[str] = Counter()
    found = {}
    for task in tasks:
        key = task.id or slug(task.title)
        seen[key] += 1
        found[f"{name}#{key}" if seen[key] == 1 else f"{name}#{key}#{seen[key]}"] = task
    return found


def origins(folder: Path) -> dict[str, str]:
    """Where the tasks of the table were imported from → their ids here."""
    table = read_table(folder)
    listed = listed_details(folder)
    found = {}
    for entry in table.entries if table else ():
        path = detail_path(folder, entry.id, str(fields_of(entry.fields).get("spec", "")), listed)
        try:
            fields = object_of(read_text(folder / path) or "", path) if path else {}
        except StoreError:
            continue
        if fields.get("importedFrom"):
            found[str(fields["importedFrom"])] = entry.id
    return found


def squeezed(title: str) -> str:
    """A title by its words alone."""
    return " ".join(title.casefold().split())
