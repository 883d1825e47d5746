"""What a person wants of a run while it goes on: by Ctrl-C, by a signal, or by `spiral stop` elsewhere."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType

from spiral.ports import Journal

CONTROL = "control"
"""The note that `stop` and `pause` write and a run reads."""
EVERY = 0.5
"""Seconds between two looks at the note."""


class Wishes:
    """Asked by the run again and again; one Ctrl-C ends it after the pass under way, two end it now, as SIGTERM does.

    A third Ctrl-C interrupts whatever is being done.
    """

    def __init__(self, journal: Journal, tell: Callable[[str], None]) -> None:
        self.journal = journal
        self.tell = tell
        self.interrupts = 0
        self.ended = False
        self.noted = ""
        self.looked = 0.0
        self.before: dict[int, object] = {}

    def __enter__(self) -> Wishes:
        self.before = {number: signal.signal(number, self.heard) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def heard(self, number: int, _frame: FrameType | None) -> None:
        """Take note of a signal."""
        if number == signal.SIGTERM:
            self.ended = True
            return
        self.interrupts += 1
        if self.interrupts == 1:
            self.tell("ending after this pass; Ctrl-C again ends it now")
        elif self.interrupts == 2:
            self.tell("ending now; what the agent did so far is kept")
        else:
            raise KeyboardInterrupt

    def __call__(self) -> str:
        """`now`, `stop`, or nothing."""
        if self.ended or self.interrupts > 1:
            return "now"
        if time.monotonic() - self.looked > EVERY:
            self.looked = time.monotonic()
            self.noted = self.journal.note(CONTROL)
        return "now" if self.noted == "now" else "stop" if self.interrupts or self.noted else ""

    def code(self, code: int) -> int:
        """The exit code of a run that ended with `code`, where a signal was the reason."""
        if code not in (130, 143):
            return code
        return 143 if self.ended else 130 if self.interrupts else code
