"""`spiral plan`: from a text to tasks, by an agent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spiral.errors import UsageError
from spiral.surfaces.cli.options import AS_JSON, tell
from spiral.surfaces.cli.run import opened_runner

if TYPE_CHECKING:
    from spiral.runner import Planned, Runner


@click.command("plan")
@click.argument("file", required=False, metavar="[FILE|-]")
@click.option("--agent", metavar="NAME", help="Who plans.")
@click.option("-y", "--yes", is_flag=True, help="Let FILE take the place of a PRD that is there.")
@click.option("--dry-run", is_flag=True, help="Let the agent plan, show its plan, and write no task.")
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context, /, file: str | None, agent: str | None, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Let an agent cut a text into tasks with checks: a PRD, an issue, a page of notes; - is standard input.

    The first FILE becomes the project's PRD, .agent/prd/PRD.md. Once there is one, a FILE is planned beside it and the
    PRD stays. Without a FILE the PRD is planned.

    \b
    spiral plan PRD.md
    spiral plan issue-42.md --dry-run
    """
    text = given(file) if file else ""
    with opened_runner(ctx, {"act.agent": agent}) as runner:
        folder = runner.memory.place.project / ".agent"
        asking = bool(file) and not dry_run and not yes and sys.stdin.isatty() and not as_json and file != "-"
        text, is_prd = source(folder, text, replacing=yes, keep=not dry_run, asking=asking)
        found = planned(runner, text, is_prd=is_prd, draft=dry_run, as_json=as_json)
        report(runner, found, draft=dry_run, as_json=as_json)
    if found.fault:
        sys.exit(found.ended.code or 10)


def given(file: str) -> str:
    """The text to plan from."""
    if file == "-":
        text = sys.stdin.read()
    else:
        path = Path(file)
        if not path.is_file():
            raise UsageError(f"there is no file {file!r}; give a text file, or - for standard input")
        text = path.read_text("utf-8", "replace")
    if not text.strip():
        raise UsageError(f"{file!r} holds no text to plan from")
    return text


def source(folder: Path, text: str, *, replacing: bool, keep: bool, asking: bool) -> tuple[str, bool]:
    """(the text to plan from, whether it is the project's PRD), which is written if there is none."""
    from spiral.loop.discover import PRDS
    from spiral.loop.gather import read

    present = next((folder / name for name in PRDS if read(folder / name)), None)
    if not text:
        if present is None:
            raise UsageError("there is no PRD to plan from; `spiral plan FILE` takes a text, - is standard input")
        return read(present), True
    if present is not None and read(present) == text.strip():
        return read(present), True
    if not keep:
        return text.strip(), False
    if present is not None and asking:
        replacing = click.confirm(
            f"Let it take the place of {present}? Otherwise it is planned beside it", default=False
        )
    if present is not None and not replacing:
        return text.strip(), False
    target = present or folder / PRDS[0]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
    return read(target), True


def planned(runner: Runner, text: str, *, is_prd: bool, draft: bool, as_json: bool) -> Planned:
    """The plan; its progress is told on standard error."""
    from spiral.surfaces.cli.wishes import Wishes

    def told(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    with Wishes(runner.journal, told) as wishes:
        return runner.plan(text, prd=is_prd, draft=draft, tell=told, asked=wishes)


def report(runner: Runner, found: Planned, *, draft: bool, as_json: bool) -> None:
    """The tasks, and what is to be said against them."""
    from spiral.loop.codec import plain
    from spiral.loop.lint import lint

    settings = runner.settings
    tasks = [replace(task, status="open") for task in found.tasks]
    lints = lint(tasks, runner.memory.place.project, settings.discover.largest, checks=settings.verify.checks)
    if not draft:
        # A new task may depend on one that was there before.
        lints = [one for one in lints if "which is not in the list" not in one.text]
    if as_json:
        tell({"tasks": plain(tasks), "lints": plain(lints), "fault": found.fault, "written": not draft})
        return
    for task in tasks:
        needs = f"  (after {', '.join(task.depends)})" if task.depends else ""
        click.echo(f"{task.id:8} {task.title}{needs}")
        for check in task.checks:
            click.echo(f"{'':8}   check: {check.command}")
    for one in lints:
        click.echo(f"{one.level}: {one.task}: {one.text}", err=True)
    if found.fault:
        click.echo(f"no plan: {found.fault}", err=True)
    elif draft:
        click.echo(f"{len(tasks)} tasks, none written; without --dry-run they are")
    else:
        click.echo(f"{len(tasks)} tasks added; `spiral tasks list` shows all, `spiral run` begins")
