"""Checks, run on a commit in real processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repositories import run, shop, write
from spiral.loop.checkout import Checkout
from spiral.loop.checks import Means, log_of, run_checks
from spiral.loop.git import Repo
from spiral.loop.process import CAP
from spiral.work import Check


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return shop(tmp_path / "shop")


@pytest.fixture
def checkout(repo: Repo, tmp_path: Path) -> Iterator[Checkout]:
    with Checkout(repo, tmp_path / "cache" / "checkout") as checkout:
        yield checkout


@pytest.fixture
def means(tmp_path: Path) -> Means:
    notes: dict[str, str] = {}
    return Means(
        history=tmp_path / "history", env=os.environ, timeout=30.0, get=lambda name: notes.get(name, ""),
        put=notes.__setitem__,
    )  # fmt: skip


def check(command: str, name: str = "it", timeout: float = 0.0) -> Check:
    return Check(name=name, command=command, timeout=timeout)


def ended(file: Path) -> bool:
    """Whether the process of that number is gone, or waits to be reaped."""
    status = Path("/proc", file.read_text().strip(), "status")
    return not status.exists() or "State:\tZ" in status.read_text()


def changed(means: Means, **fields: object) -> Means:
    return replace(means, **fields)  # type: ignore[arg-type]


def test_every_check_runs_on_the_commit_and_not_on_the_worktree(repo: Repo, checkout: Checkout, means: Means) -> None:
    sha = repo.head()
    write(repo.top, file1_dot_txt="uncommitted\n")
    checks = (check("cat file1.txt; exit 1", "unit tests"), check("echo $CI"), check("no-such-program"))
    results = run_checks(checks, sha, checkout, means)
    assert [(one.passed, one.exit_code, one.sha, one.cached) for one in results] == [
        (False, 1, sha, False), (True, 0, sha, False), (False, 127, sha, False),
    ]  # fmt: skip
    assert [one.output for one in results[:2]] == ["1\n", "1\n"]
    assert "not found" in results[2].output
    assert [one.log for one in results] == ["checks/01-unit-tests.txt", "checks/02-it.txt", "checks/03-it.txt"]
    assert (means.history / "checks/01-unit-tests.txt").read_text() == "1\n"


def test_what_passed_is_not_run_again_on_the_same_files_and_what_failed_is(
    repo: Repo, checkout: Checkout, means: Means, tmp_path: Path
) -> None:
    checks = (check(f"echo x >> {tmp_path}/passed"), check(f"echo x >> {tmp_path}/failed; exit 1"))
    run_checks(checks, repo.head(), checkout, means)
    run(repo.top, "git commit -q --allow-empty -m 'chore: same files'")
    again = run_checks(checks, repo.head(), checkout, means)
    assert [(one.passed, one.cached, one.sha) for one in again] == [
        (True, True, repo.head()), (False, False, repo.head()),
    ]  # fmt: skip
    assert [(tmp_path / name).read_text() for name in ("passed", "failed")] == ["x\n", "x\nx\n"]
    assert "not run again" in (means.history / "checks/01-it.txt").read_text()
    run_checks(checks, repo.head(), checkout, changed(means, setup="true"))
    write(repo.top, more="m\n")
    run_checks(checks, repo.commit_all("feat: more"), checkout, means)
    assert (tmp_path / "passed").read_text() == "x\nx\nx\n"


def test_a_check_that_takes_too_long_is_ended_with_all_its_children(
    repo: Repo, checkout: Checkout, means: Means, tmp_path: Path
) -> None:
    command = f"echo begun; (trap '' TERM; sleep 60) & echo $! > {tmp_path}/pid; sleep 60"
    began = time.monotonic()
    (result,) = run_checks((check(command, timeout=0.5),), repo.head(), checkout, means)
    assert time.monotonic() - began < 10
    assert (result.passed, result.exit_code) == (False, 124)
    assert result.output == "begun\n\n[ended: it took longer than 0.5 s]\n"
    assert ended(tmp_path / "pid")


def test_a_child_left_in_the_background_neither_blocks_nor_survives(
    repo: Repo, checkout: Checkout, means: Means, tmp_path: Path
) -> None:
    began = time.monotonic()
    (result,) = run_checks((check(f"sleep 60 & echo $! > {tmp_path}/pid; echo ok"),), repo.head(), checkout, means)
    assert (result.passed, result.output) == (True, "ok\n")
    assert time.monotonic() - began < 10
    assert ended(tmp_path / "pid")


def test_output_without_end_and_without_encoding_is_bounded(repo: Repo, checkout: Checkout, means: Means) -> None:
    command = f"head -c {CAP + 5_000_000} /dev/zero; printf '\\377 the end'"
    (result,) = run_checks((check(command),), repo.head(), checkout, means)
    assert result.passed and len(result.output) == 4_000 and result.output.endswith("\ufffd the end")
    assert CAP <= (means.history / result.log).stat().st_size < CAP + 100


def test_a_check_sees_no_secret_of_the_runners(repo: Repo, checkout: Checkout, means: Means) -> None:
    secret = changed(means, env=os.environ | {"API_TOKEN": "s3cret", "GIT_DIR": "/nowhere", "LC_TIME": "C"})
    (result,) = run_checks((check("env; git rev-parse HEAD"),), repo.head(), checkout, secret)
    assert "s3cret" not in result.output and "LC_TIME=C" in result.output and repo.head() in result.output


def test_what_one_check_does_to_the_files_does_not_fool_the_next(repo: Repo, checkout: Checkout, means: Means) -> None:
    checks = (check("echo evil > file1.txt; mkdir out; rm .git"), check("cat file1.txt; git status --porcelain"))
    results = run_checks(checks, repo.head(), checkout, means)
    assert results[1].output == "1\n"


def test_what_one_check_builds_the_next_can_use(repo: Repo, checkout: Checkout, means: Means) -> None:
    checks = (check("echo built > app"), check("cat app"))
    assert [one.output for one in run_checks(checks, repo.head(), checkout, means)] == ["", "built\n"]


def test_a_failed_set_up_is_the_one_result(repo: Repo, checkout: Checkout, means: Means) -> None:
    (result,) = run_checks((check("true"),), repo.head(), checkout, changed(means, setup="echo broken; exit 2"))
    assert (result.check.name, result.passed, result.exit_code, result.output) == ("set-up", False, 2, "broken\n")
    assert (means.history / result.log).read_text() == "broken\n"


def test_a_stopped_run_ends_the_check(repo: Repo, checkout: Checkout, means: Means) -> None:
    began = time.monotonic()
    stopped = changed(means, stop=lambda: time.monotonic() - began > 0.3)
    (result,) = run_checks((check("sleep 60"),), repo.head(), checkout, stopped)
    assert (result.passed, result.output) == (False, "\n[ended: the run was stopped]\n")


def test_names_of_checks_become_safe_file_names() -> None:
    assert log_of(3, "../../npm run “lint”: all") == "checks/03-npm-run-lint-all.txt"
    assert log_of(12, "…") == "checks/12-check.txt"
