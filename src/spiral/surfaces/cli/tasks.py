"""`spiral tasks …`: look at and change the task list."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

import click

from spiral.loop import graph as drawing
from spiral.loop.codec import plain
from spiral.loop.lint import lint
from spiral.loop.order import cycles, levels, ready, waiting
from spiral.loop.tasks import TaskList, load
from spiral.surfaces.cli.options import AS_JSON, tell, warn
from spiral.surfaces.cli.project import opened_project
from spiral.surfaces.cli.rows import show_rows
from spiral.surfaces.cli.tasks_change import add, block, import_, retry, skip, split
from spiral.work import STATUSES, Task, TaskState

NONE_YET = 'no tasks yet; add one with `spiral tasks add "…"`, or take in a file with `spiral tasks import PRD.md`'


@click.group("tasks")
def command() -> None:
    """Look at and change the task list, .agent/tasks.json with a file for each task in .agent/tasks/.

    A task is one responsibility that one fresh agent can finish, with commands that prove it. What is ready is worked
    on by priority, then in the order of the file; what depends on another task waits until that one is done. The
    runner decides when a task is done; you decide the rest.

    \b
    spiral tasks add "Sign in with a password" --check "pytest -q tests/test_login.py"
    spiral tasks add "Reset a password" --depends 1 --accept "the mail holds a link that works once"
    spiral tasks ready
    """


@command.command("list", short_help="List the tasks with what holds them up.")
@click.option("--status", "wanted", multiple=True, type=click.Choice(STATUSES), help="Only these; may be repeated.")
@AS_JSON
@click.pass_context
def list_(ctx: click.Context, /, wanted: tuple[str, ...], as_json: bool) -> None:
    """List the tasks with status, priority and what holds them up, in the order of the file."""
    found, states = looked(ctx)
    why = {wait.task.id: wait.why for wait in waiting(found.tasks, states)}
    shown = [task for task in found.tasks if not wanted or states[task.id].status in wanted]
    if as_json:
        tell({"tasks": [table_of(task, states, why) for task in shown], "faults": found.faults})
        return
    show_rows(
        ("task", "status", "priority", "title", "why"),
        [
            (
                task.id,
                states[task.id].status,
                str(task.priority),
                task.title,
                states[task.id].reason or why.get(task.id, ""),
            )
            for task in shown
        ],
    )
    hint(found)


@command.command("show", short_help="Show one task in full.")
@click.argument("id")
@AS_JSON
@click.pass_context
def show(ctx: click.Context, /, id: str, as_json: bool) -> None:  # noqa: A002 - what everybody calls it
    """Show one task in full; of its ID the number is enough."""
    found, states = looked(ctx)
    task = found.find(id)
    why = {wait.task.id: wait.why for wait in waiting(found.tasks, states)}
    needed = [other.id for other in found.tasks if task.id in other.depends]
    if as_json:
        tell({**table_of(task, states, why), "needed_by": needed})
        return
    state = states[task.id]
    click.echo(f"{task.id}: {task.title}")
    rows = {
        "status": f"{state.status} ({state.reason})" if state.reason else state.status,
        "waits": why.get(task.id, ""),
        "passes": f"{state.passes}, the last {state.failures} failed" if state.passes else "",
        "done": " at ".join(filter(None, (state.done_pass, state.done_sha[:12]))) if state.status == "done" else "",
        "priority": str(task.priority),
        "mode": task.mode,
        "category": task.category,
        "spec": task.spec,
        "depends": ", ".join(task.depends),
        "needed by": ", ".join(needed),
        "files": ", ".join(task.files),
        "screenshot": task.screenshot,
    }
    for name, value in rows.items():
        if value:
            click.echo(f"{name:11} {value}")
    if task.description:
        click.echo(f"\n{task.description}")
    checks = [check.command for check in task.checks]
    for head, lines in (("acceptance", task.acceptance), ("steps", task.steps), ("checks", checks)):
        if lines:
            click.echo("\n".join(["", f"{head}:", *(f"  - {line}" for line in lines)]))


@command.command("ready", short_help="List what can be worked on now.")
@click.option("--why", "waits", is_flag=True, help="Also what is not ready, and what it waits for.")
@AS_JSON
@click.pass_context
def ready_(ctx: click.Context, /, waits: bool, as_json: bool) -> None:
    """List what can be worked on now, the next one first."""
    found, states = looked(ctx)
    now, later = ready(found.tasks, states), waiting(found.tasks, states)
    if as_json:
        held = [{"id": wait.task.id, "needs": wait.needs, "why": wait.why} for wait in later]
        tell({"ready": [table_of(task, states, {}) for task in now], "waiting": held, "faults": found.faults})
        return
    show_rows(("task", "priority", "title"), [(task.id, str(task.priority), task.title) for task in now])
    if waits and later:
        click.echo("\nwaiting:")
        show_rows(("task", "title", "why"), [(wait.task.id, wait.task.title, wait.why) for wait in later])
    if found.tasks and not now:
        parked = [f"{task.id} {states[task.id].status}" for task in found.tasks if parks(states[task.id])]
        told = f"{len(later)} wait" + (f", parked: {', '.join(parked)}" if parked else "")
        all_done = not later and not parked
        warn(("all tasks are done or skipped" if all_done else f"nothing is ready: {told}; `--why` tells more",))
    hint(found)


@command.command("graph", short_help="Draw what depends on what.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "mermaid", "dot")),
    default="text",
    show_default=True,
    help="text for a terminal, mermaid for Markdown, dot for Graphviz.",
)
@AS_JSON
@click.pass_context
def graph(ctx: click.Context, /, form: str, as_json: bool) -> None:
    """Draw what depends on what; ○ open, ● done, ✗ blocked, ? to be decided, – skipped."""
    found, states = looked(ctx)
    if as_json:
        rows = [
            {"id": task.id, "level": number, "depends": task.depends, "status": states[task.id].status}
            for number, row in enumerate(levels(found.tasks), 1)
            for task in row
        ]
        tell({"tasks": rows, "cycles": cycles(found.tasks)})
        return
    forms = {"text": drawing.text, "mermaid": drawing.mermaid, "dot": drawing.dot}
    shown = forms[form](found.tasks, states)
    if shown:
        click.echo(shown)
    hint(found)


@command.command("lint", short_help="Look for tasks that will go wrong.")
@click.option("--strict", is_flag=True, help="Exit 2 for warnings too.")
@AS_JSON
@click.pass_context
def lint_(ctx: click.Context, /, strict: bool, as_json: bool) -> None:
    """Look for tasks that will go wrong: too large, no checks, circles, unknown files. Exit 2 when there are errors."""
    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        states = found.states(project.journal.states())
        settings, top = project.settings, project.place.project
    tasks = [replace(task, status=states[task.id].status) for task in found.tasks]
    lints = lint(tasks, top, settings.discover.largest, checks=settings.verify.checks)
    bad = bool(found.faults) or any(strict or one.level == "error" for one in lints)
    if as_json:
        tell({"lints": plain(lints), "faults": found.faults})
    else:
        rows = [("", "error", fault) for fault in found.faults]
        rows += [(one.task, str(one.level), one.text) for one in lints]
        show_rows(("task", "level", "what is wrong"), rows)
        if not rows:
            click.echo(f"{len(tasks)} tasks, nothing to say against them" if tasks else NONE_YET)
    if bad:
        sys.exit(2)


for verb in (add, import_, retry, skip, block, split):
    command.add_command(verb)


def looked(ctx: click.Context) -> tuple[TaskList, dict[str, TaskState]]:
    """The list, and what holds for each task."""
    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        return found, found.states(project.journal.states())


def table_of(task: Task, states: Mapping[str, TaskState], why: Mapping[str, str]) -> dict[str, object]:
    """A task for machines, with what the journal knows."""
    state = states[task.id]
    return {**plain(task), "status": state.status, "waits": why.get(task.id, ""), "state": plain(state)}


def parks(state: TaskState) -> bool:
    """Whether a task waits for a person."""
    return state.status in ("blocked", "decide")


def hint(found: TaskList) -> None:
    """What could not be read, on standard error, and how to begin."""
    warn(found.faults)
    if not found.tasks and not found.faults:
        warn((NONE_YET,))
