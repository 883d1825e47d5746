"""What was used up, by task, agent, day, role or run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from spiral.loop.wording import local
from spiral.work import Expense, Usage

KEYS: Mapping[str, Callable[[Expense], str]] = {
    "task": lambda one: one.task or ("planning" if one.role == "planner" else "open run"),
    "agent": lambda one: one.agent or "unknown agent",
    "day": lambda one: local(one.at, "%Y-%m-%d"),
    "role": lambda one: one.role,
    "run": lambda one: one.run,
}
IN_TIME = ("day", "run")
"""What is told in order of time; the rest with the dearest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """A part of what was used up."""

    name: str
    usage: Usage
    passes: int


def shares(expenses: Iterable[Expense], by: str) -> tuple[Share, ...]:
    """The parts by `task`, `agent`, `day`, `role` or `run`."""
    used: dict[str, Usage] = {}
    made: dict[str, set[str]] = {}
    for one in expenses:
        name = KEYS[by](one)
        used[name] = used.get(name, Usage()) + one.usage
        made.setdefault(name, set()).add(one.pass_id)
    found = [Share(name=name, usage=usage, passes=len(made[name])) for name, usage in used.items()]
    if by in IN_TIME:
        return tuple(found if by == "run" else sorted(found, key=lambda share: share.name))
    return tuple(sorted(found, key=lambda share: (-share.usage.cost, -share.usage.tokens, share.name)))


def bar(part: float, whole: float, width: int = 24) -> str:
    """A bar in eighths of a character; something that is not nothing shows."""
    if part <= 0 or whole <= 0:
        return ""
    eighths = max(1, round(min(part / whole, 1.0) * width * 8))
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
