"""How long a new process takes, over a bare interpreter, on a store of a given size."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spiral.app import Memory
from spiral.memory import document
from spiral.memory.codec import digest
from spiral.model import Scope, Statement

TOPICS = (
    "payment retry queue worker cache index deploy branch release staging database schema migration timeout webhook "
    "signature token session report invoice customer order refund ledger audit metric alert latency budget quota shard"
).split()
VOCABULARY = TOPICS + [f"{topic}{end}" for end in ("able", "kit", "hub", "loop", "gate") for topic in TOPICS]
SYLLABLES = ("ka", "lo", "mi", "ren", "tas", "vor", "del", "pin", "qua", "sor", "ul", "wex", "zan", "bri", "cho", "fen")
VOCABULARY += [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
WEIGHTS = [1 / rank for rank in range(2, len(VOCABULARY) + 2)]
"""Word frequencies as in real text: the n-th word is seen about 1/n as often as the first."""
BATCH = 2_000
SETTINGS = '[memory]\nroot = "memory"\nindex = "index"\napp = "bench"\n'


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """One measured thing."""

    what: str
    seconds: float
    """The median over a bare interpreter's start."""
    limit: float
    """What was promised."""


def fill(folder: Path, count: int, tell: Callable[[str], None]) -> None:
    """A store of `count` memories with random vectors: made in bulk, without syncing, for measuring alone."""
    (folder / "spiral.toml").write_text(SETTINGS, "utf-8")
    with Memory.open(folder, flags={"embedder.background": "false"}) as memory:
        write_memories(memory, count, tell)


def write_memories(memory: Memory, count: int, tell: Callable[[str], None]) -> None:
    """Put that many memories into a store, with random vectors."""
    chance = random.Random(1)  # noqa: S311 - for the same texts each time, not for secrecy
    tell(f"writing {count:,} files")
    for number in range(count):
        said = " ".join(chance.choices(VOCABULARY, WEIGHTS, k=14))
        text = f"{said} in services/{chance.choice(TOPICS)}_{number}.py, code E{number}."
        fact = Statement(
            id="m" + digest(text), text=text, kind="semantic", scope=Scope(app=memory.store.scope.app),
            owner=memory.store.owner, learned=datetime.now(UTC),
        )  # fmt: skip
        path = memory.store.folder.root / memory.store.folder.path_of(fact)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.write(fact), "utf-8")
    began = time.monotonic()
    tell("indexing")
    memory.store.use()
    tell(f"indexed in {time.monotonic() - began:.0f} s; adding vectors")
    add_vectors(memory)


def add_vectors(memory: Memory) -> None:
    """Random unit vectors, so that the size of the search is real although its answers are not."""
    import numpy as np

    assert memory.store.embedder is not None
    made = np.random.default_rng(1)
    index = memory.store.index
    while owed := index.owed(BATCH):
        vectors = made.standard_normal((len(owed), memory.store.embedder.dimensions)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        with index.atomic():
            for at in range(0, len(owed), 500):
                index.store([name for name, _ in owed[at : at + 500]], vectors[at : at + 500])


def measure(folder: Path, times: int = 9) -> list[Timing]:
    """The medians, each over the bare interpreter started side by side."""
    spiral = [sys.executable, "-m", "spiral.surfaces.cli.main", "-C", str(folder)]
    subjects = (
        ("import spiral", [sys.executable, "-c", "import spiral"], 0.060),
        ("capture", [*spiral, "ingest", "--raw", "--session", "bench", "--app", "bench"], 0.100),
        ("cold recall", [*spiral, "recall", "how are refunds audited?", "--app", "bench"], 0.600),
    )
    return [Timing(what=what, seconds=over_bare(command, times), limit=limit) for what, command, limit in subjects]


def over_bare(command: list[str], times: int) -> float:
    """The median difference between the command and `python -c pass`, run in turn."""
    differences = []
    for number in range(times):
        bare = timed([sys.executable, "-c", "pass"], "")
        differences.append(timed(command, f"event {number} happened") - bare)
    return statistics.median(differences)


def timed(command: list[str], stdin: str) -> float:
    """Seconds of one process."""
    began = time.perf_counter()
    subprocess.run(command, input=stdin, text=True, check=True, capture_output=True)
    return time.perf_counter() - began
