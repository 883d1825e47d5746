"""The stream of `gemini --output-format stream-json`."""

from __future__ import annotations

from collections.abc import Iterator

from spiral.backends.agents.steps import (
    Began,
    Called,
    Ended,
    Event,
    Fault,
    Returned,
    Said,
    Spent,
    Step,
    Turned,
    count,
    table,
    target,
    text,
)
from spiral.work import Usage

SHELLS = ("run_shell_command", "shell")


def steps(event: Event) -> Iterator[Step]:
    """What one object of the stream means; nothing when it is of no known kind."""
    kind = text(event.get("type"))
    if kind == "init":
        yield Began(session=text(event.get("session_id", event.get("sessionId"))), model=text(event.get("model")))
    elif kind == "message" and event.get("role") != "user":
        yield Said(text=text(event.get("content")), more=bool(event.get("delta")))
    elif kind == "tool_use":
        tool, key = text(event.get("tool_name")), text(event.get("tool_id"))
        yield Turned(key=key)
        yield Called(key=key, tool=tool, command=target(table(event.get("parameters"))), shell=tool in SHELLS)
    elif kind == "tool_result":
        shown = text(event.get("output")) or text(table(event.get("error")).get("message"))
        yield Returned(key=text(event.get("tool_id")), text=shown)
    elif kind == "error":
        yield Fault(text=text(event.get("message")), fatal=False)
    elif kind == "result":
        yield from _result(event)


def _result(event: Event) -> Iterator[Step]:
    stats = table(event.get("stats"))
    models = {name: table(value) for name, value in table(stats.get("models")).items()}
    for name, usage in (models or {"": stats}).items():
        yield Spent(key=f"result {name}", usage=_usage(usage), model=name)
    if event.get("status") == "error" or event.get("error"):
        yield Fault(text=text(table(event.get("error")).get("message")) or "the agent failed")
    yield Ended()


def _usage(usage: Event) -> Usage:
    """Its input counts what was cached, too."""
    cached = count(usage.get("cached"))
    return Usage(
        input=max(0, count(usage.get("input_tokens")) - cached),
        output=count(usage.get("output_tokens")),
        cache_read=cached,
    )
