"""`spiral replay`: a briefing made again from its inputs."""

from __future__ import annotations

import difflib
import shutil
import sys
import textwrap
from itertools import zip_longest

import click

from spiral.loop.hydrate import POLICIES, SECTIONS, Briefing
from spiral.loop.replay import Replay, replay
from spiral.loop.story import PassStory, find_pass
from spiral.loop.wording import block
from spiral.surfaces.cli.options import AS_JSON
from spiral.surfaces.cli.printing import coloured, heading, show, tell_json
from spiral.surfaces.cli.project import opened_project

DIFFERS = 10
"""The exit code when what was made is not what was sent."""
SHOWN = 60


@click.command("replay")
@click.argument("name", metavar="PASS")
@click.option("--policy", type=click.Choice(tuple(POLICIES)), default=None, help="Another policy than the pass had.")
@click.option("--side-by-side", is_flag=True, help="Both texts beside each other.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, name: str, policy: str | None, side_by_side: bool, as_json: bool) -> None:
    """Make the briefing of a pass again from the inputs that were kept, never from the text that was sent, and say
    whether both are the same byte for byte (exit 10 if not). With --policy: what another policy would have given.

    \b
    spiral replay 47
    spiral replay 47 --policy poor
    """
    with opened_project(ctx) as project:
        story = find_pass(project.journal, name)
        found = replay(project.journal, story, project.settings.hydrate, policy or "")
    if as_json:
        tell_json(for_machines(story, found))
    else:
        told(story, found)
        if side_by_side:
            beside(found)
        elif policy:
            heading(f"\nwhat {policy} would have given")
            click.echo(block(found.made.text).rstrip())
        elif not found.identical:
            differences(found)
    if not policy and not found.identical:
        sys.exit(DIFFERS)


def told(story: PassStory, found: Replay) -> None:
    """The finding and the tokens of each section, beside each other."""
    about = f"pass {story.number} · {story.about}"
    size = len(found.made.text.encode("utf-8", "surrogatepass"))
    if found.asked:
        heading(f"{about} · sent with {found.sent.policy or '?'}, replayed with {found.asked}")
    elif found.identical:
        click.echo(coloured(f"{about} · identical: {size:,} bytes, {found.made.tokens:,} tokens", "green"))
    else:
        click.echo(coloured(f"{about} · differs from what was sent", "red"))
        click.echo("the settings of [hydrate] or this Spiral's own words have changed since", err=True)
    rows = [(name, *(str(n) if n else "–" for n in pair), source) for name, *pair, source in sections(found)]
    mine = found.asked or "replayed"
    total = ("all", f"{found.sent.tokens:,}", f"{found.made.tokens:,}", "", "")
    show([*rows, total], ("section", "sent", mine, "left out", "from"), right=(1, 2, 3))


def sections(found: Replay) -> list[tuple[str, int, int, int, str]]:
    """Name, tokens sent, tokens made, tokens left out of what was made, and source of each section."""
    sent = {part.name: part for part in found.sent.sections}
    made = {part.name: part for part in found.made.sections}
    names = [name for name in SECTIONS if name in sent or name in made]
    return [
        (
            name,
            sent[name].tokens if name in sent else 0,
            made[name].tokens if name in made else 0,
            made[name].left_out if name in made else 0,
            (made.get(name) or sent[name]).source,
        )
        for name in names
    ]


def differences(found: Replay) -> None:
    """Where the texts differ."""
    lines = difflib.unified_diff(
        found.sent.text.splitlines(), found.made.text.splitlines(), "sent", "replayed", lineterm="", n=1
    )
    for place, line in enumerate(lines):
        if place == SHOWN:
            click.echo("…")
            return
        click.echo(coloured(block(line), {"-": "red", "+": "green"}.get(line[:1], "")))


def beside(found: Replay) -> None:
    """Both texts in two columns, paragraphs that are equal on one height."""
    width = max((shutil.get_terminal_size((120, 40)).columns - 3) // 2, 20)
    left, right = paragraphs(found.sent, width), paragraphs(found.made, width)
    click.echo(coloured(f"\n{'sent · ' + found.sent.policy:{width}} │ {found.asked or 'replayed'}", "bold"))
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for one, two in zip_longest(left[a:b], right[c:d], fillvalue=""):
            line = f"{one:{width}} │ {two}".rstrip()
            click.echo(line if tag == "equal" else coloured(line, "yellow"))


def paragraphs(briefing: Briefing, width: int) -> list[str]:
    """A text in lines of a width."""
    return [
        piece
        for line in block(briefing.text).expandtabs().splitlines()
        for piece in textwrap.wrap(line, width, drop_whitespace=False) or [""]
    ]


def for_machines(story: PassStory, found: Replay) -> dict[str, object]:
    """The finding as a table."""
    return {
        "pass": story.id, "number": story.number, "identical": found.identical,
        "sent": {"policy": found.sent.policy, "tokens": found.sent.tokens},
        "made": {"policy": found.made.policy, "tokens": found.made.tokens, "text": found.made.text},
        "sections": [
            {"name": name, "sent": sent, "made": made, "left_out": out, "source": source}
            for name, sent, made, out, source in sections(found)
        ],
    }  # fmt: skip
