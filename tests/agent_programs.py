"""Small real programs that write what coding agents write."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spiral.backends.agents.opening import Agents, open_agents
from spiral.tables import ActSettings
from spiral.work import Order

PROMISE = "All is green.\n<promise>COMPLETE</promise>"

CLAUDE: Sequence[Mapping[str, object]] = [
    {"type": "system", "subtype": "init", "session_id": "s-1", "model": "claude-opus-4-8[1m]", "apiKeySource": "none"},
    {
        "type": "assistant",
        "message": {
            "id": "m-1",
            "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": "I run the tests."}],
            "usage": {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 500},
        },
    },
    {
        "type": "assistant",
        "message": {
            "id": "m-1",
            "model": "claude-opus-4-8",
            "content": [{"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "pytest -q"}}],
            "usage": {"input_tokens": 10, "output_tokens": 40, "cache_read_input_tokens": 500},
        },
    },
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t-1", "content": "3 passed in 0.1s"}]},
    },
    {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1763500000}},
    {
        "type": "assistant",
        "message": {
            "id": "m-2",
            "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": PROMISE}],
            "usage": {"input_tokens": 5, "output_tokens": 20, "cache_creation_input_tokens": 100},
        },
    },
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 2,
        "result": PROMISE,
        "session_id": "s-1",
        "total_cost_usd": 0.25,
        "usage": {
            "input_tokens": 15,
            "output_tokens": 60,
            "cache_read_input_tokens": 500,
            "cache_creation_input_tokens": 100,
        },
    },
]
CODEX: Sequence[Mapping[str, object]] = [
    {"type": "thread.started", "thread_id": "s-1"},
    {"type": "turn.started"},
    {"type": "error", "message": "Reconnecting... 1/5"},
    {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "Hm."}},
    {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "I run the tests."}},
    {"type": "item.started", "item": {"id": "i2", "type": "command_execution", "command": "pytest -q"}},
    {
        "type": "item.completed",
        "item": {
            "id": "i2",
            "type": "command_execution",
            "command": "pytest -q",
            "aggregated_output": "3 passed in 0.1s",
            "exit_code": 0,
        },
    },
    {"type": "item.completed", "item": {"id": "i3", "type": "agent_message", "text": PROMISE}},
    {
        "type": "turn.completed",
        "usage": {"input_tokens": 1_000_000, "cached_input_tokens": 600_000, "output_tokens": 100_000},
    },
]
GEMINI: Sequence[Mapping[str, object]] = [
    {"type": "init", "session_id": "s-1", "model": "gemini-2.5-pro"},
    {"type": "message", "role": "user", "content": "the prompt"},
    {"type": "message", "role": "assistant", "content": "I run ", "delta": True},
    {"type": "message", "role": "assistant", "content": "the tests.", "delta": True},
    {
        "type": "tool_use",
        "tool_name": "run_shell_command",
        "tool_id": "t-1",
        "parameters": {"command": "pytest -q"},
    },
    {"type": "tool_result", "tool_id": "t-1", "status": "success", "output": "3 passed in 0.1s"},
    {"type": "message", "role": "assistant", "content": PROMISE[:9], "delta": True},
    {"type": "message", "role": "assistant", "content": PROMISE[9:], "delta": True},
    {
        "type": "result",
        "status": "success",
        "stats": {"input_tokens": 1_000_000, "cached": 0, "output_tokens": 100_000, "tool_calls": 1},
    },
]
OPENCODE: Sequence[Mapping[str, object]] = [
    {"type": "step_start", "sessionID": "s-1", "part": {"id": "p0"}},
    {"type": "text", "sessionID": "s-1", "part": {"text": "I run the tests."}},
    {
        "type": "tool_use",
        "sessionID": "s-1",
        "part": {
            "tool": "bash",
            "callID": "c1",
            "state": {"status": "completed", "input": {"command": "pytest -q"}, "output": "3 passed in 0.1s"},
        },
    },
    {
        "type": "step_finish",
        "sessionID": "s-1",
        "part": {"id": "p1", "cost": 0.2, "tokens": {"input": 10, "output": 5, "reasoning": 5, "cache": {"read": 7}}},
    },
    {"type": "step_start", "sessionID": "s-1", "part": {"id": "p2"}},
    {"type": "text", "sessionID": "s-1", "part": {"text": PROMISE}},
    {
        "type": "step_finish",
        "sessionID": "s-1",
        "part": {"id": "p3", "cost": 0.1, "tokens": {"input": 10, "output": 5, "reasoning": 0}},
    },
]


def quiet(_: str) -> None:
    """Tell nobody."""


def never() -> bool:
    """Do not stop."""
    return False


def script(path: Path, body: str) -> Path:
    """An executable Python program. Its interpreter is the one behind the venv, which a sandbox may hide with /tmp."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{Path(sys.executable).resolve()}\nimport json, os, signal, subprocess, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


def printing(events: Sequence[Mapping[str, object]]) -> str:
    """The body of a program that writes these as JSON lines."""
    return f"for event in {json.dumps([json.dumps(event) for event in events])}: print(event, flush=True)"


def agents(*, environ: Mapping[str, str] | None = None, git_dir: str = "", **act: Any) -> Agents:
    """The agents under these settings of `[act]`."""
    settings = ActSettings(**act)
    return open_agents("command:", settings, os.environ if environ is None else environ, git_dir)


def order(folder: Path, **bounds: Any) -> Order:
    """An order to work there."""
    folder.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "prompt": "Do it.",
        "folder": str(folder),
        "history": str(folder / "history"),
        "seconds": 60.0,
        **bounds,
    }
    return Order(**values)
