"""kill -9 at random instants of a run: nothing is lost, nothing happens twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from loop_project import Project, git, make_project

DRIVE = Path(__file__).with_name("drive.py")
SOAK = bool(os.environ.get("SOAK"))
RUNS, TASKS, KILLS = (3, 60, 17) if SOAK else (1, 8, 10)


def started(project: Project) -> subprocess.Popen[str]:
    """A runner in a process of its own."""
    flags = json.dumps(project.flags(budget_passes=1_000, iterate_retries=1, iterate_pivots=99))
    return subprocess.Popen(
        [sys.executable, str(DRIVE), str(project.folder), flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def agents(project: Project) -> list[int]:
    """Processes of the scripted agent of this project."""
    mark = str(project.scripts).encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "cmdline").read_bytes() and b"scripted.py" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def strike(project: Project, runner: subprocess.Popen[str], whom: str) -> None:
    """kill -9 of the runner, of its agent, or of both."""
    victims = agents(project) if whom != "runner" else []
    if whom != "agent":
        victims.append(runner.pid)
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_run_that_is_killed_again_and_again_loses_nothing_and_does_nothing_twice(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    project = make_project(tmp_path)
    names = [f"{number:02d}" for number in range(1, TASKS + 1)]
    project.tasks(
        *({"id": name, "title": f"Write file {name}", "checks": [f"grep -q right f{name}.txt"]} for name in names)
    )
    project.script(
        *(
            {
                "for": f"task {name}.", "write": {f"f{name}.txt": "wrong\n", f"extra{name}.txt": "x\n"},
                "commit": "feat: wrong",
                "say": f"<promise>{name}:DONE</promise>",
            }
            for name in names[::3]
        ),
        *(
            {
                "for": f"task {name}.", "write": {f"f{name}.txt": "right\n"}, "commit": f"feat: file {name}",
                "sleep": 0.05,
                "say": f"Wrote it.\nLearned: file {name} has to say right.\n<promise>{name}:DONE</promise>",
            }
            for name in names
        ),
    )  # fmt: skip
    kills = 0
    while True:
        runner = started(project)
        if kills < KILLS:
            time.sleep(chance.uniform(0.3, 2.5))
            whom = chance.choice(("runner", "runner", "agent", "both"))
            strike(project, runner, whom)
            kills += 1
            if whom == "agent":
                time.sleep(chance.uniform(0.1, 0.5))
                strike(project, runner, "runner")
            runner.communicate()
            continue
        said, errors = runner.communicate(timeout=600)
        assert said.strip().endswith("ended complete"), (said[-2_000:], errors[-2_000:])
        break
    ended = project.events("pass.ended")
    done = Counter(event.task for event in ended if event.data["outcome"] == "passed")
    assert done == dict.fromkeys(names, 1), "each task is done once"
    assert all((project.folder / f"f{name}.txt").read_text() == "right\n" for name in names)
    interrupted = {event.task for event in ended if event.data["outcome"] == "error"}
    left = {path.stem.removeprefix("extra") for path in project.folder.glob("extra*.txt")}
    assert left <= interrupted, "what failed was taken back; what was interrupted is gone on with"
    subjects = Counter(subject for subject in project.log() if subject.startswith("feat: file"))
    assert set(subjects) == {f"feat: file {name}" for name in names}
    log = (project.folder / ".agent/logs/LOG.md").read_text()
    assert [log.count(f"<!-- {event.pass_id} -->") for event in ended] == [1] * len(ended)
    check_mirror(project)
    assert git(project.folder, "status", "--porcelain") == ""
    assert git(project.folder, "fsck", "--no-dangling", "--no-progress") == ""
    assert not agents(project)


def check_mirror(project: Project) -> None:
    """The files of events say what the journal says."""
    for run in {event.run for event in project.events()}:
        path = project.folder / ".agent/history" / run / "events-runner.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["id"] for line in lines] == [event.id for event in project.events() if event.run == run]
