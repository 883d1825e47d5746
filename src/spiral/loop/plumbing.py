"""Processes of git, which work on one worktree or on none."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from spiral.errors import GitError
from spiral.place import repository

SECONDS = 120.0
QUIET = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "core.splitIndex=false",
    "commit.gpgSign=false", "gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false",
    "submodule.recurse=false", "diff.noprefix=false", "diff.mnemonicPrefix=false",
    "worktree.useRelativePaths=false",
)  # fmt: skip
"""Whatever the user's settings: no hook and no helper runs, nothing asks for a passphrase, output has one form."""
HEX = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
TREES: dict[str, str] = {}
"""The trees of commits, which never change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Git:
    """One worktree. An empty SHA stands for a branch that has no commit yet."""

    top: Path
    git_dir: Path
    """Shared by all worktrees."""
    env: Mapping[str, str]
    """For git's processes; its GIT_* variables are left out."""
    index: str = ""
    """Another index than the worktree's own."""
    held: tuple[int, ...] = ()
    """Open files that git's processes keep open too: a lock then outlives us for as long as they run."""

    def git(
        self, *args: str, stdin: bytes = b"", good: Sequence[int] = (0,), limit: int = 0, seconds: float = SECONDS
    ) -> str:
        """What git writes, at most `limit` bytes of it; GitError when it does not end with a `good` code in time.

        Variables or a missing `.git` cannot lead it to another repository. Ctrl-C in the terminal does not reach it.
        """
        settings = [part for setting in QUIET for part in ("-c", setting)]
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            given.write(stdin)
            given.seek(0)
            try:
                child = subprocess.Popen(
                    ["git", *settings, *args], cwd=self.top, env=self._env(), stdin=given, stdout=subprocess.PIPE,
                    stderr=said, start_new_session=True, pass_fds=self.held,
                )  # fmt: skip
            except OSError as fault:
                raise GitError(f"`git {args[0]}` cannot start in {str(self.top)!r}: {fault.strerror}") from fault
            output, cut = _read(child, limit, seconds)
            said.seek(0)
            errors = said.read(4_000).decode("utf-8", "replace").strip()
        if not cut and child.returncode not in good:
            late = f"it took longer than {seconds:g} s" if child.returncode == -signal.SIGKILL else ""
            first = errors.partition("\n")[0] or late or f"exit code {child.returncode}"
            raise GitError(f"`git {' '.join(args)[:80]}` failed in {str(self.top)!r}: {first}")
        return os.fsdecode(output)

    def _env(self) -> dict[str, str]:
        kept = {name: value for name, value in self.env.items() if not name.startswith("GIT_")}
        kept |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_EDITOR": "true"}
        kept["GIT_CEILING_DIRECTORIES"] = str(self.top.parent)
        return kept | ({"GIT_INDEX_FILE": self.index} if self.index else {})

    def own_dir(self) -> Path:
        """This worktree's own git dir."""
        found = repository(self.top)
        if found is None:
            raise GitError(f"{str(self.top)!r} is no git repository any more; `git init` makes one")
        return found.worktree_git_dir

    def sha(self, name: str) -> str:
        """The commit of a ref or revision; empty when there is none."""
        return self.git("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}", good=(0, 1)).strip()

    def head(self) -> str:
        """The commit that is checked out; empty when there is none yet."""
        named = self._head_file()
        # A branch that is packed, or kept in another way, is git's to find.
        with suppress(OSError, UnicodeDecodeError):
            sha = (self.git_dir / named).read_text("utf-8").strip() if named else ""
            if HEX.fullmatch(sha):
                return sha
        return self.sha("HEAD")

    def _head_file(self) -> str:
        """The branch that HEAD names, as its file says; empty when it names none, or not in a file."""
        found = repository(self.top)
        with suppress(OSError, UnicodeDecodeError):
            if found is not None and found.top == self.top:
                name = (found.worktree_git_dir / "HEAD").read_text("utf-8").strip().removeprefix("ref: ")
                return name if name.startswith("refs/heads/") and not name.endswith("/.invalid") else ""
        return ""

    def branch(self) -> str:
        """The branch that is checked out, with or without commits; empty when HEAD is detached."""
        ref = self._head_file() or self.git("symbolic-ref", "-q", "HEAD", good=(0, 1)).strip()
        return ref.removeprefix("refs/heads/")

    def content_of(self, sha: str, *, without: str) -> str:
        """Equal for commits that differ at most in one entry of the top folder."""
        listed = self.git("ls-tree", "-z", sha).split("\0") if sha else []
        kept = "\0".join(line for line in listed if entry_name(line) != without)
        return hashlib.sha256(os.fsencode(kept)).hexdigest()

    def tree_of(self, sha: str) -> str:
        """The tree of a commit; the empty tree for none."""
        known = TREES.get(sha)
        if known is None:
            asked = ("rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}") if sha else ("mktree",)
            known = self.git(*asked).strip()
            if HEX.fullmatch(sha):
                if len(TREES) > 1_000:
                    TREES.clear()
                TREES[sha] = known
        return known


def entry_name(line: str) -> str:
    """The name in a line of `git ls-tree`."""
    return line.rpartition("\t")[2]


def pathspec(paths: Sequence[str], exclude: Sequence[str] = ()) -> tuple[str, ...]:
    """Paths for a command's end; `*` in them matches `/` too, and a folder stands for all in it."""
    chosen = [f":(top){path}" for path in paths] or [":(top)"]
    return ("--", *chosen, *(f":(top,exclude){path}" for path in exclude))


def _read(child: subprocess.Popen[bytes], limit: int, seconds: float) -> tuple[bytes, bool]:
    """What a process writes, and whether it was cut off at the limit; killed when it takes too long."""

    def end() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)

    assert child.stdout is not None
    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        with child.stdout:
            output = child.stdout.read(limit or -1)
            cut = bool(limit) and len(output) >= limit
            if cut:
                end()
        child.wait()
    finally:
        timer.cancel()
    return output, cut
