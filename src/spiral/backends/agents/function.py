"""A builder's own Python function as an agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from spiral.work import Answer, Order

Function = Callable[[Order, Callable[[str], None]], Answer | str]


class FunctionAgent:
    """Calls the function with the order and with `tell`; what it returns is the answer, or its final message.

    It runs in this thread and cannot be ended from outside: the order's bounds are its own to keep.
    """

    def __init__(self, name: str, function: Function) -> None:
        self._name = name
        self._function = function

    @property
    def name(self) -> str:
        """What the builder calls it."""
        return self._name

    def act(self, order: Order, tell: Callable[[str], None], stop: Callable[[], bool]) -> Answer:
        """Call the function, unless `stop` says so first. See the port."""
        if stop():
            return Answer(agent=self._name, end="stopped", detail="ended on request")
        began = time.monotonic()
        try:
            given = self._function(order, tell)
        # The function is somebody else's: whatever it raises is its failure, and the loop goes on.
        except Exception as fault:  # noqa: BLE001
            given = Answer(agent=self._name, end="failed", detail=f"{type(fault).__name__}: {fault}"[:300])
        if isinstance(given, str):
            given = Answer(agent=self._name, end="finished", text=given, messages=(("assistant", given),))
        return replace(given, seconds=given.seconds or round(time.monotonic() - began, 3))
