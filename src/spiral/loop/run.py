"""The loop: passes until there is an explicit reason to stop."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from spiral.errors import UsageError
from spiral.loop import passes, recheck, tidy
from spiral.loop.budget import Budget, budget
from spiral.loop.codec import load, plain
from spiral.loop.context import Loop, Pass, Run
from spiral.loop.discover import Chosen, Idle, discover, is_open_run
from spiral.loop.lock import runner_lock
from spiral.loop.notify import notify
from spiral.loop.passes import OPEN, Passed
from spiral.loop.tasks import load as load_tasks
from spiral.loop.verify import UNPROVED, checks_of, until_met
from spiral.work import UNUSED, Event, EventKind, TaskState

CODES = {
    "complete": 0, "passes": 1, "blocked": 2, "decide": 3, "sandbox": 4, "signin": 5, "missing": 6, "budget": 7,
    "stuck": 8, "limit": 9, "unverified": 10, "stopped": 143, "interrupted": 130, "once": 0, "empty": 64,
}  # fmt: skip
WAIT_UNKNOWN = 300.0
"""Seconds to wait at a rate limit that does not say when it ends; doubled each time, up to an hour."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """Why a run stopped."""

    reason: str
    detail: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.reason]


def new_run(loop: Loop, **rest: object) -> Run:
    """A run with an id of its own: what a crashed one left behind never ends another."""
    now = loop.clock()
    return Run(id=f"r-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}", began=now, **rest)  # type: ignore[arg-type]


def run(loop: Loop, mine: Run, *, resumed: bool = False, once: bool = False, only: Chosen | None = None) -> Ended:
    """Run passes until a reason to stop, or the one pass that is given. One runner at a time: the lock; the second is
    refused.

    First the pass that another run may have left under way is brought to its end, so nothing is lost or done twice.
    """
    with runner_lock(loop.private, mine.id):
        loop.journal.record(notes={"control": ""})
        ready_to_run(loop)
        open_run(loop, mine, resumed=resumed)
        try:
            left = recover(loop, mine)
            ended = left or (alone(loop, mine, only) if only else loop_on(loop, mine, once=once))
        except KeyboardInterrupt:
            ended = Ended(reason="interrupted", detail="ended at once by a person")
        close_run(loop, mine, ended)
        return ended


def ready_to_run(loop: Loop) -> None:
    """What must be so before the first pass: a branch, and no work of the user's that passes could take for theirs."""
    if not loop.repo.branch():
        raise UsageError("no branch is checked out; `git switch -c NAME` makes one")
    if not loop.journal.note(OPEN):
        tidy.finish_take_back(loop)
    dirty = loop.repo.status_lines(exclude=(".agent", "spiral.toml"))
    if dirty and not loop.journal.note(OPEN):
        files = ", ".join(line[3:] for line in dirty[:3])
        raise UsageError(
            f"{len(dirty)} files are not committed ({files}…); commit or stash them: passes would take them for theirs"
        )


def open_run(loop: Loop, mine: Run, *, resumed: bool) -> None:
    """Record that the run began or goes on."""
    settings = loop.settings
    caps = {
        "passes": mine.passes or settings.budget.passes,
        "hours": settings.budget.hours,
        "cost": settings.budget.cost,
        "tokens": settings.budget.tokens,
    }
    kind = "open" if is_open_run(load_tasks(loop.folder), settings.discover, loop.folder) else "closed"
    data = {
        "agent": mine.agent, "checker": mine.checker, "kind": kind, "policy": settings.hydrate.policy, "budget": caps,
        "branch": loop.repo.branch(), "head": loop.repo.head(), "run": plain(mine),
        "memory": settings.hydrate.memory,
    }  # fmt: skip
    name: EventKind = "run.resumed" if resumed else "run.started"
    again = f"-{secrets.token_hex(3)}" if resumed else ""
    event = Event(id=f"{mine.id}-{name}{again}", at=loop.clock(), run=mine.id, kind=name, data=data)
    # What ended another open run says nothing about this one.
    over = kind == "open" and loop.journal.states().get("", TaskState()).status in ("done", "blocked")
    states = {"": TaskState()} if over and not resumed else {}
    loop.journal.record([event], states=states, notes={"run/last": mine.id})
    tidy.catch_up(loop, mine.id)


def close_run(loop: Loop, mine: Run, ended: Ended) -> None:
    """Record why the run stopped, and tell who wants to know."""
    spent = loop.journal.spent(run=mine.id)
    standing = passes.score(loop, mine.id)
    data = {
        "reason": ended.reason, "detail": ended.detail, "code": ended.code, "passes": standing.counted,
        "done": standing.done, "cost": spent.cost, "tokens": spent.tokens, "estimated": spent.estimated,
        "unknown": spent.unknown,
    }  # fmt: skip
    ending = Event(
        id=f"{mine.id}-run.ended-{secrets.token_hex(3)}", at=loop.clock(), run=mine.id, kind="run.ended", data=data
    )
    loop.journal.record([ending])
    tidy.catch_up(loop, mine.id)
    tidy.commit_books(loop, f"memory: {mine.id} ended", mine.id)
    what = "budget" if ended.reason == "budget" else "finished"
    inform(loop, what, {"run": mine.id, "reason": ended.reason, "detail": ended.detail})


def recover(loop: Loop, mine: Run) -> Ended | None:
    """Bring a pass that was under way when its runner died to its end. Stages that it had finished are not repeated."""
    text = loop.journal.note(OPEN)
    if not text:
        return None
    under = load(Pass, text)
    loop.tell(f"going on with pass {under.number}, which was interrupted")
    tidy.end_orphan(loop, under)
    came = passes.work(loop, mine, under, lambda: left(loop, mine), resumed=True)
    tidy.after(loop, came)
    return after_pass(loop, mine, came)


def loop_on(loop: Loop, mine: Run, *, once: bool) -> Ended:
    """Pass after pass. Whether the work is complete is judged before any cap is looked at."""
    while True:
        if loop.settings.iterate.until and until_met(loop):
            return Ended(reason="complete", detail=f"`{loop.settings.iterate.until}` succeeds")
        recheck.recheck(loop, mine)
        tasks = load_tasks(loop.folder)
        chosen = discover(
            tasks, loop.journal.states(), loop.settings.discover, agent=loop.folder,
            planned=loop.journal.note("plan/prd"), only=mine.only,
        )  # fmt: skip
        if isinstance(chosen, Idle):
            if chosen.reason == "complete" and recheck.recheck(loop, mine, every=True):
                continue
            return Ended(reason=chosen.reason, detail=chosen.detail)
        if not provable(loop, mine, chosen):
            park_unproved(loop, mine, chosen)
            continue
        ended = bounds(loop, mine) or one(loop, mine, chosen)
        if ended is not None:
            return ended
        if once:
            return only_once(loop)


def provable(loop: Loop, mine: Run, chosen: Chosen) -> bool:
    """Whether anything could ever show that the task is done: no agent is paid for one where nothing can."""
    task = chosen.task
    return bool(not task.id or chosen.mode == "plan" or mine.checker or checks_of(loop, task) or task.screenshot)


def park_unproved(loop: Loop, mine: Run, chosen: Chosen) -> None:
    """Set a task aside that nothing can verify, before its first pass. A retry finds it parked and does nothing."""
    task = chosen.task
    reason = f"{UNPROVED}; then `spiral tasks retry {task.id}`"
    event = Event(
        id=f"{mine.id}-unproved-{task.id}-{secrets.token_hex(3)}", at=loop.clock(), run=mine.id, kind="task.changed",
        task=task.id, data={"from": chosen.state.status, "to": "blocked", "reason": reason},
    )  # fmt: skip
    loop.journal.record([event], states={task.id: replace(chosen.state, status="blocked", reason=reason)})
    tidy.catch_up(loop, mine.id)
    loop.tell(f"{task.id} is parked: {reason}")
    inform(loop, "blocked", {"run": mine.id, "task": task.id, "title": task.title, "reason": reason})


def only_once(loop: Loop) -> Ended:
    """How a run of one pass ended: its task is done, or it is not."""
    last = loop.journal.events(kinds=("pass.ended",), limit=1)[0].data
    if last["outcome"] == "passed":
        return Ended(reason="once", detail=str(last["reason"]))
    return Ended(reason="unverified", detail=f"{last['outcome']}: {last['reason']}")


def alone(loop: Loop, mine: Run, chosen: Chosen) -> Ended:
    """One pass that was chosen by the caller, and no other."""
    ended = bounds(loop, mine) or one(loop, mine, chosen)
    return ended or Ended(reason="once", detail="one pass was asked for")


def one(loop: Loop, mine: Run, chosen: Chosen) -> Ended | None:
    """One pass by an agent that is not rate-limited; why the run stops, or None."""
    agent = available(loop, mine, wanted(loop, mine, chosen))
    if isinstance(agent, Ended):
        return agent
    number = int(loop.journal.note("pass/number") or 0) + 1
    begun = passes.score(loop, mine.id).begun + 1
    if chosen.state.step == "pivot":
        tidy.take_back(loop, chosen.state.base, f"{chosen.task.id}: another approach")
    under = passes.start(loop, mine, chosen, number=number, count=begun, agent=agent)
    about = chosen.task.id or ("open run" if chosen.mode != "plan" else "")
    told = (f"pass {number}", about, chosen.mode, agent, chosen.task.title)
    loop.tell(" · ".join(word for word in told if word))
    came = passes.work(loop, mine, under, lambda: left(loop, mine))
    tidy.after(loop, came)
    return after_pass(loop, mine, came)


def wanted(loop: Loop, mine: Run, chosen: Chosen) -> str:
    """The agent for a pass: another one for another approach, if the settings name one."""
    pivot = loop.settings.iterate.pivot_agent
    return pivot if pivot and chosen.state.step == "pivot" else mine.agent


def after_pass(loop: Loop, mine: Run, came: Passed) -> Ended | None:
    """Why the run stops after this pass, or None."""
    answer, state = came.attempt.answer, came.next.state
    loop.tell(f"pass {came.under.number} · {came.verdict.outcome} · {came.next.reason or came.next.turn}")
    if answer.end == "limit":
        return limited(loop, mine, came)
    if answer.end in UNUSED:
        return Ended(reason=answer.end, detail=answer.detail)
    if came.under.mode == "plan" and not came.under.task.id:
        return after_plan(loop, mine, came)
    if state.status in ("blocked", "decide"):
        tell_parked(loop, mine, came)
        if loop.settings.iterate.stop_on_help:
            return Ended(reason=state.status, detail=state.reason)
    standing = passes.score(loop, came.under.run)
    if standing.unplanned >= loop.settings.iterate.stuck:
        return Ended(reason="stuck", detail=f"{standing.unplanned} plans in a row came to nothing: {came.next.reason}")
    if standing.parked >= loop.settings.iterate.stuck:
        return Ended(
            reason="stuck", detail=f"{loop.settings.iterate.stuck} tasks in a row were parked for want of success"
        )
    return None


def after_plan(loop: Loop, mine: Run, came: Passed) -> Ended | None:
    """Why the run stops after a plan of the whole: without one there is nothing else to go on with."""
    status, most = came.next.state.status, loop.settings.iterate.stuck
    if status in ("blocked", "decide"):
        tell_parked(loop, mine, came)
        return Ended(reason=status, detail=came.next.reason)
    last = loop.journal.events(run=mine.id, kinds=("pass.ended",), limit=most)
    failed = [event for event in last if event.data["mode"] == "plan" and event.data["outcome"] != "passed"]
    if len(failed) >= most:
        return Ended(reason="stuck", detail=f"{most} plans in a row failed, last: {came.next.reason}")
    return None


def tell_parked(loop: Loop, mine: Run, came: Passed) -> None:
    """Tell a person, once, that a task waits for them."""
    task, state = came.under.task, came.next.state
    inform(loop, state.status, {"run": mine.id, "task": task.id, "title": task.title, "reason": state.reason})


def inform(loop: Loop, what: str, facts: dict[str, object]) -> None:
    """Send a notice; that it could not be sent is told here, and stops nothing."""
    everything = {**facts, "app": loop.scope.app}
    fault = notify(loop.settings.notify, loop.journal, what, everything, env=loop.env, now=loop.clock())
    if fault:
        loop.tell(fault)


def left(loop: Loop, mine: Run) -> Budget:
    """What the run may still use up."""
    settings = replace(loop.settings.budget, passes=mine.passes or loop.settings.budget.passes)
    used = passes.score(loop, mine.id).counted
    return budget(settings, loop.journal, mine.id, passes=used, began=mine.began, now=loop.clock())


def bounds(loop: Loop, mine: Run) -> Ended | None:
    """Whether a person or the budget ends the run; warnings on the way are told once each."""
    asked = loop.asked()
    if asked:
        return Ended(reason="interrupted" if asked == "now" else "stopped", detail="asked for by a person")
    now = left(loop, mine)
    for what, mark in now.warnings():
        event = Event(
            id=f"{mine.id}-budget-{what}-{mark}",
            at=loop.clock(),
            run=mine.id,
            kind="budget.warned",
            data={"what": what, "share": mark},
        )
        if not loop.journal.note(f"warned/{event.id}"):
            loop.journal.record([event], notes={f"warned/{event.id}": "1"})
            loop.tell(f"{mark:.0%} of the {what} budget is used: {now.line()}")
    if now.over is not None:
        return Ended(reason="budget", detail=now.line())
    if now.passes_over:
        return Ended(reason="passes", detail=now.line())
    return None


def limited(loop: Loop, mine: Run, came: Passed) -> Ended | None:
    """Note until when the agent's account is limited, for every pass of it, and wait or stop."""
    answer = came.attempt.answer
    seen = int(loop.journal.note(f"limits/{answer.agent}") or 0)
    until = answer.resets or loop.clock() + timedelta(seconds=min(WAIT_UNKNOWN * 2**seen, 3600))
    event = came.under.event(
        "limit.paused", loop.clock(), {"agent": answer.agent, "until": until.isoformat(), "reason": answer.detail}
    )
    loop.journal.record(
        [event], notes={f"limit/{answer.agent}": until.isoformat(), f"limits/{answer.agent}": str(seen + 1)}
    )
    if mine.fallback and mine.fallback != answer.agent:
        return None
    return wait_until(loop, mine, answer.agent, until)


def available(loop: Loop, mine: Run, agent: str) -> str | Ended:
    """The agent, or its fallback while it is rate-limited; waits when there is none."""
    for name in (agent, mine.fallback):
        if name and not limit_of(loop, name):
            return name
    until = limit_of(loop, agent)
    ended = wait_until(loop, mine, agent, until) if until else None
    return ended or agent


def limit_of(loop: Loop, agent: str) -> datetime | None:
    """Until when an agent's account is limited; None when it is not."""
    text = loop.journal.note(f"limit/{agent}")
    until = datetime.fromisoformat(text) if text else None
    return until if until and until > loop.clock() else None


def wait_until(loop: Loop, mine: Run, agent: str, until: datetime) -> Ended | None:
    """Wait out a rate limit, without counting a pass; a person or the wall clock of the budget ends the wait."""
    if loop.settings.iterate.on_limit == "stop":
        return Ended(reason="limit", detail=f"{agent} is rate-limited until {until:%Y-%m-%d %H:%M %Z}")
    loop.tell(f"{agent} is rate-limited; paused until {until:%Y-%m-%d %H:%M:%S %Z}")
    while loop.clock() < until:
        stop = bounds(loop, mine)
        if stop is not None:
            return stop
        time.sleep(min(1.0, max(0.0, (until - loop.clock()).total_seconds())))
    return None
