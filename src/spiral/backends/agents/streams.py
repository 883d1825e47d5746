"""From the bytes that an agent writes to typed steps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from spiral.backends.agents import claude, codex, gemini, opencode
from spiral.backends.agents.steps import Event, Line, Step

LONGEST = 8 * 1024 * 1024
"""Bytes of a line that is read; of a longer one nothing is."""
CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]")
"""Colours, cursor moves and other marks for a terminal."""

PARSERS: Mapping[str, Callable[[Event], Iterable[Step]]] = {
    "claude": claude.steps,
    "codex": codex.steps,
    "gemini": gemini.steps,
    "opencode": opencode.steps,
}


class Lines:
    """Cuts chunks into lines. A line that is too long is left out, and never held in memory as a whole."""

    def __init__(self, longest: int = LONGEST) -> None:
        self.longest = longest
        self.rest = bytearray()
        self.skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that this chunk completes."""
        *whole, last = chunk.split(b"\n")
        for piece in whole:
            self._keep(piece)
            if not self.skipping:
                yield bytes(self.rest)
            self.rest.clear()
            self.skipping = False
        self._keep(last)

    def end(self) -> Iterator[bytes]:
        """What came after the last end of a line."""
        if self.rest and not self.skipping:
            yield bytes(self.rest)
        self.rest.clear()

    def _keep(self, piece: bytes) -> None:
        if self.skipping or len(self.rest) + len(piece) > self.longest:
            self.skipping = True
            self.rest.clear()
        else:
            self.rest += piece


def parsed(stream: str, line: bytes) -> list[Step]:
    """What a line means in that kind of stream. Whatever is no object of it is a line without structure."""
    shown = line.decode("utf-8", "replace")
    parser = PARSERS.get(stream)
    if parser is not None and shown.lstrip().startswith("{"):
        try:
            event = json.loads(shown)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            return list(parser(event))
    plain = CONTROL.sub("", shown).rstrip()
    return [Line(text=plain)] if plain or parser is None else []
