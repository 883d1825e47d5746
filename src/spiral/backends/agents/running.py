"""A program that runs: its pipes, its processes, and what it said so far."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Full, Queue
from subprocess import Popen

from spiral.backends.agents.group import Group
from spiral.backends.agents.pipes import Pump, pour
from spiral.backends.agents.streams import Lines, parsed
from spiral.backends.agents.tally import Tally

TICK = 0.25
"""Seconds between two looks at the clock and at `stop`."""
DRAIN = 2.0
"""Seconds to wait for the end of its output once its processes are gone."""
ERRORS = 16_000
"""Bytes of its errors, from the end, that are looked at."""


@dataclass(slots=True)
class Running:
    """A program that runs: its pipes, and what it said so far."""

    process: Popen[bytes]
    group: Group
    tally: Tally
    history: Path
    stdin: bytes
    lingered: bool = False
    queue: Queue[tuple[list[bytes], bool]] = field(default_factory=lambda: Queue(maxsize=64))
    over: bool = False
    """No more will come."""
    deaf: bool = False
    """Nobody listens any more."""
    tail: bytearray = field(default_factory=bytearray)
    out: Pump = field(init=False)
    err: Pump = field(init=False)

    def __post_init__(self) -> None:
        cutter = Lines()
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.out = Pump(
            process.stdout,
            self.history / "stream.jsonl",
            lambda chunk: self._put(list(cutter.feed(chunk))),
            lambda: self._put(list(cutter.end()), last=True),
        )
        self.err = Pump(process.stderr, self.history / "stderr.txt", self._note, lambda: None)
        self.out.start()
        self.err.start()
        pour(process.stdin, self.stdin)

    @property
    def heard(self) -> float:
        """When it last wrote anything."""
        return max(self.out.heard, self.err.heard)

    def lines(self) -> list[bytes]:
        """What came since; waits a tick for it, and less once the output is closed."""
        try:
            found, last = self.queue.get(timeout=0.01 if self.over else TICK)
        except Empty:
            return []
        self.over = self.over or last
        return found

    def tally_line(self, stream: str, line: bytes) -> list[str]:
        """Take a line in; what comes back is for people."""
        return [told for step in parsed(stream, line) for told in self.tally.add(step)]

    def finish(self, grace: float) -> None:
        """End every process of it, and know how the program exited."""
        self.group.end(grace)
        self.process.wait()

    def rest(self) -> list[bytes]:
        """What was written and not yet taken in."""
        found: list[bytes] = []
        last = time.monotonic() + DRAIN
        while not self.over and time.monotonic() < last:
            found += self.lines()
        self.deaf = True
        self.err.join(DRAIN)
        for pipe, pump in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            # Under a thread that still reads, closing would hand its number to somebody else's file.
            if pipe is not None and not pump.is_alive():
                pipe.close()
        return found

    def errors(self) -> str:
        """The end of what it wrote to standard error."""
        return bytes(self.tail[-ERRORS:]).decode("utf-8", "replace")

    def faults(self) -> list[str]:
        """What could not be kept."""
        return [pump.fault for pump in (self.out, self.err) if pump.fault]

    def _note(self, chunk: bytes) -> None:
        self.tail += chunk
        del self.tail[:-ERRORS]

    def _put(self, lines: list[bytes], *, last: bool = False) -> None:
        """Hand the lines over, waiting until there is room or nobody listens."""
        while not self.deaf:
            with suppress(Full):
                self.queue.put((lines, last), timeout=TICK)
                return
