"""Spiral: coding agents in loops, with a memory that lasts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spiral.app import Memory
    from spiral.errors import SpiralError
    from spiral.model import Episode, Evidence, Hit, Message, Recall, Scope, Statement, Version

__version__ = "0.1.0"
__all__ = ["Episode", "Evidence", "Hit", "Memory", "Message", "Recall", "Scope", "SpiralError", "Statement", "Version"]

# Importing the package stays cheap: each name is loaded when it is first asked for.
HOMES = {"Memory": "spiral.app", "SpiralError": "spiral.errors"}


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(HOMES.get(name, "spiral.model")), name)
    raise AttributeError(f"module 'spiral' has no attribute {name!r}")
