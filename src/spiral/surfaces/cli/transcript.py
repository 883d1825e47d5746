"""Messages out of the files that transcripts come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from spiral.memory.messages import message_of
from spiral.model import Message, Role


def messages_of(text: str, role: str, source: str) -> list[Message]:
    """JSON, JSON lines, or plain text as one message."""
    found = transcribed(text, source)
    if found is not None:
        return found
    return [Message(role=cast(Role, role), text=text, source=source)] if text.strip() else []


def transcribed(text: str, source: str) -> list[Message] | None:
    """The messages of a JSON transcript; None if it is plain text, as is what is nested too deeply to be one."""
    try:
        found = parsed(text)
        return None if found is None else [message for item in found if (message := message_of(item, source)).text]
    except RecursionError:
        return None


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
