"""What is said against tasks before they are worked on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spiral.loop.lint import Lint, lint
from spiral.work import Check, Task

GOOD = Task(
    id="A",
    title="Sign in with a password",
    acceptance=("a wrong password is refused",),
    checks=(Check(name="tests", command="pytest"),),
)


def said(top: Path, *tasks: Task, largest: int = 12, checks: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    return [(one.task, one.level, one.text) for one in lint(tasks, top, largest, checks=checks)]


def test_nothing_is_said_against_a_good_task(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    assert said(tmp_path, replace(GOOD, files=("a.py", "*.py", "."))) == []


def test_errors_come_first_and_name_the_cure(tmp_path: Path) -> None:
    tasks = [
        replace(GOOD, title="Fix bugs"),
        replace(GOOD, id="TASK-1", depends=("TASK-2",)),
        replace(GOOD, id="TASK-2", depends=("TASK-1", "TASK-", "Z")),
        replace(GOOD, id="TASK-2"),
    ]
    assert lint(tasks, tmp_path, 12) == [
        Lint(
            task="TASK-1", level="error", text="in a circle: TASK-1 → TASK-2 → TASK-1; remove one of these dependencies"
        ),
        Lint(task="TASK-2", level="error", text="2 tasks have this id; give each its own"),
        Lint(task="TASK-2", level="error", text="depends on 'TASK-', which is not in the list; did you mean 'TASK-2'?"),
        Lint(
            task="TASK-2",
            level="error",
            text="depends on 'Z', which is not in the list; add that task, or remove the dependency",
        ),
        Lint(task="A", level="warning", text="vague title 'Fix bugs': say what will be different, where"),
    ]


def test_a_task_is_too_large_by_its_steps_criteria_and_files_together(tmp_path: Path) -> None:
    large = replace(GOOD, steps=("a", "b", "c"))
    assert said(tmp_path, large, largest=4) == []
    assert said(tmp_path, large, largest=3) == [
        (
            "A",
            "warning",
            "too large: 3 steps, 1 criteria and 0 files are more than 3; split it with `spiral tasks split A …`",
        )
    ]


def test_a_task_without_checks_is_fine_where_the_project_has_some(tmp_path: Path) -> None:
    bare = replace(GOOD, checks=())
    assert said(tmp_path, bare, checks=("make test",)) == []
    assert "verify.checks" in said(tmp_path, bare)[0][2]


def test_a_file_that_is_missing_is_named_with_those_near_it(tmp_path: Path) -> None:
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/login.py").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/login.py").touch()
    told = said(tmp_path, replace(GOOD, files=("shop/login.py", "src/shop/logn.py", "zzz", "../x", "src/*.js")))
    assert [text for _, _, text in told] == [
        "file 'shop/login.py' does not exist (near ones: src/shop/login.py); correct it unless the task makes it",
        "file 'src/shop/logn.py' does not exist (near ones: src/shop/login.py); correct it unless the task makes it",
        "file 'zzz' does not exist (nothing like it is); correct it unless the task makes it",
        "file '../x' is outside the project; name it from the project's top folder",
        "file 'src/*.js' does not exist (nothing like it is); correct it unless the task makes it",
    ]


@pytest.mark.parametrize("title", ["Fix", "Improve the code", "various fixes", "Login, signup etc", "tests"])
def test_vague_titles_are_told(tmp_path: Path, title: str) -> None:
    assert said(tmp_path, replace(GOOD, title=title))[0][2].startswith("vague title")


@pytest.mark.parametrize("title", ["Fix the rounding of prices", "Test the login form", "Update pytest to 8"])
def test_plain_titles_are_not(tmp_path: Path, title: str) -> None:
    assert said(tmp_path, replace(GOOD, title=title)) == []


def test_what_is_done_is_left_in_peace(tmp_path: Path) -> None:
    assert said(tmp_path, Task(id="A", title="x", status="done")) == []
