"""The stream of `codex exec --json`."""

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
    rows,
    table,
    target,
    text,
)
from spiral.work import Usage

TOOLS = ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")


def steps(event: Event) -> Iterator[Step]:
    """What one object of the stream means; nothing when it is of no known kind."""
    kind = text(event.get("type"))
    if kind == "thread.started":
        yield Began(session=text(event.get("thread_id")))
    elif kind in ("item.started", "item.completed"):
        yield from _item(table(event.get("item")), done=kind == "item.completed")
    elif kind == "turn.completed":
        # The figures are of the whole thread, so the last ones stand for all.
        yield Spent(key="thread", usage=_usage(table(event.get("usage"))))
        yield Ended()
    elif kind == "turn.failed":
        yield Fault(text=text(table(event.get("error")).get("message")) or "the turn failed")
    elif kind == "error":
        # Also written while it reconnects; when it gives up, the turn fails.
        yield Fault(text=text(event.get("message")), fatal=False)


def _item(item: Event, *, done: bool) -> Iterator[Step]:
    kind, key = text(item.get("type")), text(item.get("id"))
    if kind == "agent_message" and done:
        yield Turned(key=key)
        yield Said(text=text(item.get("text")))
    elif kind == "error" and done:
        yield Fault(text=text(item.get("message")), fatal=False)
    elif kind in TOOLS:
        yield Turned(key=key)
        yield Called(key=key, tool=_tool(item), command=_command(item), shell=kind == "command_execution")
        if done:
            code = item.get("exit_code")
            yield Returned(key=key, text=_result(item), exit_code=code if isinstance(code, int) else None)


def _tool(item: Event) -> str:
    if item.get("type") == "mcp_tool_call":
        return f"{text(item.get('server'))}.{text(item.get('tool'))}"
    return text(item.get("type"))


def _command(item: Event) -> str:
    if changes := rows(item.get("changes")):
        return " ".join(text(change.get("path")) for change in changes)
    return target(item) or target(table(item.get("arguments")))


def _result(item: Event) -> str:
    if shown := text(item.get("aggregated_output")):
        return shown
    if error := table(item.get("error")):
        return text(error.get("message"))
    parts = rows(table(item.get("result")).get("content"))
    return "\n".join(text(part.get("text")) for part in parts) or text(item.get("status"))


def _usage(usage: Event) -> Usage:
    """Its input counts what was cached, too."""
    cached = count(usage.get("cached_input_tokens"))
    return Usage(
        input=max(0, count(usage.get("input_tokens")) - cached),
        output=count(usage.get("output_tokens")),
        cache_read=cached,
    )
