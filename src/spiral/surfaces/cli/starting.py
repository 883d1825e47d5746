"""Starts `spiral run` as a process of its own, for verbs that wait for the right moment."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spiral.surfaces.cli.run import command as run

if TYPE_CHECKING:
    from collections.abc import Iterator


def command_line(project: Path, args: Sequence[str]) -> list[str]:
    """The words that start a run in a project, from any folder."""
    return [sys.executable, "-m", "spiral", "-C", str(project), "run", *args]


def asked_rightly(args: Sequence[str]) -> None:
    """Refuse now what `spiral run` would refuse every night."""
    run.make_context("spiral run", list(args))


def start(project: Path, args: Sequence[str]) -> int:
    """Run it to its end and give its exit code. Ctrl-C reaches it too: it ends after its pass, and so do we."""
    with subprocess.Popen(command_line(project, args)) as child, waiting_for(child):
        return child.wait()


@contextmanager
def waiting_for(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Meanwhile leave Ctrl-C to the run, and hand on SIGTERM, so that none is left without its starter."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = signal.signal(signal.SIGTERM, lambda number, _frame: child.send_signal(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, ended)
