"""`spiral run`: drive an agent through the tasks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from spiral.errors import UsageError
from spiral.surfaces.cli.options import tell

if TYPE_CHECKING:
    from spiral.loop.preview import Preview
    from spiral.loop.run import Ended
    from spiral.runner import Runner

Function = TypeVar("Function", bound=Callable[..., object])
UNITS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "": 1.0}
EVENTS = click.option("--json", "as_json", is_flag=True, help="One JSON object a line: events, lines, the result.")


def bounded(function: Function) -> Function:
    """Adds the options that bound a run."""
    for option in (
        click.option(
            "--max-tokens", type=click.IntRange(min=0), metavar="N", help="Most tokens of the run; 0: no cap."
        ),
        click.option("--max-time", metavar="TIME", help="Most time of the run: hours, or 90m, 2h, 1d."),
        click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="Most dollars; 0: no cap."),
        click.option("-n", "--passes", type=click.IntRange(min=1), metavar="N", help="Most passes of the run."),
    ):
        function = option(function)
    return function


@click.command("run", context_settings={"ignore_unknown_options": False})
@bounded
@click.option("--once", is_flag=True, help="One pass, then stop.")
@click.option("--agent", metavar="NAME", help="Who does the work.")
@click.option("--checker", metavar="NAME", help="Who judges it; none: the checks alone.")
@click.option("--task", default="", metavar="ID", help="Work on this task alone.")
@click.option("--until", metavar="COMMAND", help="The run is complete when this succeeds on a commit.")
@click.option("--stop-on-help", is_flag=True, help="Stop when an agent is blocked or wants a decision.")
@click.option("--dry-run", is_flag=True, help="Show what the next pass would be, and start nothing.")
@EVENTS
@click.argument("args", nargs=-1, metavar="[-- AGENT ARGS]")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    passes: int | None,
    max_cost: float | None,
    max_time: str | None,
    max_tokens: int | None,
    once: bool,
    agent: str | None,
    checker: str | None,
    task: str,
    until: str | None,
    stop_on_help: bool,
    dry_run: bool,
    as_json: bool,
    args: tuple[str, ...],
) -> None:
    """Drive an agent through the tasks, one task a pass, until all are done or a bound is reached.

    Each pass starts fresh with a briefing; the runner itself runs the checks on what was committed, and decides. Ctrl-C
    ends the run after the pass under way, twice ends it now; `spiral resume` goes on. What comes after -- is handed to
    the agent.

    \b
    spiral run --dry-run
    spiral run --agent claude --checker codex --max-cost 10 --max-time 6h
    spiral run --until "make check" -n 20

    Exit codes: 0 complete, 1 out of passes, 2 blocked, 3 a decision is wanted, 5 not signed in, 6 a program is missing,
    7 budget, 8 stuck, 9 rate-limited, 11 another run is at work, 64 wrong use, 130 and 143 stopped.
    """
    flags = {
        "act.agent": agent,
        "verify.checker": checker,
        "iterate.until": until,
        "iterate.stop_on_help": True if stop_on_help else None,
        **bounds(max_cost, max_time, max_tokens),
    }
    with opened_runner(ctx, flags) as runner:
        name = task_name(runner, task) if task else ""
        if dry_run:
            show(runner.preview(passes=passes or 0, task=name), as_json=as_json)
            return
        drive(
            runner,
            lambda told, asked: runner.run(passes=passes or 0, once=once, task=name, args=args, tell=told, asked=asked),
            as_json=as_json,
        )


def bounds(cost: float | None, time: str | None, tokens: int | None) -> dict[str, object]:
    """The bounds as settings; None where none was given."""
    return {"budget.cost": cost, "budget.hours": None if time is None else hours(time), "budget.tokens": tokens}


def hours(text: str) -> float:
    """A time such as `6`, `90m`, `2h30m` in hours."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    if not parts or not re.fullmatch(r"(\s*\d+(?:\.\d+)?\s*[smhd]?)+", text.strip().lower()):
        raise UsageError(f"--max-time {text!r} is no time; write hours (6), or 90m, 2h, 2h30m, 1d")
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def opened_runner(ctx: click.Context, flags: dict[str, object] | None = None) -> Runner:
    """The runner that this call is about, with the flags over the settings."""
    from spiral.config import read
    from spiral.logs import configure
    from spiral.runner import Runner

    asked = ctx.find_root().obj
    settings = read(asked.start, {**asked.flags, **(flags or {})})
    configure(settings.log)
    return Runner.open(asked.start, settings=settings)


def task_name(runner: Runner, task: str) -> str:
    """The id of the task that is meant."""
    from spiral.loop.tasks import load

    return load(runner.memory.place.project / ".agent").find(task).id


def drive(runner: Runner, start: Callable[[Callable[[str], None], Callable[[], str]], Ended], *, as_json: bool) -> None:
    """Run it, tell how it goes, listen to signals, and exit with its code."""
    from spiral.surfaces.cli.telling import telling
    from spiral.surfaces.cli.wishes import Wishes

    with (
        telling(runner, runner.memory.place.project / ".agent", as_json=as_json) as teller,
        Wishes(runner.journal, teller.tell) as wishes,
    ):
        ended = start(teller.tell, wishes)
    code = wishes.code(ended.code)
    teller.end(ended, code)
    if code:
        runner.close()
        sys.exit(code)


def show(found: Preview, *, as_json: bool) -> None:
    """What the next pass would be."""
    from spiral.loop.codec import plain
    from spiral.loop.discover import Idle

    chosen, briefing = found.chosen, found.briefing
    if as_json:
        table = {"agent": found.agent, "checker": found.checker, "budget": found.budget.line(), "checks": found.checks}
        if isinstance(chosen, Idle) or briefing is None:
            tell({**table, "idle": plain(chosen)})
            return
        tell(
            {
                **table,
                "task": chosen.task.id,
                "title": chosen.task.title,
                "mode": chosen.mode,
                "why": chosen.why,
                "tokens": briefing.tokens,
                "policy": briefing.policy,
                "sections": plain(briefing.sections),
            }
        )
        return
    if found.interrupted:
        click.echo("first       the pass that was interrupted is brought to its end")
    if isinstance(chosen, Idle) or briefing is None:
        click.echo(f"nothing to do: {chosen.detail or chosen.reason}" if isinstance(chosen, Idle) else "nothing to do")
        return
    click.echo(f"task        {chosen.task.id or 'none: an open run'}  {chosen.task.title}".rstrip())
    click.echo(f"mode        {chosen.mode}{f' ({chosen.why})' if chosen.why else ''}")
    click.echo(f"agent       {found.agent}")
    click.echo(f"checker     {found.checker or 'none: the checks alone'}")
    for number, check in enumerate(found.checks or ("none",)):
        click.echo(f"{'' if number else 'checks':11} {check}")
    click.echo(f"budget      {found.budget.line()}")
    click.echo(f"briefing    {briefing.tokens:,} tokens ({briefing.policy})")
    for section in briefing.sections:
        out = f", {section.left_out:,} left out" if section.left_out else ""
        click.echo(f"  {section.name:12} {section.tokens:6,}  {section.source}{out}")
