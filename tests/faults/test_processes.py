"""Many processes at once, and processes that are killed at any instant."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from spiral import Memory

WRITER = Path(__file__).with_name("writer.py")
SOAK = bool(os.environ.get("SOAK"))


def start(repo: Path, name: str, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(repo), name, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def acknowledged(output: str) -> dict[str, str]:
    """Whole lines only: a torn one was not acknowledged."""
    lines = [line for line in output.split("\n")[:-1] if "\t" in line]
    return dict(line.split("\t", 1) for line in lines)


def kept(memory: Memory) -> dict[str, str]:
    """Everything the index holds, each once."""
    memory.counts()
    rows = [row for type in ("memory", "episode") for row in memory.store.index.select("type", [type])]
    assert len({row.id for row in rows}) == len(rows)
    from spiral.memory.entries import episode_of, memory_of

    return {row.id: (memory_of(row) if row.type == "memory" else episode_of(row)).text for row in rows}


def agrees_with_the_files(memory: Memory) -> None:
    """A rebuild from the files alone holds the same in the same state."""

    def states() -> list[tuple[str, bool]]:
        rows = [row for type in ("memory", "episode", "change") for row in memory.store.index.select("type", [type])]
        return sorted((row.id, row.live) for row in rows)

    before = states()
    memory.reindex()
    assert states() == before


def test_nothing_acknowledged_is_lost_when_processes_are_killed(repo: Path) -> None:
    chance = random.Random(7)
    said: dict[str, str] = {}
    for turn in range(500 if SOAK else 20):
        writers = [start(repo, f"{turn}n{number}", 60) for number in range(2)]
        assert writers[0].stdout is not None
        first = writers[0].stdout.readline()
        time.sleep(chance.uniform(0.0, 0.25))
        for at, writer in enumerate(writers):
            writer.kill()
            output, _ = writer.communicate()
            said |= acknowledged((first if at == 0 else "") + output)
    with Memory.open(repo, flags={"embedder.model": "none"}) as memory:
        found = kept(memory)
        assert {name: found.get(name) for name in said} == said
        assert len(set(found.values())) == len(found)
        agrees_with_the_files(memory)


def test_sixteen_processes_write_and_read_at_once(repo: Path) -> None:
    writers = [start(repo, f"w{number}", 60 if SOAK else 8) for number in range(16)]
    said: dict[str, str] = {}
    for writer in writers:
        output, errors = writer.communicate()
        assert (errors, writer.returncode) == ("", 0)
        said |= acknowledged(output)
    with Memory.open(repo, flags={"embedder.model": "none"}) as memory:
        found = kept(memory)
        assert found == said
        assert len(set(found.values())) == len(found)
        agrees_with_the_files(memory)
