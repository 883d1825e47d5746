"""Locks of git's that a killed process left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from spiral.loop.plumbing import Git

PATIENCE = 3.0
"""Seconds that the holder of a lock has to finish."""
FORGOTTEN = 600.0
"""Seconds after which a lock is stale where the system does not tell who runs."""


def unlock(repo: Git, branch: str) -> tuple[str, ...]:
    """Remove the locks that no process of git can hold any more; their names.

    A lock is stale when it stays the same while we wait and no process of git works in this worktree. To be called
    when the agent has ended. Losing the race against a process that starts just now costs that process its commit,
    which it repeats or reports; a second call finds nothing.
    """
    own = repo.own_dir()
    names = (own / "index.lock", own / "HEAD.lock", repo.git_dir / "refs/heads" / f"{branch}.lock")
    waiting = {path: stamp for path in names if (stamp := _stamp(path))}
    until = time.monotonic() + PATIENCE
    while waiting and _busy(repo.top, waiting) and time.monotonic() < until:
        time.sleep(0.05)
        waiting = {path: stamp for path, stamp in waiting.items() if _stamp(path) == stamp}
    stale = [path for path, stamp in waiting.items() if _stamp(path) == stamp and not _busy(repo.top, {path: stamp})]
    for path in stale:
        path.unlink(missing_ok=True)
    return tuple(path.name for path in stale)


def _busy(top: Path, locks: dict[Path, tuple[int, int, int]]) -> bool:
    """Whether a process of git works in the worktree."""
    if not Path("/proc/self/cwd").exists():
        return any(time.time() - changed / 1e9 < FORGOTTEN for _, changed, _ in locks.values())
    return any(top == folder or top in folder.parents for folder in _gits())


def _gits() -> Iterator[Path]:
    """The folders in which processes of git work."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                if (process / "comm").read_text("utf-8", "replace").startswith("git"):
                    yield (process / "cwd").readlink()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
