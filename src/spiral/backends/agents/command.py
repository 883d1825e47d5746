"""The command line for one order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spiral.backends.agents.table import Adapter
from spiral.work import Order

LONGEST_ARGUMENT = 120_000
"""Bytes; the kernel takes no argument of 128 KiB or more."""
PROMPT_FILE = "prompt.md"
MARK = "{prompt}"
"""What stands for the prompt where a command line is shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """What is run, and what of it may be shown."""

    argv: tuple[str, ...]
    shown: tuple[str, ...]
    stdin: bytes = b""
    prompt_file: bool = False
    """Whether the prompt is to be written beside the stream first."""


def command_for(adapter: Adapter, order: Order) -> Command:
    """The adapter's command with the order's bounds and prompt in their places.

    A prompt that is too long for an argument goes to a file that the argument names.
    """
    path = str(Path(order.history) / PROMPT_FILE)
    prompt = order.prompt.replace("\0", "")
    long = adapter.prompt == "argument" and len(prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT
    argument = f"Read the file {path} and do what it says." if long else prompt
    options = _options(adapter, order)
    argv: list[str] = []
    shown: list[str] = []
    for word in adapter.command if "{options}" in adapter.command else (*adapter.command, "{options}"):
        if word == "{options}":
            argv += options
            shown += options
            continue
        placed = word.replace("{prompt_file}", path).replace("{folder}", order.folder)
        argv.append(placed.replace("{prompt}", argument))
        shown.append(placed.replace("{prompt}", MARK))
    return Command(
        argv=tuple(argv),
        shown=tuple(shown),
        stdin=order.prompt.encode("utf-8", "replace") if adapter.prompt == "stdin" else b"",
        prompt_file=long or adapter.prompt == "file",
    )


def _options(adapter: Adapter, order: Order) -> list[str]:
    model = order.model or adapter.model
    values = {
        adapter.model_flag: {"{model}": model},
        adapter.turns_flag: {"{turns}": str(order.turns or "")},
        adapter.budget_flag: {"{cost}": f"{order.cost:.4f}" if order.cost else ""},
    }
    options = [
        word.replace(mark, value)
        for flag, pair in values.items()
        for mark, value in pair.items()
        if value
        for word in flag
    ]
    return [*options, *_servers(adapter.mcp_flag, order.mcp), *adapter.args, *order.args]


def _servers(flag: Sequence[str], file: str) -> list[str]:
    """The flag for MCP servers: with the file, or once for each server in it."""
    if not flag or not file:
        return []
    if not any("{server}" in word for word in flag):
        return [word.replace("{mcp}", file) for word in flag]
    servers = json.loads(Path(file).read_text(encoding="utf-8")).get("mcpServers", {})
    return [
        word.replace("{server}", name).replace("{toml}", _toml(server))
        for name, server in servers.items()
        for word in flag
    ]


def _toml(value: object) -> str:
    """A value of JSON as TOML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)
