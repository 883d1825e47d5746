"""Messages out of the shapes that transcripts come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from spiral.memory.codec import moment
from spiral.model import ROLES, Message, Role

KNOWN: Mapping[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "developer": "system",
}


def messages_of(text: str, role: str, source: str) -> list[Message]:
    """JSON, JSON lines, or plain text as one message."""
    found = parsed(text)
    if found is None:
        return [Message(role=cast(Role, role), text=text, source=source)] if text.strip() else []
    return [message for item in found if (message := message_of(item, source)).text]


def parsed(text: str) -> list[Mapping[str, object]] | None:
    """The tables of a JSON transcript; None if it is not one."""
    try:
        whole = json.loads(text)
    except ValueError:
        try:
            whole = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return None
    if isinstance(whole, dict):
        whole = whole.get("messages", [whole])
    if not isinstance(whole, list) or not all(isinstance(item, dict) for item in whole):
        return None
    return whole


def message_of(item: Mapping[str, object], source: str) -> Message:
    """One message; Claude Code nests it under `message`, others write `content` or `text`."""
    inner = item.get("message")
    said = inner if isinstance(inner, dict) else item
    name = str(said.get("role") or item.get("role") or item.get("type") or "user").lower()
    role = KNOWN.get(name, name)
    at = item.get("at") or item.get("timestamp") or item.get("created_at")
    return Message(
        role=ROLES[ROLES.index(role)] if role in ROLES else "user",
        text=flat(said.get("content", said.get("text", ""))),
        at=moment(at, "at") if isinstance(at, str) else None,
        source=str(item.get("source") or source),
    )


def flat(content: object) -> str:
    """The text of a message's content, which may be a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(piece for piece in map(flat, content) if piece)
    if isinstance(content, dict):
        return flat(content.get("text", content.get("content", "")))
    return ""
