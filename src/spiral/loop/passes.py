"""One pass, stage by stage; each stage is recorded before the next begins, so a pass can be gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from spiral.loop import act, gather, history, steering, verify
from spiral.loop.budget import Budget
from spiral.loop.codec import dump, load, noun, plain
from spiral.loop.consolidate import consolidate
from spiral.loop.context import Loop, Pass, Run, Score
from spiral.loop.discover import Chosen
from spiral.loop.hydrate import Briefing, Inputs, Text, hydrate
from spiral.loop.iterate import Next, iterate
from spiral.loop.signature import sketch
from spiral.loop.sweep import begin as begin_work
from spiral.memory.served import note_served
from spiral.work import UNUSED, Answer, Attempt, Effort, Expense, TaskState, Usage, Verdict

Left = Callable[[], Budget]
"""What is left of the budget at the moment it is called."""
OPEN = "pass/open"
DIFF = 6_000
ENDS = "when every task is done and verified, or its budget is used up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """How a pass ended."""

    under: Pass
    attempt: Attempt
    verdict: Verdict
    next: Next
    counted: bool
    """Whether it counts against the budget: one that ended at a rate limit does not."""


def start(loop: Loop, run: Run, chosen: Chosen, *, number: int, count: int, agent: str) -> Pass:
    """Begin a pass: its id is minted and recorded before any work, so that a crash finds it and goes on."""
    begun = begin_work(loop.repo, (*act.PROTECTED, *loop.settings.act.protect), act.LEFT)
    state = chosen.state if fresh_base(loop, chosen) else replace(chosen.state, base="")
    state = replace(state, passes=state.passes + 1, base=state.base or begun.base)
    under = Pass(
        id=f"{run.id}-{count:04d}", number=number, run=run.id, task=chosen.task, state=state, mode=chosen.mode,
        agent=agent, start=begun, began=loop.clock(), why=chosen.why, prd=chosen.prd,
        draft=chosen.draft,
    )  # fmt: skip
    data = {
        "number": number, "mode": chosen.mode, "step": state.step, "agent": agent, "base": begun.base,
        "branch": begun.branch, "title": chosen.task.title, "why": chosen.why,
    }  # fmt: skip
    notes = {
        OPEN: dump(under), "pass/number": str(number), "pass/task": chosen.task.id,
        f"score/{run.id}": dump(replace(score(loop, run.id), begun=count)),
    }  # fmt: skip
    states = {} if chosen.mode == "plan" and not chosen.task.id else {chosen.task.id: state}
    loop.journal.record([under.event("pass.started", under.began, data)], states=states, notes=notes)
    return under


def score(loop: Loop, run: str) -> Score:
    """How a run stands."""
    text = loop.journal.note(f"score/{run}")
    return load(Score, text) if text else Score()


def scored(before: Score, under: Pass, came: Next, attempt: Attempt, *, counted: bool, seconds: float) -> Score:
    """How the run stands after a pass. A call for help is no want of success."""
    if under.mode == "plan":
        unplanned = 0 if came.turn == "done" else before.unplanned + counted
        return replace(before, counted=before.counted + counted, unplanned=unplanned, seconds=before.seconds + seconds)
    parked = before.parked
    if came.turn == "done":
        parked = 0
    elif came.turn == "park" and not attempt.promise:
        parked += 1
    return replace(
        before,
        counted=before.counted + counted,
        done=before.done + (came.turn == "done"),
        parked=parked,
        seconds=before.seconds + seconds,
    )


def fresh_base(loop: Loop, chosen: Chosen) -> bool:
    """Whether the task's base still holds: no other task was worked on since."""
    return loop.journal.note("pass/task") == chosen.task.id


def work(loop: Loop, run: Run, under: Pass, left: Left, *, resumed: bool = False) -> Passed:
    """Do what is left to do of a pass. Stages that are recorded are read, not done again."""
    began = time.monotonic()
    recorded = {event.kind: event.data for event in loop.journal.events(pass_id=under.id)}
    tried = gather.efforts(loop.journal, under.task.id) if under.mode != "plan" or under.task.id else ()
    briefing = hydrated(loop, under, tried, left(), recorded.get("pass.hydrated"))
    attempt = acted(loop, run, under, briefing, left(), recorded.get("pass.acted"), resumed=resumed)
    verdict = verified(loop, run, under, attempt, tried, left, recorded.get("pass.verified"))
    effort = effort_of(loop, under, attempt, verdict)
    if "pass.consolidated" not in recorded:
        learn(loop, under, attempt, verdict, effort)
    came = iterate(
        under.state, attempt, verdict, tried, iterating=loop.settings.iterate, verifying=loop.settings.verify,
        pass_id=under.id,
    )  # fmt: skip
    return Passed(
        under=under,
        attempt=attempt,
        verdict=verdict,
        next=came,
        counted=finish(loop, under, attempt, verdict, came, effort, began),
    )


def inputs_of(loop: Loop, under: Pass, tried: tuple[Effort, ...], budget: Budget) -> tuple[Inputs, gather.Remembered]:
    """Everything that the briefing is made of, as it is now; writes nothing."""
    page = loop.store.folder.root / "MEMORY.md"
    texts = gather.texts(loop.place.project, page, under.task, steering.steering(loop.folder, loop.journal))
    texts["git"] = Text(source="git", text=loop.repo.state_text())
    if under.state.answer:
        texts["answer"] = Text(source="journal", text=f"{under.state.reason}\n\n{under.state.answer}")
    known = gather.Remembered()
    if loop.settings.hydrate.memory:
        known = gather.remembered(loop.store, loop.scope, under.task, tried)
    inputs = Inputs(
        pass_id=under.id, number=under.number, mode=under.mode, task=under.task, state=under.state, left=budget.line(),
        ends=ENDS, texts=texts, known=known.known, efforts=tried, attempt=under.state.passes,
    )  # fmt: skip
    return inputs, known


def hydrated(
    loop: Loop, under: Pass, tried: tuple[Effort, ...], budget: Budget, before: Mapping[str, object] | None
) -> Briefing:
    """The briefing, from inputs that are kept so that it can be made again byte for byte."""
    settings = loop.settings.hydrate
    if before is not None:
        return hydrate(load(Inputs, loop.journal.kept(str(before["inputs"]))), settings)
    inputs, known = inputs_of(loop, under, tried, budget)
    briefing = hydrate(inputs, settings)
    folder = history.pass_folder(loop.folder, under.run, under.id)
    history.write(folder / "briefing.md", briefing.text)
    history.write(folder / "manifest.json", dump({"policy": briefing.policy, "sections": briefing.sections}) + "\n")
    if briefing.served:
        note_served(loop.store, briefing.served, loop.scope, under.id)
    data = {
        "tokens": briefing.tokens, "policy": briefing.policy, "inputs": loop.journal.keep(dump(inputs)),
        "briefing": loop.journal.keep(briefing.text), "sections": plain(briefing.sections),
        "settings": plain(settings),
        "served": list(briefing.served), "degraded": list(known.degraded),
    }  # fmt: skip
    loop.journal.record([under.event("pass.hydrated", loop.clock(), data)])
    return briefing


def acted(
    loop: Loop,
    run: Run,
    under: Pass,
    briefing: Briefing,
    budget: Budget,
    before: Mapping[str, object] | None,
    *,
    resumed: bool,
) -> Attempt:
    """What the agent did. When the runner died while the agent was at work, what it left is settled and the pass ends
    as stopped: the next one goes on from there."""
    if before is not None:
        return noun(Attempt, before["attempt"])  # type: ignore[arg-type]
    if resumed:
        gone = Answer(agent=under.agent, end="stopped", detail="the runner ended while the agent was at work")
        attempt = act.settled(loop, under, gone)
    else:
        attempt = act.act(loop, under, briefing.text, budget, agent=under.agent, args=run.args)
    answer = attempt.answer
    folder = history.pass_folder(loop.folder, under.run, under.id)
    history.write(folder / "final.md", answer.text)
    kept = replace(attempt, answer=replace(answer, text=answer.text[-20_000:], messages=answer.messages[-40:]))
    role: Literal["planner", "maker"] = "planner" if under.mode == "plan" else "maker"
    expense = Expense(
        id=f"{under.id}-{role}", at=loop.clock(), run=under.run, pass_id=under.id, task=under.task.id,
        agent=answer.agent, role=role, model=answer.model, usage=answer.usage,
    )  # fmt: skip
    loop.journal.record([under.event("pass.acted", loop.clock(), {"attempt": plain(kept)})], expenses=[expense])
    return kept


def verified(
    loop: Loop,
    run: Run,
    under: Pass,
    attempt: Attempt,
    tried: tuple[Effort, ...],
    left: Left,
    before: Mapping[str, object] | None,
) -> Verdict:
    """What the runner found, and what the checker said."""
    if before is not None:
        return noun(Verdict, before["verdict"])  # type: ignore[arg-type]
    expenses: list[Expense] = []
    if under.mode == "plan":
        verdict = verify.plan_verdict(loop, under, attempt)
    else:
        verdict, expenses = verify.verify(loop, run, under, attempt, tried, left)
    folder = history.pass_folder(loop.folder, under.run, under.id)
    history.write(folder / "verdict.json", dump(verdict) + "\n")
    loop.journal.record([under.event("pass.verified", loop.clock(), {"verdict": plain(verdict)})], expenses=expenses)
    return verdict


def effort_of(loop: Loop, under: Pass, attempt: Attempt, verdict: Verdict) -> Effort:
    """The pass as later passes at the task need to know it."""
    diff = ""
    if attempt.files and attempt.base != attempt.head:
        diff = loop.repo.diff(attempt.base, attempt.head, limit=DIFF, exclude=(".agent",))
    red = [one for one in verdict.checks if not one.passed]
    return Effort(
        id=under.id, number=under.number, agent=attempt.answer.agent, outcome=verdict.outcome, reason=verdict.reason,
        signature=verdict.signature, failing=tuple((one.check.name, one.output[-1_500:]) for one in red),
        findings=tuple(finding for opinion in verdict.opinions for finding in opinion.findings)[:12],
        summary=summary(attempt.answer.text), diff=diff, files=attempt.files[:40], sketch=sketch(diff)[:400],
        repeats=verdict.repeats, sha=attempt.head,
    )  # fmt: skip


def summary(message: str) -> str:
    """What the agent said it did: its final message without the promise, bounded."""
    lines = [line for line in message.strip().splitlines() if "<promise>" not in line]
    return "\n".join(lines).strip()[-1_200:]


def learn(loop: Loop, under: Pass, attempt: Attempt, verdict: Verdict, effort: Effort) -> None:
    """Keep what the pass taught. Content ids make a retry change nothing."""
    made: tuple[str, ...] = ()
    if loop.settings.consolidate.learn and under.mode != "plan" and attempt.answer.end not in UNUSED:
        made = consolidate(loop.store, loop.scope, under.task, attempt, verdict, effort)
        loop.wrote()
    loop.journal.record([under.event("pass.consolidated", loop.clock(), {"memories": list(made)})])


def finish(
    loop: Loop, under: Pass, attempt: Attempt, verdict: Verdict, came: Next, effort: Effort, began: float
) -> bool:
    """Record the end of the pass with the task's new state, in one transaction: from here on it has happened."""
    counted = attempt.answer.end not in UNUSED
    now = loop.clock()
    usage = sum((one.usage for one in loop.journal.expenses(run=under.run) if one.pass_id == under.id), Usage())
    seconds = (now - under.began).total_seconds()
    spent = attempt.answer.seconds + sum(one.seconds for one in verdict.checks if not one.cached)
    data = {
        "number": under.number, "mode": under.mode, "outcome": verdict.outcome, "reason": came.reason or verdict.reason,
        "next": came.turn, "status": came.state.status, "agent": attempt.answer.agent, "usage": plain(usage),
        "seconds": round(seconds, 3), "overhead": round(max(0.0, time.monotonic() - began - spent), 3),
        "sha": attempt.head, "title": under.task.title, "counted": counted, "effort": plain(effort),
        "repeats": verdict.repeats, "promise": plain(attempt.promise) if attempt.promise else None,
    }  # fmt: skip
    events = [under.event("pass.ended", now, data)]
    states: dict[str, TaskState] = {}
    standing = scored(score(loop, under.run), under, came, attempt, counted=counted, seconds=seconds)
    notes = {OPEN: "", f"score/{under.run}": dump(standing)}
    if under.mode == "plan":
        if verdict.passed and under.prd:
            notes["plan/prd"] = under.prd
        if under.task.id:
            states[under.task.id] = split_state(under, came, verdict)
    else:
        states[under.task.id] = came.state
    for task, state in states.items():
        if state.status != under.state.status:
            change = {"from": under.state.status, "to": state.status, "reason": came.reason}
            events.append(under.event("task.changed", now, change))
        if state.status == "decide":
            events.append(under.event("decide.asked", now, {"question": state.reason, "task": task}))
    loop.journal.record(events, states=states, notes=notes)
    return counted


def split_state(under: Pass, came: Next, verdict: Verdict) -> TaskState:
    """A task whose split was planned gives way to its parts; one whose plan failed goes on to be parked."""
    if verdict.passed:
        return replace(under.state, status="skipped", reason=verdict.reason)
    return came.state
