"""A real repository with tasks and a scripted agent, for tests of the loop."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spiral.loop.run import Ended
from spiral.runner import Runner
from spiral.work import Event, TaskState

AGENT = Path(__file__).parent / "agents" / "scripted.py"


def git(folder: Path, *args: str) -> str:
    """What git says."""
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Project:
    """One repository under test."""

    folder: Path
    scripts: Path
    lines: list[str] = field(default_factory=list)
    settings: dict[str, object] = field(default_factory=dict)

    def tasks(self, *tasks: Mapping[str, object]) -> None:
        """Write the task list."""
        agent = self.folder / ".agent"
        (agent / "tasks").mkdir(parents=True, exist_ok=True)
        table = {
            "tasks": [{"id": task["id"], "title": task.get("title", "A task"), "status": "pending"} for task in tasks]
        }
        (agent / "tasks.json").write_text(json.dumps(table, indent=2) + "\n")
        for task in tasks:
            (agent / "tasks" / f"TASK-{task['id']}.json").write_text(json.dumps(task, indent=2) + "\n")

    def script(self, *steps: Mapping[str, object], name: str = "scripted") -> None:
        """What the agent of that name does, call by call."""
        folder = self.scripts / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "script.json").write_text(json.dumps(steps))
        for left in ("used.json",):
            (folder / left).unlink(missing_ok=True)

    def flags(self, **more: object) -> dict[str, object]:
        """Settings of a run; `budget_passes` stands for budget.passes."""
        agents = {
            name.name: {"command": [sys.executable, str(AGENT), str(name / "script.json")], "stream": "claude"}
            for name in sorted(self.scripts.iterdir())
        }
        chosen: dict[str, object] = {
            "act.agents": json.dumps(agents), "act.agent": "scripted", "verify.checker": "none",
            "embedder.model": "none",
            "act.timeout": 60, "verify.timeout": 60,
        }  # fmt: skip
        return chosen | {name.replace("_", ".", 1): value for name, value in {**self.settings, **more}.items()}

    def run(self, *, passes: int = 0, once: bool = False, task: str = "", **settings: object) -> Ended:
        """A run in this process."""
        with Runner.open(self.folder, flags=self.flags(**settings)) as runner:
            return runner.run(passes=passes, once=once, task=task, tell=self.lines.append)

    def resume(self, **settings: object) -> Ended:
        """Go on with the last run."""
        with Runner.open(self.folder, flags=self.flags(**settings)) as runner:
            return runner.resume(tell=self.lines.append)

    def events(self, *kinds: str) -> list[Event]:
        """What the journal has."""
        with Runner.open(self.folder, flags=self.flags()) as runner:
            return runner.journal.events(kinds=kinds)  # type: ignore[arg-type]

    def states(self) -> dict[str, TaskState]:
        """How the tasks stand."""
        with Runner.open(self.folder, flags=self.flags()) as runner:
            return dict(runner.journal.states())

    def outcomes(self) -> list[tuple[str, str]]:
        """(task, outcome) of each pass."""
        return [(event.task, str(event.data["outcome"])) for event in self.events("pass.ended")]

    def prompts(self, name: str = "scripted") -> list[str]:
        """What the agent was told, call by call."""
        return [path.read_text() for path in sorted((self.scripts / name / "prompts").iterdir())]

    def log(self) -> list[str]:
        """Subjects of the branch, oldest first."""
        return git(self.folder, "log", "--reverse", "--format=%s").splitlines()


def make_project(tmp_path: Path, *, ignore: Sequence[str] = (".agent/history/",)) -> Project:
    """A repository with one commit."""
    folder = tmp_path / "shop"
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    git(folder, "config", "user.email", "ann@example.com")
    git(folder, "config", "user.name", "Ann")
    (folder / "README.md").write_text("# Shop\n")
    (folder / ".gitignore").write_text("".join(f"{line}\n" for line in ignore))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "chore: begin")
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    return Project(folder=folder, scripts=scripts)
