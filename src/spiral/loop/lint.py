"""Says what would make tasks go wrong, and how to cure it, before an agent is paid for them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from spiral.loop.order import by_id, cycles, drawn
from spiral.work import Task

SKIP = {"node_modules", "__pycache__", "venv", "target", "dist", "build"}
MOST = 20_000
"""Files that are looked at to name a near one."""
VAGUE = re.compile(
    r"\b(stuff|things|misc|miscellaneous|various|etc|everything|whatever|tbd|somehow)\b"
    r"|^(fix|update|improve|refactor|clean ?up|polish|test|tests|docs?|bugs?|todo|work|continue|finish|misc)"
    r"( (it|this|that|code|the code|bugs?|issues?|app|the app|all|tests?))?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lint:
    """Something that should be different about a task."""

    task: str
    level: Literal["error", "warning"]
    """An error keeps a task from ever being done, or from being found."""
    text: str
    """What is wrong, and the cure."""


def lint(tasks: Sequence[Task], top: Path, largest: int, *, checks: Sequence[str] = ()) -> list[Lint]:
    """What is wrong with the tasks, in their order, errors first; `checks` are the project's own.

    What is done or skipped is looked at for its place in the graph alone.
    """
    known = by_id(tasks)
    found = [*doubles(tasks), *circles(tasks)]
    near = nearby(top)
    for task in known.values():
        found += unknown_needs(task, tuple(known))
        if task.status not in ("done", "skipped"):
            found += [*too_large(task, largest), *unchecked(task, checks), *unclear(task)]
            found += lost_files(task, top, near)
    place = {name: number for number, name in enumerate(known)}
    return sorted(found, key=lambda one: (one.level != "error", place[one.task]))


def size(task: Task) -> int:
    """How large a task is: its steps, criteria and files together."""
    return len(task.steps) + len(task.acceptance) + len(task.files)


def too_large(task: Task, largest: int) -> Iterator[Lint]:
    """A task that no fresh context can hold."""
    if size(task) > largest:
        counts = f"{len(task.steps)} steps, {len(task.acceptance)} criteria and {len(task.files)} files"
        yield warning(
            task, f"too large: {counts} are more than {largest}; split it with `spiral tasks split {task.id} …`"
        )


def unchecked(task: Task, checks: Sequence[str]) -> Iterator[Lint]:
    """A task that nobody can tell is done."""
    if not task.checks and not checks:
        yield warning(
            task,
            "no checks, and the project has none: add a command under `checks`, or set verify.checks in spiral.toml",
        )


def unclear(task: Task) -> Iterator[Lint]:
    """A task that a reader who knows nothing cannot understand."""
    if VAGUE.search(task.title) or len(task.title.split()) < 2:
        yield warning(task, f"vague title {task.title!r}: say what will be different, where")
    if not task.acceptance:
        yield warning(task, "no acceptance criteria: say how one sees that it is done, under `acceptanceCriteria`")


def unknown_needs(task: Task, known: Sequence[str]) -> Iterator[Lint]:
    """Dependencies that can never be done."""
    for need in task.depends:
        if need not in known:
            near = closest(need, known)
            cure = f"did you mean {near[0]!r}?" if near else "add that task, or remove the dependency"
            yield Lint(task=task.id, level="error", text=f"depends on {need!r}, which is not in the list; {cure}")


def doubles(tasks: Sequence[Task]) -> Iterator[Lint]:
    """Ids that stand for two things; only the first is ever worked on."""
    for name, count in Counter(task.id for task in tasks).items():
        if count > 1:
            yield Lint(task=name, level="error", text=f"{count} tasks have this id; give each its own")


def circles(tasks: Sequence[Task]) -> Iterator[Lint]:
    """Tasks that wait for each other."""
    for circle in cycles(tasks):
        text = f"in a circle: {drawn(circle)}; remove one of these dependencies"
        yield Lint(task=circle[0], level="error", text=text)


def lost_files(task: Task, top: Path, near: Callable[[], tuple[str, ...]]) -> Iterator[Lint]:
    """Files that are not there, or not the project's."""
    for name in task.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            yield warning(task, f"file {name!r} is outside the project; name it from the project's top folder")
        elif not there(top, name):
            alike = closest(name, near())
            told = f"near ones: {', '.join(alike)}" if alike else "nothing like it is"
            yield warning(task, f"file {name!r} does not exist ({told}); correct it unless the task makes it")


def there(top: Path, name: str) -> bool:
    """Whether a path, or a pattern, meets anything."""
    if not any(mark in name for mark in "*?["):
        return (top / name).exists()
    try:
        return next(top.glob(name), None) is not None
    except ValueError:
        return False


def nearby(top: Path) -> Callable[[], tuple[str, ...]]:
    """The project's files, looked for when the first is asked for."""

    @cache
    def files() -> tuple[str, ...]:
        found: list[str] = []
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name not in SKIP and not name.startswith("."))
            found += [os.path.relpath(Path(folder, name), top) for name in names]
            if len(found) > MOST:
                break
        return tuple(found)

    return files


def closest(word: str, choices: Sequence[str]) -> list[str]:
    """Up to three that look like the word; for a path, those of the same name elsewhere first."""
    from difflib import get_close_matches

    same = [one for one in choices if Path(one).name == Path(word).name]
    return list(dict.fromkeys([*same, *get_close_matches(word, choices, n=3, cutoff=0.75)]))[:3]


def warning(task: Task, text: str) -> Lint:
    """Something that should be different but need not be."""
    return Lint(task=task.id, level="warning", text=text)
