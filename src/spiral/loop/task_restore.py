"""Puts back what an agent changed about the tasks that only the runner may decide."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spiral.errors import StoreError
from spiral.loop.json_text import begin, changed, gap_of, members, spliced
from spiral.loop.task_files import (
    DETAILS,
    TABLE,
    Table,
    alone,
    detail_names,
    inside,
    listed_details,
    object_of,
    read_table,
    read_text,
    table_of,
)
from spiral.loop.task_words import field_of, fields_of
from spiral.loop.tasks import STATUS, known_status, restated
from spiral.memory.files import Folder

KEPT = (*STATUS, "checks", "depends", "acceptance", "spec")
"""What a verdict rests on, and where it is written. All else an agent may edit: descriptions, steps, files, notes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """What an agent had changed about the tasks."""

    requested: dict[str, str] = field(default_factory=dict)
    """Task → the status that the agent gave it, or `deleted`."""
    altered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Task, or file → fields of it that were put back, beside the status."""
    added: list[str] = field(default_factory=list)
    """New tasks, which are open now."""
    files: list[str] = field(default_factory=list)
    """What was written, relative to the folder."""


def snapshot(folder: Path) -> dict[str, str]:
    """The texts of the task files, by path relative to the folder."""
    paths = {TABLE, *(f"{DETAILS}/{name}" for name in listed_details(folder))}
    try:
        table = read_table(folder)
    except StoreError:
        table = None
    for entry in table.entries if table else ():
        spec = str(fields_of(entry.fields).get("spec", ""))
        paths.add(inside(folder, spec) if spec.endswith(".json") else "")
    texts: dict[str, str] = {}
    for path in sorted(paths - {""}):
        try:
            text = read_text(folder / path)
        except StoreError:
            continue
        if text is not None:
            texts[path] = text
    return texts


def restore(folder: Path, before: Mapping[str, str]) -> Restored:
    """Put back what the snapshot says about statuses, checks, dependencies, criteria and specs, and what was deleted.

    Other edits survive, and tasks that were added are open, whatever they say. One writer at a time; a second call
    with the same snapshot finds nothing to put back.
    """
    done = Restored()
    with alone(folder):
        try:
            was = table_of(before[TABLE]) if TABLE in before else None
        except StoreError:
            was = None
        texts = {}
        for path, text in before.items():
            # Most files are as they were, and reading them is all that they may cost.
            if path != TABLE and now(folder, path) != text:
                texts[path] = restored_details(folder, path, text, done)
        if TABLE not in before or now(folder, TABLE) != before[TABLE]:
            texts[TABLE] = restored_table(folder, was, done)
        for name in listed_details(folder):
            path = f"{DETAILS}/{name}"
            if path not in before:
                known = was is not None and any(name in detail_names(entry.id) for entry in was.entries)
                texts[path] = stripped(folder, path, KEPT if known else STATUS)
        for path, wanted in texts.items():
            if wanted and wanted != now(folder, path):
                Folder(folder).write(path, wanted)
                done.files.append(path)
    return done


def now(folder: Path, path: str) -> str | None:
    """The text of a file; None when it is gone or no text."""
    try:
        return read_text(folder / path)
    except StoreError:
        return None


def restored_table(folder: Path, was: Table | None, done: Restored) -> str:
    """The text that the table should have; empty when there is nothing to do."""
    try:
        table = read_table(folder)
    except StoreError:
        table = None
    if table is None or (was and not any(entry.id for entry in table.entries)):
        return was.text if was else ""
    pieces = []
    for entry in table.entries:
        old = was.find(entry.id) if was else None
        if old and was:
            text, back = put_back(
                table.text[entry.start : entry.end], entry.fields, was.text[old.start : old.end], old.fields
            )
            note(done, entry.id, entry.fields, old.fields, back)
            pieces.append((entry.start, entry.end, text))
        elif entry.id:
            done.added.append(entry.id)
            wish = known_status(fields_of(entry.fields))
            if wish != "open":
                done.requested[entry.id] = wish
                pieces.append((entry.start, entry.end, restated(table, entry, "open", "")))
    if was:
        pieces += returned(table, was, done)
    return spliced(table.text, sorted(pieces, key=lambda piece: piece[:2]))


def returned(table: Table, was: Table, done: Restored) -> list[tuple[int, int, str]]:
    """The entries that were deleted, each behind the one that it stood behind."""
    there = {entry.id: entry for entry in reversed(table.entries)}
    pieces, behind = [], None
    gap = gap_of(table.text, table.array)
    for old in was.entries:
        if old.id in there:
            behind = there[old.id]
        elif old.id:
            done.requested[old.id] = "deleted"
            raw = was.text[old.start : old.end]
            first = table.entries[0].start
            pieces.append((behind.end, behind.end, gap + raw) if behind else (first, first, raw + gap))
    return pieces


def restored_details(folder: Path, path: str, text: str, done: Restored) -> str:
    """The text that a task's own file should have."""
    try:
        old = object_of(text, path)
    except StoreError:
        return ""
    found = now(folder, path)
    try:
        fields = object_of(found, path) if found is not None else None
    except StoreError:
        fields = None
    if found is None or fields is None:
        return text
    at = begin(found)
    fresh, back = put_back(found[at:], fields, text[begin(text) :], old)
    note(done, str(old.get("id", "")) or Path(path).stem, fields, old, back)
    return found[:at] + fresh


def put_back(
    text: str, fields: Mapping[str, object], old_text: str, old: Mapping[str, object]
) -> tuple[str, tuple[str, ...]]:
    """(the text of an object with the kept fields as they were, which of them had been altered)."""
    raw = {one.key: old_text[one.value : one.end] for one in members(old_text, 0)}
    changes = {
        key: raw.get(key)
        for key in (*fields, *(key for key in old if key not in fields))
        if field_of(key) in KEPT and (key in fields, shown(fields, key)) != (key in old, shown(old, key))
    }
    return changed(text, changes), tuple(dict.fromkeys(field_of(key) for key in changes))


def shown(fields: Mapping[str, object], key: str) -> str:
    """A value as it can be compared: true is not 1."""
    return json.dumps(fields.get(key), sort_keys=True)


def note(
    done: Restored, name: str, fields: Mapping[str, object], old: Mapping[str, object], back: tuple[str, ...]
) -> None:
    """Tell what an agent had wanted of a task."""
    wish = known_status(fields_of(fields))
    if set(back) & set(STATUS) and wish != known_status(fields_of(old)):
        done.requested.setdefault(name, wish)
    others = tuple(one for one in back if one not in STATUS)
    if others:
        done.altered[name] = tuple(dict.fromkeys((*done.altered.get(name, ()), *others)))


def stripped(folder: Path, path: str, names: tuple[str, ...]) -> str:
    """The text of a file without these fields; empty when it cannot be read."""
    text = now(folder, path)
    try:
        fields = object_of(text or "", path)
    except StoreError:
        return ""
    assert text is not None
    at = begin(text)
    return text[:at] + changed(text[at:], {key: None for key in fields if field_of(key) in names})
