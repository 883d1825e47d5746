"""`spiral schedule` and `spiral watch`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Run
from loop_project import make_project


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0 25 * * *", "'25' in the field for the hour cannot be: it takes 0 to 23"),
        ("0 2 * *", "has 4 fields, not five"),
        ("0 0 31 feb *", "never comes"),
    ],
)
def test_a_wrong_expression_names_its_field(spiral: Run, text: str, line: str) -> None:
    assert line in spiral("schedule", text, code=64).stderr


@pytest.mark.parametrize("verb", [("schedule", "@daily", "--print", "crontab"), ("schedule", "@daily"), ("watch",)])
def test_what_run_would_refuse_is_refused_at_once(spiral: Run, verb: tuple[str, ...]) -> None:
    assert "No such option" in spiral(*verb, "--", "--max-cots", "5", code=64).stderr


def test_for_cron_and_systemd_it_is_printed(spiral: Run, repo: Path) -> None:
    line = spiral("schedule", "@daily", "--print", "crontab", "--", "--max-cost", "5").stdout.splitlines()[-1]
    assert line.startswith("0 0 * * * mkdir -p ")
    assert f"-m spiral -C {repo} run --max-cost 5 >> {repo}/.agent/history/schedule.log 2>&1" in line
    told = spiral("schedule", "30 2 * * 1-5", "--print", "systemd").stdout
    assert "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 02:30:00\n" in told
    assert "systemctl --user enable --now spiral-shop.timer" in told


def test_outside_git_nothing_is_waited_for(spiral: Run, tmp_path: Path) -> None:
    assert "git init" in spiral("schedule", "@daily", code=64, cwd=tmp_path).stderr
    assert "git init" in spiral("watch", code=64, cwd=tmp_path).stderr


def test_it_says_when_the_next_run_is_and_ctrl_c_ends_the_waiting(repo: Path) -> None:
    with started(repo, "schedule", "0 0 29 2 *") as child:
        assert until(child, "the next run is at ").split()[5].endswith("-02-29")
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130


def test_watch_runs_when_a_task_appears(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.script({"write": {"hello.txt": "hi"}, "commit": "feat: greet", "say": "<promise>COMPLETE</promise>"})
    project.tasks()
    flags = {f"SPIRAL_{name.replace('.', '_').upper()}": str(value) for name, value in project.flags().items()}
    with started(project.folder, "watch", **flags) as child:
        until(child, "nothing to do: there is no task")
        project.tasks({"id": "TASK-001", "title": "Greet", "checks": ["test -f hello.txt"]})
        until(child, "a task is ready")
        until(child, "the run ended with exit code 0")
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 0
    assert project.outcomes() == [("TASK-001", "passed")]


def started(folder: Path, *args: str, **more: str) -> subprocess.Popen[str]:
    """The command line, at work."""
    environ = {**os.environ, **more, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "spiral", *args]
    return subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)


def until(child: subprocess.Popen[str], words: str) -> str:
    """The first line with these words."""
    assert child.stdout is not None
    last = time.monotonic() + 60
    for line in child.stdout:
        if words in line:
            return line
        assert time.monotonic() < last
    raise AssertionError(f"{words!r} was not told")
