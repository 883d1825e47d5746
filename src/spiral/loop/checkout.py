"""A clean checkout of one commit, kept and used again."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from spiral.errors import GitError
from spiral.loop.git import Repo
from spiral.loop.plumbing import pathspec
from spiral.loop.process import Shell, never
from spiral.place import digest
from spiral.work import Check, CheckResult

MANIFESTS = (
    "pyproject.toml", "requirements*.txt", "uv.lock", "poetry.lock", "package.json", "package-lock.json",
    "pnpm-lock.yaml", "yarn.lock", "bun.lock", "Cargo.lock", "go.sum", "Gemfile.lock", "Pipfile", "Pipfile.lock",
    "setup.py", "setup.cfg", "composer.lock", "*.csproj",
)  # fmt: skip
"""Files, in any folder, whose change makes a set-up run again."""
MOST = 64
"""Checkouts that may be in use at once."""
SETUP = "set-up"
LINGERING = 10.0
"""Seconds to wait for what a killed process left running in a checkout."""


def checkout_folder(git_dir: Path, cache: Path | None) -> Path:
    """Where the checkouts of a repository live: in the user's cache, or in the git dir when there is none.

    Some test runners (jest for one) see no file whose path has a `.git` in it.
    """
    return (cache / "spiral" / digest(git_dir) if cache else git_dir / "spiral") / "checkout"


class Checkout:
    """A detached worktree in a folder of its own, which one process uses at a time.

    One winner: a lock on a file beside the folder, which the system lets go of when the holder dies, or, where that was
    killed, when the command dies that it had started there; who comes second gets the next numbered folder. Whatever
    state a killed process left the folder in, `at` repairs it.
    """

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo = repo
        self.first = self.path = folder.parent.resolve() / folder.name
        """The folder in use."""
        self.sha = ""
        self.key = ""
        """Stands for the set-up that the folder has; empty for none."""
        self.lock = -1

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let another process use the folder; a second call does nothing."""
        if self.lock >= 0:
            fcntl.flock(self.lock, fcntl.LOCK_UN)
            os.close(self.lock)
            self.lock = -1

    def at(self, sha: str) -> Path:
        """The folder with exactly the files of a commit, beside ignored ones and what the set-up made.

        A retry gives the same; a folder that is damaged, locked, foreign or gone is made anew.
        """
        self._hold()
        try:
            self._move(sha)
        except (GitError, OSError):
            self._make(sha)
        self.sha = sha
        return self.path

    def tidy(self) -> None:
        """Undo what a command did to the commit's own files; what else it made stays for the next."""
        try:
            self._own_dir()
            self._here().git("checkout", "-q", "-f", "--detach", self.sha)
        except GitError:
            self.at(self.sha)

    def shell(self, env: Mapping[str, str], seconds: float, stop: Callable[[], bool] = never) -> Shell:
        """Runs commands in the folder, which stays locked for as long as they run."""
        return Shell(folder=self.path, env=env, seconds=seconds, stop=stop, held=(self.lock,))

    def prepare(self, setup: str, inputs: Sequence[str], shell: Shell, log: Path) -> CheckResult | None:
        """Run the set-up, once for each command and content of its input files; None when there is none.

        When those have changed, or what it had made is gone, everything but the commit's files is removed first. What
        a killed set-up left counts for nothing. A failed one runs again at the next call.
        """
        known = self._stamp()
        key = self._key_of(setup, inputs) if setup else ""
        self.key = key
        check = Check(name=SETUP, command=setup)
        if known.get("key", "") == key and all((self.path / name).exists() for name in known.get("made", ())):
            return CheckResult(check=check, sha=self.sha, passed=True, exit_code=0, cached=True) if setup else None
        self._stamp_file().unlink(missing_ok=True)
        self._here().git("clean", "-ffdxq")
        if not setup:
            return None
        ran = shell.run(setup, log)
        if ran.passed:
            self._write_stamp(key)
        return CheckResult(
            check=check, sha=self.sha, passed=ran.passed, exit_code=ran.code, output=ran.tail, seconds=ran.seconds,
            log=f"{log.parent.name}/{log.name}",
        )  # fmt: skip

    def _hold(self) -> None:
        """Take the first folder that nobody uses."""
        if self.lock >= 0:
            return
        self.first.parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST + 1):
            path = self.first.with_name(self.first.name + (f"-{number}" if number > 1 else ""))
            lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if not _locked(lock):
                os.close(lock)
                continue
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            self.path, self.lock = path, lock
            return
        raise GitError(f"all {MOST} checkouts beside {str(self.first)!r} are in use; end some of the runs")

    def _here(self) -> Repo:
        return replace(self.repo, top=self.path, held=(self.lock,))

    def _move(self, sha: str) -> None:
        """Bring the folder to the commit; GitError when it is not ours or will not go."""
        own = self._own_dir()
        for name in ("index.lock", "HEAD.lock"):
            (own / name).unlink(missing_ok=True)
        here = self._here()
        here.git("checkout", "-q", "-f", "--detach", sha)
        spared = [part for name in self._stamp().get("made", ()) for part in ("-e", _pattern(name))]
        here.git("clean", "-ffdq", *spared)
        if here.head() != sha:
            raise GitError(f"{str(self.path)!r} is not at {sha[:12]!r}")

    def _own_dir(self) -> Path:
        """The folder's own git dir; GitError unless the two name each other.

        A `.git` that names another one would lead git to somebody else's index and HEAD.
        """
        try:
            own = Path((self.path / ".git").read_text("utf-8").strip().removeprefix("gitdir: "))
            mutual = own.parent == self.repo.git_dir / "worktrees" and _names(own) == self.path / ".git"
        except (OSError, UnicodeDecodeError) as fault:
            raise GitError(f"{str(self.path)!r} is no checkout: {fault}") from fault
        if not mutual:
            raise GitError(f"{str(self.path)!r} belongs to {str(own)!r}, which is not its own")
        return own

    def _make(self, sha: str) -> None:
        """Make the folder anew. The user's own worktrees are not pruned: theirs may be on a disk that is away."""
        self._stamp_file().unlink(missing_ok=True)
        remove(self.path)
        for own in (self.repo.git_dir / "worktrees").glob("*"):
            with suppress(OSError, UnicodeDecodeError):
                if _names(own) == self.path / ".git":
                    remove(own)
        replace(self.repo, held=(self.lock,)).git(
            "worktree", "add", "-f", "-f", "--detach", str(self.path), sha, seconds=600.0
        )
        self._own_dir()

    def _key_of(self, setup: str, inputs: Sequence[str]) -> str:
        wanted = [":(top)" + name for name in inputs] or [f":(top,glob)**/{name}" for name in MANIFESTS]
        found = self._here().git("ls-files", "-s", "-z", "--", *wanted)
        return hashlib.sha256(os.fsencode(f"{setup}\0{found}")).hexdigest()[:32]

    def _stamp_file(self) -> Path:
        return self.path.with_name(self.path.name + ".setup")

    def _stamp(self) -> dict[str, list[str]]:
        """Which set-up the folder has and what that made; empty when there is none, or none that was finished."""
        try:
            found = json.loads(self._stamp_file().read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write_stamp(self, key: str) -> None:
        made = self._here().git("ls-files", "--others", "--directory", "--no-empty-directory", "-z", *pathspec(()))
        fresh = self._stamp_file().with_suffix(".new")
        fresh.write_text(json.dumps({"key": key, "made": [name for name in made.split("\0") if name]}), "utf-8")
        fresh.replace(self._stamp_file())


def _locked(lock: int) -> bool:
    """Whether the lock is ours now. Where its holder was killed, what that had started is waited for: it ends soon."""
    until = time.monotonic() + LINGERING
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            holder = os.pread(lock, 20, 0).decode("ascii", "replace")
            alive = holder.isdigit() and Path(f"/proc/{holder}").exists()
            if alive or time.monotonic() > until:
                return False
            time.sleep(0.02)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, read-only parts too."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    for name, _, _ in os.walk(folder):
        Path(name).chmod(0o755)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _names(own: Path) -> Path:
    """The `.git` file that a worktree's own git dir names."""
    return Path((own / "gitdir").read_text("utf-8").strip())


def _pattern(name: str) -> str:
    """A path as a pattern of git's that matches it alone."""
    return "/" + re.sub(r"([\\*?\[\]!#])", r"\\\1", name)
