"""Scripted agents: real classes that satisfy a port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spiral.work import Answer, End, Order, Usage


@dataclass
class ScriptedChecker:
    """Says what it was told to say, in turn, and keeps what it was asked."""

    says: list[str]
    name: str = "scripted"
    end: End = "finished"
    does: Callable[[Path], object] = lambda _: None
    """What it does in its folder before it answers."""
    orders: list[Order] = field(default_factory=list)

    def act(self, order: Order, tell: Callable[[str], None], stop: Callable[[], bool]) -> Answer:
        self.orders.append(order)
        self.does(Path(order.folder))
        text = self.says[min(len(self.orders), len(self.says)) - 1]
        return Answer(agent=self.name, end=self.end, text=text, usage=Usage(input=100, output=20, turns=1))
