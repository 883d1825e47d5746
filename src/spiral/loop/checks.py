"""The checks of a task and of the project, run on a commit."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spiral.loop.checkout import SETUP, Checkout
from spiral.loop.process import allowed, never
from spiral.work import Check, CheckResult

LOGS = "checks"


def unknown(_: str) -> str:
    """Nothing is known."""
    return ""


def forget(_name: str, _value: str) -> None:
    """Nothing is kept."""


def hush(_: str) -> None:
    """Nobody is told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Means:
    """How checks are run here."""

    history: Path
    """The pass's folder; whole outputs go to `checks/` in it."""
    env: Mapping[str, str]
    """Of the runner; the checks see what the allow-list lets through, and `CI=1`."""
    timeout: float = 600.0
    setup: str = ""
    inputs: tuple[str, ...] = ()
    get: Callable[[str], str] = unknown
    put: Callable[[str, str], None] = forget
    """Small values by name, such as a journal's notes: what passed once for a tree is not run again for it."""
    tell: Callable[[str], None] = hush
    stop: Callable[[], bool] = never

    def seen(self) -> dict[str, str]:
        """The environment of a check."""
        return allowed(self.env) | {"CI": "1"}


def run_checks(checks: Sequence[Check], sha: str, checkout: Checkout, means: Means) -> tuple[CheckResult, ...]:
    """What each check finds on a commit, in order; whatever one of them finds, all are run, and each only once.

    When the set-up fails there is nothing to run them in: then its result alone comes back. A retry runs again what
    did not pass.
    """
    # The runner's own commits change `.agent/` alone, which no check is about.
    tree = checkout.repo.content_of(sha, without=".agent")
    checkout.at(sha)
    if means.setup:
        means.tell(f"set-up: {means.setup}")
    shell = checkout.shell(means.seen(), max(means.timeout, 1_800.0), means.stop)
    ready = checkout.prepare(means.setup, means.inputs, shell, means.history / LOGS / f"00-{SETUP}.txt")
    if ready is not None and not ready.passed:
        means.tell(f"set-up failed: exit code {ready.exit_code}")
        return (ready,)
    return tuple(_run(check, number, tree, checkout, means) for number, check in enumerate(checks, 1))


def log_of(number: int, name: str) -> str:
    """The file of a check's output, relative to the pass's history."""
    return f"{LOGS}/{number:02}-{re.sub(r'[^A-Za-z0-9._-]+', '-', name).strip('-.')[:60] or 'check'}.txt"


def _run(check: Check, number: int, tree: str, checkout: Checkout, means: Means) -> CheckResult:
    """Run it, unless it has passed on the same tree with the same set-up."""
    log = log_of(number, check.name)
    name = "check:" + hashlib.sha256(f"{tree}\0{check.command}\0{checkout.key}".encode()).hexdigest()[:32]
    known = means.get(name)
    if known:
        means.tell(f"{check.name}: passed before on the same files")
        return _passed_before(check, checkout.sha, known, means.history / log, log)
    # A check without a name of its own is called by its command.
    means.tell(f"check: {check.command}" if check.command.startswith(check.name) else f"{check.name}: {check.command}")
    checkout.tidy()
    ran = checkout.shell(means.seen(), check.timeout or means.timeout, means.stop).run(
        check.command, means.history / log
    )
    means.tell(f"{check.name}: {'passed' if ran.passed else f'exit code {ran.code}'} after {ran.seconds:.1f} s")
    if ran.passed:
        means.put(name, json.dumps({"seconds": ran.seconds, "output": ran.tail, "sha": checkout.sha}))
    return CheckResult(
        check=check, sha=checkout.sha, passed=ran.passed, exit_code=ran.code, output=ran.tail, seconds=ran.seconds,
        log=log,
    )  # fmt: skip


def _passed_before(check: Check, sha: str, known: str, file: Path, log: str) -> CheckResult:
    found = json.loads(known)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{found['output']}\n[not run again: it passed on the same files at {found['sha']}]\n", "utf-8")
    return CheckResult(
        check=check, sha=sha, passed=True, exit_code=0, output=found["output"], seconds=found["seconds"], cached=True,
        log=log,
    )  # fmt: skip
