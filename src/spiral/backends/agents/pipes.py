"""Bytes to and from a program, by threads of their own, so that neither side can block the other for good."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

CHUNK = 64 * 1024
MOST_KEPT = 256 * 1024 * 1024
"""Bytes of a stream that are kept on disk; a program that writes on and on does not fill it."""


class Pump(Thread):
    """Copies what a program writes to a file as it comes, and hands it on.

    When the disk is full the copy ends there and the reading goes on; `fault` tells why.
    """

    def __init__(self, source: IO[bytes], file: Path, take: Callable[[bytes], None], end: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.source = source
        self.file = file
        self.take = take
        self.end = end
        self.room = MOST_KEPT
        self.heard = time.monotonic()
        """When something last came."""
        self.fault = ""

    def run(self) -> None:
        """Copy until the other end closes."""
        try:
            with self.file.open("ab", buffering=0) as copy:
                while chunk := self._read():
                    self.heard = time.monotonic()
                    self._keep(copy, chunk)
                    self.take(chunk)
        except OSError as fault:
            self.fault = f"{self.file.name} cannot be written: {fault.strerror}"
            while chunk := self._read():
                self.heard = time.monotonic()
                self.take(chunk)
        finally:
            self.end()

    def _read(self) -> bytes:
        try:
            return os.read(self.source.fileno(), CHUNK)
        except (OSError, ValueError):
            return b""

    def _keep(self, copy: IO[bytes], chunk: bytes) -> None:
        if self.room <= 0:
            return
        try:
            copy.write(chunk[: self.room])
            self.room -= len(chunk)
            if self.room <= 0:
                self.fault = f"of {self.file.name} only the first {MOST_KEPT} bytes are kept"
        except OSError as fault:
            self.room = 0
            self.fault = f"{self.file.name} cannot be written: {fault.strerror}"


def pour(into: IO[bytes], data: bytes) -> Thread:
    """Write all of it and close, in a thread; a reader that goes away early is no error."""

    def write() -> None:
        with suppress(OSError, ValueError):
            view = memoryview(data)
            while view:
                view = view[os.write(into.fileno(), view[:CHUNK]) :]
        with suppress(OSError):
            into.close()

    thread = Thread(target=write, daemon=True)
    thread.start()
    return thread
