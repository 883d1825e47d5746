"""`spiral doctor`: what it finds wrong, the cures it names, and those it does itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Run
from loop_project import Project, git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with a commit, tasks and a scripted agent."""
    made = make_project(tmp_path)
    made.tasks(
        {"id": "TASK-001", "title": "Add a greeting", "checks": ["test -f hello.txt"], "acceptance": ["it is there"]}
    )
    return made


def findings(spiral: Run, code: int, *args: str) -> list[tuple[str, str, str]]:
    """(area, level, text) of everything that is not well."""
    told = json.loads(spiral("doctor", "--json", *args, code=code).stdout)
    return [(one["area"], one["level"], one["text"]) for one in told["findings"] if one["level"] != "ok"]


def test_a_healthy_project_has_nothing_broken(project: Project, spiral: Run) -> None:
    told = spiral("doctor").stdout
    assert "✓ git" in told and "on branch main" in told
    assert "✓ run       nothing is under way" in told
    assert "✓ memory    0 memories" in told
    assert not [one for one in findings(spiral, 0) if one[1] == "fault"]


def test_git_without_a_branch_a_name_or_an_end_to_a_merge(project: Project, spiral: Run) -> None:
    git(project.folder, "config", "--unset", "user.name")
    git(project.folder, "switch", "-q", "--detach")
    (project.folder / "README.md").write_text("changed")
    told = findings(spiral, 2)
    assert ("git", "fault", "no branch is checked out") in told
    assert ("git", "warning", "1 files are not committed") in told
    assert any("does not know your name" in text for _, _, text in told)
    git(project.folder, "switch", "-q", "main")
    (project.folder / ".git/MERGE_HEAD").write_text("")
    assert ("git", "fault", "something is under way (MERGE_HEAD)") in findings(spiral, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[act]\nagent = "cladue"\n', "act.agent: unknown agent 'cladue'; did you mean 'claude'?"),
        ('[verify]\nchecker = "codx"\n', "verify.checker: unknown agent 'codx'; did you mean 'codex'?"),
        ('[act.agents.mine]\ncommand = ["nosuchprogram"]\n[act]\nagent = "mine"\n', "'nosuchprogram' is not installed"),
        ('[act]\nsandbox = "nosuchbox {command}"\n', "act.sandbox: 'nosuchbox' is not installed"),
        ("[hydrate.sections]\nmemoris = 3\n", "unknown section 'memoris'; did you mean 'memories'?"),
        ('[verify]\nchecks = ["nosuchlinter ."]\n', "the checks need 'nosuchlinter', which is not installed"),
        ("[act]\nagnet = 1\n", "unknown setting 'act.agnet'; did you mean 'agent'?"),
    ],
)
def test_settings_that_name_what_is_not_there(project: Project, spiral: Run, text: str, line: str) -> None:
    (project.folder / "spiral.toml").write_text(text)
    assert any(line in found for _, level, found in findings(spiral, 2) if level == "fault")


def test_tasks_that_can_never_be_done(project: Project, spiral: Run) -> None:
    project.tasks(
        {"id": "A", "title": "One thing", "dependencies": ["B"]}, {"id": "B", "title": "Other", "dependencies": ["A"]}
    )
    assert ("tasks", "fault", "A: in a circle: A → B → A; remove one of these dependencies") in findings(spiral, 2)
    (project.folder / ".agent/tasks.json").write_text("{")
    assert any(area == "tasks" and "is not JSON" in text for area, _, text in findings(spiral, 2))


def test_a_pass_left_under_way_is_named_with_its_cure(project: Project, spiral: Run) -> None:
    project.script({"hang": True})
    flags = {f"SPIRAL_{name.replace('.', '_').upper()}": str(value) for name, value in project.flags().items()}
    command = [sys.executable, "-m", "spiral", "run"]
    with subprocess.Popen(
        command, cwd=project.folder, env={**os.environ, **flags}, stdout=subprocess.DEVNULL
    ) as runner:
        while not list(project.folder.glob(".agent/history/r-*/*/command.json")):
            assert runner.poll() is None
            time.sleep(0.05)
        assert "is at work" in spiral("doctor").stdout
        runner.kill()
    told = findings(spiral, 2)
    assert ("run", "warning", "pass 1 was interrupted") in told
    assert ("run", "fault", "the agent of pass 1 outlived its runner") in told
    mended = json.loads(spiral("doctor", "--fix", "--json").stdout)
    assert any("ended an agent that had outlived its runner" in line for line in mended["done"])
    assert ("run", "fault", "the agent of pass 1 outlived its runner") not in findings(spiral, 0)


def test_fix_forgets_our_own_checkouts_and_writes_the_mirror_again(project: Project, spiral: Run) -> None:
    project.script({"write": {"hello.txt": "hi"}, "commit": "feat: greet", "say": "<promise>COMPLETE</promise>"})
    assert project.run().code == 0
    elsewhere = project.folder.parent / "elsewhere"
    git(project.folder, "worktree", "add", "-q", "--detach", str(elsewhere))
    for folder in (elsewhere, *(project.folder.parent / "home/.cache/spiral").glob("*/checkout")):
        subprocess.run(["rm", "-rf", str(folder)], check=True)
    mirror = next((project.folder / ".agent/history").glob("r-*/events-runner.jsonl"))
    whole = mirror.read_bytes()
    mirror.write_bytes(whole[: len(whole) // 2])
    assert any("their folders are gone" in text for _, _, text in findings(spiral, 0))
    done = json.loads(spiral("doctor", "--fix", "--json").stdout)["done"]
    assert "forgot 1 checkouts whose folders are gone" in done
    assert any(line.startswith("made ") and line.endswith(" vectors that were owed") for line in done)
    assert mirror.read_bytes() == whole
    assert [path.name for path in (project.folder / ".git/worktrees").iterdir()] == ["elsewhere"]
    assert json.loads(spiral("doctor", "--fix", "--json").stdout)["done"] == []
