"""Messages out of the files that transcripts come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from spiral.memory.messages import message_of
from spiral.model import Message, Role


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
