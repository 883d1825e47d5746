"""What every agent must do, whatever its command line and its stream."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_programs import CLAUDE, CODEX, GEMINI, OPENCODE, PROMISE, agents, never, order, printing, quiet, script
from spiral.backends import load
from spiral.backends.agents.function import FunctionAgent
from spiral.errors import ConfigError
from spiral.ports import Agent
from spiral.tables import ActSettings
from spiral.work import Answer, Order, Usage

TEXT = f"print('I run the tests.'); print({PROMISE!r})"
NOTE = """
given = sys.stdin.read()
files = [open(word).read() for word in sys.argv[1:] if word.endswith('prompt.md')]
json.dump({'argv': sys.argv[1:], 'stdin': given, 'files': files}, open('asked.json', 'w'))
"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """An agent as the table has it, and what a good pass of it amounts to."""

    name: str
    program: str
    body: str
    usage: Usage
    flags: tuple[str, ...]
    tools: int = 1
    session: str = "s-1"
    messages: int = 3


SILENT = Usage(unknown=True)
TOLD = Usage(input=15, output=60, cache_read=500, cache_write=100, turns=2, cost=0.25, estimated=True)
KINDS = [
    Kind(
        name="claude",
        program="claude",
        body=printing(CLAUDE),
        usage=TOLD,
        flags=("--model", "m-9", "--max-turns", "7", "--max-budget-usd", "1.5000", "--mcp-config"),
    ),
    Kind(name="amp", program="amp", body=printing(CLAUDE), usage=TOLD, flags=("--mcp-config",)),
    Kind(
        name="codex",
        program="codex",
        body=printing(CODEX),
        usage=Usage(input=400_000, output=100_000, cache_read=600_000, turns=3, cost=0.6, estimated=True),
        flags=("--model", "m-9", "--config", 'mcp_servers.docs={"command" = "docs", "args" = ["-x"]}', "-"),
    ),
    Kind(
        name="gemini",
        program="gemini",
        body=printing(GEMINI),
        usage=Usage(input=1_000_000, output=100_000, turns=1, cost=2.25, estimated=True),
        flags=("--model", "m-9"),
    ),
    Kind(
        name="opencode",
        program="opencode",
        body=printing(OPENCODE),
        usage=Usage(input=20, output=15, cache_read=7, turns=2, cost=0.1 + 0.2),
        flags=("--model", "m-9"),
    ),
    Kind(
        name="cursor",
        program="cursor-agent",
        body=printing(
            [
                {"type": "system", "subtype": "init", "session_id": "s-1", "apiKeySource": "login"},
                {"type": "assistant", "message": {"content": [{"type": "text", "text": "I run the tests."}]}},
                {
                    "type": "tool_call",
                    "subtype": "started",
                    "call_id": "c",
                    "tool_call": {"shellToolCall": {"args": {"command": "pytest -q"}}},
                },
                {
                    "type": "tool_call",
                    "subtype": "completed",
                    "call_id": "c",
                    "tool_call": {"shellToolCall": {"result": {"success": {"stdout": "3 passed in 0.1s"}}}},
                },
                {"type": "result", "subtype": "success", "is_error": False, "result": PROMISE, "session_id": "s-1"},
            ]
        ),
        usage=Usage(turns=1, unknown=True),
        flags=("--model", "m-9"),
        messages=2,
    ),
    *(
        Kind(name=name, program=name, body=TEXT, usage=SILENT, flags=("--model",), tools=0, session="", messages=1)
        for name in ("copilot", "aider")
    ),
    Kind(name="mine", program="mine", body=TEXT, usage=SILENT, flags=(), tools=0, session="", messages=1),
]
PRICES = {"m-9": [1.0, 1.0, 0.1 / 0.6]}


def opened(kind: Kind, tmp_path: Path, body: str = "", **act: Any) -> Agent:
    """The agent of that kind, with a program of ours in the place of its own."""
    script(tmp_path / "bin" / kind.program, NOTE + (body or kind.body))
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    own = {"mine": {"command": ["mine", "{prompt_file}"]}} if kind.name == "mine" else {}
    return agents(environ={**os.environ, "PATH": path}, agents=own, **act)[kind.name]


each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@each
def test_a_good_pass_is_told_kept_and_counted(kind: Kind, tmp_path: Path) -> None:
    told: list[str] = []
    answer = opened(kind, tmp_path).act(order(tmp_path / "work"), told.append, never)
    assert (answer.agent, answer.end, answer.detail, answer.exit_code) == (kind.name, "finished", "", 0)
    assert answer.text.endswith(PROMISE)
    assert answer.tools == kind.tools
    assert answer.session == kind.session
    assert len(answer.messages) == kind.messages
    assert "I run the tests." in "".join(told)
    if kind.tools:
        assert ("tool", "$ pytest -q\n3 passed in 0.1s") in [
            (role, text.removesuffix("\nexit code 0")) for role, text in answer.messages
        ]
        assert "$ pytest -q" in told
    assert "<promise>" in (tmp_path / "work/history/stream.jsonl").read_text()


@each
def test_usage_is_summed_as_the_stream_means_it(kind: Kind, tmp_path: Path) -> None:
    act: dict[str, Any] = {"prices": PRICES} if kind.name == "codex" else {}
    model = "m-9" if kind.name == "codex" else ""
    answer = opened(kind, tmp_path, **act).act(order(tmp_path / "work", model=model), quiet, never)
    assert answer.usage == kind.usage


@each
def test_the_prompt_and_the_bounds_reach_the_program(kind: Kind, tmp_path: Path) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"docs": {"command": "docs", "args": ["-x"]}}}))
    prompt = "Do it – gently.\n'quoted' $HOME"
    asked = order(
        tmp_path / "work", prompt=prompt, model="m-9", turns=7, cost=1.5, mcp=str(servers), args=("--extra", "1")
    )
    opened(kind, tmp_path).act(asked, quiet, never)
    seen = json.loads((tmp_path / "work/asked.json").read_text())
    assert [seen["stdin"], *seen["argv"], *seen["files"]].count(prompt) == 1
    assert [word for word in seen["argv"] if word in kind.flags] == list(kind.flags)
    assert "--extra 1" in " ".join(seen["argv"])
    noted = json.loads((tmp_path / "work/history/command.json").read_text())
    assert prompt not in json.dumps(noted, ensure_ascii=False).replace("\\n", "\n")
    assert noted["argv"][0] == kind.program


@each
def test_a_prompt_of_any_size_arrives(kind: Kind, tmp_path: Path) -> None:
    prompt = "word \U0001f300 " * 40_000
    answer = opened(kind, tmp_path).act(order(tmp_path / "work", prompt=prompt), quiet, never)
    assert answer.end == "finished"
    seen = json.loads((tmp_path / "work/asked.json").read_text())
    if seen["stdin"] != prompt and seen["files"] != [prompt]:
        path = tmp_path / "work/history/prompt.md"
        assert any(str(path) in word for word in seen["argv"])
        assert path.read_text() == prompt


@each
def test_a_program_that_fails_says_why(kind: Kind, tmp_path: Path) -> None:
    agent = opened(kind, tmp_path, "sys.stderr.write('one\\nthe disk is on fire\\n'); sys.exit(3)")
    answer = agent.act(order(tmp_path / "work"), quiet, never)
    assert (answer.end, answer.exit_code, answer.detail) == ("failed", 3, "the disk is on fire")
    assert (tmp_path / "work/history/stderr.txt").read_text() == "one\nthe disk is on fire\n"


@each
def test_a_limit_and_a_missing_sign_in_are_seen_in_its_errors(kind: Kind, tmp_path: Path) -> None:
    for message, end in (("You've hit your usage limit", "limit"), ("Error: not logged in", "signin")):
        agent = opened(kind, tmp_path, f"sys.stderr.write({message!r}); sys.exit(1)")
        answer = agent.act(order(tmp_path / "work"), quiet, never)
        assert (answer.end, answer.detail) == (end, message)


@each
def test_a_limit_in_what_it_worked_on_is_none(kind: Kind, tmp_path: Path) -> None:
    body = kind.body.replace("3 passed in 0.1s", "You've hit your limit · resets 7pm").replace(
        "I run the tests.", "The file tells of a rate limit exceeded."
    )
    answer = opened(kind, tmp_path, body).act(order(tmp_path / "work"), quiet, never)
    assert (answer.end, answer.resets) == ("finished", None)


@each
def test_it_is_ended_when_told_to_stop(kind: Kind, tmp_path: Path) -> None:
    begun = tmp_path / "work/begun"
    agent = opened(kind, tmp_path, "open('begun', 'w').close(); time.sleep(600)")
    answer = agent.act(order(tmp_path / "work"), quiet, begun.exists)
    assert (answer.end, answer.detail) == ("stopped", "ended on request")


def answered(order: Order, tell: Callable[[str], None]) -> str:
    tell(f"reading {order.prompt}")
    return PROMISE


def raised(order: Order, tell: Callable[[str], None]) -> str:
    raise KeyError(order.prompt)


def test_a_function_of_the_builders_is_an_agent(tmp_path: Path) -> None:
    told: list[str] = []
    agent: Agent = FunctionAgent("mine", answered)
    answer = agent.act(order(tmp_path / "work"), told.append, never)
    assert (answer.agent, answer.end, answer.text, told) == ("mine", "finished", PROMISE, ["reading Do it."])
    whole = Answer(agent="mine", end="limit", seconds=1.0)
    assert FunctionAgent("mine", lambda order, tell: whole).act(order(tmp_path / "work"), quiet, never) == whole
    failed = FunctionAgent("mine", raised).act(order(tmp_path / "work"), quiet, never)
    assert (failed.end, failed.detail) == ("failed", "KeyError: 'Do it.'")
    assert FunctionAgent("mine", raised).act(order(tmp_path / "work"), quiet, lambda: True).end == "stopped"


def test_the_agents_are_opened_by_their_scheme_and_made_once() -> None:
    opened = load("agents", "command:", ActSettings(), {"PATH": "/bin"})
    assert list(opened)[:3] == ["claude", "codex", "gemini"]
    assert opened["codex"] is opened["codex"]
    assert [name for name, row in opened.table.items() if row.verified] == ["claude", "codex"]
    with pytest.raises(ConfigError, match="unknown agent 'cluade'; did you mean 'claude'"):
        opened["cluade"]
