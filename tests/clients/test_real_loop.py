"""A task from the list to a verified commit, made by the real Claude Code and judged by the real Codex, and the other
way round: only with `make clients`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loop_project import git, make_project
from spiral.runner import Runner
from stub_anthropic import StubAnthropic
from stub_responses import StubResponses
from stub_sse import running

pytestmark = pytest.mark.clients

PROGRAMS = Path(__file__).parents[2] / ".clients/node_modules/.bin"
WORK = "echo right > one.txt && git add one.txt && git commit -qm 'feat: one' && echo committed"
DONE = "I wrote one.txt.\nLearned: one.txt has to say right for the greeter.\n\n<promise>1:DONE</promise>"
JUDGED = '{"verdict": "pass", "findings": []}'


@pytest.mark.parametrize(("maker", "checker"), [("claude", "codex"), ("codex", "claude")])
def test_a_task_is_made_by_one_judged_by_the_other_and_verified(
    maker: str, checker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path)
    project.tasks(
        {"id": "1", "title": "Write one", "checks": ["grep -q right one.txt"], "acceptanceCriteria": ["right"]}
    )
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{PROGRAMS}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(home))
    work, verdict = {"command": WORK, "final": DONE}, {"command": "cat one.txt", "final": JUDGED}
    with (
        running(StubAnthropic(**(work if maker == "claude" else verdict))) as anthropic,
        running(StubResponses(**(work if maker == "codex" else verdict))) as responses,
    ):
        (home / ".codex/config.toml").write_text(
            'model = "gpt-5.4"\nmodel_provider = "stub"\n'
            f'[model_providers.stub]\nname = "stub"\nbase_url = "{responses.url}/v1"\nwire_api = "responses"\n'
        )
        quiet = {
            "ANTHROPIC_BASE_URL": anthropic.url, "ANTHROPIC_API_KEY": "x", "IS_SANDBOX": "1", "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
        }  # fmt: skip
        flags = {
            "act.agents": json.dumps({"claude": {"set": quiet}}), "act.agent": maker, "verify.checker": checker,
            "embedder.model": "none",
        }  # fmt: skip
        with Runner.open(project.folder, flags=flags) as runner:
            ended = runner.run(passes=3)
            spent = {one.role: one for one in runner.journal.expenses()}
            passes = runner.journal.events(kinds=("pass.ended",))
    assert (ended.reason, [event.data["outcome"] for event in passes]) == ("complete", ["passed"])
    assert (project.folder / "one.txt").read_text() == "right\n"
    assert git(project.folder, "log", "--format=%s", "--grep", "Spiral-Task: 1") == "feat: one"
    assert {role: one.agent for role, one in spent.items()} == {"maker": maker, "checker": checker}
    assert all(one.usage.cost > 0 for one in spent.values())
    assert "one.txt has to say right" in (project.folder / ".agent/memory/MEMORY.md").read_text()
