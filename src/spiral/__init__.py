"""Spiral: coding agents in loops, with a memory that lasts."""

from __future__ import annotations

__version__ = "0.1.0"
