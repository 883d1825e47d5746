"""Spiral: coding agents in loops, with a memory that lasts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spiral.app import Memory
    from spiral.errors import SpiralError
    from spiral.model import Episode, Evidence, Hit, Message, Recall, Scope, Statement, Version
    from spiral.runner import Runner
    from spiral.work import Answer, Order, Usage

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Episode",
    "Evidence",
    "Hit",
    "Memory",
    "Message",
    "Order",
    "Recall",
    "Runner",
    "Scope",
    "SpiralError",
    "Statement",
    "Usage",
    "Version",
]

# Importing the package stays cheap: each name is loaded when it is first asked for.
HOMES = {"Memory": "spiral.app", "Runner": "spiral.runner", "SpiralError": "spiral.errors"}
HOMES |= dict.fromkeys(("Answer", "Order", "Usage"), "spiral.work")


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(HOMES.get(name, "spiral.model")), name)
    raise AttributeError(f"module 'spiral' has no attribute {name!r}")
