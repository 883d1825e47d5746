"""Policies compared: what passes that were told more or less came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spiral.loop.story import PassStory, RunStory
from spiral.work import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyRow:
    """What passes under one policy came to."""

    policy: str
    runs: int
    passes: int
    passed: int
    finished: int
    """Tasks that were done under it."""
    repeats: int
    """Passes that repeated an approach which had failed."""
    briefing: float
    """Tokens of a briefing, on average."""
    usage: Usage

    @property
    def success(self) -> float:
        """The part of its passes that passed."""
        return self.passed / self.passes if self.passes else 0.0

    @property
    def per_task(self) -> float:
        """Passes for each finished task; 0 when none was."""
        return self.passes / self.finished if self.finished else 0.0


def by_policy(runs: Sequence[RunStory], passes: Sequence[PassStory]) -> tuple[PolicyRow, ...]:
    """One row a policy, by name. Planning passes, and those that are under way
    or ended at a rate limit, are left out: they say nothing about it."""
    known = {run.id: run for run in runs}
    grouped: dict[str, list[PassStory]] = {}
    for one in passes:
        if one.outcome and one.counted and one.mode != "plan":
            grouped.setdefault(policy_of(one, known), []).append(one)
    return tuple(row(name, grouped[name]) for name in sorted(grouped))


def policy_of(one: PassStory, runs: Mapping[str, RunStory]) -> str:
    """What a pass was briefed by."""
    run = runs.get(one.run)
    name = one.policy or (run.policy if run else "") or "unknown"
    return name if run is None or run.memory else f"{name}, memory off"


def row(name: str, passes: Sequence[PassStory]) -> PolicyRow:
    """The sums of a policy."""
    briefed = [one.briefing for one in passes if one.briefing]
    return PolicyRow(
        policy=name, runs=len({one.run for one in passes}), passes=len(passes),
        passed=sum(one.passed for one in passes), finished=len({one.task for one in passes if one.passed}),
        repeats=sum(bool(one.repeats) for one in passes), briefing=sum(briefed) / len(briefed) if briefed else 0.0,
        usage=sum((one.usage for one in passes), Usage()),
    )  # fmt: skip
