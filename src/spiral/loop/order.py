"""Which task may come next, which must wait, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spiral.loop.task_words import split_of
from spiral.work import Status, Task, TaskState


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """An open task that cannot be worked on yet."""

    task: Task
    needs: tuple[str, ...]
    """The dependencies that are not done."""
    why: str
    """One line for people, with the cure where a person must act."""


def ready(tasks: Iterable[Task], states: Mapping[str, TaskState]) -> list[Task]:
    """The open tasks whose dependencies are done, by priority and then in the order of the file.

    The states are those of `TaskList.states`, which also know from the files what was split.
    """
    known = by_id(tasks)
    return sorted(
        (task for task in known.values() if status_in(task, states) == "open" and not missing(task, known, states)),
        key=lambda task: task.priority,
    )


def waiting(tasks: Iterable[Task], states: Mapping[str, TaskState]) -> list[Wait]:
    """The open tasks that are not ready, in the order of the file."""
    known = by_id(tasks)
    rounds = {name: circle for circle in cycles(known.values()) for name in circle}
    found = []
    for task in known.values():
        needs = missing(task, known, states) if status_in(task, states) == "open" else ()
        if needs:
            circle = rounds.get(task.id)
            why = f"in a circle: {drawn(circle)}; remove one of these dependencies" if circle else ""
            found.append(Wait(task=task, needs=needs, why=why or reason_for(needs, known, states)))
    return found


def status_in(task: Task, states: Mapping[str, TaskState]) -> Status:
    """The journal's word where it knows the task, else the file's."""
    state = states.get(task.id)
    return state.status if state else task.status


def by_id(tasks: Iterable[Task]) -> dict[str, Task]:
    """The first task of each id, in order."""
    known: dict[str, Task] = {}
    for task in tasks:
        known.setdefault(task.id, task)
    return known


def missing(task: Task, known: Mapping[str, Task], states: Mapping[str, TaskState]) -> tuple[str, ...]:
    """The dependencies of a task that are not done; one that was split is done when all its parts are."""
    found = [task.id] if task.id in task.depends else []
    asked = list(task.depends)
    seen = {task.id}
    for need in asked:
        if need in seen:
            continue
        seen.add(need)
        parts = parts_of(need, states)
        asked += parts
        if not parts and (need not in known or status_in(known[need], states) != "done"):
            found.append(need)
    return tuple(found)


def parts_of(name: str, states: Mapping[str, TaskState]) -> tuple[str, ...]:
    """What a skipped task was split into; none when it was not."""
    state = states.get(name)
    return split_of(state.reason) if state and state.status == "skipped" else ()


def reason_for(needs: Sequence[str], known: Mapping[str, Task], states: Mapping[str, TaskState]) -> str:
    """Why dependencies hold a task up: first those that a person must see to."""
    simple = [need for need in needs if need in known and status_in(known[need], states) == "open"]
    told = [hindrance(need, known, states) for need in needs if need not in simple]
    return "; ".join([*told, f"needs {', '.join(simple)}"] if simple else told)


def hindrance(need: str, known: Mapping[str, Task], states: Mapping[str, TaskState]) -> str:
    """Why a dependency will not be done by itself, and the cure."""
    if need not in known:
        return f"needs {need}, which is not in the list; add it, or remove the dependency"
    status = status_in(known[need], states)
    reason = states[need].reason if need in states else ""
    cure = f"`spiral tasks retry {need}` opens it again"
    if status == "decide":
        cure = f'`spiral decide {need} "…"` answers it'
    return f"needs {need}, which is {status}{f' ({reason})' if reason else ''}; {cure}"


def cycles(tasks: Iterable[Task]) -> list[tuple[str, ...]]:
    """Circles of dependencies, each once, beginning with the member that is first in the file."""
    known = by_id(tasks)
    done: set[str] = set()
    found: list[tuple[str, ...]] = []
    for start in known:
        path: list[str] = []
        places: dict[str, int] = {}
        stack = [(start, iter(known[start].depends))] if start not in done else []
        if stack:
            places[start] = 0
            path.append(start)
        while stack:
            name, needs = stack[-1]
            need = next((one for one in needs if one in known and one not in done), None)
            if need is None:
                stack.pop()
                path.pop()
                del places[name]
                done.add(name)
            elif need in places:
                found.append(turned(path[places[need] :], list(known)))
            else:
                places[need] = len(path)
                path.append(need)
                stack.append((need, iter(known[need].depends)))
    return list(dict.fromkeys(found))


def turned(circle: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    """The same circle, beginning with its first in the order."""
    at = min(range(len(circle)), key=lambda place: order.index(circle[place]))
    return (*circle[at:], *circle[:at])


def drawn(circle: Sequence[str]) -> str:
    """A circle for people: each needs the next."""
    return " → ".join((*circle, circle[0]))


def levels(tasks: Iterable[Task]) -> list[list[Task]]:
    """The tasks by how many others must come before them; those in a circle, and behind one, stand last."""
    known = by_id(tasks)
    left = {task.id: {need for need in task.depends if need in known} for task in known.values()}
    followers: dict[str, list[str]] = {name: [] for name in known}
    for name, needs in left.items():
        for need in needs:
            followers[need].append(name)
    place = {name: number for number, name in enumerate(known)}
    rows: list[list[Task]] = []
    row = [name for name, needs in left.items() if not needs]
    while row:
        rows.append([known[name] for name in sorted(row, key=place.__getitem__)])
        after: list[str] = []
        for name in row:
            del left[name]
            for follower in followers[name]:
                left[follower].discard(name)
                if not left[follower]:
                    after.append(follower)
        row = after
    return [*rows, [known[name] for name in left]] if left else rows
