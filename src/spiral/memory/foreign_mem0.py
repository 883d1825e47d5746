"""Memories that mem0 exported, as drafts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from spiral.errors import UsageError
from spiral.model import Draft, Kind, utc

_LEVELS = {"user_id": "user", "agent_id": "agent", "run_id": "run", "app_id": "app"}
_LISTS = ("results", "memories", "data")
_TEXTS = ("memory", "text", "data", "content")
_KINDS: dict[str, Kind] = {"procedural_memory": "procedural", "episodic_memory": "episodic"}
_KEPT = ("hash", "updated_at", "actor_id", "role")
"""Fields that have no place of their own in a memory and go to its metadata."""


def mem0_drafts(text: str, name: str, now: datetime) -> Iterator[tuple[Draft, Mapping[str, str]]]:
    """Each memory of an export with the scope levels it names; `name` is the file's, for messages.

    What mem0 deleted is left out. What has expired comes along with its date, so that its history is kept.
    """
    for where, entry in _entries(text, name):
        if not isinstance(entry, dict):
            raise UsageError(f"{where} is {entry!r:.60}, not an object; export the memories from mem0 again")
        payload = entry.get("payload")
        table = {**entry, **payload} if isinstance(payload, dict) else entry
        if not _deleted(table):
            yield _draft(table, where, now), _levels(table)


def _entries(text: str, name: str) -> Iterator[tuple[str, object]]:
    """Every entry with where it stands, from a document or from JSON lines."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise UsageError(f"{name} is empty; export the memories from mem0 again")
    if len(lines) > 1 and _whole(lines[0][1]):
        for number, line in lines:
            yield f"{name}:{number}", _parsed(line, name, number - 1)
        return
    document = _parsed(text, name, 0)
    if isinstance(document, dict):
        document = next((document[key] for key in _LISTS if isinstance(document.get(key), list)), [document])
    if not isinstance(document, list):
        raise UsageError(f"{name} holds {document!r:.60}, not a list of memories; export them from mem0 again")
    for number, entry in enumerate(document, 1):
        yield f"memory {number} in {name}", entry


def _whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _parsed(text: str, name: str, before: int) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        raise UsageError(
            f"{name}:{before + fault.lineno} is not JSON ({fault.msg}); mend the line, or export it again"
        ) from None
    except RecursionError:
        raise UsageError(f"{name} is nested too deeply to be an export of mem0") from None


def _draft(table: Mapping[str, object], where: str, now: datetime) -> Draft:
    said = next((value.strip() for key in _TEXTS if isinstance(value := table.get(key), str) and value.strip()), "")
    if not said:
        raise UsageError(f"{where} has no text; give it a field 'memory', or remove it")
    given = table.get("metadata")
    metadata = {str(key): _plain(value) for key, value in given.items()} if isinstance(given, dict) else {}
    metadata |= {f"mem0_{key}": _plain(table[key]) for key in ("id", *_KEPT) if table.get(key)}
    learned = _moment(table.get("created_at"), where, "created_at")
    return Draft(
        text=said,
        kind=_KINDS.get(str(table.get("memory_type") or metadata.get("memory_type")), "semantic"),
        tags=_tags(table.get("categories")),
        authority="inferred",
        expires=_moment(table.get("expiration_date"), where, "expiration_date"),
        metadata=metadata | {"from": "mem0"},
        learned=min(learned, utc(now)) if learned else None,
    )


def _levels(table: Mapping[str, object]) -> dict[str, str]:
    return {level: str(value) for field, level in _LEVELS.items() if (value := table.get(field)) not in (None, "")}


def _deleted(table: Mapping[str, object]) -> bool:
    state = str(table.get("state") or table.get("event") or "").lower()
    return bool(table.get("deleted") or table.get("is_deleted") or table.get("deleted_at")) or state.startswith(
        "delete"
    )


def _tags(value: object) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value] if value else []
    return tuple(dict.fromkeys(str(tag) for tag in given if tag))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _moment(value: object, where: str, field: str) -> datetime | None:
    if value in (None, ""):
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, tz=UTC)
        return utc(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{where} has {field} {value!r}; write it like '2026-01-31'") from None
