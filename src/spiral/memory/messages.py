"""Messages out of the shapes in which callers and transcripts have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from spiral.errors import UsageError
from spiral.memory.codec import moment
from spiral.model import ROLES, Message, Role

KNOWN: Mapping[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "developer": "system",
}


def messages_given(said: object) -> list[Message]:
    """A text (one message of the user's), a message, a table of `role` and `content`, or several of these."""
    if isinstance(said, str):
        return [Message(role="user", text=said)]
    if isinstance(said, Message | Mapping):
        said = [said]
    if not isinstance(said, Iterable):
        raise UsageError(f"messages must be a text or a list of messages, not {said!r}")
    return [message_given(item) for item in said]


def message_given(item: object) -> Message:
    """One message."""
    if isinstance(item, Message):
        return item
    if isinstance(item, str):
        return Message(role="user", text=item)
    if isinstance(item, Mapping):
        return message_of(item, "")
    raise UsageError(f"a message must be a text, a Message or a table with role and content, not {item!r}")


def message_of(item: Mapping[str, object], source: str) -> Message:
    """One message; Claude Code nests it under `message`, others write `content` or `text`."""
    inner = item.get("message")
    said = inner if isinstance(inner, Mapping) else item
    name = str(said.get("role") or item.get("role") or item.get("type") or "user").lower()
    role = KNOWN.get(name, name)
    at = item.get("at") or item.get("timestamp") or item.get("created_at")
    return Message(
        role=ROLES[ROLES.index(role)] if role in ROLES else "user",
        text=flat(said.get("content", said.get("text", ""))),
        at=moment(at, "at") if isinstance(at, str | datetime) else None,
        source=str(item.get("source") or source),
        id=str(item.get("uuid") or item.get("id") or ""),
    )


def flat(content: object) -> str:
    """The text of a message's content, which may be a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(piece for piece in map(flat, content) if piece)
    if isinstance(content, Mapping):
        return flat(content.get("text", content.get("content", "")))
    return ""
