"""Where the task files are and what they hold, as found; one writer at a time."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from spiral.errors import StoreError, StoreLockedError
from spiral.loop.json_text import begin, elements, members, parse
from spiral.memory.files import failing

TABLE = "tasks.json"
DETAILS = "tasks"
SECONDS = 30.0
SETTLED = 100_000_000
"""Nanoseconds since its last change after which a file that looks the same is the same: clocks of disks are coarse."""
MOST = 20_000
TEXTS: dict[str, tuple[tuple[int, int, int, int], str]] = {}
"""Texts of files by path, with how the files looked: a loop reads a thousand of them several times a pass."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the table: its fields, and its place in the text."""

    fields: Mapping[str, object]
    start: int
    end: int

    @property
    def id(self) -> str:
        """Its id as text; empty when it has none."""
        value = self.fields.get("id")
        return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


@dataclass(frozen=True, slots=True)
class Table:
    """The lookup table, in either shape."""

    text: str
    array: int
    """Where the list of entries begins."""
    entries: tuple[Entry, ...]
    bare: bool
    """It is the list itself; else the list is the member `tasks` of an object."""

    @property
    def passing(self) -> bool:
        """Whether its entries say `passes` rather than a status."""
        if not self.entries:
            return self.bare
        return self.uses("passes") and not self.uses("status")

    def uses(self, key: str) -> bool:
        """Whether any entry has this key."""
        return any(key in entry.fields for entry in self.entries)

    def find(self, id: str) -> Entry | None:  # noqa: A002 - what everybody calls it
        """The first entry of that id."""
        return next((entry for entry in self.entries if entry.id == id), None)


@lru_cache(maxsize=4)
def table_of(text: str, name: str = TABLE) -> Table:
    """The table in a text; StoreError says what is wrong with it. An entry that is no object has no fields."""
    try:
        value = parse(text)
    except ValueError as fault:
        raise StoreError(f"{name} is not JSON: {fault}; correct it, or take it from git") from fault
    array = begin(text)
    bare = isinstance(value, list)
    if not bare:
        listed = value.get("tasks") if isinstance(value, dict) else None
        if not isinstance(listed, list):
            raise StoreError(f'{name} holds no tasks; it should be a list, or an object {{"tasks": [...]}}')
        value, array = listed, [member.value for member in members(text, array) if member.key == "tasks"][-1]
    assert isinstance(value, list)
    entries = tuple(
        Entry(fields if isinstance(fields, dict) else {}, start, end)
        for fields, (start, end) in zip(value, elements(text, array), strict=True)
    )
    return Table(text, array, entries, bare)


def read_table(folder: Path) -> Table | None:
    """The table of a folder; None when there is none."""
    text = read_text(folder / TABLE)
    return None if text is None else table_of(text, str(folder / TABLE))


def read_text(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None when it is no file."""
    name = str(path)
    with failing(path):
        try:
            found = os.stat(name)  # noqa: PTH116 - a thousand times a pass
        except (FileNotFoundError, NotADirectoryError):
            return None
        # A pipe or a device that an agent left in its place would hold us for ever.
        if not S_ISREG(found.st_mode):
            return None
        stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        known = TEXTS.get(name)
        if known and known[0] == stamp:
            return known[1]
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as fault:
            raise StoreError(f"{name!r} is not UTF-8: {fault}; save it as UTF-8") from fault
    if time.time_ns() - max(stamp[:2]) > SETTLED:
        if len(TEXTS) >= MOST:
            TEXTS.clear()
        TEXTS[name] = (stamp, text)
    return text


def object_of(text: str, name: str) -> Mapping[str, object]:
    """The object in a text; StoreError when it is none."""
    try:
        value = parse(text)
    except ValueError as fault:
        raise StoreError(f"{name} is not JSON: {fault}; correct it, or take it from git") from fault
    if not isinstance(value, dict):
        raise StoreError(f"{name} should be an object with description, checks, …")
    return value


def detail_names(id: str) -> tuple[str, ...]:  # noqa: A002
    """The names that the file of a task may have, the usual one first."""
    if not re.fullmatch(r"[\w.-]+", id):
        return ()
    both = (f"TASK-{id}.json", f"{id}.json")
    return both[::-1] if id.upper().startswith("TASK-") else both


def detail_path(folder: Path, id: str, spec: str, listed: frozenset[str]) -> str:  # noqa: A002
    """The file that describes a task, relative to the folder: the one its entry names, or by its id; empty for none."""
    if spec.endswith(".json") and (named := inside(folder, spec)):
        return named
    return next((f"{DETAILS}/{name}" for name in detail_names(id) if name in listed), "")


def inside(folder: Path, spec: str) -> str:
    """A path that starts from the project or from its `.agent/`, relative to the latter; empty outside the project."""
    if not spec:
        return ""
    project = folder.parent.resolve()
    for base in (folder.parent, folder):
        path = base / spec
        if path.is_file() and path.resolve().is_relative_to(project):
            return os.path.relpath(path, folder)
    return ""


def listed_details(folder: Path) -> frozenset[str]:
    """The names in the folder of details."""
    try:
        names = os.listdir(folder / DETAILS)  # noqa: PTH208 - a thousand names, several times a pass
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    return frozenset(name for name in names if name.endswith(".json") and not name.startswith("."))


@contextmanager
def alone(folder: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Nobody else changes the task files meanwhile; StoreLockedError when the turn does not come in time.

    One winner: the lock on the folder itself, which leaves no file behind and ends with the process.
    """
    with failing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise StoreLockedError(
                        f"another process has been changing the tasks in {str(folder)!r} for {seconds:g} s; try again"
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)
