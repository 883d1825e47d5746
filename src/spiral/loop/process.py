"""One command in a process group of its own, within bounds of time and output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CAP = 20_000_000
"""Most bytes of output that are kept in a log."""
TAIL = 4_000
"""Most characters of output that are kept in a result."""
GRACE = 2.0
"""Seconds that a group has to end by itself, and that a child may go on writing after its parent ended."""
USUAL = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP COLUMNS SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy "
    "https_proxy no_proxy all_proxy CARGO_HOME RUSTUP_HOME GOPATH GOCACHE GOMODCACHE GOPROXY GOTOOLCHAIN JAVA_HOME "
    "NVM_DIR PLAYWRIGHT_BROWSERS_PATH".split()
)
FAMILIES = ("LC_", "XDG_", "PIP_", "UV_", "npm_config_", "NPM_CONFIG_")


def allowed(env: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """What a command may see of an environment: what programs need to run, and what the caller names."""
    known = USUAL | set(more)
    return {name: value for name, value in env.items() if name in known or name.startswith(FAMILIES)}


def never() -> bool:
    """Nobody asks to stop."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    """Its exit code; 128 and the signal when it was killed by one; -1 when it did not start."""
    tail: str
    """The end of what it wrote, with a last line of ours when it did not end by itself."""
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Shell:
    """Where and how commands are run."""

    folder: Path
    env: Mapping[str, str]
    """All that they see."""
    seconds: float
    stop: Callable[[], bool] = never
    """Asked several times a second; when it says so, the command is ended."""
    held: Sequence[int] = ()
    """Open files that the command keeps open too: a lock then outlives us for as long as the command runs."""

    def run(self, command: str, log: Path) -> Ran:
        """Run it with `sh -c` and keep all it writes in the log, up to a cap; the whole group is gone afterwards."""
        log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        with log.open("wb") as out:
            try:
                child = subprocess.Popen(
                    ["sh", "-c", command], cwd=self.folder, env=dict(self.env), stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, pass_fds=self.held,
                )  # fmt: skip
            except (OSError, ValueError) as fault:
                why = f"[could not start: {fault}]\n"
                out.write(why.encode())
                return Ran(code=-1, tail=why, seconds=0.0)
            assert child.stdout is not None
            try:
                tail, why = self._follow(child, child.stdout, out, began)
            finally:
                end_group(child)
                child.stdout.close()
            if why:
                out.write(why.encode())
        text = tail.decode("utf-8", "replace") + why
        code = 124 if why else child.returncode
        return Ran(code=code if code >= 0 else 128 - code, tail=text[-TAIL:], seconds=time.monotonic() - began)

    def _follow(
        self, child: subprocess.Popen[bytes], pipe: IO[bytes], out: IO[bytes], began: float
    ) -> tuple[bytes, str]:
        """The end of the output, and why the command had to be ended, if it had to."""
        tail, room, over, open_ = b"", CAP, 0.0, True
        with selectors.DefaultSelector() as ready:
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                if child.poll() is not None:
                    # A child left in the background may hold the pipe open for ever.
                    over = over or now
                    if not open_ or now - over > GRACE:
                        return tail, ""
                elif now - began > self.seconds:
                    return tail, f"\n[ended: it took longer than {self.seconds:g} s]\n"
                elif self.stop():
                    return tail, "\n[ended: the run was stopped]\n"
                if not open_:
                    time.sleep(0.02)
                elif ready.select(0.1):
                    chunk = pipe.read(65_536) or b""
                    open_ = bool(chunk)
                    kept, room = chunk[:room], max(0, room - len(chunk))
                    out.write(kept)
                    if kept and not room:
                        out.write(f"\n[cut here: more than {CAP} bytes]\n".encode())
                    tail = (tail + chunk)[-4 * TAIL :]


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started in its group: asked first, then killed."""
    for sign, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, 0.5)):
        try:
            os.killpg(child.pid, sign)
        except (ProcessLookupError, PermissionError):
            break
        until = time.monotonic() + patience
        while alive(child.pid) and time.monotonic() < until:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.01)
            if child.returncode is not None and alive(child.pid):
                time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE)


def alive(group: int) -> bool:
    """Whether a process group still has a member."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
