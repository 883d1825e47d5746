"""Looks again at what was finished: a check that has gone red opens its task again."""

from __future__ import annotations

from dataclasses import replace

from spiral.loop import verify
from spiral.loop.context import Loop, Run
from spiral.loop.tasks import load as load_tasks
from spiral.work import Event, Task, TaskState

MARK = "recheck/last"


def recheck(loop: Loop, mine: Run, *, every: bool = False) -> tuple[str, ...]:
    """Run the checks of finished tasks on HEAD, at intervals or now; the tasks that are open again.

    Results are cached by tree, so looking at the same tree again costs nothing. Each regression is recorded once: its
    id stands for the task, the pass that had finished it and the commit.
    """
    interval = loop.settings.verify.recheck
    number = int(loop.journal.note("pass/number") or 0)
    due = every or (interval and number - int(loop.journal.note(MARK) or 0) >= interval)
    head = loop.repo.head()
    if not due or not head or loop.journal.note("recheck/head") == head:
        return ()
    states = loop.journal.states()
    done = [task for task in load_tasks(loop.folder).tasks if finished(task, states)]
    red: list[str] = []
    for task, failed in verify.failing(loop, head, done):
        red.append(task.id)
        reopen(loop, mine, task, states[task.id], failed, head)
    loop.journal.record(notes={MARK: str(number), "recheck/head": "" if red else head})
    return tuple(red)


def finished(task: Task, states: dict[str, TaskState] | object) -> bool:
    """Whether the runner itself saw the task's own checks green."""
    state = states.get(task.id) if isinstance(states, dict) else None
    return bool(task.checks) and state is not None and state.status == "done" and bool(state.done_pass)


def reopen(loop: Loop, mine: Run, task: Task, state: TaskState, failed: str, head: str) -> None:
    """Open a task again, naming the pass that had fixed it and the check that went red."""
    reason = f"`{failed}` was green in pass {state.done_pass} and is red at {head[:10]}"
    now = loop.clock()
    name = f"{task.id}-{state.done_pass}-{head[:12]}"
    events = [
        Event(
            id=f"regressed-{name}", at=now, run=mine.id, kind="check.regressed", task=task.id,
            data={"check": failed, "pass": state.done_pass, "sha": head},
        ),
        Event(
            id=f"reopened-{name}", at=now, run=mine.id, kind="task.changed", task=task.id,
            data={"from": "done", "to": "open", "reason": reason},
        ),
    ]  # fmt: skip
    again = replace(state, status="open", reason=reason, failures=0, step="retry", base="")
    loop.journal.record(events, states={task.id: again})
    loop.tell(f"{task.id} is open again: {reason}")
