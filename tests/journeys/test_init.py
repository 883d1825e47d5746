"""`spiral init` on fresh repositories, as a newcomer meets it."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from conftest import Run

FILES = [".agent/PROMPT.md", ".agent/STEERING.md", ".agent/tasks.json", ".agent/.gitignore", "spiral.toml"]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with git and one agent on it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "python3"):
        found = next(Path(part, name) for part in os.environ["PATH"].split(":") if Path(part, name).exists())
        (folder / name).symlink_to(found)
    program = folder / "claude"
    program.write_text("#!/bin/sh\necho '2.1.5 (Claude Code)'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    return program


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file outside git's own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git/" not in f"{path.relative_to(folder)}/"
    }


def test_a_python_repository_is_ready_in_one_command(spiral: Run, repo: Path, agent: Path) -> None:
    (repo / "tests").mkdir()
    (repo / "tests/test_shop.py").write_text("import unittest\n")
    told = spiral("init", "--yes").stdout
    assert "made with   Python" in told
    assert "checks      python3 -m unittest discover -s tests" in told
    assert "claude 2.1.5, not signed in" in told
    assert "git add .agent spiral.toml" in told and "spiral tasks add" in told and "spiral run" in told
    settings = tomllib.loads((repo / "spiral.toml").read_text())
    assert settings["verify"] == {"checks": ["python3 -m unittest discover -s tests"], "setup": ""}
    assert settings["act"] == {"agent": "claude"}
    assert json.loads((repo / ".agent/tasks.json").read_text()) == {"tasks": []}
    assert (repo / ".agent/tasks").is_dir()
    assert "history/" in (repo / ".agent/.gitignore").read_text()
    assert "## This project" in (repo / ".agent/PROMPT.md").read_text()
    assert spiral("config", "act.agent").stdout.split()[1] == '"claude"'


def test_a_node_repository_and_a_program_that_is_missing(spiral: Run, repo: Path, agent: Path) -> None:
    table = {"scripts": {"test": "jest", "lint": 'eslint "src/**"'}, "devDependencies": {"jest": "30"}}
    (repo / "package.json").write_text(json.dumps(table))
    (repo / "package-lock.json").write_text("{}")
    told = json.loads(spiral("init", "--json").stdout)
    assert (told["stacks"], told["setup"], told["checks"]) == (["Node"], "npm ci", ["npm test", "npm run -s lint"])
    assert told["notes"] == ["npm is not installed here, and the checks need it"]
    assert told["agents"] == [{"name": "claude", "version": "2.1.5", "signed_in": False}]
    assert (told["written"], told["left"]) == (FILES, [])
    found = spiral("doctor", code=2).stdout
    assert "the checks need 'npm', which is not installed" in found


def test_a_second_time_changes_nothing(spiral: Run, repo: Path, agent: Path) -> None:
    spiral("init", "--yes")
    before = snapshot(repo)
    told = json.loads(spiral("init", "--json").stdout)
    assert (told["written"], told["left"]) == ([], FILES)
    assert snapshot(repo) == before


def test_what_is_there_is_left_alone_and_named(spiral: Run, repo: Path, agent: Path) -> None:
    (repo / ".agent").mkdir()
    (repo / ".agent/PROMPT.md").write_text("Mine.")
    (repo / ".agent/tasks.json").write_text('[{"id": 1, "title": "A", "passes": false}]')
    (repo / "spiral.toml").write_text('[act]\nagent = "codex"\n')
    (repo / "go.mod").write_text("")
    kept = {name: (repo / name).read_bytes() for name in (".agent/PROMPT.md", ".agent/tasks.json", "spiral.toml")}
    told = spiral("init", "--yes").stdout
    assert {name: (repo / name).read_bytes() for name in kept} == kept
    assert "left alone  .agent/PROMPT.md" in told
    assert "add to spiral.toml: [verify] checks = ['go vet ./...', 'go test ./...']" in told


def test_outside_git_the_cure_is_told(spiral: Run, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    assert "run `git init` there" in spiral("init", code=64, cwd=folder).stderr
    assert list(folder.iterdir()) == []


def test_from_a_folder_further_down_the_top_is_set_up(spiral: Run, repo: Path, agent: Path) -> None:
    (repo / "deep").mkdir()
    spiral("init", "--yes", cwd=repo / "deep")
    assert (repo / "spiral.toml").exists() and not (repo / "deep/spiral.toml").exists()
