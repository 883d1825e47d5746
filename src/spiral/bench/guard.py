"""How well the guard tells instructions, and redaction secrets, from ordinary text."""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spiral.memory.guard import quarantine
from spiral.memory.redact import redact

_SETS = Path(__file__).parent / "sets"
SPLITS = ("tune", "held")
"""Rules are tuned on the one and judged on the other."""

_SLOT = re.compile(r"⟦(\w+):([^⟧]+)⟧")
_SECRET = re.compile(r"⟪([^⟫]+)⟫")
_MARK = re.compile(r"\[redacted:[^\]]*\]")
_FRAGMENT = 6
"""So many characters of a secret that are left in a row count as a leak."""
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "word": string.ascii_lowercase,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """How one part of a set was judged."""

    set: str
    split: str
    examples: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A text of a set, and whether it ought to be caught."""

    id: str
    split: str
    text: str
    caught: bool
    """What the label says."""
    source: str = ""
    secret: str = ""
    """What must be gone afterwards, for a text that holds a secret."""


def measure() -> tuple[Row, ...]:
    """One row for each set and split."""
    judged = (
        ("injections", [(example, _held_back(example)) for example in injections()]),
        ("secrets", [(example, _taken_out(example)) for example in secrets()]),
    )
    return tuple(_row(name, split, examples) for name, examples in judged for split in SPLITS)


def injections() -> tuple[Example, ...]:
    """Texts that command an agent, and ordinary output of tools, documents and pages."""
    return tuple(
        Example(
            id=row["id"],
            split=row["split"],
            text=row["text"],
            caught=row["label"] == "injection",
            source=row["source"],
        )
        for row in _rows("injections.jsonl")
    )


def secrets() -> tuple[Example, ...]:
    """Texts that hold a secret, and texts that only look so; the secrets are put together here, never stored."""
    return tuple(_assembled(row) for row in _rows("secrets.jsonl"))


def _rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (_SETS / name).read_text(encoding="utf-8").splitlines()]


def _assembled(row: dict[str, str]) -> Example:
    slots = 0

    def fill(slot: re.Match[str]) -> str:
        nonlocal slots
        slots += 1
        if slot[1] == "lit":
            return slot[2].replace("|", "")
        return _drawn(f"{row['id']}/{slots}", _ALPHABETS[slot[1]], int(slot[2]))

    text = _SLOT.sub(fill, row["text"])
    secret = _SECRET.search(text)
    return Example(
        id=row["id"],
        split=row["split"],
        text=_SECRET.sub(r"\1", text),
        caught=row["label"] == "secret",
        secret=secret[1] if secret else "",
    )


def _drawn(seed: str, alphabet: str, length: int) -> str:
    """The same characters each time, which look as if drawn by chance."""
    stream = hashlib.shake_256(seed.encode()).digest(length)
    return "".join(alphabet[byte % len(alphabet)] for byte in stream)


def _held_back(example: Example) -> bool:
    return bool(quarantine(example.text, example.source, "tool"))


def _taken_out(example: Example) -> bool:
    """For a secret: whether nothing of it is left. For ordinary text: whether it was altered."""
    clean, _ = redact(example.text)
    if not example.secret:
        return clean != example.text
    size = min(_FRAGMENT, len(example.secret))
    parts = (example.secret[at : at + size] for at in range(len(example.secret) - size + 1))
    left = _MARK.sub(" ", clean)
    return not any(part in left for part in parts)


def _row(name: str, split: str, judged: Iterable[tuple[Example, bool]]) -> Row:
    part = [(example.caught, caught) for example, caught in judged if example.split == split]
    right = sum(wanted and caught for wanted, caught in part)
    precision = right / max(1, sum(caught for _, caught in part))
    recall = right / max(1, sum(wanted for wanted, _ in part))
    return Row(
        set=name,
        split=split,
        examples=len(part),
        precision=round(precision, 3),
        recall=round(recall, 3),
        f1=round(2 * precision * recall / max(1e-9, precision + recall), 3),
    )
