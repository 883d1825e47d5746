"""`spiral demo`: the same agent without memory and with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spiral.demo.half import Half, run_half
from spiral.demo.project import Terms, apart, settings

TERMS = Terms(seed=17, heed=1.0, tasks=1, passes=6)
"""By chance of this seed the agent takes four passes even when it listens."""


def halves(folder: Path) -> tuple[Half, Half]:
    environ = apart(os.environ, folder)
    return (
        run_half(folder / "circle", TERMS, environ, memory=False),
        run_half(folder / "spiral", TERMS, environ, memory=True),
    )


def test_with_memory_the_tasks_are_done_and_no_failed_approach_is_repeated(tmp_path: Path) -> None:
    circle, spiral = halves(tmp_path)
    assert (spiral.complete, spiral.done, spiral.repeats) == (True, 1, 0)
    assert circle.repeats > 0
    assert not circle.complete
    assert spiral.learned[0].startswith("Amounts in the files of this shop")
    log = subprocess.run(
        ["git", "log", "--format=%an"], cwd=tmp_path / "spiral", capture_output=True, text=True, check=True
    )
    assert "Simulated agent" in log.stdout
    assert circle.learned == ()


def test_the_command_shows_both_halves_and_nothing_of_the_users_gets_in(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config/spiral").mkdir(parents=True)
    (home / ".config/spiral/config.toml").write_text('[act]\nagent = "claude"\n')
    environ = {**os.environ, "HOME": str(home), "SPIRAL_BUDGET_PASSES": "1", "SPIRAL_HYDRATE_MEMORY": "false"}
    environ.pop("XDG_CONFIG_HOME", None)
    command = [sys.executable, "-m", "spiral", "demo", "--tasks", "1", "--seed", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for said in ("The agent is simulated", "The circle: memory off", "The spiral: memory on", "cost, simulated"):
        assert said in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert [path.name for path in home.rglob("*")] == [".config", "spiral", "config.toml"]


def test_both_repositories_can_be_kept_and_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spiral", "demo", "--tasks", "1", "--json", "--keep", str(tmp_path / "kept")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    told = json.loads(done.stdout)
    assert (told["simulated"], [half["memory"] for half in told["halves"]]) == (True, [False, True])
    assert (tmp_path / "kept/spiral/.agent/tasks.json").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (again.returncode, "is there already" in again.stderr) == (64, True)


@pytest.mark.parametrize("memory", [False, True])
def test_the_halves_differ_in_nothing_but_the_memory(memory: bool) -> None:
    one, other = settings(TERMS, memory=memory), settings(TERMS, memory=not memory)
    differing = [a for a, b in zip(one.splitlines(), other.splitlines(), strict=True) if a != b]
    assert [line.split()[0] for line in differing] == ["memory", "learn"]
