"""How things stand now: what runs, what is done, what waits for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from spiral.loop.budget import Limit
from spiral.loop.lenient import table, text, whole
from spiral.loop.story import PASS_KINDS, PassStory, RunStory, find_run, last_run, pass_of, paused
from spiral.loop.tasks import TaskList
from spiral.ports import Journal
from spiral.work import CheckResult, TaskState, Usage

PARKED = ("blocked", "decide")


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A task that waits for a person."""

    task: str
    title: str
    status: str
    """`decide`: a question; `blocked`: something is in the way."""
    reason: str

    @property
    def cure(self) -> str:
        """The command that lets it go on."""
        if self.status == "decide":
            return f'spiral decide {self.task or "open"} "…"'
        return f"spiral tasks retry {self.task}" if self.task else "spiral resume"


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How many tasks stand how."""

    done: int = 0
    open: int = 0
    parked: int = 0
    skipped: int = 0

    @property
    def all(self) -> int:
        """All tasks but those that were skipped."""
        return self.done + self.open + self.parked


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What an operator wants to know at a glance."""

    run: RunStory | None = None
    current: PassStory | None = None
    """The pass under way."""
    step: str = ""
    """The last milestone of the newest pass."""
    last: PassStory | None = None
    """The newest pass that has ended."""
    progress: Progress = Progress()
    passes: int = 0
    limits: tuple[Limit, ...] = ()
    spent: Usage = Usage()
    paused: Mapping[str, datetime] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    check: CheckResult | None = None
    """The last check that says most: a red one if there is one."""
    checked: int = 0
    """The number of the pass it belongs to."""


def standing(journal: Journal, now: datetime, tasks: TaskList, run: str = "") -> Standing:
    """How things stand. Reads a handful of events, however long the history is."""
    mine = find_run(journal, run) if run else last_run(journal)
    states = known_states(journal, tasks)
    seen = Standing(
        run=mine, progress=progress(states), paused=paused(journal, now), waiting=waiting(journal, states, tasks)
    )
    if mine is None:
        return seen
    counted = whole(score(journal, mine.id), "counted")
    spent = journal.spent(run=mine.id)
    seen = replace(seen, passes=counted, spent=spent, limits=limits(mine, spent, counted, now))
    return with_check(journal, with_passes(journal, seen, mine.id), mine.id)


def with_passes(journal: Journal, seen: Standing, run: str) -> Standing:
    """The newest pass, under way or ended."""
    newest = journal.events(run=run, kinds=("pass.started",), limit=1)
    if not newest:
        return seen
    events = journal.events(pass_id=newest[0].pass_id, kinds=PASS_KINDS)
    found = pass_of(events)
    step = events[-1].kind
    if found.outcome or step == "pass.ended":
        return replace(seen, last=found, step=step)
    before = journal.events(run=run, kinds=("pass.ended",), limit=1)
    return replace(seen, current=found, step=step, last=pass_of(before) if before else None)


def with_check(journal: Journal, seen: Standing, run: str) -> Standing:
    """The last check that was run."""
    for event in reversed(journal.events(run=run, kinds=("pass.verified",), limit=10)):
        results = pass_of([event]).checks
        if results:
            told = next((result for result in results if not result.passed), results[-1])
            begun = journal.events(pass_id=event.pass_id, kinds=("pass.started",), limit=1)
            return replace(seen, check=told, checked=whole(begun[0].data, "number") if begun else 0)
    return seen


def progress(states: Mapping[str, TaskState]) -> Progress:
    """How many stand how; the state of an open run, which has no task, is not one."""
    mine: list[str] = [state.status for task, state in states.items() if task]
    return Progress(
        done=mine.count("done"), open=mine.count("open"), skipped=mine.count("skipped"),
        parked=sum(status in PARKED for status in mine),
    )  # fmt: skip


def known_states(journal: Journal, tasks: TaskList) -> dict[str, TaskState]:
    """How each task of the list stands; what the journal knows where there is no list. The state of an open run, which
    has no task, is kept under the empty name."""
    known = dict(journal.states())
    if not tasks.tasks:
        return known
    return tasks.states(known) | ({"": known[""]} if "" in known else {})


def waiting(journal: Journal, states: Mapping[str, TaskState], tasks: TaskList) -> tuple[Waiting, ...]:
    """What waits for a person, questions first."""
    parked = [(task, state) for task, state in states.items() if state.status in PARKED]
    titles = {task.id: task.title for task in tasks.tasks}
    return tuple(
        Waiting(task=task, title=titles.get(task) or title_of(journal, task), status=state.status, reason=state.reason)
        for task, state in sorted(parked, key=lambda pair: (pair[1].status != "decide", pair[0]))
    )


def title_of(journal: Journal, task: str) -> str:
    """What the newest pass at a task called it."""
    newest = journal.events(task=task, kinds=("pass.started",), limit=1) if task else []
    return text(newest[0].data, "title") if newest else ""


def limits(run: RunStory, spent: Usage, counted: int, now: datetime) -> tuple[Limit, ...]:
    """The bounds of a run and how much of each is used."""
    hours = ((run.ended or now) - run.began).total_seconds() / 3600
    used = {"passes": float(counted), "hours": hours, "cost": spent.cost, "tokens": float(spent.tokens)}
    return tuple(Limit(what=what, used=used[what], most=most) for what, most in run.budget.items() if most)


def score(journal: Journal, run: str) -> Mapping[str, object]:
    """How many passes a run has made, as the runner keeps count of them."""
    try:
        read = json.loads(journal.note(f"score/{run}") or "{}")
    except ValueError:
        return {}
    return table({"score": read}, "score")
