"""A plan put into the task list."""

from __future__ import annotations

from collections.abc import Sequence

from spiral.errors import SpiralError
from spiral.loop.context import Loop, Pass
from spiral.loop.order import cycles, drawn
from spiral.loop.task_changes import add_all, split
from spiral.loop.task_words import split_of
from spiral.loop.tasks import load
from spiral.work import Task


def plant(loop: Loop, under: Pass, tasks: Sequence[Task]) -> tuple[tuple[str, ...], str]:
    """(ids of the tasks of a plan in the list, why there are none). A retry finds them there and adds nothing: a task
    to be split says what it was split into, and a planned one is told by what it says."""
    circles = cycles(tasks)
    if circles:
        return (), f"the plan goes in a circle: {drawn(circles[0])}"
    there = load(loop.folder)
    try:
        if under.task.id:
            parts = split_of(there.reasons.get(under.task.id, ""))
            return parts or tuple(task.id for task in split(loop.folder, under.task.id, tasks)), ""
        known = {(task.title, task.description): task.id for task in there.tasks}
        fresh = [task for task in tasks if (task.title, task.description) not in known]
        made = add_all(loop.folder, fresh) if fresh else ()
    except SpiralError as fault:
        return (), str(fault)
    names = iter(task.id for task in made)
    return tuple(known.get((task.title, task.description)) or next(names) for task in tasks), ""
