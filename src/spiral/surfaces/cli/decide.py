"""`spiral decide`: answer what a task waits for."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from spiral.errors import UsageError
from spiral.surfaces.cli.options import AS_JSON, tell
from spiral.surfaces.cli.project import opened_project


@click.command("decide")
@click.argument("task", metavar="TASK")
@click.argument("answer")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, task: str, answer: str, as_json: bool) -> None:
    """Answer the question that TASK waits for, and open it again; the next pass at it is told the answer.

    A run without a task list waits under the name `open`.

    \b
    spiral tasks list --status decide
    spiral decide 7 "Use PostgreSQL."
    """
    from spiral.loop.steering import decide
    from spiral.loop.tasks import load, write_status

    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        states = project.journal.states()
        alone = task == "open" and found.get("open") is None and "" in states
        name = "" if alone else found.find(task).id
        state = states[""] if alone else found.states(states)[name]
        if state.status in ("done", "skipped"):
            raise UsageError(
                f"{name} is {state.status} and waits for nothing; `spiral tasks retry {name}` opens it again"
            )
        run = project.journal.note("run/last")
        opened = decide(project.journal, name, state, answer, run=run, now=datetime.now(UTC))
        if name:
            write_status(project.agent_folder, name, opened.status, opened.reason)
    name = name or "open"
    if as_json:
        tell({"task": name, "question": state.reason, "answer": opened.answer})
        return
    if state.reason:
        click.echo(f"{name} asked: {state.reason}")
    click.echo(f"{name} is open again and its next pass is told: {opened.answer}")
