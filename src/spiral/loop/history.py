"""What people read about passes: a folder for each pass, the mirror of the journal, and LOG.md."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spiral.errors import StoreError
from spiral.loop.codec import plain
from spiral.ports import Journal
from spiral.work import Event

MIRROR = "events-runner.jsonl"


def pass_folder(agent: Path, run: str, pass_id: str) -> Path:
    """Where a pass's briefing, stream, checks and verdict are kept."""
    return agent / "history" / run / pass_id


def write(path: Path, text: str) -> None:
    """Write a file of the history; it is derived, so a torn one is written anew from the journal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", errors="surrogatepass")


def mirror(agent: Path, journal: Journal, run: str) -> None:
    """Bring `history/<run>/events-runner.jsonl` up to the journal.

    Appends what is missing; a file that was deleted, torn or altered is written whole again. One winner: the lock on
    the file; a retry finds nothing missing.
    """
    path = agent / "history" / run / MIRROR
    with locked(path) as handle:
        size = os.fstat(handle).st_size
        last, sound = last_line(handle, size)
        if sound:
            lines = [line(event) for event in journal.events(run=run, after=last)]
        else:
            os.ftruncate(handle, 0)
            lines = [line(event) for event in journal.events(run=run)]
        if lines:
            os.lseek(handle, 0, os.SEEK_END)
            with os.fdopen(os.dup(handle), "ab") as out:
                out.write(b"".join(lines))
                out.flush()
                os.fsync(out.fileno())


def line(event: Event) -> bytes:
    """An event as one line of JSON."""
    return (json.dumps(plain(event), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def last_line(handle: int, size: int) -> tuple[int, bool]:
    """(the number of the last event in the mirror, whether its end is whole)."""
    if not size:
        return 0, True
    start = max(0, size - 1_000_000)
    tail = os.pread(handle, size - start, start)
    if not tail.endswith(b"\n"):
        return 0, False
    try:
        return int(json.loads(tail.rstrip(b"\n").rpartition(b"\n")[2])["seq"]), True
    except (ValueError, KeyError, TypeError):
        return 0, False


def narrate(agent: Path, entries: Sequence[tuple[str, str]]) -> None:
    """Append entries (id, Markdown) to LOG.md under its lock; one whose id is there already is left out."""
    path = agent / "logs" / "LOG.md"
    with locked(path) as handle:
        size = os.fstat(handle).st_size
        recent = os.pread(handle, min(size, 200_000), max(0, size - 200_000)).decode("utf-8", "replace")
        fresh = [f"{text.strip()}\n<!-- {name} -->\n" for name, text in entries if f"<!-- {name} -->" not in recent]
        if not fresh:
            return
        begin = "" if not size or recent.endswith("\n\n") else "\n" if recent.endswith("\n") else "\n\n"
        os.lseek(handle, 0, os.SEEK_END)
        with os.fdopen(os.dup(handle), "ab") as out:
            out.write((begin + "\n".join(fresh)).encode("utf-8", "replace"))
            out.flush()
            os.fsync(out.fileno())


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """The file, made if need be and held by this process alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as fault:
        raise StoreError(f"cannot write to {str(path)!r}: {fault.strerror}") from fault
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)
