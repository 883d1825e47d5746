"""Promises are read from the final message alone, at the start of a line, and the last one wins."""

from __future__ import annotations

import pytest

from spiral.loop.promise import promised
from spiral.work import Promise


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("All done.\n<promise>COMPLETE</promise>", Promise(kind="complete")),
        ("<promise>TASK-7:DONE</promise>", Promise(kind="done", text="TASK-7")),
        ("<promise>us-3 : done</promise>\n", Promise(kind="done", text="us-3")),
        ("<promise>BLOCKED:no network</promise>", Promise(kind="blocked", text="no network")),
        ("<promise>DECIDE:A or B: which?</promise>", Promise(kind="decide", text="A or B: which?")),
        ("<promise>BLOCKED: two\nlines</promise>", Promise(kind="blocked", text="two\nlines")),
        ("<promise>COMPLETE</promise>\nno, wait\n<promise>BLOCKED:x</promise>", Promise(kind="blocked", text="x")),
        ("  <promise>COMPLETE</promise>", Promise(kind="complete")),
    ],
)
def test_a_promise_is_understood(message: str, expected: Promise) -> None:
    assert promised(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        "",
        "I would say <promise>COMPLETE</promise> if it were.",
        "```\n<promise>COMPLETE</promise>\n```",
        "~~~text\n<promise>COMPLETE</promise>\n~~~",
        "````\n```\n<promise>COMPLETE</promise>\n```\n````",
        "    <promise>COMPLETE</promise>",
        "> <promise>COMPLETE</promise>",
        "<promise>COMPLETE",
        "<promise>FINISHED</promise>",
        "<promise>:DONE</promise>",
        "<promise>BLOCKED:</promise>",
    ],
)
def test_what_only_looks_like_a_promise_is_none(message: str) -> None:
    assert promised(message) is None
