"""The real Claude Code and Codex, against stubs of their servers: only with `make clients`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_programs import agents, never, order, quiet
from spiral.backends.agents.probe import installed
from spiral.backends.agents.process import CommandAgent
from spiral.backends.agents.table import adapters
from spiral.work import Usage
from stub_anthropic import StubAnthropic
from stub_responses import StubResponses
from stub_sse import running

pytestmark = pytest.mark.clients

PROGRAMS = Path(__file__).parents[2] / ".clients/node_modules/.bin"
COMMAND = "echo hello > made.txt && git add made.txt && git commit -qm 'feat: made' && echo committed"
FINAL = "It is made and committed.\n\n<promise>COMPLETE</promise>"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # These tests may run as root in a container; Claude Code then wants to be told that it is one.
    "IS_SANDBOX": "1",
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home of its own, with the installed programs in PATH."""
    if not PROGRAMS.is_dir():
        pytest.fail(f"{PROGRAMS} is missing; run: make clients")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = a\nemail = a@example.org\n")
    return {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(home)}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    (folder / ".git/info/exclude").write_text("history/\n")
    return folder


def commits(work: Path) -> str:
    done = subprocess.run(["git", "-C", str(work), "log", "--format=%s", "--name-only"], capture_output=True, text=True)
    return done.stdout.strip()


def claude(environ: dict[str, str], url: str, **act: Any) -> CommandAgent:
    row = {"set": {**QUIET, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1"}}
    return agents(environ=environ, agents={"claude": row}, **act)["claude"]


def codex(environ: dict[str, str], url: str) -> CommandAgent:
    folder = Path(environ["HOME"]) / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        'model = "gpt-5.4"\nmodel_provider = "stub"\n'
        f'[model_providers.stub]\nname = "stub"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        "request_max_retries = 0\nstream_max_retries = 0\n"
    )
    return agents(environ=environ)["codex"]


def test_both_are_installed_and_tell_their_versions(environ: dict[str, str]) -> None:
    found = {one.name: one for one in installed(adapters(), environ)}
    assert found["claude"].version.count(".") == found["codex"].version.count(".") == 2
    assert not found["claude"].signed_in
    assert not found["codex"].signed_in


def test_claude_code_makes_a_file_commits_it_and_promises(environ: dict[str, str], work: Path) -> None:
    told: list[str] = []
    with running(StubAnthropic(command=COMMAND, final=FINAL)) as stub:
        answer = claude(environ, stub.url).act(order(work, turns=10, cost=5.0), told.append, never)
    assert (answer.end, answer.text, answer.tools, answer.detail) == ("finished", FINAL, 1, "")
    assert commits(work) == "feat: made\n\nmade.txt"
    assert answer.session
    assert answer.model.startswith("claude-")
    assert (answer.usage.input, answer.usage.output, answer.usage.turns) == (2_000, 200, 2)
    assert answer.usage.cost > 0
    assert not answer.usage.estimated
    assert f"$ {COMMAND}" in told
    assert any(role == "tool" and "committed" in text for role, text in answer.messages)


def test_codex_makes_a_file_commits_it_and_promises(environ: dict[str, str], work: Path) -> None:
    told: list[str] = []
    with running(StubResponses(command=COMMAND, final=FINAL)) as stub:
        answer = codex(environ, stub.url).act(order(work, model="gpt-5.4"), told.append, never)
    assert (answer.end, answer.text, answer.tools, answer.detail) == ("finished", FINAL, 1, "")
    assert commits(work) == "feat: made\n\nmade.txt"
    assert answer.session
    assert answer.usage == Usage(
        input=1_200, output=200, cache_read=800, turns=2, cost=answer.usage.cost, estimated=True
    )
    assert answer.usage.cost == pytest.approx((1_200 * 2.5 + 200 * 15 + 800 * 0.25) / 1e6)
    assert any(role == "tool" and "committed" in text for role, text in answer.messages)


def test_claude_code_stops_at_its_turns(environ: dict[str, str], work: Path) -> None:
    with running(StubAnthropic(command=COMMAND, final=FINAL)) as stub:
        answer = claude(environ, stub.url).act(order(work, turns=1), quiet, never)
    assert answer.end == "turns"


def test_neither_pushes(environ: dict[str, str], work: Path, tmp_path: Path) -> None:
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    subprocess.run(["git", "-C", str(work), "remote", "add", "origin", str(bare)], check=True)
    push = f"{COMMAND}; git push --no-verify origin HEAD:main"
    with running(StubAnthropic(command=push, final=FINAL)) as stub:
        answer = claude(environ, stub.url).act(order(work), quiet, never)
    assert any("spiral-push-is-off" in text for _, text in answer.messages)
    with running(StubResponses(command=push.replace("made.txt", "more.txt"), final=FINAL)) as other:
        answer = codex(environ, other.url).act(order(work), quiet, never)
    assert any("spiral-push-is-off" in text for _, text in answer.messages)
    assert not (bare / "refs/heads/main").exists()


def test_claude_code_without_a_sign_in_says_so(environ: dict[str, str], work: Path) -> None:
    agent = agents(environ=environ, agents={"claude": {"set": QUIET}})["claude"]
    answer = agent.act(order(work), quiet, never)
    assert (answer.end, answer.detail) == ("signin", "Not logged in · Please run /login")


def test_an_mcp_server_is_handed_to_both(environ: dict[str, str], work: Path, tmp_path: Path) -> None:
    server = tmp_path / "server.sh"
    server.write_text('#!/bin/sh\ntouch "$1"\ncat > /dev/null\n')
    server.chmod(0o755)
    for name in ("claude", "codex"):
        file = tmp_path / f"{name}.json"
        table = {"command": str(server), "args": [str(tmp_path / f"started-{name}")]}
        file.write_text(json.dumps({"mcpServers": {"docs": table}}))
        stub = (StubAnthropic if name == "claude" else StubResponses)(command="true", final=FINAL)
        with running(stub):
            agent = claude(environ, stub.url) if name == "claude" else codex(environ, stub.url)
            agent.act(order(work, mcp=str(file)), quiet, never)
        assert (tmp_path / f"started-{name}").exists()
