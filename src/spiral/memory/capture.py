"""Appending episodes and nothing else, as fast as a disk allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from spiral.memory import codec, segments
from spiral.memory.files import Folder
from spiral.memory.redact import redact
from spiral.model import Episode, Message, Scope, Visibility


def capture(folder: Folder, episodes: Sequence[Episode]) -> None:
    """Append the episodes to their session's segment; the index follows at the next use."""
    if episodes:
        folder.prepare()
        segments.append(folder, episodes)


def made_of(
    messages: Sequence[Message], scope: Scope, *, session: str, owner: str, visibility: Visibility, now: datetime
) -> tuple[list[Episode], tuple[str, ...]]:
    """The messages as episodes, without secrets. An id stands for who said what when, or as the how-manieth time."""
    made: list[Episode] = []
    found: list[str] = []
    times: Counter[tuple[str, str, str]] = Counter()
    for number, message in enumerate(messages):
        text, kinds = redact(codec.printable(message.text))
        found.extend(kinds)
        said = (message.role, text, codec.stamp(message.at) if message.at else "")
        times[said] += 1
        source = redact(message.source)[0] or message.role
        made.append(
            Episode(
                id="e" + codec.digest(str(scope), session, *said, str(times[said]), message.id),
                session=session,
                role=message.role,
                text=text,
                # A microsecond apart, so that what was said in one breath stays in order.
                at=message.at or now + timedelta(microseconds=number),
                scope=scope,
                owner=owner,
                visibility=visibility,
                source=source,
            )
        )
    return made, tuple(dict.fromkeys(found))
