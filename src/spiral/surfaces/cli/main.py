"""The command `spiral`: finds the verb, loads its file, and turns failures into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click

from spiral import __version__
from spiral.errors import SpiralError, StoreError, UsageError
from spiral.surfaces.cli.options import strict

VERBS = {
    "start": ("init", "doctor", "demo", "config"),
    "memory": ("remember", "ingest", "recall", "brief", "explain", "forget", "memory", "reindex"),
    "loop": ("plan", "tasks", "run", "resume", "pause", "stop", "steer", "decide", "schedule", "watch"),
    "looking": ("status", "logs", "show", "diff", "cost", "report", "replay"),
    "measuring": ("bench",),
}
HELP = {
    "init": "Get a project ready for its first run.",
    "demo": "See a loop without memory and with it, on a real repository.",
    "config": "Show every setting and where it came from.",
    "doctor": "Look for what is wrong and say how to cure it.",
    "remember": "Keep a statement.",
    "ingest": "Keep a conversation and learn from it.",
    "recall": "Find what is known about a question.",
    "brief": "Put together a block of context for a task.",
    "explain": "Say why a memory answers a question, or does not.",
    "forget": "Retire memories, or erase them for good.",
    "memory": "List, show, export, import and maintain memories.",
    "reindex": "Rebuild the index from the files.",
    "plan": "Let an agent cut a text into tasks.",
    "status": "Show what runs, what waits for you, and what the memory holds.",
    "logs": "Show what happened, one line for each milestone.",
    "show": "Show a pass: briefing, command, stream, checks, verdict, cost.",
    "diff": "Show what a pass changed.",
    "cost": "Show what was used up, by task, agent, day, role or run.",
    "report": "Write one page for the morning, as Markdown or HTML.",
    "replay": "Make a briefing again from its inputs, or under another policy.",
    "tasks": "Look at and change the task list.",
    "run": "Drive an agent through the tasks.",
    "resume": "Go on with the last run.",
    "pause": "Let the run rest after the pass under way.",
    "stop": "End the run that is at work.",
    "steer": "Say something to every pass from the next one on.",
    "decide": "Answer what a task waits for.",
    "schedule": "Start runs at the times of a cron expression.",
    "watch": "Start a run whenever there is something new to do.",
    "bench": "Measure how well it does.",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says before the verb."""

    flags: Mapping[str, object]
    start: Path


class Verbs(click.Group):
    """Loads a verb's file when it is asked for, so that each call pays for one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(HELP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in HELP:
            return None
        return strict(import_module(f"spiral.surfaces.cli.{cmd_name}").command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for topic, verbs in VERBS.items():
            with formatter.section(topic):
                formatter.write_dl([(verb, HELP[verb]) for verb in verbs])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spiral")
@click.option("-C", "start", type=click.Path(path_type=Path), default=None, help="Work as if started in this folder.")
@click.option("--root", default=None, help="The memory folder, instead of the one the settings name.")
@click.option("--log-level", default=None, help="debug, info, warning or error.")
@click.option("--log-format", default=None, help="text, or json for machines.")
@click.pass_context
def spiral(
    ctx: click.Context, /, start: Path | None, root: str | None, log_level: str | None, log_format: str | None
) -> None:
    """Runs coding agents in loops and gives them a memory that lasts.

    \b
    spiral remember "Retries go through outbox.py" --key payments/retries
    spiral recall "how do we retry?"
    """
    if start is not None and not start.is_dir():
        raise UsageError(f"there is no folder {str(start)!r}")
    given = {"memory.root": root, "log.level": log_level, "log.format": log_format}
    ctx.obj = Asked({name: value for name, value in given.items() if value is not None}, start or here())


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError as fault:
        raise UsageError("the current folder is gone; change to one that exists, or name one with -C") from fault


def main() -> None:
    """Run the command line; exit 64 for a wrong use, and with the failure's own code otherwise."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A file's name may hold any bytes, and a terminal may know fewer letters than a memory.
            stream.reconfigure(errors="backslashreplace")
    try:
        spiral.main(standalone_mode=False, prog_name="spiral")
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as fault:
        fault.show()
        sys.exit(64)
    except click.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except SpiralError as fault:
        click.echo(f"spiral: {fault}", err=True)
        sys.exit(fault.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough; closing quietly is what they expect.
        drop_output()
        sys.exit(0)
    except OSError as fault:
        drop_output()
        click.echo(f"spiral: {fault}", err=True)
        sys.exit(StoreError.exit_code)


def drop_output() -> None:
    """Send what could not be printed nowhere, or the interpreter tries again at its end and fails once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
