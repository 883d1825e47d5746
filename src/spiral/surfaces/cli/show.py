"""`spiral show`: everything about one pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from spiral.errors import NotFoundError
from spiral.loop.codec import plain
from spiral.loop.history import pass_folder
from spiral.loop.lenient import listed, table, tables, text
from spiral.loop.story import PassStory, find_pass, number_of
from spiral.loop.wording import AGENT_ENDS, NEXT, block, clean, count, local, money, span, tokens
from spiral.surfaces.cli.options import AS_JSON
from spiral.surfaces.cli.printing import coloured, heading, outcome, show, spending, tell_json
from spiral.surfaces.cli.project import Project, opened_project

LAST_LINES = 12


@click.command("show")
@click.argument("name", metavar="PASS")
@click.option("--briefing", "part", flag_value="briefing", help="What the agent was told, verbatim.")
@click.option("--command", "part", flag_value="command", help="The command line it was started with.")
@click.option("--stream", "part", flag_value="stream", help="What it said and did, raw.")
@click.option("--checks", "part", flag_value="checks", help="Each check with its whole output.")
@click.option("--verdict", "part", flag_value="verdict", help="What the runner and the checker found.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, name: str, part: str | None, as_json: bool) -> None:
    """Show a pass. PASS is its number, its id, the beginning of its id, or `last`.

    \b
    spiral show 47
    spiral show last --checks
    """
    with opened_project(ctx) as project:
        story = find_pass(project.journal, name)
        if as_json:
            tell_json(for_machines(project, story, part))
        elif part is None:
            summary(project, story)
        else:
            click.echo(block(TEXTS[part](project, story)).rstrip("\n"))


def folder_of(project: Project, story: PassStory) -> Path:
    """Where its files are, if they still are."""
    return pass_folder(project.agent_folder, story.run, story.id)


def read(path: Path) -> str:
    """A file of the history; empty when it is gone."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def briefing(project: Project, story: PassStory) -> str:
    """What was sent. The journal's word comes first: an agent can alter files, and not the journal."""
    events = project.journal.events(pass_id=story.id, kinds=("pass.hydrated",), limit=1)
    kept = text(events[0].data, "briefing") if events else ""
    try:
        return project.journal.kept(kept)
    except NotFoundError:
        found = read(folder_of(project, story) / "briefing.md")
    if not found:
        raise NotFoundError(f"pass {story.number} has no briefing: it ended, or is, before that step")
    return found


def command_line(project: Project, story: PassStory) -> str:
    """How the agent was started."""
    found = read(folder_of(project, story) / "command.json")
    if not found:
        raise NotFoundError(f"the command line of pass {story.number} is gone from {folder_of(project, story)}")
    return found


def stream(project: Project, story: PassStory) -> str:
    """What came from the agent; what the journal keeps of it when the file is gone."""
    found = read(folder_of(project, story) / "stream.jsonl")
    if found:
        return found
    events = project.journal.events(pass_id=story.id, kinds=("pass.acted",), limit=1)
    answer = table(table(events[0].data, "attempt"), "answer") if events else {}
    pairs = [item for item in listed(answer, "messages") if isinstance(item, list | tuple) and len(item) == 2]
    said = [f"{role}: {words}" for role, words in pairs] or ([story.said] if story.said else [])
    if not said:
        raise NotFoundError(f"the stream of pass {story.number} is gone from {folder_of(project, story)}")
    click.echo("note: the stream's file is gone; this is what the journal keeps of it", err=True)
    return "\n\n".join(said)


def checks(project: Project, story: PassStory) -> str:
    """Each check and its whole output; its end, when the file is gone."""
    if not story.checks:
        return f"no check was run in pass {story.number}" + (f": {clean(story.reason)}" if story.reason else "")
    parts = []
    for result in story.checks:
        path = folder_of(project, story) / result.log if result.log else None
        whole = read(path) if path is not None and inside(path, folder_of(project, story)) else ""
        state = "green" if result.passed else f"red, exit code {result.exit_code}"
        cached = ", from the cache" if result.cached else ""
        head = f"── {result.check.name}: {state} ({span(result.seconds)}{cached}, commit {result.sha[:10] or '?'})"
        parts.append(f"{head}\n$ {result.check.command}\n{whole or result.output}".rstrip())
    return "\n\n".join(parts)


def inside(path: Path, folder: Path) -> bool:
    """Whether a path stays in the folder."""
    return path.resolve().is_relative_to(folder.resolve())


def verdict(project: Project, story: PassStory) -> str:
    """The verdict as it was recorded."""
    events = project.journal.events(pass_id=story.id, kinds=("pass.verified",), limit=1)
    found = table(events[0].data, "verdict") if events else {}
    if found:
        return json.dumps(found, ensure_ascii=False, indent=2)
    kept = read(folder_of(project, story) / "verdict.json")
    if not kept:
        raise NotFoundError(f"there is no verdict on pass {story.number} yet")
    return kept


TEXTS: Mapping[str, Callable[[Project, PassStory], str]] = {
    "briefing": briefing,
    "command": command_line,
    "stream": stream,
    "checks": checks,
    "verdict": verdict,
}


def for_machines(project: Project, story: PassStory, part: str | None) -> dict[str, object]:
    """The pass as a table, with the part that was asked for as text."""
    found: dict[str, object] = {**plain(story), **spending(story.usage), "history": str(folder_of(project, story))}
    found.pop("usage")
    return found | ({"part": part, "text": TEXTS[part](project, story)} if part else {})


def summary(project: Project, story: PassStory) -> None:
    """All of it on one screen."""
    ended = outcome(story.outcome) if story.outcome else coloured("under way", "bold")
    heading(f"pass {story.number} · {story.about} · {clean(story.title, 90)}".rstrip(" ·"))
    after = NEXT.get(story.next, story.next)
    click.echo(f"{ended}{': ' + clean(story.reason, 400) if story.reason else ''}{' → ' + after if after else ''}")
    click.echo("")
    show(facts(project, story))
    sections(project, story)
    told_checks(story)
    told_opinions(story)
    if story.said:
        heading("\nthe agent said")
        lines = block(story.said).strip().splitlines()
        for line in lines[-LAST_LINES:]:
            click.echo(f"  {line}")
    number = story.number
    click.echo("")
    click.echo(
        coloured(
            f"more: spiral show {number} --briefing|--command|--stream|--checks|--verdict · spiral diff {number}", "dim"
        )
    )


def facts(project: Project, story: PassStory) -> list[tuple[str, str]]:
    """Name and value of what there is to say."""
    used = story.usage
    began = local(story.began, "%a %Y-%m-%d %H:%M:%S") if story.began else ""
    took = f", took {span(story.seconds)} (of it {story.overhead:.2f} s ours)" if story.outcome else ""
    work = count(len(story.files), "file") + (f": {', '.join(story.files[:6])}" if story.files else " changed")
    how = AGENT_ENDS.get(story.end, story.end) + (f" ({story.detail})" if story.detail else "")
    rows = [
        ("id", story.id),
        ("began", f"{began}{took}"),
        ("agent", f"{story.agent} {how}".strip() + (f", {story.mode}" if story.mode else "")),
        ("how", story.step if story.step not in ("", "retry") else ""),
        ("why", story.why),
        ("claims", story.promise),
        ("cost", f"{money(used)} · {tokens(used.tokens)} tokens · {count(used.turns, 'turn')}"),
        ("work", work + (", left uncommitted and committed by the runner" if story.swept else "")),
        ("commits", f"{story.base[:10] or '?'}..{story.sha[:10] or '?'}"),
        (
            "repeats",
            f"the failed approach of pass {number_of(project.journal, story.repeats)}" if story.repeats else "",
        ),
        ("rescued", ", ".join(story.rescued)),
        ("restored", ", ".join(story.restored)),
        ("learned", ", ".join(name[:9] for name in story.memories)),
        (
            "files",
            str(folder_of(project, story)) if folder_of(project, story).is_dir() else "gone; the journal has the rest",
        ),
    ]
    return [(name, value) for name, value in rows if value]


def sections(project: Project, story: PassStory) -> None:
    """What the briefing was made of."""
    events = project.journal.events(pass_id=story.id, kinds=("pass.hydrated",), limit=1)
    parts = tables(events[0].data, "sections") if events else []
    if not parts:
        return
    heading(f"\nbriefing: {story.briefing:,} tokens, {story.policy}")
    rows = [
        (f"  {text(part, 'name')}", text(part, "tokens"), text(part, "source"),
         f"{text(part, 'left_out')} left out" if text(part, "left_out") not in ("", "0") else "")
        for part in parts
    ]  # fmt: skip
    show(rows, right=(1,))


def told_checks(story: PassStory) -> None:
    """The checks, the end of each red one with it."""
    if not story.checks:
        return
    heading(f"\nchecks on {story.checks[0].sha[:10] or '?'}")
    for result in story.checks:
        mark = coloured("✔", "green") if result.passed else coloured("✘", "red")
        took = "cached" if result.cached else span(result.seconds)
        click.echo(f"  {mark} {clean(result.check.name)}  {coloured(clean(result.check.command, 80), 'dim')}  ({took})")
        if not result.passed:
            for line in block(result.output).strip().splitlines()[-LAST_LINES:]:
                click.echo(f"      {line}")


def told_opinions(story: PassStory) -> None:
    """What checkers said."""
    for opinion in story.opinions:
        heading(f"\nchecker {opinion.agent}: {opinion.outcome}")
        for finding in opinion.findings:
            click.echo(f"  - {clean(finding)}")
