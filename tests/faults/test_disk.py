"""Disks that are full, read-only or damaged under the index: the memory still answers, and names the real cause."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from spiral import Memory
from spiral.errors import StoreError

FLAGS = {"embedder.background": "false"}
CLI = [sys.executable, "-m", "spiral.surfaces.cli.main"]
MOUNT = ["unshare", "-rm"] if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0 else []
needs_mount = pytest.mark.skipif(not MOUNT, reason="a file system can be mounted neither here nor in a namespace")


def filled(repo: Path) -> Memory:
    memory = Memory.open(repo, flags=FLAGS)
    for text in ("Deploys go out on Fridays.", "The kettle boils.", "Invoices are archived for ten years."):
        memory.remember(text)
    memory.embed()
    return memory


def file(repo: Path, name: str) -> Path:
    [path] = (repo / ".git/spiral/index").glob(f"g-*/{name}")
    return path


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def garbled(path: Path) -> None:
    path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:7])


@pytest.mark.parametrize("name", ["vectors-1.f16", "vectors-1.bits", "vectors-1.part"])
@pytest.mark.parametrize("harm", [zeroed, garbled, cut, Path.unlink])
def test_damaged_vectors_cost_no_answer_are_told_and_cured_by_a_rebuild(
    repo: Path, name: str, harm: Callable[[Path], None]
) -> None:
    with filled(repo) as memory:
        before = [(hit.id, round(hit.score, 3)) for hit in memory.recall("kettle")]
        harm(file(repo, name))
        assert memory.recall("kettle", links=True)[0].text == "The kettle boils."
        assert memory.store.index.damage() == ["3 of 3 vectors are damaged or lost"]
        memory.reindex()
        assert (memory.store.index.damage(), memory.counts().owed) == ([], 0)
        assert [(hit.id, round(hit.score, 3)) for hit in memory.recall("kettle")] == before


def test_doctor_tells_what_is_damaged_and_how_to_cure_it(repo: Path) -> None:
    filled(repo).close()
    file(repo, "vectors-1.f16").unlink()
    done = subprocess.run([*CLI, "doctor"], cwd=repo, capture_output=True, text=True)
    assert done.returncode == 2
    assert "✗ memory    3 of 3 vectors are damaged or lost; run `spiral reindex`\n" in done.stdout
    assert "1 broken, " in done.stdout


@pytest.mark.parametrize("content", ["g-" + "x" * 5000, "\0", "../..", "", None])
def test_a_mangled_name_of_the_index_is_as_good_as_none(repo: Path, content: str | None) -> None:
    filled(repo).close()
    mark = repo / ".git/spiral/index/CURRENT"
    mark.unlink()
    mark.mkdir() if content is None else mark.write_text(content)
    with Memory.open(repo, flags=FLAGS) as memory:
        assert memory.recall("kettle")[0].text == "The kettle boils."
        memory.reindex()
        assert memory.counts().memories == 3


def test_a_database_that_is_damaged_inside_is_told_with_its_cure_and_rebuilt(repo: Path) -> None:
    filled(repo).close()
    path = file(repo, "index.db")
    raw = path.read_bytes()
    path.write_bytes(raw[:4096] + np.random.default_rng(1).bytes(len(raw) - 4096))
    with Memory.open(repo, flags=FLAGS) as memory:
        with pytest.raises(StoreError, match="`spiral reindex` rebuilds it"):
            memory.recall("kettle")
        memory.reindex()
        assert memory.recall("kettle")[0].text == "The kettle boils."


def test_an_index_of_an_earlier_version_is_made_anew(repo: Path) -> None:
    memory = filled(repo)
    memory.store.index.db.execute("PRAGMA user_version = 1")  # type: ignore[attr-defined]
    memory.close()
    with Memory.open(repo, flags=FLAGS) as memory:
        assert memory.recall("kettle")[0].text == "The kettle boils."
        assert len(list((repo / ".git/spiral/index").glob("g-*"))) == 1


def test_rebuilding_at_once_is_rebuilding_in_turn(repo: Path) -> None:
    filled(repo).close()
    running = [
        subprocess.Popen([*CLI, "reindex"], cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    told = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert told == [(("3 memories, 0 episodes, 0 changes\n", ""), 0)] * 4
    assert len(list((repo / ".git/spiral/index").glob("g-*"))) == 1


FULL = """
import resource, signal, sys
from pathlib import Path
from spiral import Memory
from spiral.errors import StoreError
repo = Path(sys.argv[1])
memory = Memory.open(repo, flags={"embedder.model": "none"})
first = memory.remember("The kettle boils.").id
memory.ingest("The tea is hot.", session="one", learn=False)
[log] = (repo / ".git/spiral/index").glob("g-*/index.db-wal")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, -1))
def files():
    return {path: path.read_bytes() for path in (repo / ".agent/memory").rglob("*") if path.is_file()}
before = files()
try:
    DO
except StoreError as fault:
    print("failed")
assert files() == before, files()
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
assert [item.text for item in memory.list()] == ["The kettle boils."]
DO
assert files() != before
memory.close()
"""


@pytest.mark.parametrize(
    "do",
    [
        "memory.remember('A new fact.')",
        "memory.forget(first)",
        "memory.ingest('The tea is cold.', session='one', learn=False)",
        "memory.ingest('The tea is cold.', session='two', learn=False)",
    ],
)
def test_what_the_index_has_no_room_for_is_an_error_and_leaves_no_file(repo: Path, do: str) -> None:
    done = subprocess.run([sys.executable, "-c", FULL.replace("DO", do), str(repo)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "failed\n"), done.stderr


@pytest.mark.parametrize("name", ["f16", "bits", "part"])
def test_what_is_erased_leaves_no_vector_where_one_of_its_files_is_lost(repo: Path, name: str) -> None:
    with filled(repo) as memory:
        file(repo, f"vectors-1.{name}").unlink()
        memory.erase(*(item.id for item in memory.list()))
        assert not any(any(path.read_bytes()) for path in (repo / ".git/spiral/index").glob("g-*/vectors-*"))


RUN = f'run() {{ "{sys.executable}" -m spiral.surfaces.cli.main "$@" 2>&1 || echo "exit $?"; }}; '


def on_small_disk(repo: Path, script: str) -> str:
    """What a script prints that runs in a copy of the repository on a disk of its own, of eight megabytes."""
    disk = repo.with_name("disk") / repo.name
    disk.mkdir(parents=True)
    code = f'set -e; mount -t tmpfs -o size=8m none "$1"; cp -a "$0/." "$1"; cd "$1"; {RUN} run status > /dev/null; '
    code += script
    command = [*MOUNT, "sh", "-c", code, str(repo), str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_mount
@pytest.mark.parametrize("index", ["there", "missing", "log left behind"])
def test_a_disk_that_is_read_only_can_be_read(repo: Path, index: str) -> None:
    filled(repo).close()
    prepare = {
        "there": "",
        "missing": "rm -r .git/spiral; ",
        "log left behind": "printf x > .git/spiral/index/$(cat .git/spiral/index/CURRENT)/index.db-wal; ",
    }
    told = on_small_disk(
        repo,
        f'{prepare[index]} mount -o remount,ro "$1"; run recall kettle --session s; run status; run brief kettle; '
        "run remember 'A new fact.'; run reindex",
    )
    assert " 1. The kettle boils." in told
    assert "memories    3" in told
    assert "exit 74" in told
    assert told.count("exit ") == 2
    assert told.count("the file system is read-only") == 3, told
    assert "spiral reindex" not in told


@needs_mount
def test_a_disk_that_is_full_can_be_read_and_is_named_as_the_cause(repo: Path) -> None:
    filled(repo).close()
    told = on_small_disk(
        repo,
        "cat /dev/zero > filler 2>/dev/null || true; run recall kettle; run status; run doctor; "
        "run remember 'A new fact.'; rm filler; run remember 'A newer fact.'; run memory list",
    )
    assert " 1. The kettle boils." in told
    assert "memories    3" in told
    assert "free some space" in told
    assert "spiral reindex" not in told
    assert "A newer fact." in told
    assert "A new fact." not in told
