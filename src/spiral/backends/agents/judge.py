"""How an agent's process ended, judged by what it said and how it exited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from spiral.backends.agents.limits import limited, resets, signed_out
from spiral.backends.agents.steps import Fault
from spiral.backends.agents.table import Adapter
from spiral.backends.agents.tally import Tally, first_line
from spiral.work import End

BRIEF = 200
"""Characters of a message that, with no tool used, may be nothing but the agent's excuse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """The end, why, and when a limit is over."""

    end: End
    detail: str = ""
    resets: datetime | None = None


def judge(tally: Tally, adapter: Adapter, *, exit_code: int, errors: str, now: datetime) -> Judgement:
    """What became of an agent that ended by itself. What tools gave back is never looked at, so it cannot mislead.

    Typed events come first; then the final message and the end of its errors, by patterns, and only when the agent
    failed or did nothing but excuse itself.
    """
    fatal = [fault for fault in tally.faults if fault.fatal]
    failed = bool(fatal) or exit_code != 0
    excuse = tally.tools == 0 and len(tally.text) < BRIEF and "<" not in tally.text and tally.text.count("\n") < 2
    if not failed and not excuse:
        return Judgement(end="finished")
    if failed and (typed := next((one for one in reversed(tally.faults) if one.trouble != "error"), None)):
        return _typed(typed, tally, now)
    said = [fault.text for fault in (*reversed(fatal), *reversed(tally.faults))]
    words = "\n".join([*said, tally.text, errors] if failed else [tally.text])
    if told := limited(words, adapter.limits):
        return Judgement(end="limit", detail=told, resets=resets(told, now) or resets(words, now))
    if told := signed_out(words, adapter.signin):
        return Judgement(end="signin", detail=told)
    if not failed:
        return Judgement(end="finished")
    if exit_code in (126, 127) and not tally.turns:
        return Judgement(end="missing", detail=last_line(errors) or f"{adapter.command[0]!r} cannot be run")
    why = next((first_line(fault.text) for fault in reversed(fatal or tally.faults) if fault.text), "")
    return Judgement(end="failed", detail=why or last_line(errors) or f"it exited with code {exit_code}")


def _typed(fault: Fault, tally: Tally, now: datetime) -> Judgement:
    if fault.trouble == "limit":
        ends = [one.resets for one in tally.faults if one.resets]
        words = "\n".join([one.text for one in tally.faults] + [tally.text])
        return Judgement(
            end="limit", detail=limited(words) or fault.text, resets=ends[-1] if ends else resets(words, now)
        )
    end: End = "failed" if fault.trouble == "error" else fault.trouble
    return Judgement(end=end, detail=first_line(fault.text))


def last_line(text: str) -> str:
    """The last line that holds something, not too long."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:300]
