"""What a line of an agent's stream can mean, whichever agent wrote it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from spiral.model import EMPTY
from spiral.work import Usage

Event = Mapping[str, object]
"""One object of the stream, as JSON has it."""
Trouble = Literal["error", "limit", "signin", "turns", "budget"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Began:
    """The agent told who it is."""

    session: str = ""
    model: str = ""
    subscription: bool = False
    """What it costs is covered by a flat price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """The model was asked once more; equal keys are one turn."""

    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """The agent said something."""

    text: str
    more: bool = False
    """A piece that goes on from the piece before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """The agent used a tool; equal keys are one call."""

    key: str
    tool: str
    command: str = ""
    """What it ran, when the tool is a shell; otherwise what it was used on."""
    shell: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Returned:
    """What a tool gave back."""

    key: str
    text: str
    exit_code: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What was used up under a key; what comes later under the same key replaces it."""

    key: str
    usage: Usage
    model: str = ""
    told: bool = False
    """The cost is the agent's own figure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Totalled:
    """What the agent says it used up from start to end."""

    usage: Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something went wrong."""

    text: str
    trouble: Trouble = "error"
    resets: datetime | None = None
    fatal: bool = True
    """Otherwise it matters only when the agent fails before the model answers again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """The agent's last word."""

    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line without structure."""

    text: str


Step = Began | Turned | Said | Called | Returned | Spent | Totalled | Fault | Ended | Line


def table(value: object) -> Event:
    """The value, if it is a table; otherwise an empty one."""
    return value if isinstance(value, Mapping) else EMPTY


def rows(value: object) -> Sequence[Event]:
    """The tables of a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The value, if it is text; otherwise nothing."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """The value as a count; anything that is none is 0."""
    return max(0, int(amount(value)))


def amount(value: object) -> float:
    """The value as a number; anything that is none, or is not finite, is 0."""
    sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if sound and isinstance(value, int | float) else 0.0


def target(given: Event) -> str:
    """What a tool was used on, in few words: its command, path, question or address."""
    for name in (
        "command",
        "cmd",
        "file_path",
        "filePath",
        "path",
        "absolute_path",
        "pattern",
        "query",
        "url",
        "prompt",
    ):
        value = given.get(name)
        if isinstance(value, list):
            return " ".join(str(item) for item in value)
        if isinstance(value, str) and value:
            return value
    return ""
