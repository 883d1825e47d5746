"""What the loop itself costs, with a long past, and what its memory is worth to the demo's agent."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from spiral.bench import past
from spiral.bench.speed import write_memories
from spiral.config import read
from spiral.demo.half import Half, run_half
from spiral.demo.project import Terms
from spiral.loop.hydrate import rooms
from spiral.loop.preview import preview
from spiral.loop.run import new_run
from spiral.runner import Runner
from spiral.work import Order

OVERHEAD, BRIEFING = 0.300, 0.150
"""Promised: seconds of a pass that are neither the agent's nor the checks', and of putting its briefing together."""
FLAT = 1.25
"""Promised: how much longer a pass may take after ten times as many."""
EARLY = 10
"""The first measurement is made after a tenth of the passes."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much there is."""

    tasks: int = 1_000
    passes: int = 5_000
    memories: int = 50_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What the loop took after so many passes; medians, in seconds."""

    after: int
    overhead: float
    """By our own stop-watch: all of a pass and what comes between two, without the agent and the checks."""
    recorded: float
    """What the journal says of it, which leaves out what comes between two passes."""
    briefing: float
    tokens: int
    """Of the longest briefing."""
    most: int
    """That the policy allows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """What the memory is worth to the simulated agent, over some seeds."""

    heed: float
    circles: tuple[Half, ...]
    spirals: tuple[Half, ...]


class Worker:
    """The agent of the measurement: writes the file that the task's check looks for, and takes its own time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, order: Order, _tell: Tell) -> str:
        began = time.monotonic()
        task = order.env["SPIRAL_TASK"]
        path = Path(order.folder, "services", f"{task}.txt")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{order.env['SPIRAL_PASS']}\n", "utf-8")
        self.seconds.append(time.monotonic() - began)
        learned = f"Learned: {path.name} is what the outbox reads for {task}."
        return f"I wrote {path.name}.\n{learned}\n<promise>{task}:DONE</promise>"


def measure(folder: Path, size: Size, environ: Mapping[str, str], tell: Tell, times: int = 9) -> list[Cost]:
    """The cost of a pass after a tenth of the passes and after all of them, on one and the same project."""
    past.make(folder, size.tasks, environ)
    settings = read(folder, {}, environ)
    early = max(1, size.passes // EARLY)
    worker = Worker()
    with Runner.open(folder, settings=settings, agents={"bench": worker}) as runner:
        write_memories(runner.memory, size.memories, tell)
        costs = []
        for first, last in ((0, early), (early, size.passes)):
            tell(f"writing passes {first:,} to {last:,}")
            past.add_passes(runner.journal, folder / ".agent", range(first, last), size.tasks)
            past.commit(folder, environ)
            tell(f"measuring after {last:,} passes")
            costs.append(cost(runner, worker, last, times))
    return costs


def cost(runner: Runner, worker: Worker, after: int, times: int) -> Cost:
    """What some more passes take, after one that warms up."""
    runner.run(passes=1)
    marks: list[float] = []

    def mark(line: str) -> None:
        if line.startswith("pass ") and "bench" in line:
            marks.append(time.monotonic())

    worker.seconds.clear()
    runner.run(passes=times + 1, tell=mark)
    last = runner.journal.note("run/last")
    ended = runner.journal.events(run=last, kinds=("pass.ended",))
    checks = [checked(runner, event.pass_id) for event in ended]
    whole = [later - sooner for sooner, later in pairwise(marks)]
    mine = [each - worker.seconds[at] - checks[at] for at, each in enumerate(whole)]
    hydrated = runner.journal.events(run=last, kinds=("pass.hydrated",))
    return Cost(
        after=after,
        overhead=statistics.median(mine),
        recorded=statistics.median(float(str(event.data["overhead"])) for event in ended),
        briefing=statistics.median(briefed(runner) for _ in range(times)),
        tokens=max(int(str(event.data["tokens"])) for event in hydrated),
        most=sum(rooms(runner.settings.hydrate).values()),
    )


def checked(runner: Runner, pass_id: str) -> float:
    """Seconds of a pass's checks."""
    event = runner.journal.events(pass_id=pass_id, kinds=("pass.verified",))[0]
    verdict = event.data["verdict"]
    assert isinstance(verdict, dict)
    return sum(float(check["seconds"]) for check in verdict["checks"] if not check["cached"])


def briefed(runner: Runner) -> float:
    """Seconds of choosing the next task and putting its briefing together."""
    loop = runner.loop()
    run = new_run(loop, agent="bench", checker="")
    began = time.monotonic()
    preview(loop, run)
    return time.monotonic() - began


def effect(folder: Path, heed: float, seeds: Sequence[int], environ: Mapping[str, str], tell: Tell) -> Effect:
    """The demo's two halves for each seed."""
    halves: dict[bool, list[Half]] = {False: [], True: []}
    for seed in seeds:
        for memory, kept in halves.items():
            tell(f"simulated agent, heed {heed:g}, seed {seed}, memory {'on' if memory else 'off'}")
            place = folder / f"{heed:g}-{seed}-{memory}"
            kept.append(run_half(place, Terms(seed=seed, heed=heed), environ, memory=memory))
    return Effect(heed=heed, circles=tuple(halves[False]), spirals=tuple(halves[True]))
