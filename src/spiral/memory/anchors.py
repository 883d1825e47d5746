"""Files and names that a text speaks of."""

from __future__ import annotations

import re

ENDING = "py|js|ts|tsx|jsx|go|rs|java|rb|c|h|cpp|cs|php|sh|sql|md|toml|ya?ml|json|html|css|tf|lock|cfg|ini|txt"
FILE = re.compile(rf"(?<![\w/:.@])(?:[\w.-]+/)*[\w-]+\.(?:{ENDING})\b")
NAME = re.compile(r"\b(?:[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z]{1,4}\d{2,5})\b")
TICKED = re.compile(r"`([^`\n]{2,60})`")
MOST = 12
EXAMINED = 20_000


def files(text: str) -> tuple[str, ...]:
    """Paths in the text, in order."""
    return tuple(dict.fromkeys(FILE.findall(text[:EXAMINED])))[:MOST]


def entities(text: str) -> tuple[str, ...]:
    """Identifiers in the text: what is in back-ticks, and what is spelled as code is."""
    text = text[:EXAMINED]
    ticked = [name for name in TICKED.findall(text) if not FILE.fullmatch(name)]
    return tuple(dict.fromkeys([*ticked, *NAME.findall(text)]))[:MOST]
