"""Appending episodes and nothing else, as fast as a disk allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from spiral.memory import codec, segments
from spiral.memory.files import Folder
from spiral.memory.redact import redact
from spiral.memory.safe import safe_name, safe_scope, safe_text
from spiral.model import Episode, Message, Scope, Visibility


def capture(folder: Folder, episodes: Sequence[Episode]) -> None:
    """Append the episodes to their session's segment; the index follows at the next use."""
    if episodes:
        folder.prepare()
        segments.append(folder, episodes)


def heard(messages: Sequence[Message], now: datetime) -> list[Message]:
    """The messages of a conversation that is going on: what has neither an id nor a time of its own was said just now.

    So a turn that is said twice is kept twice. A retry keeps it twice as well: who retries gives ids.
    """
    return [
        # A microsecond apart, so that what was said in one breath stays in order.
        message if message.id or message.at else replace(message, at=now + timedelta(microseconds=number))
        for number, message in enumerate(messages)
    ]


def made_of(
    messages: Sequence[Message], scope: Scope, *, session: str, owner: str, visibility: Visibility, now: datetime
) -> tuple[list[Episode], tuple[str, ...]]:
    """The messages as episodes, without secrets; a session or scope that is one is refused.

    An id stands for who said what when, under which id, or as the how-manieth time in this conversation: reading the
    same conversation again gives the same ids.
    """
    session = safe_name(session, "session")
    safe_scope(scope)
    made: list[Episode] = []
    found: list[str] = []
    times: Counter[tuple[str, ...]] = Counter()
    for number, message in enumerate(messages):
        text, kinds = redact(codec.printable(message.text))
        found.extend(kinds)
        said = (message.role, text, codec.stamp(message.at) if message.at else "")
        times[*said, message.id] += 1
        made.append(
            Episode(
                id="e" + codec.digest(str(scope), session, *said, str(times[*said, message.id]), message.id),
                session=session,
                role=message.role,
                text=text,
                at=message.at or now + timedelta(microseconds=number),
                scope=scope,
                owner=owner,
                visibility=visibility,
                source=safe_text(message.source) or message.role,
            )
        )
    return made, tuple(dict.fromkeys(found))
