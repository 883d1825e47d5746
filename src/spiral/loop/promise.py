"""What an agent promises in its final message."""

from __future__ import annotations

import re

from spiral.work import Promise

TAG = re.compile(r"\s{0,3}<promise>\s*(.*?)\s*</promise>", re.IGNORECASE | re.DOTALL)
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


def promised(message: str) -> Promise | None:
    """The last promise that stands at the start of a line, outside of code; None when there is none that we know."""
    found: Promise | None = None
    for line_start in starts(message):
        tag = TAG.match(message, line_start)
        if tag and (promise := meant(tag[1])):
            found = promise
    return found


def starts(message: str) -> list[int]:
    """Where the lines begin that are not inside a fence of code or quoted."""
    places: list[int] = []
    at, fence = 0, ""
    for line in message.splitlines(keepends=True):
        mark = FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and not line.startswith(("    ", "\t", ">")):
            places.append(at)
        at += len(line)
    return places


def meant(text: str) -> Promise | None:
    """`COMPLETE`, `BLOCKED:reason`, `DECIDE:question` or `TASK-ID:DONE`."""
    head, colon, rest = text.partition(":")
    word = head.strip().upper()
    if word == "COMPLETE" and not colon:
        return Promise(kind="complete")
    if word in ("BLOCKED", "DECIDE") and (not colon or rest.strip()):
        return Promise(kind="blocked" if word == "BLOCKED" else "decide", text=rest.strip())
    task, colon, end = text.rpartition(":")
    if colon and end.strip().upper() == "DONE" and task.strip():
        return Promise(kind="done", text=task.strip())
    return None
