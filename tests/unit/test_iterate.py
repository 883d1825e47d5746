"""How the breaker escalates, and what counts as a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spiral.loop.iterate import Next, iterate
from spiral.tables import IterateSettings, VerifySettings
from spiral.work import Answer, Attempt, Effort, End, Opinion, Promise, TaskState, Verdict

FAILED = Verdict(outcome="failed", reason="pytest is red", signature="s1", sha="abc")


def attempt(end: End = "finished", promise: Promise | None = None, files: tuple[str, ...] = ("a.py",)) -> Attempt:
    return Attempt(answer=Answer(agent="coder", end=end), promise=promise, files=files)


def after(state: TaskState, tried: Attempt, verdict: Verdict, efforts: tuple[Effort, ...] = (), **rest: object) -> Next:
    tuned = replace(IterateSettings(), **rest)  # type: ignore[arg-type]
    return iterate(state, tried, verdict, efforts, iterating=tuned, verifying=VerifySettings(rounds=2), pass_id="p1")


def test_a_task_that_fails_is_retried_then_pivoted_then_split_then_parked() -> None:
    state, turns = TaskState(base="b"), []
    for _ in range(5):
        came = after(state, attempt(), FAILED)
        turns.append(came.turn)
        state = came.state
    assert turns == ["retry", "pivot", "pivot", "split", "park"]
    assert (state.status, state.failures, state.base) == ("blocked", 5, "b")
    assert state.reason == "failed 5 times, last: pytest is red"


def test_without_splitting_it_is_parked_after_the_last_pivot() -> None:
    state, turns = TaskState(), []
    for _ in range(3):
        came = after(state, attempt(), FAILED, split=False, retries=1, pivots=2)
        turns.append(came.turn)
        state = came.state
    assert turns == ["pivot", "pivot", "park"]


def test_a_repeated_approach_is_not_retried_but_pivoted() -> None:
    assert after(TaskState(), attempt(), replace(FAILED, repeats="p0")).turn == "pivot"


def test_success_clears_the_failures_and_keeps_the_evidence() -> None:
    came = after(TaskState(failures=3, step="pivot"), attempt(), Verdict(outcome="passed", sha="abc"))
    assert came.state == TaskState(status="done", done_pass="p1", done_sha="abc")


@pytest.mark.parametrize("end", ["limit", "stopped", "signin", "missing"])
def test_what_says_nothing_about_the_work_is_no_failure(end: End) -> None:
    came = after(TaskState(failures=1), attempt(end), Verdict(outcome="error", reason="x"))
    assert (came.turn, came.state.failures) == ("again", 1)


def test_a_full_turn_cap_with_progress_goes_on_afresh_and_without_progress_fails() -> None:
    assert after(TaskState(), attempt("turns"), FAILED).turn == "again"
    assert after(TaskState(), attempt("turns", files=()), replace(FAILED, outcome="nothing")).turn == "retry"


@pytest.mark.parametrize(("kind", "status"), [("blocked", "blocked"), ("decide", "decide")])
def test_a_call_for_help_parks_the_task(kind: str, status: str) -> None:
    promise = Promise(kind=kind, text="which one?")  # type: ignore[arg-type]
    came = after(TaskState(), attempt(promise=promise), Verdict(outcome="nothing"))
    assert (came.turn, came.state.status, came.state.reason) == ("park", status, "which one?")


def test_a_stalemate_of_maker_and_checker_asks_a_person() -> None:
    refused = Verdict(outcome="rework", opinions=(Opinion(agent="c", outcome="rework", findings=("no test",)),))
    once = Effort(id="p0", number=1, agent="coder", outcome="rework", reason="")
    assert after(TaskState(), attempt(), refused).turn == "retry"
    came = after(TaskState(), attempt(), refused, (once,))
    assert (came.turn, came.state.status) == ("park", "decide")
    assert came.state.reason == "maker and checker disagree after 2 rounds: no test"
    failed_between = replace(once, outcome="failed")
    assert after(TaskState(), attempt(), refused, (once, failed_between)).turn == "retry"
