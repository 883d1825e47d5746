"""What comes after a pass: done, again, retry, pivot, split, park."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from spiral.tables import IterateSettings, VerifySettings
from spiral.work import UNUSED, Attempt, Effort, TaskState, Verdict

Turn = Literal["done", "again", "retry", "pivot", "split", "park"]
"""`again`: a fresh pass goes on, because nothing was wrong with the approach."""

REFUSED = ("rework", "rejected")


@dataclass(frozen=True, kw_only=True, slots=True)
class Next:
    """How a task stands after a pass, and what happens to it next."""

    turn: Turn
    state: TaskState
    reason: str


def iterate(
    state: TaskState,
    attempt: Attempt,
    verdict: Verdict,
    tried: tuple[Effort, ...],
    *,
    iterating: IterateSettings,
    verifying: VerifySettings,
    pass_id: str,
) -> Next:
    """The next step of a task. Pure. Only what went wrong with the work counts as a failure: a rate limit, a stop by a
    person or a full turn cap with progress does not."""
    if verdict.passed:
        done = replace(
            state, status="done", reason="", failures=0, step="retry", done_pass=pass_id, done_sha=verdict.sha
        )
        return Next(turn="done", state=done, reason=verdict.reason)
    promise = attempt.promise
    if promise is not None and promise.kind == "blocked":
        return parked(state, "blocked", promise.text or "the agent is blocked and does not say why")
    if promise is not None and promise.kind == "decide":
        return parked(state, "decide", promise.text or "the agent wants a decision and does not say which")
    if blameless(attempt, verdict):
        return Next(turn="again", state=replace(state, status="open"), reason=verdict.reason)
    if stalemate(verdict, tried, verifying.rounds):
        said = "; ".join(finding for opinion in verdict.opinions[-1:] for finding in opinion.findings[:3])
        return parked(state, "decide", f"maker and checker disagree after {verifying.rounds} rounds: {said}")
    return escalated(state, verdict, iterating)


def blameless(attempt: Attempt, verdict: Verdict) -> bool:
    """Whether the pass ended for a reason that says nothing about its approach."""
    end = attempt.answer.end
    if end in (*UNUSED, "stopped"):
        return True
    return end in ("turns", "budget", "timeout") and bool(attempt.files) and not verdict.repeats


def stalemate(verdict: Verdict, tried: tuple[Effort, ...], rounds: int) -> bool:
    """Whether the checker has now refused work with green checks as often as it may."""
    if verdict.outcome not in REFUSED:
        return False
    count = 1
    for effort in reversed(tried):
        if effort.outcome not in REFUSED:
            break
        count += 1
    return count >= rounds


def escalated(state: TaskState, verdict: Verdict, settings: IterateSettings) -> Next:
    """One failure more: retry with the failure in hand, then other approaches, then smaller tasks, then park."""
    failures = state.failures + 1
    after = replace(state, status="open", failures=failures, reason=verdict.reason)
    tries = settings.retries + settings.pivots
    if failures >= tries and (not settings.split or state.step == "split"):
        return parked(replace(after, step="park"), "blocked", f"failed {failures} times, last: {verdict.reason}")
    if failures >= tries:
        return Next(turn="split", state=replace(after, step="split"), reason=verdict.reason)
    if failures >= settings.retries or (verdict.repeats and settings.pivots):
        return Next(turn="pivot", state=replace(after, step="pivot"), reason=verdict.reason)
    return Next(turn="retry", state=replace(after, step="retry"), reason=verdict.reason)


def parked(state: TaskState, status: Literal["blocked", "decide"], reason: str) -> Next:
    """Set aside until a person opens it again."""
    return Next(turn="park", state=replace(state, status=status, reason=reason, answer=""), reason=reason)
