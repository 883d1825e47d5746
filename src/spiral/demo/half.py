"""One half of the demo: the product's own loop over the demo's repository, told pass by pass."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spiral.demo.agent import TRIED
from spiral.demo.project import Terms, held, make
from spiral.demo.shop import CLAIM
from spiral.runner import Runner
from spiral.work import Event

SAID = re.compile(re.escape(TRIED).replace(r"\{name\}", "(.+?)") + r"(?=\s|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One pass as the demo tells it."""

    number: int
    task: str
    title: str
    tried: str
    """What the agent says that it tried."""
    outcome: str
    reason: str
    repeated: int
    """The pass at the same task in which the same had failed before; 0 for none."""
    parked: bool
    """The task has failed so often that it waits for a person."""
    swept: bool
    """The agent forgot to commit; the runner did it."""
    cost: float
    tokens: int
    done: int
    """Tasks that are done after it."""
    overhead: float
    """Seconds that were neither the agent's nor the checks'."""

    @property
    def passed(self) -> bool:
        """Whether the task is done."""
        return self.outcome == "passed"

    @property
    def claimed(self) -> bool:
        """Whether the agent said that it was done and had done nothing."""
        return self.tried == CLAIM


@dataclass(frozen=True, kw_only=True, slots=True)
class Half:
    """How one half went."""

    memory: bool
    reason: str
    """Why the run ended."""
    detail: str
    tasks: int
    seconds: float
    rows: tuple[Row, ...]
    learned: tuple[str, ...] = ()
    """What passes left in the memory for later ones, beside the attempts."""

    @property
    def complete(self) -> bool:
        """Whether all tasks are done."""
        return self.reason == "complete"

    @property
    def done(self) -> int:
        """Tasks that are done."""
        return self.rows[-1].done if self.rows else 0

    @property
    def repeats(self) -> int:
        """Passes that tried what had failed before."""
        return sum(1 for row in self.rows if row.repeated)

    @property
    def cost(self) -> float:
        """Dollars, at the agent's simulated prices."""
        return sum(row.cost for row in self.rows)

    @property
    def tokens(self) -> int:
        """Tokens of briefings and answers."""
        return sum(row.tokens for row in self.rows)


class Teller:
    """Turns what the journal records into rows, as it comes."""

    def __init__(self, runner: Runner, show: Callable[[Row], None], step: Callable[[str], None]) -> None:
        self.runner = runner
        self.show = show
        self.step = step
        self.rows: list[Row] = []
        self.last = 0
        self.failed: dict[tuple[str, str], int] = {}

    def __call__(self, line: str) -> None:
        """A line of the loop's for people; what ended meanwhile is shown first."""
        self.look()
        self.step(line)

    def look(self) -> None:
        """Show the passes that ended since."""
        for event in self.runner.journal.events(kinds=("pass.ended",), after=self.last):
            self.last = event.seq
            row = self.row_of(event)
            self.rows.append(row)
            self.show(row)

    def row_of(self, event: Event) -> Row:
        """A pass that ended."""
        data, effort, usage = event.data, table(event.data["effort"]), table(event.data["usage"])
        found = SAID.search(str(effort["summary"]))
        tried = found[1] if found else "?"
        passed = data["outcome"] == "passed"
        earlier = self.failed.get((event.task, tried), 0)
        number = int(str(data["number"]))
        if not passed:
            self.failed.setdefault((event.task, tried), number)
        acted = self.runner.journal.events(pass_id=event.pass_id, kinds=("pass.acted",))
        return Row(
            number=number, task=event.task, title=str(data["title"]), tried=tried, outcome=str(data["outcome"]),
            reason=str(data["reason"]), repeated=0 if passed else earlier,
            parked=data["next"] == "park", swept=any(table(one.data["attempt"]).get("swept") for one in acted),
            cost=float(str(usage["cost"])),
            tokens=sum(int(str(usage[kind])) for kind in ("input", "output", "cache_read", "cache_write")),
            done=(self.rows[-1].done if self.rows else 0) + passed, overhead=float(str(data["overhead"])),
        )  # fmt: skip


def table(value: object) -> Mapping[str, object]:
    """A table of an event's data."""
    assert isinstance(value, Mapping)
    return value


def nobody(_: object) -> None:
    """Is told and says nothing."""


def run_half(
    folder: Path,
    terms: Terms,
    environ: Mapping[str, str],
    *,
    memory: bool,
    show: Callable[[Row], None] = nobody,
    step: Callable[[str], None] = nobody,
) -> Half:
    """Make the repository in the folder and run the loop over it until it ends by itself."""
    make(folder, terms, environ, memory=memory)
    began = time.monotonic()
    with Runner.open(folder, settings=held(folder, environ)) as runner:
        teller = Teller(runner, show, step)
        ended = runner.run(tell=teller)
        teller.look()
        known = runner.memory.list(kinds=("semantic",))
        learned = tuple(memory.text for memory in known if memory.authority == "verified")
    return Half(
        memory=memory, reason=ended.reason, detail=ended.detail, tasks=len(terms.jobs),
        seconds=time.monotonic() - began, rows=tuple(teller.rows), learned=learned,
    )  # fmt: skip
