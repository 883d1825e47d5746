"""`spiral logs`: the milestones of runs, one line each."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from spiral.loop.lenient import whole
from spiral.loop.story import find_run
from spiral.loop.wording import local, told, tone
from spiral.ports import Journal
from spiral.surfaces.cli.printing import coloured, tell_json
from spiral.surfaces.cli.project import opened_project
from spiral.work import Event

POLL = 0.5


@click.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on printing as things happen, until Ctrl-C.")
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=40, show_default=True, help="The newest so many; 0: all."
)
@click.option("--run", default="", help="Only this run: its id, the beginning of it, or `last`.")
@click.option("--task", default="", help="Only this task.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for machines.")
@click.pass_context
def command(ctx: click.Context, /, follow: bool, lines: int, run: str, task: str, as_json: bool) -> None:
    """Show what happened, one line for each milestone, the newest last.

    \b
    spiral logs -f
    spiral logs --task TASK-7 -n 0
    """
    with opened_project(ctx) as project:
        journal = project.journal
        mine = find_run(journal, run).id if run else ""
        say = printer(journal, as_json=as_json)
        found = journal.events(run=mine, task=task, limit=lines)
        for event in found:
            say(event)
        if not found and not follow and not as_json:
            click.echo("nothing happened yet; `spiral run` starts a run", err=True)
        seen = max((event.seq for event in journal.events(limit=1)), default=0)
        seen = max([seen if not found else 0, *(event.seq for event in found)])
        while follow:
            time.sleep(POLL)
            for event in journal.events(run=mine, task=task, after=seen):
                seen = event.seq
                say(event)


def printer(journal: Journal, *, as_json: bool) -> Callable[[Event], None]:
    """Prints events; remembers the numbers of passes and the day of the line before."""
    numbers: dict[str, int] = {}
    day = ""

    def say(event: Event) -> None:
        nonlocal day
        if as_json:
            tell_json(event)
            return
        today = local(event.at, "%a %Y-%m-%d")
        if today != day:
            day = today
            click.echo(coloured(f"── {day} ──", "dim"))
        click.echo(f"{coloured(local(event.at, '%H:%M:%S'), 'dim')}  {about(journal, event, numbers)}")

    return say


def about(journal: Journal, event: Event, numbers: dict[str, int]) -> str:
    """Which pass or kind of thing, the task, and what happened."""
    words = coloured(told(event), tone(event))
    if not event.kind.startswith("pass."):
        return f"{event.kind.partition('.')[0]:9} {words}"
    if event.pass_id not in numbers:
        begun = journal.events(pass_id=event.pass_id, kinds=("pass.started",), limit=1)
        numbers[event.pass_id] = whole(begun[0].data, "number") if begun else 0
    return f"{'pass ' + str(numbers[event.pass_id]):9} {event.task + ' ' if event.task else ''}{words}"
