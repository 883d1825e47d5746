"""Real repositories and real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spiral import Memory

# A shell without a terminal starts background jobs with Ctrl-C ignored, and every process we start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What needs a real browser is run only when asked for."""
    wanted = "browser" in str(config.option.markexpr)
    return True if collection_path.name == "browser" and not wanted else None


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings or the data of who runs it."""
    for name in [name for name in os.environ if name.startswith(("SPIRAL_", "XDG_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty git repository named shop."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def words(repo: Path) -> Iterator[Memory]:
    """A memory that finds by words alone, for what has nothing to do with vectors."""
    with Memory.open(repo, flags={"embedder.model": "none"}) as memory:
        yield memory


@pytest.fixture
def memory(repo: Path) -> Iterator[Memory]:
    """A memory as it is by default."""
    with Memory.open(repo) as memory:
        yield memory


@pytest.fixture
def spiral(repo: Path) -> Run:
    """The command line, as a process of its own in the repository."""

    def run(*args: str, stdin: str = "", code: int = 0, cwd: Path = repo) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "spiral.surfaces.cli.main", *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, timeout=120)
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done

    return run
