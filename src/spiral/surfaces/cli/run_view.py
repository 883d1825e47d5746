"""How a run stands, in lines for people and as a table for machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from spiral.loop.budget import Limit, shown
from spiral.loop.codec import plain
from spiral.loop.costs import bar
from spiral.loop.standing import Standing
from spiral.loop.story import PassStory, RunStory
from spiral.loop.wording import NEXT, STEPS, clean, count, ending, local, money, span
from spiral.surfaces.cli.printing import coloured, spending

Row = tuple[str, str, str]
"""Name, words, colour."""
UNITS = {"cost": "", "day": " today", "week": " this week"}


def rows(seen: Standing, now: datetime, *, alive: bool) -> Iterator[Row]:
    """What there is to say about the run, most pressing first."""
    if seen.run is None:
        yield "run", "none yet; `spiral run` starts one", ""
    else:
        yield "run", who(seen.run), "bold"
        yield "state", state(seen, now, alive=alive), tone(seen, alive=alive)
        at = seen.current or seen.last
        if at is not None and (at.task or at.title):
            yield "task" if seen.current else "last", about(at), ""
    if seen.progress.all:
        yield "tasks", progress(seen), ""
    if seen.run is not None:
        yield "spent", spent(seen), ""
        if seen.check is not None:
            word = "green" if seen.check.passed else f"red, exit code {seen.check.exit_code}"
            yield (
                "check",
                f"{clean(seen.check.check.name, 60)} {word} in pass {seen.checked}",
                ("green" if seen.check.passed else "red"),
            )
    for agent, until in seen.paused.items():
        left = span((until - now).total_seconds())
        yield "paused", f"{agent} is rate-limited until {local(until, '%a %H:%M')} ({left})", "yellow"
    for wait in seen.waiting:
        word = "asks" if wait.status == "decide" else "blocked"
        name = f"{wait.task} " if wait.task else ""
        yield "waits", f"{name}{word}: {clean(wait.reason or wait.title, 200)}", "yellow"
        yield "", f"→ {wait.cure}", ""


def who(run: RunStory) -> str:
    """The run in a line."""
    checker = f", checked by {run.checker}" if run.checker else ""
    return f"{run.id} · {run.agent}{checker} · {run.name} · {run.branch}".rstrip(" ·")


def state(seen: Standing, now: datetime, *, alive: bool) -> str:
    """What it does, or how it ended."""
    run = seen.run
    assert run is not None
    if run.ended is not None:
        took = span((run.ended - run.began).total_seconds())
        return f"ended {local(run.ended, '%a %H:%M')} after {took}: {ending(run.reason, run.detail)}"
    if not alive:
        return "its runner is gone; `spiral resume` goes on where it stopped"
    if seen.current is None:
        return STEPS["pass.ended"]
    began = seen.current.began or now
    return f"pass {seen.current.number}: {STEPS.get(seen.step, seen.step)} ({span((now - began).total_seconds())})"


def tone(seen: Standing, *, alive: bool) -> str:
    """The colour of the state."""
    if seen.run is not None and seen.run.ended is not None:
        return "green" if seen.run.code == 0 else "yellow"
    return "" if alive else "red"


def about(story: PassStory) -> str:
    """A pass in a line."""
    name = f"{story.about} · {clean(story.title, 80)}".rstrip(" ·")
    if not story.outcome:
        return name
    after = NEXT.get(story.next, story.next)
    return f"pass {story.number} · {name} · {story.outcome}" + (f", {after}" if after else "")


def progress(seen: Standing) -> str:
    """How far the tasks are."""
    here = seen.progress
    drawn = bar(here.done, here.all, 20)
    rest = f" · {here.skipped} skipped" if here.skipped else ""
    return f"{drawn:░<20} {here.done} of {here.all} done · {here.open} open · {here.parked} parked{rest}"


def spent(seen: Standing) -> str:
    """What is used up, against the bounds there are."""
    cost = next((limit for limit in seen.limits if limit.what == "cost"), None)
    first = money(seen.spent) + (f" of ${cost.most:,.2f}" if cost else "")
    return " · ".join([first, *(bound(limit) for limit in seen.limits if limit.what != "cost")])


def bound(limit: Limit) -> str:
    """A bound and how much of it is used."""
    return f"{shown(limit)}{UNITS.get(limit.what, ' ' + limit.what)}"


def lines(seen: Standing, now: datetime, *, alive: bool) -> list[str]:
    """The rows as coloured lines."""
    return [f"{name:11} {coloured(clean(words), colour)}" for name, words, colour in rows(seen, now, alive=alive)]


def for_machines(seen: Standing, *, alive: bool) -> dict[str, object]:
    """The same as a table."""
    check = seen.check
    return {
        "run": run_table(seen, seen.run, alive=alive) if seen.run else None,
        "pass": pass_table(seen.current) if seen.current else None,
        "last": pass_table(seen.last) if seen.last else None,
        "tasks": seen.progress,
        "paused": seen.paused,
        "waiting": [{**plain(wait), "cure": wait.cure} for wait in seen.waiting],
        "check": {"name": check.check.name, "passed": check.passed, "pass": seen.checked} if check else None,
    }


def run_table(seen: Standing, run: RunStory, *, alive: bool) -> dict[str, object]:
    """A run as a table."""
    found: dict[str, object] = plain(run)
    return found | {"alive": alive, "passes": seen.passes, "step": seen.step, "spent": spending(seen.spent)}


def pass_table(story: PassStory) -> dict[str, object]:
    """A pass as a table."""
    return {
        "id": story.id, "number": story.number, "task": story.task, "title": story.title, "agent": story.agent,
        "mode": story.mode, "began": story.began, "outcome": story.outcome, "next": story.next,
    }  # fmt: skip


def summary(seen: Standing, now: datetime, *, alive: bool) -> str:
    """One plain line, for where no screen can be redrawn."""
    if seen.run is None:
        return "no run yet"
    here = seen.progress
    tally = f"{here.done} of {here.all} done" if here.all else count(seen.passes, "pass", "passes")
    name = f" · {seen.current.task}" if seen.current and seen.current.task else ""
    return f"{state(seen, now, alive=alive)}{name} · {tally} · {money(seen.spent)}" + (
        f" · {count(len(seen.waiting), 'task waits', 'tasks wait')} for you" if seen.waiting else ""
    )
