"""The words of our own in a briefing, for a reader who knows nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from spiral.work import Mode, Task, TaskState

MODES = Path(__file__).with_name("modes")


def instructions(mode: Mode) -> str:
    """What an agent is told when the project has no prompt of its own."""
    return (MODES / f"{mode}.md").read_text("utf-8").strip()


STEPS: Mapping[str, str] = {
    "retry": "",
    "pivot": "The approaches below have failed. Take a different one: name in your summary what is different about it.",
    "split": "This task has failed again and again as it stands. Cut it into smaller ones.",
    "park": "",
}


def where(task: Task, state: TaskState, *, number: int, attempt: int, left: str, ends: str, planning: bool) -> str:
    """Where we are: which pass this is, what is left, and how to end."""
    lines = [
        f"This is pass {number}" + (f", attempt {attempt} at task {task.id}." if task.id else "."),
        f"Used so far: {left}.",
        f"The run ends {ends}.",
    ]
    if note := STEPS[state.step]:
        lines.append(note)
    done = "COMPLETE" if planning or not task.id else f"{task.id}:DONE"
    lines += [
        "",
        "End your final message with one line, alone:",
        f"`<promise>{done}</promise>` when the work is finished and committed,",
        "`<promise>BLOCKED:reason</promise>` when it cannot be done here,",
        "`<promise>DECIDE:question</promise>` when a person has to decide something first.",
        "A promise is a request: the runner runs the checks on your commit and decides.",
    ]
    return "\n".join(lines)


def spec(task: Task, text: str) -> str:
    """The task as its reader needs it."""
    parts = [f"### {task.id}: {task.title}" if task.id else f"### {task.title}"]
    if task.description:
        parts.append(task.description)
    if text:
        parts.append(text)
    for heading, items in (
        ("Done when", task.acceptance),
        ("Steps", task.steps),
        ("Files", task.files),
        ("Checks that the runner will run", tuple(f"`{check.command}`" for check in task.checks)),
    ):
        if items:
            parts.append(f"{heading}:\n" + "\n".join(f"- {item}" for item in items))
    return "\n\n".join(parts)
