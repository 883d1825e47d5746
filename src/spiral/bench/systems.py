"""What a memory must offer to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spiral.bench.data import Question, Turn


class System(Protocol):
    """A memory to be measured: takes a conversation in, then ranks its turns for a question."""

    @property
    def name(self) -> str: ...
    def take(self, turns: Sequence[Turn]) -> None:
        """Take in the turns of one conversation, all at once; called once for each conversation on a fresh system."""

    def rank(self, question: Question, limit: int) -> list[str]:
        """Ids of the turns that answer best, the best first."""

    def close(self) -> None: ...
