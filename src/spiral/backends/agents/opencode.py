"""The stream of `opencode run --format json`."""

from __future__ import annotations

from collections.abc import Iterator

from spiral.backends.agents.steps import (
    Began,
    Called,
    Event,
    Fault,
    Returned,
    Said,
    Spent,
    Step,
    Turned,
    amount,
    count,
    table,
    target,
    text,
)
from spiral.work import Usage


def steps(event: Event) -> Iterator[Step]:
    """What one object of the stream means; nothing when it is of no known kind."""
    kind, part = text(event.get("type")), table(event.get("part"))
    if session := text(event.get("sessionID")):
        yield Began(session=session)
    if kind == "step_start":
        yield Turned(key=text(part.get("id")))
    elif kind == "text":
        yield Said(text=text(part.get("text")))
    elif kind in ("tool", "tool_use"):
        yield from _tool(part)
    elif kind == "step_finish":
        yield _spent(part if "tokens" in part else event)
    elif kind == "error":
        error = table(event.get("error"))
        yield Fault(text=text(table(error.get("data")).get("message")) or text(error.get("name")) or "it failed")


def _tool(part: Event) -> Iterator[Step]:
    key, tool, state = text(part.get("callID")), text(part.get("tool")), table(part.get("state"))
    command = target(table(state.get("input"))) or text(state.get("title"))
    yield Called(key=key, tool=tool, command=command, shell=tool == "bash")
    if state.get("status") in ("completed", "error"):
        code = table(state.get("metadata")).get("exit")
        shown = text(state.get("output")) or text(state.get("error"))
        yield Returned(key=key, text=shown, exit_code=code if isinstance(code, int) else None)


def _spent(part: Event) -> Spent:
    tokens = table(part.get("tokens"))
    cache = table(tokens.get("cache"))
    usage = Usage(
        input=count(tokens.get("input")),
        output=count(tokens.get("output")) + count(tokens.get("reasoning")),
        cache_read=count(cache.get("read")),
        cache_write=count(cache.get("write")),
        cost=amount(part.get("cost")),
    )
    return Spent(key=text(part.get("id")), usage=usage, told="cost" in part)
