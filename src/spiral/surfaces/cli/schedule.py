"""`spiral schedule`: start runs at the times of a cron expression."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from spiral.loop.cron import Cron, calendar, next_after, parse
from spiral.surfaces.cli.project import opened_project
from spiral.surfaces.cli.starting import asked_rightly, command_line, start


@click.command("schedule")
@click.argument("expression")
@click.option(
    "--print", "form", type=click.Choice(("crontab", "systemd")), help="Print it for cron or systemd instead."
)
@click.argument("args", nargs=-1, metavar="[-- RUN OPTIONS]")
@click.pass_context
def command(ctx: click.Context, /, expression: str, form: str | None, args: tuple[str, ...]) -> None:
    """Start a run at the times of a cron EXPRESSION: minute, hour, day of the month, month, day of the week.

    It waits here and starts one run at a time; a time that comes while a run goes on is left out. What all runs may
    cost is set by budget.day and budget.week in spiral.toml. With --print nothing is started: cron or systemd does.

    \b
    spiral schedule "0 2 * * *"
    spiral schedule "*/30 9-17 * * mon-fri" -- --once --max-cost 2
    spiral schedule @daily --print crontab
    """
    from spiral.loop.git import repo_at

    cron = parse(expression)
    asked_rightly(args)
    with opened_project(ctx) as project:
        repo_at(project.place.project, project.settings.environ)
        top, path, bounds = project.place.project, project.settings.environ.get("PATH", ""), project.settings.budget
    if form is not None:
        click.echo((crontab if form == "crontab" else systemd)(cron, top, args, path))
        return
    if not bounds.day and not bounds.week:
        click.echo("note: no budget of a day or a week is set; each run has its own alone (budget.day)", err=True)
    try:
        while True:
            wait(cron)
            code = start(top, args)
            click.echo(f"the run ended with exit code {code}")
            if code in (130, 143):
                sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)


def wait(cron: Cron) -> None:
    """Say when the next run is, and wait for it. Short sleeps, so that a clock that was set or a nap of the machine
    does not make it late."""
    moment = next_after(cron, datetime.now(UTC))
    click.echo(f"the next run is at {moment.astimezone():%Y-%m-%d %H:%M %Z}; Ctrl-C ends the waiting")
    while (left := (moment - datetime.now(UTC)).total_seconds()) > 0:
        time.sleep(min(left, 20.0))


def crontab(cron: Cron, top: Path, args: Sequence[str], path: str) -> str:
    """A line for `crontab -e`; cron's own PATH would find no agent."""
    history = str(top / ".agent/history")
    log = shlex.quote(f"{history}/schedule.log")
    words = f"mkdir -p {shlex.quote(history)} && {shlex.join(command_line(top, args))} >> {log} 2>&1"
    # A percent sign is a line break to cron.
    words = words.replace("%", r"\%")
    return f"# add with `crontab -e`\nPATH={path}\n{cron.text} {words}"


def systemd(cron: Cron, top: Path, args: Sequence[str], path: str) -> str:
    """A service and its timer, with the commands that put them in place."""
    name = f"spiral-{top.name}"
    times = "\n".join(f"OnCalendar={value}" for value in calendar(cron))
    # Only here a dollar sign stands for a variable.
    words = " ".join(f'"{escaped(word)}"' for word in command_line(top, args)).replace("$", "$$")
    return f"""\
# ~/.config/systemd/user/{name}.service
[Unit]
Description=Spiral in {escaped(str(top))}

[Service]
Type=oneshot
WorkingDirectory={str(top).replace("%", "%%")}
Environment="PATH={escaped(path)}"
ExecStart={words}
# Out of passes, blocked, a decision wanted, budget: ends of a run, not failures of the service.
SuccessExitStatus=1 2 3 7 8 9

# ~/.config/systemd/user/{name}.timer
[Unit]
Description=Spiral in {escaped(str(top))}: {cron.text}

[Timer]
{times}
Persistent=true

[Install]
WantedBy=timers.target

# then: systemctl --user daemon-reload && systemctl --user enable --now {shlex.quote(name + ".timer")}"""


def escaped(text: str) -> str:
    """A text as systemd takes it inside quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
