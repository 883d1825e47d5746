"""The simulated agent of the demo: what it does follows from the text that it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spiral.demo.agent import TRIED, Deed, decide, failed, message
from spiral.demo.plot import plot
from spiral.demo.project import Terms, described, written
from spiral.demo.shop import CLAIM, Job, shop
from spiral.loop.consolidate import lessons
from spiral.loop.promise import promised
from spiral.loop.signature import signature
from spiral.work import Check, CheckResult

JOBS = {job.id: job for job in shop().jobs}


def briefing(number: int, task: str, *more: str) -> str:
    return "\n".join((f"This is pass {number}, attempt 2 at task {task}.", *more))


def earlier(number: int, name: str, outcome: str = "failed") -> str:
    return f"- pass {number}: {outcome} (test_split). {TRIED.format(name=name)} It is done."


def decided(text: str, *, seed: int = 1, heed: float = 1.0) -> Deed:
    deed = decide(text, seed, heed)
    assert deed is not None
    return deed


def test_the_same_text_gives_the_same_deed_and_another_pass_another_one() -> None:
    assert decided(briefing(3, "T2")) == decided(briefing(3, "T2"))
    assert len({decided(briefing(number, "T2")).way.name for number in range(40)}) == len(JOBS["T2"].ways)


def test_who_heeds_never_takes_a_way_that_the_briefing_says_failed() -> None:
    lines = [earlier(1, "whole division"), earlier(2, CLAIM, "nothing"), earlier(3, "the rest to the last one")]
    taken = {decided(briefing(number, "T2", *lines)).way.name for number in range(60)}
    assert taken == {"floats with two places", "the rest to the first one", "one cent more for the first ones"}


def test_who_does_not_heed_repeats_what_failed() -> None:
    lines = [earlier(1, "whole division")]
    assert "whole division" in {decided(briefing(number, "T2", *lines), heed=0.0).way.name for number in range(60)}


def test_a_way_that_passed_or_was_tried_at_another_task_is_not_avoided() -> None:
    assert failed(earlier(1, "round()", "passed"), JOBS["T3"]) == set()
    assert failed(earlier(1, "UTF-8"), JOBS["T3"]) == set()
    assert failed(earlier(1, "UTF-8"), JOBS["T6"]) == {"UTF-8"}


def test_a_fact_in_the_briefing_makes_it_think_of_the_right_way() -> None:
    fact = JOBS["T1"].learned
    without = [decided(briefing(number, "T4")).way.works for number in range(100)]
    told = [decided(briefing(number, "T4", fact)).way.works for number in range(100)]
    assert sum(without) < 15
    assert sum(told) > 60


def test_every_fact_that_a_way_needs_is_taught_by_a_task_before_it() -> None:
    taught = ""
    for job in shop().jobs:
        assert all(way.fact in taught for way in job.ways if way.fact)
        taught += job.learned


def test_it_says_that_it_is_simulated_and_promises_whatever_it_did() -> None:
    deed = decided(briefing(1, "T2"))
    said = message(deed)
    assert said.startswith("Simulated agent.")
    promise = promised(said)
    assert promise is not None and (promise.kind, promise.text) == ("done", "T2")
    assert lessons(said) == ([deed.job.learned] if deed.way.works else [])


def test_a_task_that_it_does_not_know_is_not_decided() -> None:
    assert decide("This is pass 1, attempt 1 at task OTHER.", 1, 1.0) is None
    assert decide("Do something.", 1, 1.0) is None


def result_of(folder: Path, job: Job) -> CheckResult:
    command = [sys.executable, "-B", "-m", "unittest", "-q", f"tests.test_{Path(job.file).stem}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    check = Check(name="tests", command=str(described(job)["checks"]))
    return CheckResult(
        check=check, sha="", passed=done.returncode == 0, exit_code=done.returncode, output=done.stderr[-4_000:]
    )


@pytest.mark.parametrize("job", [JOBS["T3"], JOBS["T4"]], ids=["T3", "T4"])
def test_the_tempting_ways_fail_the_real_tests_each_in_its_own_manner(job: Job, tmp_path: Path) -> None:
    for name, body in written(Terms(), memory=True).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(body)
    for need in job.depends:
        (tmp_path / JOBS[need].file).write_text(next(way.code for way in JOBS[need].ways if way.works))
    marks = []
    for way in job.ways:
        if way.code:
            (tmp_path / job.file).write_text(way.code)
            result = result_of(tmp_path, job)
            assert result.passed == way.works, result.output
            marks += [] if way.works else [signature((result,))]
    assert len(set(marks)) == len(marks)


def test_the_plot_shows_both_halves() -> None:
    assert plot([0, 1], [1, 2, 2], 2) == ["  2 ┤  ●●", "  1 ┤ ●○", "  0 ┤◉○", "    └────", "     0  3  passes"]
    assert len(plot([1] * 300, [2] * 10, 2)[0]) < 80
