"""What an agent's program may reach, when it is run inside something."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from spiral.errors import ConfigError

NONE, BWRAP = "none", "bwrap"
PLACE = "{command}"


def wrapper(sandbox: str) -> tuple[str, ...]:
    """The words of a sandbox setting of one's own; empty for `none` and `bwrap`. Raises ConfigError."""
    if sandbox in ("", NONE, BWRAP):
        return ()
    try:
        words = shlex.split(sandbox)
    except ValueError as error:
        raise ConfigError(f"act.sandbox {sandbox!r} cannot be read: {error}") from error
    if len(words) < 2 or words[-1] != PLACE:
        raise ConfigError(f"act.sandbox must be none, bwrap, or a command that ends in {PLACE}, not {sandbox!r}")
    return tuple(words[:-1])


def boxed(
    sandbox: str, argv: Sequence[str], *, folder: str, history: str, git_dir: str, homes: Sequence[str]
) -> list[str]:
    """The command inside the sandbox; `homes` are the paths of its own that it may write to."""
    if sandbox == BWRAP:
        return [*_bwrap(folder=folder, history=history, git_dir=git_dir, homes=homes), "--", *argv]
    marks = {"{folder}": folder, "{history}": history, "{git_dir}": git_dir}
    return [*(_placed(word, marks) for word in wrapper(sandbox)), *argv]


def _bwrap(*, folder: str, history: str, git_dir: str, homes: Sequence[str]) -> list[str]:
    """Everything is read-only but the worktree, git's own folder without the runner's, and the agent's own files."""
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
    words += ["--unshare-pid", "--die-with-parent"]
    for path in (*homes, folder, *([git_dir] if git_dir else [])):
        words += ["--bind-try", path, path]
    if git_dir:
        ours = str(Path(git_dir) / "spiral")
        words += ["--ro-bind-try", ours, ours]
    return [*words, "--ro-bind-try", history, history, "--chdir", folder]


def _placed(word: str, marks: Mapping[str, str]) -> str:
    for mark, value in marks.items():
        word = word.replace(mark, value)
    return word
