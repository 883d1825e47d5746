"""The examples run, and do what they say."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from loop_project import make_project
from spiral import Memory, Runner
from spiral.memory.tokens import tokens

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_an_agent_of_ones_own_finishes_a_task(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.tasks({"id": "1", "title": "Say hello", "checks": ["grep -q hello hello.txt"]})
    agent = runpy.run_path(str(EXAMPLES / "own_agent.py"))["my_agent"]
    told: list[str] = []
    flags = {"act.agent": "mine", "verify.checker": "none", "embedder.model": "none"}
    with Runner.open(project.folder, agents={"mine": agent}, flags=flags) as runner:
        assert runner.run(passes=5, tell=told.append).reason == "complete"
    assert "writing hello.txt" in told


def test_a_conversation_stays_within_its_budget_and_remembers(tmp_path: Path) -> None:
    converse = runpy.run_path(str(EXAMPLES / "conversation.py"))["converse"]
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return f"I see, that is answer {len(prompts)}."

    flags = {"memory.root": str(tmp_path / "memory"), "memory.index": str(tmp_path / "index"), "embedder.model": "none"}
    with Memory.open(tmp_path, flags=flags) as memory:
        converse(memory, ask, "Please always use pnpm in the frontend, never npm.", session="chat")
        for number in range(60):
            converse(memory, ask, f"Tell me something about topic {number} of the garden.", session="chat")
        converse(memory, ask, "Which package manager does the frontend use?", session="chat")
    assert max(map(tokens, prompts)) < 700
    assert "pnpm" in prompts[-1]
    assert json.dumps(prompts[-1]).count("topic 5") < 20
