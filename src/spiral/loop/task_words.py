"""The words that task files use for statuses, priorities and fields, in ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from spiral.work import MODES, Check, Mode, Status

WORDS: Mapping[Status, tuple[str, ...]] = {
    "open": ("open", "todo", "pending", "new", "ready", "backlog", "planned", "not started", "in progress", "active",
             "doing", "started", "wip", "in review", "review", "testing", "failed", "reopened", ""),
    "done": ("done", "completed", "complete", "passed", "finished", "closed", "resolved", "merged", "shipped",
             "success", "verified"),
    "blocked": ("blocked", "stuck", "waiting", "on hold", "paused", "parked", "deferred", "postponed"),
    "decide": ("decide", "needs decision", "decision needed", "question", "needs input"),
    "skipped": ("skipped", "skip", "cancelled", "canceled", "wontfix", "won't fix", "dropped", "obsolete", "archived",
                "rejected", "duplicate"),
}  # fmt: skip
STATUS_OF: Mapping[str, Status] = {word: status for status, words in WORDS.items() for word in words}
RESTING = ("open", "todo", "pending", "new", "ready", "backlog", "planned", "not started")

MEDIUM = 2
LEVELS: Mapping[str, int] = {
    "critical": 0, "urgent": 0, "highest": 0, "blocker": 0,
    "high": 1, "important": 1, "major": 1,
    "medium": MEDIUM, "normal": MEDIUM, "moderate": MEDIUM, "med": MEDIUM, "": MEDIUM,
    "low": 3, "minor": 3, "lowest": 4, "trivial": 4,
}  # fmt: skip

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "title": ("title", "name", "summary"),
    "description": ("description", "details", "overview"),
    "priority": ("priority",),
    "status": ("status",),
    "passes": ("passes",),
    "reason": ("statusreason",),
    "depends": ("dependencies", "dependson", "depends", "blockedby"),
    "files": ("files", "relevantfiles", "filestomodify"),
    "acceptance": ("acceptancecriteria", "acceptance", "criteria"),
    "steps": ("steps",),
    "checks": ("checks", "checkcommands", "check"),
    "mode": ("mode",),
    "category": ("category",),
    "spec": ("specfilepath", "spec", "specfile", "specpath"),
    "screenshot": ("screenshot",),
    "notes": ("notes",),
}
FIELD_OF: Mapping[str, str] = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
RANK_OF: Mapping[str, int] = {alias: rank for aliases in ALIASES.values() for rank, alias in enumerate(aliases)}
TEXT_OF = ("description", "text", "title", "name", "criterion", "step", "path", "id")
"""Where an object that stands for a text keeps it."""


def field_of(key: str) -> str:
    """Our name of a field, whether it is spelled `acceptanceCriteria` or `acceptance_criteria`; empty when unknown."""
    return FIELD_OF.get(squeezed(key), "")


def fields_of(table: Mapping[str, object]) -> dict[str, object]:
    """The known fields of a table by our names; the best spelling counts, and null is as if it were not there."""
    found: dict[str, object] = {}
    ranks: dict[str, int] = {}
    for key, value in table.items():
        alias = squeezed(key)
        name = FIELD_OF.get(alias)
        if name and value is not None and RANK_OF[alias] < ranks.get(name, len(RANK_OF)):
            found[name], ranks[name] = value, RANK_OF[alias]
    return found


@lru_cache(1_000)
def squeezed(key: str) -> str:
    """A key without what spellings differ in."""
    return re.sub(r"[_\-\s]", "", key).lower()


def status_of(fields: Mapping[str, object]) -> Status:
    """What the fields say about the status; ValueError for a word that nobody knows."""
    passes = fields.get("passes")
    word = spaced(str(fields.get("status", "")))
    if word not in STATUS_OF:
        raise ValueError(f"status {fields['status']!r} is unknown; use one of open, done, blocked, decide, skipped")
    if passes is True:
        return "done"
    status = STATUS_OF[word]
    if status == "done" and passes is False:
        return "open"
    if status == "open" and split_of(str(fields.get("reason", ""))):
        return "skipped"
    return status


def spaced(word: str) -> str:
    """A status in small letters, its words apart."""
    return re.sub(r"[_\-\s]+", " ", word).strip().lower()


def resting(word: str) -> bool:
    """Whether a word for open leaves it at that, and does not say that somebody is at it."""
    return spaced(word) in RESTING


def priority_of(value: object) -> int:
    """A number, a word or P0…P3; ValueError for another word."""
    if isinstance(value, int | float) and value == value and abs(value) < 1e9:  # noqa: PLR0124 - not a number
        return int(value)
    word = str(value if value is not None else "").strip().lower()
    if numbered := re.fullmatch(r"p?(-?\d{1,9})(?:\.\d+)?", word):
        return int(numbered[1])
    if word not in LEVELS:
        raise ValueError(f"priority {value!r} is unknown; use a number, or critical, high, medium or low")
    return LEVELS[word]


def mode_of(value: object) -> Mode:
    """One of our modes; ValueError for another word."""
    found = next((mode for mode in MODES if mode == str(value).strip().lower()), None)
    if found is None:
        raise ValueError(f"mode {value!r} is unknown; use one of {', '.join(MODES)}")
    return found


def text_of(value: object) -> str:
    """A text, whether it stands for itself or is in an object."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return next((text_of(value[key]) for key in TEXT_OF if value.get(key) not in (None, "")), "")
    if isinstance(value, bool) or value is None:
        return ""
    return str(value).strip()


def texts_of(value: object) -> tuple[str, ...]:
    """A list of texts; a single one is a list of its own."""
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items if (text := text_of(item)))


def checks_of(value: object) -> tuple[Check, ...]:
    """Checks, as commands or as objects; ValueError for one that has none, since no work must pass for want of it."""
    items = value if isinstance(value, list) else [value]
    return tuple(check_of(item) for item in items if item not in (None, ""))


def check_of(value: object) -> Check:
    """One check."""
    if isinstance(value, str):
        return Check(name=value.strip(), command=value.strip())
    if not isinstance(value, Mapping):
        raise ValueError(f"check {value!r} is no command; write it as text, or as an object with a command")
    command = next((str(value[key]).strip() for key in ("command", "cmd", "run") if value.get(key)), "")
    if not command:
        raise ValueError(f"check {value.get('name', '')!r} has no command; give it one")
    timeout = value.get("timeout") or 0.0
    try:
        seconds = float(str(timeout).strip().removesuffix("s"))
    except ValueError:
        raise ValueError(f"check {command!r} has the timeout {timeout!r}; give it in seconds") from None
    return Check(name=str(value.get("name") or command), command=command, timeout=max(0.0, seconds))


def split_of(reason: str) -> tuple[str, ...]:
    """The ids in a reason that says `split into …`; none for another reason."""
    if not reason.startswith("split into "):
        return ()
    return tuple(part.strip() for part in reason.removeprefix("split into ").split(",") if part.strip())
