"""The stream of Claude Code, and of the agents that write in its form."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

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
    Totalled,
    Trouble,
    Turned,
    amount,
    count,
    rows,
    table,
    target,
    text,
)
from spiral.work import Usage

SHELLS = ("Bash", "bash", "PowerShell", "shell")
TROUBLES: dict[str, Trouble] = {
    "authentication_failed": "signin",
    "oauth_org_not_allowed": "signin",
    "billing_error": "signin",
    "rate_limit": "limit",
    "error_max_turns": "turns",
    "error_max_budget_usd": "budget",
}
UNBILLED = ("none", "login", "oauth")
"""Sources of a key that stand for a subscription."""


def steps(event: Event) -> Iterator[Step]:
    """What one object of the stream means; nothing when it is of no known kind."""
    kind = text(event.get("type"))
    if kind == "system" and event.get("subtype") == "init":
        yield Began(
            session=text(event.get("session_id")),
            model=text(event.get("model")),
            subscription=event.get("apiKeySource") in UNBILLED,
        )
    elif kind == "system" and event.get("subtype") == "api_retry":
        error = text(event.get("error"))
        shown = f"try {count(event.get('attempt'))} of {count(event.get('max_retries'))}: {error}"
        yield Fault(text=shown, trouble=TROUBLES.get(error, "error"), fatal=False)
    elif kind == "assistant":
        yield from _assistant(event)
    elif kind == "user":
        for part in rows(table(event.get("message")).get("content")):
            if part.get("type") == "tool_result":
                yield Returned(key=text(part.get("tool_use_id")), text=_flat(part.get("content")))
    elif kind == "rate_limit_event":
        yield from _limit(table(event.get("rate_limit_info")))
    elif kind == "tool_call":
        yield from _tool_call(event)
    elif kind == "result":
        yield from _result(event)


def _assistant(event: Event) -> Iterator[Step]:
    message = table(event.get("message"))
    key, model = text(message.get("id")), text(message.get("model"))
    nested = bool(event.get("parent_tool_use_id"))
    real = model != "<synthetic>"
    if real and not nested:
        yield Turned(key=key or text(event.get("uuid")))
    if real and (usage := table(message.get("usage"))):
        yield Spent(key=key, usage=_usage(usage), model=model)
    content = message.get("content")
    for part in rows(content) if not isinstance(content, str) else [{"type": "text", "text": content}]:
        if part.get("type") == "text" and not nested and text(part.get("text")).strip():
            yield Said(text=text(part.get("text")))
        elif part.get("type") == "tool_use":
            tool = text(part.get("name"))
            given = table(part.get("input"))
            yield Called(key=text(part.get("id")), tool=tool, command=target(given), shell=tool in SHELLS)
    if error := text(event.get("error")):
        trouble = TROUBLES.get(error, "error")
        yield Fault(text=_flat(content) or error, trouble=trouble, fatal=False)


def _tool_call(event: Event) -> Iterator[Step]:
    """A call as Cursor writes it: one table under the name of the tool."""
    key = text(event.get("call_id"))
    for tool, value in table(event.get("tool_call")).items():
        call = table(value)
        if not call:
            continue
        if event.get("subtype") == "started":
            given = table(call.get("args"))
            yield Called(key=key, tool=tool.removesuffix("ToolCall"), command=target(given), shell="shell" in tool)
        else:
            result = table(table(call.get("result")).get("success"))
            shown = "\n".join(filter(None, (text(result.get("stdout")), text(result.get("stderr")))))
            code = result.get("exitCode")
            yield Returned(key=key, text=shown, exit_code=code if isinstance(code, int) else None)


def _limit(info: Event) -> Iterator[Step]:
    if info.get("status") == "rejected":
        moment = amount(info.get("resetsAt"))
        resets = datetime.fromtimestamp(moment, UTC) if 0 < moment < 1e11 else None
        kind = text(info.get("rateLimitType")).replace("_", " ")
        yield Fault(text=f"rate limit {kind}".strip(), trouble="limit", resets=resets, fatal=False)


def _result(event: Event) -> Iterator[Step]:
    last, subtype = text(event.get("result")), text(event.get("subtype"))
    models = [table(value) for value in table(event.get("modelUsage")).values()]
    plain = _usage(table(event.get("usage")))
    usage = sum((_usage(one) for one in models), Usage()) if models else plain
    if "total_cost_usd" in event or usage.tokens:
        yield Totalled(
            usage=Usage(
                input=usage.input,
                output=usage.output,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
                turns=count(event.get("num_turns")),
                cost=amount(event.get("total_cost_usd")),
                unknown="total_cost_usd" not in event,
            )
        )
    if session := text(event.get("session_id")):
        yield Began(session=session)
    errors = event.get("errors")
    told = "; ".join(str(one) for one in errors) if isinstance(errors, list) else ""
    if event.get("is_error") or subtype.startswith("error"):
        yield Fault(text=last or told or subtype, trouble=TROUBLES.get(subtype, "error"))
    yield Ended(text=last)


def _usage(usage: Event) -> Usage:
    """In the form of the API, or of `modelUsage`."""
    return Usage(
        input=count(usage.get("input_tokens", usage.get("inputTokens"))),
        output=count(usage.get("output_tokens", usage.get("outputTokens"))),
        cache_read=count(usage.get("cache_read_input_tokens", usage.get("cacheReadInputTokens"))),
        cache_write=count(usage.get("cache_creation_input_tokens", usage.get("cacheCreationInputTokens"))),
    )


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) or f"[{text(part.get('type'))}]" for part in rows(content))
