"""One runner in a repository at a time."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spiral.errors import LockedError, StoreError


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who runs here."""

    run: str
    pid: int
    host: str
    started: str
    """The process's start time, as the kernel tells it: a pid alone may have been given to another process."""


def start_time(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


@contextmanager
def runner_lock(folder: Path, run: str) -> Iterator[None]:
    """Hold the runner's place. One winner: the kernel's lock on `run.lock`, which it frees when the process dies, so
    there is no stale lock to remove; what the file says is for people."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "run.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as fault:
        raise StoreError(f"cannot write to {str(folder)!r}: {fault.strerror}") from fault
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = holder(folder)
            told = f"run {who.run} (process {who.pid} on {who.host})" if who else "another process"
            raise LockedError(
                f"{told} is at work in this repository; `spiral status` shows it, `spiral stop` ends it"
            ) from None
        mine = Holder(run=run, pid=os.getpid(), host=os.uname().nodename, started=start_time(os.getpid()))
        os.ftruncate(handle, 0)
        os.pwrite(
            handle,
            json.dumps({"run": mine.run, "pid": mine.pid, "host": mine.host, "started": mine.started}).encode(),
            0,
        )
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def holder(folder: Path) -> Holder | None:
    """Who holds the runner's place; None when nobody does."""
    try:
        with (folder / "run.lock").open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
            except BlockingIOError:
                return Holder(**json.loads(lock.read() or b"{}"))
    except (OSError, ValueError, TypeError):
        return None
