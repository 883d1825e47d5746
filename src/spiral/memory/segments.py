"""Episodes as append-only JSON lines, one segment a session and host."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spiral.errors import StoreError
from spiral.memory.codec import digest, episode_from, episode_to, to_json
from spiral.memory.files import EPISODES, Folder, failing, sync_folder
from spiral.memory.values import fit, reason
from spiral.model import Episode

ROTATE = 8_000_000
"""Bytes after which a session goes on in another segment."""
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a segment: an episode, or why it could not be read."""

    episode: Episode | None
    fault: str = ""


def append(folder: Folder, episodes: Sequence[Episode]) -> str:
    """Add episodes of one session to its segment; durable when this returns. Gives the segment's path.

    The segment's own lock admits one writer at a time, so lines never interleave. A tail that a crash tore is closed
    with a line break first, so it spoils no line but its own. A retry after a crash may append the same episode again:
    readers tell by its id and count it once.
    """
    first = episodes[0]
    data = lines(episodes)
    number = 0
    while True:
        path = segment(first, number)
        target = folder.root / path
        with failing(target):
            fresh = not target.exists()
            if fresh:
                target.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if was_replaced(handle, target):
                    continue
                size = os.fstat(handle).st_size
                if size >= ROTATE:
                    number += 1
                    continue
                write_whole(handle, (b"\n" if is_torn(handle, size) else b"") + data, size)
                os.fsync(handle)
            finally:
                os.close(handle)
            if fresh:
                sync_folder(target.parent)
                sync_folder(target.parent.parent)
            # Appending leaves the folder's own time alone; moving it tells a scan where to look.
            os.utime(target.parent)
            return path


def withdraw(folder: Folder, path: str, episodes: Sequence[Episode]) -> None:
    """Take back what `append` added at the end of a segment; where another writer came after, it has to stay.

    The segment's own lock admits one writer at a time; a retry finds something else at the end.
    """
    data = lines(episodes)
    target = folder.root / path
    with failing(target):
        handle = os.open(target, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            start = os.fstat(handle).st_size - len(data)
            if os.pread(handle, len(data), max(start, 0)) != data:
                raise StoreError(
                    f"{path!r} was written to since, so what failed is kept there and read at the next use"
                )
            if start:
                os.ftruncate(handle, start)
                os.fsync(handle)
            else:
                folder.erase(path)
        finally:
            os.close(handle)


def lines(episodes: Sequence[Episode]) -> bytes:
    """The episodes as they stand in a segment."""
    return b"".join(to_json(episode_to(episode)).encode("utf-8") + b"\n" for episode in episodes)


def segment(episode: Episode, number: int) -> str:
    """The path of a session's segment on this host: readable, safe, and different for different sessions."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", episode.session)[:40].strip("-.") or "session"
    host = re.sub(r"[^A-Za-z0-9-]+", "-", os.uname().nodename)[:30] or "host"
    part = f".{number}" if number else ""
    return f"{EPISODES}/{episode.at:%Y-%m}/{name}-{digest(episode.session)[:8]}.{host}{part}.jsonl"


def was_replaced(handle: int, target: Path) -> bool:
    """Whether the segment was rewritten or removed while we waited for its lock."""
    try:
        return target.stat().st_ino != os.fstat(handle).st_ino
    except FileNotFoundError:
        return True


def is_torn(handle: int, size: int) -> bool:
    """Whether the last line has no end."""
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"


def write_whole(handle: int, data: bytes, size: int) -> None:
    """Write all of it; what a full disk let through is taken back, so that a failed append leaves nothing."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(handle, view) :]
    except OSError:
        os.ftruncate(handle, size)
        raise


def read(folder: Folder, path: str) -> Iterator[Line]:
    """Every line of a segment; one that is torn or mangled is told, and costs no other."""
    with failing(folder.root / path), (folder.root / path).open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            yield parse(raw.decode("utf-8", "replace"), number)


def parse(raw: str, number: int) -> Line:
    """One line."""
    try:
        table = json.loads(raw)
    except (ValueError, RecursionError):
        return Line(None, f"line {number} is torn or mangled")
    if not isinstance(table, dict):
        return Line(None, f"line {number} is not an episode")
    try:
        # A lone surrogate can only come from an escape.
        known = fit(table) if SURROGATE.search(raw) else table
        assert isinstance(known, dict)
        return Line(episode_from(known))
    # A line is a stranger's, perhaps of a newer version's: whatever is wrong with it must not cost the others.
    except Exception as fault:  # noqa: BLE001
        return Line(None, f"line {number}: {reason(fault)}")


def named(raw: bytes) -> set[str]:
    """Whatever stands where an episode's id stands, in a line or a whole segment, readable or not."""
    return {found.decode("utf-8", "replace") for found in re.findall(rb'"id"\s*:\s*"([^"]*)"', raw)}


def rewrite(folder: Folder, path: str, without: Iterable[str]) -> int:
    """Write the segment anew without these episodes, also where a crash tore their line; how many went.

    Atomic: the new segment is renamed into place while the old one is locked; a retry finds nothing to take. One that
    would be empty is removed.
    """
    gone = set(without)
    target = folder.root / path
    with failing(target):
        handle = os.open(target, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            kept, taken = [], 0
            for number, raw in enumerate(target.read_bytes().splitlines(keepends=True), 1):
                line = parse(raw.decode("utf-8", "replace"), number)
                if gone & ({line.episode.id} if line.episode is not None else named(raw)):
                    taken += 1
                else:
                    kept.append(raw)
            if taken and kept:
                folder.write(path, b"".join(kept))
            elif taken:
                folder.erase(path)
            return taken
        finally:
            os.close(handle)
