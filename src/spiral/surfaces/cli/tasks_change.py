"""`spiral tasks add`, `import`, `retry`, `skip`, `block` and `split`: what changes the list."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from spiral.errors import UsageError
from spiral.loop import task_changes
from spiral.loop.codec import plain
from spiral.loop.imports import drafts, take_in
from spiral.loop.task_words import MEDIUM, priority_of, split_of
from spiral.loop.tasks import load, write_status
from spiral.surfaces.cli.options import AS_JSON, tell, warn
from spiral.surfaces.cli.project import Project, opened_project
from spiral.work import MODES, Check, Event, Mode, Status, Task, TaskState


@click.command("add", short_help="Add a task.")
@click.argument("title")
@click.option("-d", "--description", default="", help="What to do and why, for a reader who knows nothing.")
@click.option(
    "-p", "--priority", default="medium", help="critical, high, medium, low, P0 to P3, or a number; low first."
)
@click.option("--depends", multiple=True, metavar="ID", help="A task that must be done before; may be repeated.")
@click.option("--check", "checks", multiple=True, metavar="COMMAND", help="Must succeed when it is done; repeat.")
@click.option("--accept", multiple=True, metavar="TEXT", help="How one sees that it is done; may be repeated.")
@click.option("--step", "steps", multiple=True, metavar="TEXT", help="A step on the way; may be repeated.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file that it is about; may be repeated.")
@click.option("--mode", type=click.Choice(MODES), default="implement", show_default=True)
@click.option("--category", default="", help="A word to sort by.")
@click.option("--spec", default="", metavar="PATH", help="A specification, from the project's top folder.")
@click.option("--screenshot", default="", metavar="COMMAND", help="Writes an image to $SPIRAL_SCREENSHOT.")
@AS_JSON
@click.pass_context
def add(
    ctx: click.Context,
    /,
    *,
    title: str,
    description: str,
    priority: str,
    depends: tuple[str, ...],
    checks: tuple[str, ...],
    accept: tuple[str, ...],
    steps: tuple[str, ...],
    files: tuple[str, ...],
    mode: Mode,
    category: str,
    spec: str,
    screenshot: str,
    as_json: bool,
) -> None:
    """Add a task at the end of the list; it gets the next id in the style of those there.

    \b
    spiral tasks add "Sign in with a password" -p high \\
        --check "pytest -q tests/test_login.py" --accept "a wrong password is refused"
    """
    if not title.strip():
        raise UsageError("there is no title; say in a line what will be different")
    try:
        rank = priority_of(priority)
    except ValueError as fault:
        raise UsageError(str(fault)) from fault
    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        task = Task(
            id="",
            title=" ".join(title.split()),
            description=description,
            priority=rank,
            depends=tuple(found.find(name).id for name in depends),
            checks=tuple(Check(name=line, command=line) for line in checks),
            acceptance=accept,
            steps=steps,
            files=files,
            mode=mode,
            category=category,
            spec=spec,
            screenshot=screenshot,
        )
        made = task_changes.add(project.agent_folder, task)
        unproven = not checks and not project.settings.verify.checks
    tell(plain(made)) if as_json else click.echo(f"added {made.id}: {made.title}")
    if unproven:
        warn(("nothing proves that it is done; give it a --check, or set verify.checks in spiral.toml",))


@click.command("import", short_help="Take in a prd.json, a tasks.json or a Markdown checklist.")
@click.argument("path", type=click.Path(path_type=Path))
@AS_JSON
@click.pass_context
def import_(ctx: click.Context, /, path: Path, as_json: bool) -> None:
    """Take in the tasks of a prd.json, a tasks.json or a Markdown checklist; twice changes nothing.

    In Markdown each outer `- [ ]` item is a task, `- [x]` one that is done, and what is nested are its steps, or
    `check: …`, `depends on: …`, `files: …`, `acceptance: …`.
    """
    with opened_project(ctx) as project:
        done = take_in(project.agent_folder, ctx.find_root().obj.start / path)
    if as_json:
        tell({"added": plain(done.added), "known": done.known, "faults": done.faults})
        return
    for task in done.added:
        click.echo(f"added {task.id}: {task.title}")
    click.echo(f"{len(done.added)} added, {len(done.known)} were there already")
    warn(done.faults)


@click.command("retry", short_help="Open tasks again.")
@click.argument("ids", nargs=-1, required=True)
@click.option("--reason", default="", help="What is different now; the next pass is told.")
@AS_JSON
@click.pass_context
def retry(ctx: click.Context, /, ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Open the tasks of IDS again, with a clean slate: parked, skipped and done ones too."""
    moved(ctx, ids, "open", reason or "opened again by hand", as_json=as_json)


@click.command("skip", short_help="Leave tasks out.")
@click.argument("ids", nargs=-1, required=True)
@click.option("--reason", default="", help="Why; shown in the list.")
@AS_JSON
@click.pass_context
def skip(ctx: click.Context, /, ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Leave out the tasks of IDS; what depends on them waits. `retry` takes it back."""
    moved(ctx, ids, "skipped", reason or "by hand", as_json=as_json)


@click.command("block", short_help="Park tasks until `retry` opens them.")
@click.argument("ids", nargs=-1, required=True)
@click.option("--reason", default="", help="What it waits for; shown in the list.")
@AS_JSON
@click.pass_context
def block(ctx: click.Context, /, ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Park the tasks of IDS until `retry` opens them; the loop goes on with the others."""
    moved(ctx, ids, "blocked", reason or "by hand", as_json=as_json)


@click.command("split", short_help="Replace a task by parts.")
@click.argument("id")
@click.argument("titles", nargs=-1)
@click.option(
    "--from", "path", type=click.Path(path_type=Path), default=None, help="A file with the parts, as `import` reads it."
)
@AS_JSON
@click.pass_context
def split(
    ctx: click.Context,
    /,
    id: str,  # noqa: A002 - what everybody calls it
    titles: tuple[str, ...],
    path: Path | None,
    as_json: bool,
) -> None:
    """Replace the task ID by parts with these TITLES; what depended on it depends on all of them.

    The last part waits for the others and carries the checks of the whole.

    \b
    spiral tasks split TASK-004 "Store the reset tokens" "Send the mail" "Accept a token once"
    """
    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        task = found.find(id)
        state = found.states(project.journal.states())[task.id]
        if state.status == "done":
            raise UsageError(f"{task.id} is done; there is nothing to split")
        made: Sequence[Task] = ()
        names = split_of(found.reasons.get(task.id, ""))
        # A split that was stopped before the journal knew of it is only recorded.
        if not names or state.status == "skipped":
            made = task_changes.split(project.agent_folder, task.id, parts_of(ctx, titles, path))
            names = tuple(part.id for part in made)
        change(project, task.id, state, replace(state, status="skipped", reason=f"split into {', '.join(names)}"))
    if as_json:
        tell({"task": task.id, "into": names, "parts": plain(made)})
        return
    click.echo(f"split {task.id} into {', '.join(names)}")
    for part in made:
        click.echo(f"added {part.id}: {part.title}")


def parts_of(ctx: click.Context, titles: Sequence[str], path: Path | None) -> list[Task]:
    """The parts that the command line names."""
    if bool(titles) == bool(path):
        raise UsageError("name the parts in one way: their titles, or --from FILE")
    if path:
        tasks, faults = drafts(ctx.find_root().obj.start / path)
        warn(faults)
        return [replace(task, id=task.id or f"?{number}") for number, task in enumerate(tasks)]
    return [Task(id=f"?{number}", title=title, priority=MEDIUM) for number, title in enumerate(titles)]


def moved(ctx: click.Context, ids: Sequence[str], status: Status, reason: str, *, as_json: bool) -> None:
    """Give tasks a status; all are found before the first is changed."""
    rows = []
    with opened_project(ctx) as project:
        found = load(project.agent_folder)
        tasks = [found.find(name) for name in ids]
        states = found.states(project.journal.states())
        for task in dict.fromkeys(tasks):
            before = states[task.id]
            after = replace(before, status=status, reason=reason)
            if status == "open":
                after = replace(after, failures=0, step="retry")
            change(project, task.id, before, after)
            rows.append({"id": task.id, "from": before.status, "to": status, "reason": reason})
    if as_json:
        tell({"changed": rows})
        return
    for row in rows:
        click.echo(f"{row['id']}: {row['from']} → {row['to']} ({reason})")


def change(project: Project, name: str, before: TaskState, after: TaskState) -> None:
    """Record a task's new state, then make the file say so; the journal decides, so a crash between loses nothing."""
    event = Event(
        id=uuid.uuid4().hex,
        at=datetime.now(UTC),
        run="",
        kind="task.changed",
        task=name,
        data={"from": before.status, "to": after.status, "reason": after.reason},
    )
    project.journal.record([event], states={name: after})
    write_status(project.agent_folder, name, after.status, after.reason)
