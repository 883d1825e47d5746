"""`spiral tasks` as a person uses it, as a process of its own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from spiral.app import open_journal
from spiral.place import Folders, find


def statuses(spiral: Run) -> dict[str, str]:
    return {task["id"]: task["status"] for task in json.loads(spiral("tasks", "list", "--json").stdout)["tasks"]}


def test_tasks_are_added_ordered_and_shown(spiral: Run, repo: Path) -> None:
    assert "no tasks yet" in spiral("tasks", "list").stderr
    first = spiral(
        "tasks", "add", "Sign in with a password", "--check", "pytest -q", "--accept", "it works", "-p", "high"
    )
    assert (first.stdout, first.stderr) == ("added TASK-001: Sign in with a password\n", "")
    second = spiral("tasks", "add", "Reset a password", "--depends", "1", "--json")
    assert json.loads(second.stdout)["depends"] == ["TASK-001"]
    assert "nothing proves that it is done" in second.stderr
    assert spiral("tasks", "list").stdout == (
        "TASK-001  open  1  Sign in with a password\n"
        "TASK-002  open  2  Reset a password         needs TASK-001\n"
    )  # fmt: skip
    assert spiral("tasks", "ready").stdout == "TASK-001  1  Sign in with a password\n"
    shown = spiral("tasks", "show", "1").stdout
    assert "needed by   TASK-002" in shown and "checks:\n  - pytest -q" in shown
    inner = repo / "deep"
    inner.mkdir()
    assert json.loads(spiral("tasks", "ready", "--json", cwd=inner).stdout)["waiting"] == [
        {"id": "TASK-002", "needs": ["TASK-001"], "why": "needs TASK-001"}
    ]


def test_a_person_decides_and_the_journal_remembers_it(spiral: Run, repo: Path) -> None:
    (repo / ".agent").mkdir()
    ralph = (
        '[\n  {"id": 1, "title": "Sign in", "passes": true},\n  {"id": 2, "title": "Sign out", "passes": false}\n]\n'
    )
    (repo / ".agent/tasks.json").write_text(ralph)
    assert statuses(spiral) == {"1": "done", "2": "open"}
    assert spiral("tasks", "block", "2", "--reason", "no key").stdout == "2: open → blocked (no key)\n"
    assert (repo / ".agent/tasks.json").read_text() == ralph
    assert statuses(spiral) == {"1": "done", "2": "blocked"}
    assert "nothing is ready: 0 wait, parked: 2 blocked" in spiral("tasks", "ready").stderr
    spiral("tasks", "retry", "1", "2")
    assert (repo / ".agent/tasks.json").read_text() == ralph.replace("true", "false")
    spiral("tasks", "skip", "1", "--json")
    assert statuses(spiral) == {"1": "skipped", "2": "open"}
    journal = open_journal(find(repo, folders=Folders()))
    told = [(event.task, event.data["from"], event.data["to"]) for event in journal.events(kinds=["task.changed"])]
    journal.close()
    assert told == [("2", "open", "blocked"), ("1", "done", "open"), ("2", "blocked", "open"), ("1", "open", "skipped")]
    assert (repo / ".git/spiral/journal.db").exists()


def test_a_task_is_split_and_what_waited_for_it_waits_for_its_parts(spiral: Run) -> None:
    spiral("tasks", "add", "Accounts", "--check", "make test")
    spiral("tasks", "add", "Orders for an account", "--depends", "1")
    assert spiral("tasks", "split", "1", "Sign in", "Sign out").stdout == (
        "split TASK-001 into TASK-003, TASK-004\nadded TASK-003: Sign in\nadded TASK-004: Sign out\n"
    )
    told = json.loads(spiral("tasks", "ready", "--json").stdout)
    assert [task["id"] for task in told["ready"]] == ["TASK-003"]
    assert [(wait["id"], wait["needs"]) for wait in told["waiting"]] == [
        ("TASK-004", ["TASK-003"]), ("TASK-002", ["TASK-003", "TASK-004"]),
    ]  # fmt: skip
    assert "already" in spiral("tasks", "split", "1", "a", "b", code=64).stderr
    assert "TASK-001  skipped" in spiral("tasks", "list").stdout


def test_a_file_is_imported_from_where_one_stands(spiral: Run, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/PRD.md").write_text("# Shop\n- [ ] Sign in\n  - write the form\n- [x] Sign out\n")
    spiral("tasks", "import", "PRD.md", cwd=repo / "docs")
    assert spiral("tasks", "import", "docs/PRD.md").stdout == "0 added, 2 were there already\n"
    assert statuses(spiral) == {"TASK-001": "open", "TASK-002": "done"}


def test_lint_tells_what_will_go_wrong_with_a_code(spiral: Run, repo: Path) -> None:
    spiral("tasks", "add", "Sign in with a password", "--check", "true", "--accept", "it works")
    assert spiral("tasks", "lint").stdout == "1 tasks, nothing to say against them\n"
    spiral("tasks", "add", "Misc", "--depends", "1")
    assert "vague title 'Misc'" in spiral("tasks", "lint").stdout
    spiral("tasks", "lint", "--strict", code=2)
    details = repo / ".agent/tasks/TASK-001.json"
    details.write_text(details.read_text().replace('"dependencies": []', '"dependencies": ["TASK-002"]'))
    told = json.loads(spiral("tasks", "lint", "--json", code=2).stdout)
    assert told["lints"][0]["text"].startswith("in a circle: TASK-001 → TASK-002 → TASK-001")
    assert "circle: " in spiral("tasks", "graph").stdout
    assert json.loads(spiral("tasks", "graph", "--json").stdout)["cycles"] == [["TASK-001", "TASK-002"]]
    details.write_text("{")
    assert "TASK-001: tasks/TASK-001.json is not JSON" in spiral("tasks", "lint", code=2).stdout
    assert "TASK-001: tasks/TASK-001.json is not JSON" in spiral("tasks", "list").stderr


def test_the_graph_has_three_forms(spiral: Run) -> None:
    spiral("tasks", "add", "Sign in")
    assert spiral("tasks", "graph").stdout == "  1  ○ TASK-001  Sign in\n"
    assert spiral("tasks", "graph", "--format", "mermaid").stdout.startswith("flowchart TD\n")
    assert spiral("tasks", "graph", "--format", "dot").stdout.startswith("digraph tasks {\n")


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["show", "9"], 66, "there is no task '9'; `spiral tasks list` shows all"),
        (["show", "TASK-01"], 66, "did you mean 'TASK-001'?"),
        (["add", " "], 64, "there is no title"),
        (["add", "x", "-p", "soonish"], 64, "priority 'soonish' is unknown"),
        (["add", "x", "--depends", "7"], 66, "there is no task '7'"),
        (["import", "nosuch.md"], 64, "there is no file"),
        (["split", "1"], 64, "name the parts in one way"),
        (["split", "1", "only"], 64, "at least two"),
        (["retry"], 64, "Missing argument"),
        (["list", "--status", "odd"], 64, "Invalid value"),
    ],
)
def test_bad_input_gets_one_line_and_the_right_code(spiral: Run, args: list[str], code: int, line: str) -> None:
    spiral("tasks", "add", "Sign in")
    assert line in spiral("tasks", *args, code=code).stderr


def test_a_terminal_gets_a_table_with_heads(spiral: Run, repo: Path) -> None:
    spiral("tasks", "add", "Sign in [now]")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spiral.surfaces.cli.main", "tasks", "list"]
    subprocess.run(command, cwd=repo, stdout=theirs, stderr=subprocess.DEVNULL, check=True, timeout=60)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    assert "status" in shown and "Sign in [now]" in shown


def test_outside_git_the_journal_is_with_the_data_of_the_user(spiral: Run, tmp_path: Path) -> None:
    lone = tmp_path / "lone"
    lone.mkdir()
    spiral("tasks", "add", "Sign in", cwd=lone)
    spiral("tasks", "skip", "1", cwd=lone)
    assert "skipped" in spiral("tasks", "list", cwd=lone).stdout
    assert (tmp_path / "home/.local/share/spiral/lone/journal.db").exists()
