"""Which task comes next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spiral.loop.gather import read
from spiral.loop.lint import size
from spiral.loop.order import ready, waiting
from spiral.loop.tasks import TaskList
from spiral.tables import DiscoverSettings
from spiral.work import Mode, Task, TaskState

NO_TASK = 'there is no task; `spiral tasks add "…"` adds one, `spiral plan FILE` makes them from a text'
PRDS = ("prd/PRD.md", "PRD.md", "prd.md")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The task of the next pass."""

    task: Task
    state: TaskState
    mode: Mode
    why: str = ""
    """Why it is a planning pass."""
    prd: str = ""
    """What stands for the PRD that is planned from."""
    draft: bool = False
    """The plan is only shown, not put into the task list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Idle:
    """There is nothing to do."""

    reason: Literal["complete", "blocked", "decide", "empty"]
    detail: str = ""


def discover(
    tasks: TaskList,
    states: Mapping[str, TaskState],
    settings: DiscoverSettings,
    *,
    agent: Path,
    planned: str,
    only: str = "",
) -> Chosen | Idle:
    """The highest-priority task that is open with its dependencies done, or why there is none.

    A planning pass comes first when there is a PRD and no open task is left of it, when the PRD has changed since it
    was planned, and when the task is too large or has failed so often that it is to be split.
    """
    if is_open_run(tasks, settings, agent):
        state = states.get("", TaskState())
        if state.status == "done":
            return Idle(reason="complete")
        if state.status in ("blocked", "decide"):
            return Idle(reason="decide" if state.status == "decide" else "blocked", detail=state.reason)
        return Chosen(task=Task(id="", title=""), state=state, mode="implement")
    states = tasks.states(states)
    prd, plan = plan_wanted(tasks, settings, agent, planned)
    if plan and not only:
        whole = Task(id="", title="Plan the work", description=prd)
        return Chosen(task=whole, state=TaskState(), mode="plan", why=plan, prd=digest(prd))
    able = [task for task in ready(tasks.tasks, states) if not only or task.id == only]
    if not able:
        return idle(tasks.tasks, states, only)
    task = able[0]
    state = states[task.id]
    if settings.plan and state.step == "split":
        return Chosen(task=task, state=state, mode="plan", why=f"{task.id} has failed {state.failures} times")
    if settings.plan and size(task) > settings.largest and not state.passes:
        return Chosen(task=task, state=state, mode="plan", why=f"{task.id} is too large ({size(task)} parts)")
    return Chosen(task=task, state=state, mode=task.mode)


def planning(text: str, *, prd: bool, draft: bool) -> Chosen:
    """A planning pass that a person asks for; `prd`: the text is the project's PRD, which counts as planned then."""
    task = Task(id="", title="Plan the work", description=text)
    known = digest(text) if prd else ""
    return Chosen(task=task, state=TaskState(), mode="plan", why="asked for", prd=known, draft=draft)


def is_open_run(tasks: TaskList, settings: DiscoverSettings, agent: Path) -> bool:
    """Whether the run has no task list, not even an empty one: a prompt, checks and a budget."""
    if settings.kind != "auto":
        return settings.kind == "open"
    listed = tasks.tasks or (agent / "tasks.json").exists() or any((agent / name).exists() for name in PRDS)
    return not listed and (agent / "PROMPT.md").exists()


def plan_wanted(tasks: TaskList, settings: DiscoverSettings, agent: Path, planned: str) -> tuple[str, str]:
    """(the PRD, why it is to be planned now); the reason is empty when it is not."""
    prd = next((text for name in PRDS if (text := read(agent / name))), "")
    if not prd or not settings.plan:
        return prd, ""
    if not tasks.tasks:
        return prd, "there is a PRD and no task"
    if planned and planned != digest(prd):
        return prd, "the PRD has changed since it was planned"
    return prd, ""


def digest(text: str) -> str:
    """What stands for a text; empty for an empty one."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16] if text else ""


def idle(tasks: Sequence[Task], states: Mapping[str, TaskState], only: str) -> Idle:
    """Why no task can be worked on."""
    mine = [task for task in tasks if not only or task.id == only]
    standing = {task.id: states[task.id] for task in mine}
    if not mine:
        return Idle(reason="empty", detail=f"there is no task {only!r}" if only else NO_TASK)
    if all(state.status in ("done", "skipped") for state in standing.values()):
        return Idle(reason="complete")
    asked = [f"{name}: {state.reason}" for name, state in standing.items() if state.status == "decide"]
    if asked:
        return Idle(reason="decide", detail="; ".join(asked))
    stopped = [f"{name}: {state.reason}" for name, state in standing.items() if state.status == "blocked"]
    held = [f"{wait.task.id} {wait.why}" for wait in waiting(tasks, states) if not only or wait.task.id == only]
    return Idle(reason="blocked", detail="; ".join(stopped or held))
