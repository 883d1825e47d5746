"""`spiral run`, `resume`, `stop`, `pause`, `steer`, `decide` and `plan`, as processes with a scripted agent."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Run
from loop_project import AGENT, Project, git, make_project

GREET = {"id": "TASK-001", "title": "Add a greeting", "checks": ["test -f hello.txt"]}
PART = {"id": "TASK-002", "title": "Add a farewell", "checks": ["test -f bye.txt"]}
DONE = "Done.\n<promise>COMPLETE</promise>"
HELLO = {"for": "### TASK-001", "write": {"hello.txt": "hi"}, "commit": "feat: greet", "say": DONE}
BYE = {"for": "### TASK-002", "write": {"bye.txt": "bye"}, "commit": "feat: part", "say": DONE}
SLOW = {**HELLO, "sleep": 5}
PLAN = {
    "for": "planning pass",
    "say": "```json\n"
    + json.dumps(
        {
            "tasks": [
                {
                    "id": "a",
                    "title": "Add a greeting",
                    "acceptanceCriteria": ["it greets"],
                    "checks": ["test -f hello.txt"],
                },
                {"id": "b", "title": "Add a farewell", "checks": ["test -f bye.txt"], "dependencies": ["a"]},
            ]
        }
    )
    + "\n```\n<promise>COMPLETE</promise>",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository whose settings name a scripted agent."""
    made = make_project(tmp_path)
    made.script(HELLO, BYE)
    made.tasks(GREET, PART)
    command = [sys.executable, str(AGENT), str(made.scripts / "scripted/script.json")]
    (made.folder / "spiral.toml").write_text(
        f'[act]\nagent = "scripted"\n[act.agents.scripted]\ncommand = {json.dumps(command)}\nstream = "claude"\n'
        '[verify]\nchecker = "none"\n[embedder]\nmodel = "none"\n'
    )
    return made


def started(project: Project, *args: str) -> subprocess.Popen[str]:
    """The command line, at work on a task."""
    command = [sys.executable, "-m", "spiral", *args]
    child = subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for(lambda: list(project.folder.glob(".agent/history/r-*/*/command.json")), child)
    return child


def wait_for(what: Callable[[], object], child: subprocess.Popen[str]) -> None:
    """Until it is so, while the process lives."""
    last = time.monotonic() + 60
    while not what():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < last
        time.sleep(0.05)


def test_a_run_tells_its_passes_and_ends_with_what_it_came_to(project: Project, spiral: Run) -> None:
    told = spiral("run").stdout.splitlines()
    assert any("pass 1 · TASK-001 · implement · scripted · Add a greeting" in line for line in told)
    assert any("pass 2 · passed · 1 checks green" in line for line in told)
    assert told[-3:] == ["2 passes, 2 tasks done, $0.02", "complete", "next: spiral report"]
    assert project.outcomes() == [("TASK-001", "passed"), ("TASK-002", "passed")]


def test_for_machines_every_line_is_an_object_and_the_last_is_the_result(project: Project, spiral: Run) -> None:
    told = [json.loads(line) for line in spiral("run", "--json", "--once").stdout.splitlines()]
    kinds = [one["event"]["kind"] for one in told if "event" in one]
    assert kinds[0] == "run.started" and kinds[-1] == "run.ended"
    assert told[-1] == {"ended": {"reason": "once", "detail": "1 checks green", "code": 0}}


def test_flags_become_settings_and_arguments_reach_the_agent(project: Project, spiral: Run) -> None:
    end = spiral(
        "run", "-n", "1", "--max-cost", "3", "--max-time", "90m", "--max-tokens", "1000", "--", "--extra", code=1
    )
    assert "next: spiral resume -n N" in end.stdout
    begun = project.events("run.started")[0]
    assert begun.data["budget"] == {"passes": 1, "hours": 1.5, "cost": 3.0, "tokens": 1000}
    command = next(project.folder.glob(".agent/history/r-*/*/command.json"))
    assert "--extra" in json.loads(command.read_text())["argv"]


def test_a_resumed_run_keeps_its_bounds_unless_others_are_given(project: Project, spiral: Run) -> None:
    spiral("run", "-n", "1", code=1)
    assert "1 of 1 passes" in spiral("resume", code=1).stdout
    assert spiral("resume", "-n", "5").stdout.splitlines()[-2] == "complete"
    assert len(project.events("run.started")) == 1


def test_one_task_alone_by_its_number(project: Project, spiral: Run) -> None:
    spiral("run", "--task", "2")
    assert project.outcomes() == [("TASK-002", "passed")]
    assert "there is no task 'TASK-009'" in spiral("run", "--task", "TASK-009", code=66).stderr


def test_until_a_command_succeeds(project: Project, spiral: Run) -> None:
    assert "complete: `test -f hello.txt` succeeds" in spiral("run", "--until", "test -f hello.txt").stdout
    assert project.outcomes() == [("TASK-001", "passed")]


def test_a_dry_run_shows_the_next_pass_and_leaves_no_trace(project: Project, spiral: Run) -> None:
    spiral("steer", "Use English.")
    told = spiral("run", "--dry-run", "--task", "2", "--agent", "scripted").stdout
    assert "task        TASK-002  Add a farewell" in told
    assert "checks      test -f bye.txt" in told
    assert re.search(r"^  steering +\d+  ", told, re.MULTILINE) and re.search(
        r"^briefing +\d+ tokens", told, re.MULTILINE
    )
    shown = json.loads(spiral("run", "--dry-run", "--json").stdout)
    assert (shown["task"], shown["agent"], shown["checker"]) == ("TASK-001", "scripted", "")
    assert project.events("run.started", "pass.started") == []
    assert not (project.folder / ".agent/history").exists()


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["run", "--max-time", "soon"], 64, "--max-time 'soon' is no time; write hours (6), or 90m, 2h"),
        (["run", "--agent", "cladue"], 64, "unknown agent 'cladue'; did you mean 'claude'?"),
        (["run", "-n", "0"], 64, "0 is not in the range"),
        (["resume"], 66, "there is no run to resume; `spiral run` starts one"),
        (["stop"], 66, "no run is at work here"),
        (["pause"], 66, "no run is at work here"),
        (["steer"], 64, "give a TEXT in quotes"),
        (["steer", "--drop", "nosuch"], 66, "nothing is steered by the name 'nosuch'"),
        (["decide", "9", "yes"], 66, "there is no task '9'"),
        (["plan"], 64, "there is no PRD to plan from"),
        (["plan", "nosuch.md"], 64, "there is no file 'nosuch.md'"),
    ],
)
def test_wrong_use_gets_one_line(project: Project, spiral: Run, args: list[str], code: int, line: str) -> None:
    assert line in spiral(*args, code=code).stderr


def test_with_no_task_the_way_to_one_is_told(project: Project, spiral: Run) -> None:
    project.tasks()
    (project.folder / ".agent/PROMPT.md").write_text("Do the task.")
    assert "there is no task; `spiral tasks add" in spiral("run", code=64).stdout


def test_stop_ends_after_the_pass_and_a_second_run_is_refused_meanwhile(project: Project, spiral: Run) -> None:
    project.script(SLOW, BYE)
    with started(project, "run") as child:
        assert "is at work in this repository" in spiral("run", code=11).stderr
        assert "rests after the pass under way" in spiral("pause").stdout
        told, _ = child.communicate(timeout=60)
    assert (child.returncode, told.splitlines()[-1]) == (143, "next: spiral resume")
    assert project.outcomes() == [("TASK-001", "passed")]
    spiral("resume")
    assert project.outcomes() == [("TASK-001", "passed"), ("TASK-002", "passed")]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_now_and_its_work_goes_on_later(project: Project, spiral: Run, sent: int, code: int) -> None:
    project.script({"for": "### TASK-001", "hang": True}, HELLO, BYE)
    with started(project, "run") as child:
        child.send_signal(sent)
        if sent == signal.SIGINT:
            time.sleep(0.3)
            child.send_signal(sent)
        told, _ = child.communicate(timeout=60)
    assert child.returncode == code, told
    assert "interrupted" in told.splitlines()[-2]
    spiral("resume")
    assert [task for task, outcome in project.outcomes() if outcome == "passed"] == ["TASK-001", "TASK-002"]


def test_one_ctrl_c_lets_the_pass_end(project: Project) -> None:
    project.script(SLOW, BYE)
    with started(project, "run") as child:
        child.send_signal(signal.SIGINT)
        told, _ = child.communicate(timeout=60)
    assert (child.returncode, "ending after this pass; Ctrl-C again ends it now" in told) == (130, True)
    assert project.outcomes() == [("TASK-001", "passed")]


def test_stop_now_ends_the_agent(project: Project, spiral: Run) -> None:
    project.script({"hang": True})
    with started(project, "run") as child:
        assert "ends now" in spiral("stop", "--now").stdout
        child.communicate(timeout=60)
    assert child.returncode == 130


def test_a_question_is_answered_and_the_answer_reaches_the_next_pass(project: Project, spiral: Run) -> None:
    asking = {"for": "### TASK-001", "say": "<promise>DECIDE:English or French?</promise>"}
    project.script(asking, HELLO, BYE)
    end = spiral("run", code=3).stdout
    assert end.splitlines()[-1] == 'next: spiral decide TASK-001 "…"'
    assert "TASK-001 asked: English or French?" in spiral("decide", "1", "French, please.").stdout
    spiral("run")
    assert "French, please." in project.prompts()[-1]
    assert "is done and waits for nothing" in spiral("decide", "1", "Again.", code=64).stderr


def test_an_agent_can_call_spiral_from_within_a_pass(project: Project, spiral: Run) -> None:
    source = Path(__file__).parents[2] / "src"
    asking = (
        f"PYTHONPATH={source} {sys.executable} -m spiral recall greeting > recalled.txt 2>&1; echo $? >> recalled.txt"
    )
    project.script({**HELLO, "shell": asking})
    spiral("run", "--once")
    assert (project.folder / "recalled.txt").read_text().splitlines()[-1] == "0"


def test_steering_is_told_until_it_is_dropped(project: Project, spiral: Run) -> None:
    name = json.loads(spiral("steer", "Only ASCII.", "--json").stdout)["name"]
    assert spiral("steer", "--list").stdout == f"{name}  Only ASCII.\n"
    spiral("run", "--once")
    spiral("steer", "--drop", name)
    spiral("run", "--once")
    assert ["Only ASCII." in prompt for prompt in project.prompts()] == [True, False]


def test_a_text_becomes_tasks_and_the_tasks_become_work(project: Project, spiral: Run, tmp_path: Path) -> None:
    shutil.rmtree(project.folder / ".agent/tasks")
    project.tasks()
    project.script(PLAN, HELLO, BYE)
    (tmp_path / "idea.md").write_text("The shop greets.\n")
    draft = spiral("plan", str(tmp_path / "idea.md"), "--dry-run").stdout
    assert "2 tasks, none written" in draft and "check: test -f hello.txt" in draft
    assert json.loads((project.folder / ".agent/tasks.json").read_text()) == {"tasks": []}
    assert not (project.folder / ".agent/prd").exists()
    told = spiral("plan", str(tmp_path / "idea.md"))
    assert "TASK-002 Add a farewell  (after TASK-001)" in told.stdout
    assert "TASK-002: no acceptance criteria" in told.stderr
    assert (project.folder / ".agent/prd/PRD.md").read_text() == "The shop greets.\n"
    assert "The shop greets." in project.prompts()[0]
    spiral("run")
    assert [task for task, outcome in project.outcomes() if outcome == "passed"] == ["", "TASK-001", "TASK-002"]


def test_a_second_text_is_planned_beside_the_prd_and_is_not_planned_twice(project: Project, spiral: Run) -> None:
    (project.folder / ".agent/prd").mkdir()
    (project.folder / ".agent/prd/PRD.md").write_text("The whole shop.\n")
    project.tasks({"id": "TASK-001", "title": "Sweep the floor"})
    project.script(PLAN)
    found = json.loads(spiral("plan", "-", "--json", stdin="An issue: be polite.").stdout)
    assert ([task["id"] for task in found["tasks"]], found["fault"]) == (["TASK-003", "TASK-004"], "")
    assert (project.folder / ".agent/prd/PRD.md").read_text() == "The whole shop.\n"
    assert json.loads(spiral("run", "--dry-run", "--json").stdout)["mode"] == "implement"


def test_an_answer_that_is_no_plan_changes_nothing(project: Project, spiral: Run) -> None:
    project.script({"write": {"code.py": "x = 1"}, "commit": "feat: code instead", "say": DONE})
    told = spiral("plan", "-", stdin="An issue.", code=10)
    assert "no plan: the answer holds no JSON object with tasks" in told.stderr
    assert not (project.folder / "code.py").exists()
    assert any(subject.startswith("revert: take back") for subject in project.log())


def test_plans_that_fail_in_a_row_end_the_run(project: Project, spiral: Run) -> None:
    project.tasks()
    (project.folder / ".agent/prd").mkdir()
    (project.folder / ".agent/prd/PRD.md").write_text("The whole shop.\n")
    project.script({"say": "I would rather not."})
    assert "stuck: 3 plans in a row failed" in spiral("run", code=8).stdout
    assert len(project.events("pass.ended")) == 3


def test_on_a_terminal_there_is_a_live_view(project: Project) -> None:
    project.script(SLOW, BYE)
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    command = [sys.executable, "-m", "spiral", "run"]
    child = subprocess.Popen(command, cwd=project.folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    shown = b""
    # Reading from a terminal whose other end is closed is an error on Linux, and the end.
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:
        pass
    os.close(ours)
    assert child.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode("utf-8", "replace"))
    assert "0 done · 2 open · 0 parked" in text and "1 done · 1 open · 0 parked" in text
    assert "cost $0.01 of $25.00" in text
    assert "2 passes, 2 tasks done, $0.02" in text
    assert git(project.folder, "status", "--porcelain", "-uno") == ""
