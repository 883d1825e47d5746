"""What the next pass would be, without starting it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spiral.loop import gather
from spiral.loop.budget import Budget
from spiral.loop.context import Loop, Pass, Run
from spiral.loop.discover import Chosen, Idle, discover
from spiral.loop.hydrate import Briefing, hydrate
from spiral.loop.passes import OPEN, inputs_of
from spiral.loop.run import left, wanted
from spiral.loop.sweep import Start
from spiral.loop.tasks import load
from spiral.loop.verify import checks_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The next pass as it would be now."""

    chosen: Chosen | Idle
    agent: str
    checker: str
    """Empty: checks alone."""
    budget: Budget
    checks: tuple[str, ...] = ()
    briefing: Briefing | None = None
    """None when there is nothing to do."""
    interrupted: bool = False
    """A pass was left under way, and would be brought to its end first."""


def preview(loop: Loop, mine: Run) -> Preview:
    """What a run would do first. Nothing is started and nothing is recorded."""
    chosen = discover(
        load(loop.folder), loop.journal.states(), loop.settings.discover, agent=loop.folder,
        planned=loop.journal.note("plan/prd"), only=mine.only,
    )  # fmt: skip
    shown = Preview(
        chosen=chosen, agent=mine.agent, checker=mine.checker, budget=left(loop, mine),
        interrupted=bool(loop.journal.note(OPEN)),
    )  # fmt: skip
    if isinstance(chosen, Idle):
        return shown
    state = replace(chosen.state, passes=chosen.state.passes + 1)
    under = Pass(
        id=f"{mine.id}-0001", number=int(loop.journal.note("pass/number") or 0) + 1, run=mine.id, task=chosen.task,
        state=state, mode=chosen.mode, agent=wanted(loop, mine, chosen), began=loop.clock(), why=chosen.why,
        prd=chosen.prd, start=Start(base=loop.repo.head(), branch=loop.repo.branch()),
    )  # fmt: skip
    tried = gather.efforts(loop.journal, chosen.task.id) if chosen.mode != "plan" or chosen.task.id else ()
    inputs, _ = inputs_of(loop, under, tried, shown.budget)
    checks = tuple(check.command for check in checks_of(loop, chosen.task)) if chosen.mode != "plan" else ()
    return replace(shown, agent=under.agent, checks=checks, briefing=hydrate(inputs, loop.settings.hydrate))
