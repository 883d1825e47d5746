"""One budget over makers, checkers and planners: reserved before, enforced during, warned of on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from spiral.ports import Journal
from spiral.tables import BudgetSettings
from spiral.work import Usage

WARNINGS = (0.6, 0.8)
LEAST = 0.01
"""Dollars below which starting an agent is pointless."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """One bound and how much of it is used."""

    what: str
    used: float
    most: float

    @property
    def share(self) -> float:
        """The used part, 1 being all of it."""
        return self.used / self.most if self.most else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What a run may use up, and has."""

    limits: tuple[Limit, ...]
    spent: Usage

    @property
    def over(self) -> Limit | None:
        """The first bound that is reached, passes aside: those end a run in their own way."""
        return next((one for one in self.limits if one.what != "passes" and one.used >= one.most), None)

    @property
    def passes_over(self) -> bool:
        """Whether no pass is left."""
        return any(one.what == "passes" and one.used >= one.most for one in self.limits)

    def left(self, unit: str) -> float:
        """The least that is left of a unit (`cost`, `tokens`, `hours`) over all bounds on it; 0 when there is none."""
        names = {"cost": ("cost", "day", "week")}.get(unit, (unit,))
        rest = [one.most - one.used for one in self.limits if one.what in names]
        return max(min(rest), 0.0) if rest else 0.0

    def warnings(self) -> Iterator[tuple[str, float]]:
        """(what, the mark that it has passed) for bounds that are 60 or 80 % used."""
        for one in self.limits:
            passed = [mark for mark in WARNINGS if one.share >= mark]
            if passed:
                yield one.what, passed[-1]

    def line(self) -> str:
        """For people and briefings."""
        return ", ".join(f"{shown(one)} {one.what}" for one in self.limits) or "no bounds"


def shown(limit: Limit) -> str:
    """Used of most."""
    if limit.what in ("cost", "day", "week"):
        return f"${limit.used:.2f} of ${limit.most:.2f}"
    return f"{limit.used:.1f} of {limit.most:g}" if limit.what == "hours" else f"{limit.used:,.0f} of {limit.most:,.0f}"


def budget(
    settings: BudgetSettings, journal: Journal, run: str, *, passes: int, began: datetime, now: datetime
) -> Budget:
    """What holds now. A cost that is no number counts as everything there is: unknown is never free."""
    spent = journal.spent(run=run)
    cost = spent.cost if math.isfinite(spent.cost) else math.inf
    limits = [Limit(what="passes", used=passes, most=settings.passes)]
    if settings.hours:
        limits.append(Limit(what="hours", used=(now - began).total_seconds() / 3600, most=settings.hours))
    if settings.cost:
        limits.append(Limit(what="cost", used=cost, most=settings.cost))
    if settings.tokens:
        limits.append(Limit(what="tokens", used=spent.tokens, most=settings.tokens))
    for what, most, days in (("day", settings.day, 1), ("week", settings.week, 7)):
        if most:
            limits.append(Limit(what=what, used=journal.spent(since=now - timedelta(days=days)).cost, most=most))
    return Budget(limits=tuple(limits), spent=spent)
