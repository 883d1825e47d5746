"""A project with a long past, made up and written directly: tasks, passes in the journal, the log."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spiral.loop import history, tidy
from spiral.loop.codec import plain
from spiral.ports import Journal
from spiral.work import (
    Answer,
    Attempt,
    Check,
    CheckResult,
    Effort,
    Event,
    EventKind,
    Expense,
    TaskState,
    Usage,
    Verdict,
)

NIGHT = 500
"""Passes of one run."""
BATCH = 250
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = """\
[act]
agent = "bench"

[verify]
checker = "none"
recheck = 0       # the checks of finished tasks are checks: what they take is not the loop's

[iterate]
split = false

[budget]
passes = 100000
hours = 0
cost = 0
"""
DIFF = "\n".join(f"+    value_{number} = compute(order, line={number})" for number in range(40))
SAID = "I moved the retries into the queue and made the worker idempotent. " * 6
OUTPUT = "FAILED tests/test_retry.py::test_twice - AssertionError: charged twice\n" * 8


def name_of(number: int) -> str:
    """The id of a task."""
    return f"T{number:04}"


def make(folder: Path, tasks: int, environ: Mapping[str, str]) -> None:
    """A repository with that many tasks, none of them done."""
    (folder / ".agent/tasks").mkdir(parents=True)
    (folder / "spiral.toml").write_text(SETTINGS, "utf-8")
    (folder / ".gitignore").write_text(".agent/history/\n", "utf-8")
    (folder / ".agent/VISION.md").write_text("A service that never charges twice.\n", "utf-8")
    rows = [{"id": name_of(at), "title": f"Retry the {at}th webhook", "status": "pending"} for at in range(tasks)]
    (folder / ".agent/tasks.json").write_text(json.dumps({"tasks": rows}, indent=1) + "\n", "utf-8")
    for row in rows:
        body = {
            **row, "description": "Webhooks that fail are to be retried through the outbox, at most five times.",
            "acceptanceCriteria": ["a failing webhook is retried", "none is sent twice"],
            "files": [f"services/{row['id']}.txt"], "checks": [f"test -f services/{row['id']}.txt"],
        }  # fmt: skip
        (folder / f".agent/tasks/TASK-{row['id']}.json").write_text(json.dumps(body, indent=1) + "\n", "utf-8")
    git(folder, environ, "init", "-q", "-b", "main")


def commit(folder: Path, environ: Mapping[str, str]) -> None:
    """Commit all that is there, and pack it as git would in time."""
    git(folder, environ, "add", "-A")
    git(folder, environ, "-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "-qm", "chore: past")
    git(folder, environ, "repack", "-adq")


def git(folder: Path, environ: Mapping[str, str], *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=folder, env=dict(environ), check=True, capture_output=True)


def add_passes(journal: Journal, agent: Path, numbers: Iterable[int], tasks: int) -> None:
    """Passes of the past, each at one of the tasks in turn; six of ten tasks are done in the end."""
    chosen = [*numbers]
    for start in range(0, len(chosen), BATCH):
        batch = chosen[start : start + BATCH]
        states = {
            name_of(number % tasks): TaskState(
                status="done" if number % tasks % 10 < 6 else "open", passes=1 + number // tasks, failures=1,
                done_pass=pass_of(number) if number % tasks % 10 < 6 else "",
            )
            for number in batch
        }  # fmt: skip
        events = [event for number in batch for event in events_of(number, name_of(number % tasks))]
        expenses = [
            Expense(
                id=f"{pass_of(number)}-maker", at=at(number), run=run_of(number), pass_id=pass_of(number),
                task=name_of(number % tasks), agent="bench", role="maker", model="none",
                usage=Usage(input=9_000, output=2_000, cost=0.05),
            )
            for number in batch
        ]  # fmt: skip
        journal.record(events, states=states, notes={"pass/number": str(batch[-1])}, expenses=expenses)
        ended = [event for event in events if event.kind == "pass.ended"]
        history.narrate(agent, [(event.pass_id, tidy.entry(event)) for event in ended])


def at(number: int) -> datetime:
    """When a pass was."""
    return FIRST + timedelta(minutes=number)


def run_of(number: int) -> str:
    """The run of a pass."""
    return f"r-past-{number // NIGHT:04}"


def pass_of(number: int) -> str:
    """The id of a pass."""
    return f"{run_of(number)}-{number % NIGHT:04}"


def events_of(number: int, task: str) -> list[Event]:
    """The milestones of one pass, as large as real ones are."""
    sha = f"{number:040x}"
    check = Check(name="tests", command="pytest -q")
    result = CheckResult(check=check, sha=sha, passed=False, exit_code=1, output=OUTPUT, seconds=3.0)
    said = tuple(("assistant", f"{SAID} {step} of {number}") for step in range(8))
    answer = Answer(agent="bench", end="finished", text=SAID, tools=12, seconds=90.0, messages=said)
    files = tuple(f"services/{task}_{part}.py" for part in range(6))
    effort = Effort(
        id=pass_of(number), number=number, agent="bench", outcome="failed", reason="tests failed", sha=sha,
        signature=f"{number % 7:016x}", failing=(("tests", OUTPUT),), summary=SAID, diff=DIFF, files=files,
        sketch=tuple(f"{number * 40 + line:012x}" for line in range(40)),
    )  # fmt: skip
    verdict = Verdict(outcome="failed", sha=sha, checks=(result,), reason="tests failed")
    data: dict[EventKind, dict[str, object]] = {
        "pass.started": {"number": number, "mode": "implement", "agent": "bench", "title": f"Retry {task}"},
        "pass.hydrated": {"tokens": 4_000, "policy": "balanced", "sections": [], "served": []},
        "pass.acted": {"attempt": plain(Attempt(answer=answer, head=sha, files=files))},
        "pass.verified": {"verdict": plain(verdict)},
        "pass.consolidated": {"memories": []},
        "pass.ended": {
            "number": number, "mode": "implement", "outcome": "failed", "reason": "tests failed", "next": "retry",
            "status": "open", "agent": "bench", "usage": plain(Usage(cost=0.05)), "seconds": 95.0, "overhead": 0.2,
            "sha": sha, "title": f"Retry {task}", "counted": True, "effort": plain(effort), "repeats": "",
        },
    }  # fmt: skip
    return [
        Event(
            id=f"{pass_of(number)}-{kind}", at=at(number), run=run_of(number), kind=kind, task=task,
            pass_id=pass_of(number), data=told,
        )
        for kind, told in data.items()
    ]  # fmt: skip
