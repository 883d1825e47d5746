"""The processes of an agent: which they are, and how all of them end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "AGENT_OF_SPIRAL"
"""A variable whose value no two agents share: it finds the children that left the group, too."""
GRACE = 5.0
"""Seconds between asking processes to end and ending them."""
PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """An agent's processes: the group that it leads, and whatever carries its mark."""

    id: int
    mark: str

    def members(self) -> set[int]:
        """Those that are alive. Without /proc only whether the group is."""
        if not (PROC / "self").exists():
            return self._leader()
        carried = f"{MARK}={self.mark}".encode()
        return {
            pid
            for pid in (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
            if (stat := _stat(pid)) and stat[0] not in "ZX" and (int(stat[2]) == self.id or carried in _environ(pid))
        }

    def end(self, grace: float = GRACE) -> bool:
        """Ask all of them to end, then end those that did not within the grace. Whether there was one.

        The leader must not have been waited for, or its number could by now be a stranger's. A second call does
        nothing.
        """
        found = self.members()
        if not found:
            return False
        last = time.monotonic() + grace
        asked: set[int] = set()
        while found and time.monotonic() < last:
            for pid in found - asked:
                send(pid, signal.SIGTERM)
                # One that is stopped would hear it only when it goes on.
                send(pid, signal.SIGCONT)
            asked |= found
            time.sleep(0.02)
            found = self.members()
        while found:
            for pid in found:
                send(pid, signal.SIGKILL)
            time.sleep(0.02)
            found = self.members() if time.monotonic() < last + grace else set()
        return True

    def _leader(self) -> set[int]:
        try:
            os.killpg(self.id, 0)
        except (ProcessLookupError, PermissionError):
            return set()
        return {-self.id}


def started(pid: int) -> str:
    """When a process was started, in a form that no other process of that number has; empty when there is none."""
    if (PROC / "self").exists():
        stat = _stat(pid)
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{stat[19]}" if stat and stat[0] not in "ZX" else ""
    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def end_orphan(command_json: Path) -> bool:
    """End the agent that a runner left behind, from what it wrote down when it started it. Whether there was one.

    The group is ended only while its leader is the very process that was started; those that carry its mark always.
    A second call does nothing.
    """
    group = _noted(command_json)
    return group is not None and group.end()


def outlived(command_json: Path) -> bool:
    """Whether an agent of which this was written down, or a child of it, still runs."""
    group = _noted(command_json)
    return group is not None and bool(group.members())


def _noted(command_json: Path) -> Group | None:
    try:
        noted = json.loads(command_json.read_text(encoding="utf-8"))
        pid, group, mark = int(noted["pid"]), int(noted["group"]), str(noted["mark"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    same = pid > 1 and group > 1 and started(pid) == noted.get("started") != ""
    return Group(id=group if same else -1, mark=mark or "-")


def send(pid: int, number: signal.Signals) -> None:
    """A signal to a process; one that is gone or another's is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _stat(pid: int) -> list[str]:
    """State, parent, group, … of a process; empty when there is none."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _environ(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""
