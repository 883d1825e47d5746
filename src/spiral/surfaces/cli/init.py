"""`spiral init`: get a project ready for its first run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spiral.errors import UsageError
from spiral.surfaces.cli.options import AS_JSON, tell

if TYPE_CHECKING:
    from spiral.config import Settings
    from spiral.loop.detect import Stack
    from spiral.loop.scaffold import Laid
    from spiral.runner import Found


@click.command("init")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, yes: bool, as_json: bool) -> None:
    """Get a project ready for its first run.

    Looks for what the project is made with, the commands that test and lint it, and the agents on this machine; writes
    .agent/ and spiral.toml. What is there already is left alone, so a second run changes nothing.
    """
    from spiral.config import read
    from spiral.loop.detect import detect, together
    from spiral.loop.scaffold import files, lay
    from spiral.place import repository
    from spiral.runner import installed_agents

    asked = ctx.find_root().obj
    home = repository(asked.start)
    if home is None or home.bare:
        raise UsageError(f"{str(asked.start)!r} is in no git worktree; run `git init` there, then `spiral init` again")
    settings = read(asked.start, asked.flags)
    top = home.checkout or home.top
    stacks = detect(top)
    whole, agents = together(stacks), installed_agents(settings)
    notes = [*whole.notes, *lacking(whole, settings)]
    if not as_json:
        show(top, whole, agents, notes)
        if not yes and sys.stdin.isatty() and not click.confirm("\nWrite .agent/ and spiral.toml?", default=True):
            click.echo("nothing was written")
            return
    laid = lay(top, files(whole, chosen(agents)))
    after = following(settings, whole, laid, agents)
    if as_json:
        tell(
            {
                "project": str(top),
                "stacks": [stack.name for stack in stacks],
                "setup": whole.setup,
                "checks": whole.checks,
                "notes": notes,
                "agents": [{"name": one.name, "version": one.version, "signed_in": one.signed_in} for one in agents],
                "written": laid.written,
                "left": laid.left,
                "next": after,
            }
        )
        return
    click.echo()
    rows("wrote", laid.written)
    rows("left alone", laid.left)
    click.echo("\nNext:")
    for line in after:
        click.echo(f"  {line}")


def show(top: Path, whole: Stack, agents: Sequence[Found], notes: Sequence[str]) -> None:
    """What was found, for people."""
    rows("project", [str(top)])
    rows("made with", [whole.name or "nothing that is known here"])
    rows("set-up", [whole.setup or "none needed"])
    rows("checks", whole.checks or ["none found; without one, only a checker can tell whether a task is done"])
    rows("agents", [agent_line(one) for one in agents] or ["none installed"])
    rows("note", notes)


def rows(name: str, lines: Sequence[str]) -> None:
    """A name, and lines beside it."""
    for number, line in enumerate(lines):
        click.echo(f"{'' if number else name:11} {line}")


def agent_line(found: Found) -> str:
    """An agent in one line."""
    signed = {True: "signed in", False: "not signed in", None: "sign-in unknown"}[found.signed_in]
    return f"{found.name} {found.version or '(version unknown)'}, {signed}{'' if found.verified else ', unverified'}"


def chosen(agents: Sequence[Found]) -> str:
    """The agent to begin with: one that is signed in before others, in the order of the table."""
    return next((one.name for one in agents if one.signed_in), agents[0].name if agents else "")


def lacking(whole: Stack, settings: Settings) -> list[str]:
    """Programs that the commands need and that are not on this machine."""
    from spiral.loop.detect import programs

    path = settings.environ.get("PATH")
    return [
        f"{name} is not installed here, and the checks need it"
        for name in programs([whole.setup, *whole.checks])
        if not shutil.which(name, path=path)
    ]


def following(settings: Settings, whole: Stack, laid: Laid, agents: Sequence[Found]) -> list[str]:
    """The commands to type next."""
    lines = []
    if "spiral.toml" in laid.left and whole.checks and not settings.verify.checks:
        lines.append(f"add to spiral.toml: [verify] checks = {list(whole.checks)}")
    if not agents:
        lines.append("install an agent, for instance: npm install -g @anthropic-ai/claude-code")
    elif not any(one.signed_in is not False for one in agents):
        lines.append(f"sign in: start `{agents[0].name}` once")
    if laid.written:
        lines.append('git add .agent spiral.toml && git commit -m "chore: set up spiral"')
    return [
        *lines,
        'spiral tasks add "…" --check "…"   (or from a text: spiral plan FILE)',
        "spiral run --dry-run               shows what would be done",
        "spiral run                         Ctrl-C ends it after the pass under way",
    ]
