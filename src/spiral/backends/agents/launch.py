"""Starts an agent's program so that it is written down before it does anything."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from spiral.backends.agents.group import MARK, Group, started

GATE = 'read -r go < "/dev/fd/$0" && exec "$@"'
"""Waits for a word from the runner and becomes the program; when the runner is gone before, so is this."""
NAME = "command.json"


def launch(
    argv: Sequence[str], *, shown: Sequence[str], env: Mapping[str, str], folder: str, history: Path, name: str
) -> tuple[subprocess.Popen[bytes], Group]:
    """The program in a session and group of its own, in the folder. It runs only once command.json tells of it, so
    there is no instant at which a runner that dies leaves an agent that nobody knows of. Raises OSError.
    """
    mark = uuid4().hex
    gate, opener = os.pipe()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", GATE, str(gate), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env={**env, MARK: mark},
            start_new_session=True,
            pass_fds=(gate,),
        )
        group = Group(id=process.pid, mark=mark)
        noted = {
            "agent": name,
            "argv": list(shown),
            "folder": folder,
            "env": sorted(env),
            "pid": process.pid,
            "group": process.pid,
            "started": started(process.pid),
            "mark": mark,
            "at": datetime.now(UTC).isoformat(),
        }
        try:
            _write(history / NAME, json.dumps(noted, indent=1))
            os.write(opener, b"go\n")
        except BaseException:
            group.end()
            process.communicate()
            raise
        return process, group
    finally:
        os.close(gate)
        os.close(opener)


def exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended; its number stays taken, so that its group can be ended without hitting a stranger."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _write(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
