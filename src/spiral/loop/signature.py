"""What makes two failures, or two approaches, the same. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Protocol

from spiral.work import CheckResult

NEAR = 0.8
"""The share of changed lines that two diffs have in common from which on they are one approach. Half of a diff is often
imports and tests that any approach has; at four fifths only names or a detail differ."""
LEAST = 3
"""Changed lines below which only equal diffs are one approach: two short ones share lines by chance."""
LINES = 12
"""Telling lines of a failure that count, from the end."""
WIDTH = 400
"""Characters of a line that count."""
MOST = 256
"""Hashes in a sketch: the smallest ones, which are a fair sample of a large diff."""

TELLING = re.compile(
    r"error|fail|assert|exception|panic|traceback|fatal|expected|undefined|unresolved|cannot|can't|could not|mismatch"
    r"|not found|no such|missing|denied|timed? ?out|took longer|killed|segmentation|overflow|refused|✕|✗|^E\s|^\s*>\s",
    re.IGNORECASE,
)
IDLE = re.compile(
    r"^[=\-_\s]*$"
    r"|^=+ .*(passed|failed|error|warning).*=+$|^=+ (FAILURES|ERRORS|short test summary info) =+$"
    r"|^\d+ (passed|failed|errors?)\b|^(Tests?|Test Suites?|Test Files?|Snapshots|Time|Duration):? |^test result:"
    r"|^Found \d+ errors?|^error: aborting due to|^error: could not compile|^For more information about|^FAIL$"
    r"|^failures:$|^note: run with|^warning\b|^make(\[\d+\])?: \*\*\*|^npm (ERR!|error) (code|path|errno|A complete)",
    re.IGNORECASE,
)
"""Lines that say how many failed, not what."""
VARYING = (
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[\\/](?:tmp|temp|var/folders|private/tmp)[\\/][^\s:'\"(),]*[\\/]"), ""),
    (re.compile(r"(?<![\w.])[\\/](?:tmp|temp)[\\/][^\s:'\"(),]+"), "<tmp>"),
    (re.compile(r"\btmp[A-Za-z0-9_]{6,}\b"), "<tmp>"),
    (re.compile(r"(?:[A-Za-z]:)?[\w.@~+\-]*(?:[\\/][\w.@~+\-]+)*[\\/](?=[\w.@~+\-]+)"), ""),
    (re.compile(r"(?<!\w)[-+]?\d[\d_,]*(?:\.\d+)?(?:e[-+]?\d+)?(?:\s?(?:ns|µs|us|ms|s|m|h|%|[KMG]i?B))?(?!\w)"), "#"),
    (re.compile(r"#(?:[:.]#)+"), "#"),
    (re.compile(r"\s+"), " "),
)  # fmt: skip


class Tried(Protocol):
    """What is compared of an earlier pass; an `Effort` has it."""

    @property
    def signature(self) -> str:
        """Of its failure."""

    @property
    def sketch(self) -> tuple[str, ...]:
        """Of its diff."""


def signature(results: Sequence[CheckResult]) -> str:
    """Equal for failures of the same kind; empty when nothing failed.

    The same checks fail with the same telling lines, whatever the folders, line numbers, addresses, times, durations,
    temporary names and counts in them. The name of a file and that of a test count.
    """
    failed = sorted((one.check.name, *telling(one.output)) for one in results if not one.passed)
    return short("\n".join("\0".join(part) for part in failed)) if failed else ""


def telling(output: str) -> tuple[str, ...]:
    """The lines that say what went wrong, without what differs from run to run, each once, in one order."""
    lines = [line for line in output.splitlines() if line.strip() and not IDLE.match(line.strip())]
    chosen = [line for line in lines if TELLING.search(line)] or lines
    return tuple(sorted({normal(line) for line in chosen[-LINES:]} - {""}))


def normal(line: str) -> str:
    """A line without what differs from run to run; its beginning, when it is very long."""
    line = line[:WIDTH]
    for pattern, stands in VARYING:
        line = pattern.sub(stands, line)
    return line.strip()


def sketch(diff: str) -> tuple[str, ...]:
    """Hashes of the lines that a diff adds and removes, whatever their white space, place and order."""
    changed = {
        line[0] + "".join(line[1:].split())
        for line in diff.splitlines()
        if line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")) and line[1:].strip()
    }
    return tuple(sorted(short(line)[:12] for line in changed)[:MOST])


def same_approach(one: Tried, other: Tried) -> bool:
    """Whether two passes changed nearly the same lines; no change at all is no approach."""
    first, second = set(one.sketch), set(other.sketch)
    if not first or not second:
        return False
    if min(len(first), len(second)) < LEAST:
        return first == second
    return len(first & second) / len(first | second) >= NEAR


def same_failure(one: Tried, other: Tried) -> bool:
    """Whether two passes failed in the same way."""
    return bool(one.signature) and one.signature == other.signature


def short(text: str) -> str:
    """Sixteen hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
