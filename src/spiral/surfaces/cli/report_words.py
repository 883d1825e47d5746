"""The sentences of the morning's page, the same in Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spiral.loop.report import Finished, Regression, Report, Trouble
from spiral.loop.story import PassStory, RunStory
from spiral.loop.wording import NEXT, clean, count, ending, local, money, span, tokens, told

Entry = TypeVar("Entry")
MOST = 40
"""Entries of a list that a page can bear."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """A memory that was made, for people."""

    id: str
    text: str = ""
    kind: str = ""
    authority: str = ""


def few(found: Sequence[Entry], most: int = MOST) -> tuple[Sequence[Entry], str]:
    """(as many as a page can bear, what to say about the rest)."""
    left = len(found) - most
    return (found, "") if left <= 0 else (found[:most], f"… and {left:,} more; --json has all of them")


def headline(page: Report) -> str:
    """What everybody wants to know first."""
    done = sum(one.held for one in page.finished)
    here = page.progress
    rest = f"{here.done} of {here.all} tasks are done, {here.open} open, {here.parked} parked." if here.all else ""
    asks = f"{count(len(page.waiting), 'waits', 'wait')} for you." if page.waiting else ""
    return f"{count(done, 'task')} finished in {count(len(page.passes), 'pass', 'passes')}. {rest} {asks}".strip()


def bill(page: Report) -> str:
    """Time and money."""
    overhead = sum(one.overhead for one in page.passes)
    return (
        f"{money(page.spent)} · {tokens(page.spent.tokens)} tokens · {span(page.seconds)} by the clock"
        f" · {overhead:.1f} s of it Spiral's own"
    )


def run_line(page: Report, run: RunStory) -> str:
    """One run: when, who, how it ended."""
    began, ended = local(run.began, "%a %Y-%m-%d %H:%M"), local(page.end_of(run))
    checker = f", checked by {run.checker}" if run.checker else ""
    how = f"ended because {ending(run.reason, run.detail)}" if run.ended else "has not ended (see spiral status)"
    return f"{began}–{ended} · {run.agent or '?'}{checker}, policy {run.name} · {how} · {run.id}"


def proof(one: Finished) -> str:
    """What shows that a task is done."""
    story = one.proof
    names = ", ".join(clean(result.check.name, 40) for result in story.checks)
    green = f"{count(len(story.checks), 'check')} green ({names})" if story.checks else "no check of its own"
    judged = [f"{opinion.agent} agrees" for opinion in story.opinions if opinion.outcome == "pass"]
    return ", ".join([green, *judged])


def effort(one: Finished) -> str:
    """How much it took."""
    first = "at the first pass" if len(one.passes) == 1 else f"in {len(one.passes)} passes"
    return f"{first}, pass {one.proof.number}, commit {one.proof.sha[:10] or '?'}"


def failure(story: PassStory, page: Report) -> str:
    """How a pass failed, in one line."""
    red = "; ".join(f"{clean(one.check.name, 40)}: {last_line(one.output)}" for one in story.red[:3])
    said = red or clean(story.reason, 200) or clean(story.detail, 200) or story.outcome
    again = f", repeating pass {numbered(page, story.repeats)}" if story.repeats else ""
    after = NEXT.get(story.next, story.next)
    return f"pass {story.number} {story.outcome}: {said}{again}" + (f" → {after}" if after else "")


def last_line(output: str) -> str:
    """The line of an output that says most: the last with an error in it, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith("E ") or "error" in line.casefold()]
    return clean((telling or lines or ["no output"])[-1], 160)


def numbered(page: Report, name: str) -> str:
    """The number of a pass of this page, or its id."""
    return next((str(one.number) for one in page.passes if one.id == name), name)


def standing_of(one: Trouble) -> str:
    """Where a task that is not done stands."""
    return {"decide": "waits for you", "blocked": "parked", "skipped": "given up for its parts"}.get(one.status, "open")


def regression(one: Regression) -> str:
    """What has gone red."""
    return f'{one.task}: "{clean(one.check, 80)}" is red since {local(one.at)}; pass {one.fixed} had made it green'


def pauses(page: Report) -> list[str]:
    """When an agent had to wait."""
    return [f"{local(event.at)} {told(event)}" for event in page.pauses]


def learned(page: Report, known: Mapping[str, Lesson]) -> tuple[list[Lesson], int]:
    """(what is worth reading, how many more there are): statements before the diary of attempts."""
    found = [known.get(name, Lesson(id=name)) for name in page.memories]
    worth = [one for one in found if one.kind != "episodic"]
    return worth, len(found) - len(worth)
