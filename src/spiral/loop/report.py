"""What an operator wants to read in the morning, gathered from the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from spiral.loop.costs import Share, shares
from spiral.loop.lenient import text
from spiral.loop.standing import Progress, Waiting, known_states, progress, waiting
from spiral.loop.story import PassStory, RunStory, find_run, number_of, passes, runs
from spiral.loop.tasks import TaskList
from spiral.ports import Journal
from spiral.work import Event, Expense, TaskState, Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A task that was done, and what shows it."""

    task: str
    title: str
    proof: PassStory
    """The pass whose checks were green."""
    passes: tuple[PassStory, ...]
    """All passes at it, this one last."""
    held: bool = True
    """Whether it is still done: a later check may have opened it again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """A task that was worked on and is not done."""

    task: str
    title: str
    passes: tuple[PassStory, ...]
    status: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Regression:
    """A check of a finished task that has gone red."""

    task: str
    check: str
    fixed: str
    """The number of the pass that had made it green."""
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Rescue:
    """Work that is kept beside the branch."""

    ref: str
    why: str
    task: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """One page."""

    made: datetime
    runs: tuple[RunStory, ...]
    passes: tuple[PassStory, ...]
    progress: Progress
    finished: tuple[Finished, ...]
    waiting: tuple[Waiting, ...]
    troubles: tuple[Trouble, ...]
    regressions: tuple[Regression, ...]
    rescues: tuple[Rescue, ...]
    pauses: tuple[Event, ...]
    """Rate limits."""
    spent: Usage
    agents: tuple[Share, ...]
    tasks: tuple[Share, ...]

    @property
    def seconds(self) -> float:
        """How long the runs took, by the clock."""
        return sum((self.end_of(run) - run.began).total_seconds() for run in self.runs)

    @property
    def repeats(self) -> tuple[PassStory, ...]:
        """Passes that repeated an approach which had failed."""
        return tuple(one for one in self.passes if one.repeats)

    @property
    def memories(self) -> tuple[str, ...]:
        """Ids of what was learned."""
        return tuple(dict.fromkeys(name for one in self.passes for name in one.memories))

    def end_of(self, run: RunStory) -> datetime:
        """When a run ended; of one that did not say, its last sign of life."""
        if run.ended is not None:
            return run.ended
        seen = [at for one in self.passes if one.run == run.id for at in (one.began, one.ended) if at is not None]
        return max([run.began, *seen])


def report(journal: Journal, now: datetime, tasks: TaskList, *, run: str = "", since: datetime | None = None) -> Report:
    """The page of one run (the last), or of all that was done since a moment."""
    chosen = [find_run(journal, run or "last")] if since is None else alive_since(journal, since)
    mine: list[PassStory] = []
    expenses: list[Expense] = []
    for one in chosen:
        mine += [story for story in passes(journal, one.id) if since is None or (story.ended or now) >= since]
        expenses += [paid for paid in journal.expenses(run=one.id) if since is None or paid.at >= since]
    states = known_states(journal, tasks)
    finished = finished_tasks(mine, states)
    return Report(
        made=now, runs=tuple(chosen), passes=tuple(mine), progress=progress(states), finished=finished,
        waiting=waiting(journal, states, tasks), troubles=troubles(mine, states, {one.task for one in finished}),
        regressions=regressions(journal, chosen), rescues=rescues(journal, chosen, mine),
        pauses=tuple(
            event for one in chosen for event in journal.events(run=one.id, kinds=("limit.paused",))
        ),
        spent=sum((paid.usage for paid in expenses), Usage()), agents=shares(expenses, "agent"),
        tasks=shares(expenses, "task"),
    )  # fmt: skip


def alive_since(journal: Journal, since: datetime) -> list[RunStory]:
    """The runs that had not ended by then."""
    return [run for run in runs(journal) if run.ended is None or run.ended >= since]


def by_task(passes: Sequence[PassStory]) -> dict[str, list[PassStory]]:
    """Passes by task, in the order in which tasks were first worked on; planning has none."""
    grouped: dict[str, list[PassStory]] = {}
    for one in passes:
        if one.task or one.mode != "plan":
            grouped.setdefault(one.task, []).append(one)
    return grouped


def finished_tasks(passes: Sequence[PassStory], states: Mapping[str, TaskState]) -> tuple[Finished, ...]:
    """The tasks that a pass here finished, in the order in which they were."""
    found: list[Finished] = []
    for task, tried in by_task(passes).items():
        green = [place for place, one in enumerate(tried) if one.passed and one.mode != "plan"]
        if green:
            proof = tried[green[-1]]
            held = task not in states or states[task].status == "done"
            upto = tuple(tried[: green[-1] + 1])
            found.append(Finished(task=task, title=proof.title, proof=proof, passes=upto, held=held))
    return tuple(sorted(found, key=lambda one: (one.proof.number, one.task)))


def troubles(passes: Sequence[PassStory], states: Mapping[str, TaskState], finished: set[str]) -> tuple[Trouble, ...]:
    """The tasks that were worked on and not finished, the most tried first; one that only asked did not fail."""
    found = [
        Trouble(
            task=task, title=tried[-1].title, passes=tuple(tried),
            status=states[task].status if task in states else tried[-1].status or "open",
        )
        for task, tried in by_task([one for one in passes if one.outcome]).items()
        if task not in finished and any(one.outcome != "nothing" or one.status != "decide" for one in tried)
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: -len(one.passes)))


def regressions(journal: Journal, chosen: Sequence[RunStory]) -> tuple[Regression, ...]:
    """What had been green."""
    return tuple(
        Regression(
            task=event.task,
            check=text(event.data, "check"),
            fixed=number_of(journal, text(event.data, "pass")),
            at=event.at,
        )
        for run in chosen
        for event in journal.events(run=run.id, kinds=("check.regressed",))
    )


def rescues(journal: Journal, chosen: Sequence[RunStory], passes: Sequence[PassStory]) -> tuple[Rescue, ...]:
    """What is kept beside the branch, each ref once."""
    found = {
        text(event.data, "ref"): Rescue(ref=text(event.data, "ref"), why=text(event.data, "why"), task=event.task)
        for run in chosen
        for event in journal.events(run=run.id, kinds=("rescue.made",))
    }
    for one in passes:
        for ref in one.rescued:
            found.setdefault(ref, Rescue(ref=ref, why=f"left by pass {one.number}", task=one.task))
    return tuple(found.values())
