"""Real repositories for tests, and what people and agents do to them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from spiral.loop.git import Repo, repo_at


def run(folder: Path, command: str, code: int | None = 0) -> str:
    """What a shell command says in a folder."""
    env = os.environ | {
        "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
    }  # fmt: skip
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, env=env)
    assert code is None or done.returncode == code, (command, done.stdout, done.stderr)
    return done.stdout.strip()


def write(folder: Path, **files: str) -> None:
    """Files by name, `__` standing for `/` and `_dot_` for the dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def shop(folder: Path, commits: int = 4) -> Repo:
    """A repository on `main` with a few commits, each of which writes one more file."""
    folder.mkdir(parents=True, exist_ok=True)
    run(folder, "git init -q -b main")
    for number in range(1, commits + 1):
        (folder / f"file{number}.txt").write_text(f"{number}\n")
        run(folder, f"git add -A && git commit -q -m 'feat: file {number}'")
    return repo_at(folder, os.environ)
