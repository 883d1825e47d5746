"""A night's work for tests: two runs and thirteen passes, recorded as the runner records them, on a real repository."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spiral.app import open_journal
from spiral.config import read
from spiral.loop.codec import dump, plain
from spiral.loop.hydrate import Inputs, Known, Text, hydrate
from spiral.place import find
from spiral.ports import Journal
from spiral.tables import HydrateSettings
from spiral.work import (
    Answer,
    Attempt,
    Check,
    CheckResult,
    Effort,
    Event,
    EventKind,
    Expense,
    Opinion,
    Outcome,
    Promise,
    Task,
    TaskState,
    Usage,
    Verdict,
)

EVENING = datetime(2026, 3, 1, 21, 30, tzinfo=UTC)
NIGHT = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
EVIL = 'Pay <script>alert("x")</script> & | `rm` \x1b[31m'
"""A title that wants to be more than a title."""
TITLES = {
    "TASK-1": "Keep payments in an outbox",
    "TASK-2": "Retry failed webhooks",
    "TASK-3": "Choose the currency of refunds",
    "TASK-4": "Import the old ledger",
    "TASK-5": EVIL,
    "TASK-6": "Document the API",
    "TASK-7": "Round refunds to cents",
}
PYTEST = Check(name="tests", command="pytest -q")
LINT = Check(name="lint", command="ruff check .")


@dataclass
class Night:
    """What was recorded, and the hand that records it."""

    repo: Path
    journal: Journal
    first: str = "r-20260301-213000-aaaa"
    second: str = "r-20260301-230000-bbbb"
    now: datetime = EVENING
    number: int = 0
    shas: dict[int, str] = field(default_factory=dict)
    """The commit of each pass, by its number."""
    ids: dict[int, str] = field(default_factory=dict)
    briefings: dict[int, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    efforts: dict[str, list[Effort]] = field(default_factory=dict)

    def record(self, kind: EventKind, run: str, data: dict[str, object], task: str = "", pass_id: str = "") -> None:
        """One milestone."""
        about = pass_id or f"{run}-{self.now:%H%M%S}"
        event = Event(
            id=f"{about}-{kind}-{task}", at=self.now, run=run, kind=kind, task=task, pass_id=pass_id, data=data
        )
        self.journal.record([event])

    def later(self, minutes: float) -> datetime:
        """Let time go by."""
        self.now += timedelta(minutes=minutes)
        return self.now

    def begin(self, run: str, *, policy: str, agent: str = "claude", checker: str = "codex") -> None:
        """A run begins."""
        data: dict[str, object] = {
            "agent": agent, "checker": checker, "kind": "closed", "policy": policy, "branch": "main",
            "head": git(self.repo, "rev-parse", "HEAD"), "version": "0.1.0", "memory": True,
            "budget": {"passes": 50, "hours": 10.0, "cost": 25.0, "tokens": 0},
        }  # fmt: skip
        self.record("run.started", run, data)

    def end(self, run: str, reason: str, detail: str = "", code: int = 0) -> None:
        """A run ends."""
        spent = self.journal.spent(run=run)
        data: dict[str, object] = {
            "reason": reason, "detail": detail, "code": code, "passes": self.counts.get(run, 0), "done": 1,
            "cost": spent.cost, "tokens": spent.tokens, "estimated": spent.estimated, "unknown": spent.unknown,
        }  # fmt: skip
        self.record("run.ended", run, data)

    def start(
        self, run: str, task: str, *, policy: str = "balanced", agent: str = "claude", step: str = "retry"
    ) -> str:
        """A pass begins and is briefed; its id."""
        self.number += 1
        self.counts[run] = self.counts.get(run, 0) + 1
        name = self.ids[self.number] = f"{run}-{self.counts[run]:04d}"
        base = git(self.repo, "rev-parse", "HEAD")
        data: dict[str, object] = {
            "number": self.number, "mode": "implement", "step": step, "agent": agent, "base": base, "branch": "main",
            "title": TITLES[task], "why": "",
        }  # fmt: skip
        self.record("pass.started", run, data, task, name)
        self.journal.record(
            notes={f"score/{run}": json.dumps({"begun": self.counts[run], "counted": self.counts[run]})}
        )
        self.later(0.1)
        tried = tuple(self.efforts.get(task, ()))
        inputs = Inputs(
            pass_id=name, number=self.number, mode="implement", attempt=len(tried) + 1, efforts=tried,
            task=Task(id=task, title=TITLES[task], description="Money is at stake. " * 40, checks=(PYTEST, LINT)),
            state=TaskState(passes=len(tried) + 1), left="3 of 50 passes", ends="when every task is done",
            texts={"summary": Text(source=".agent/prd/SUMMARY.md", text="A shop that never loses a cent. " * 60)},
            known=tuple(Known(id=f"m{n}", line=f"<memory>Fact {n}: {'cents ' * 30}</memory>") for n in range(12)),
        )  # fmt: skip
        briefing = hydrate(inputs, HydrateSettings(policy=policy))  # type: ignore[arg-type]
        self.briefings[self.number] = briefing.text
        folder = self.repo / ".agent/history" / run / name
        write(folder / "briefing.md", briefing.text)
        write(folder / "command.json", json.dumps({"agent": agent, "argv": [agent, "-p", "{prompt}"], "pid": 4711}))
        told: dict[str, object] = {
            "tokens": briefing.tokens, "policy": briefing.policy, "inputs": self.journal.keep(dump(inputs)),
            "briefing": self.journal.keep(briefing.text), "sections": plain(briefing.sections),
            "served": list(briefing.served), "degraded": [],
        }  # fmt: skip
        self.record("pass.hydrated", run, told, task, name)
        return name

    def work(
        self, run: str, task: str, outcome: Outcome, *, minutes: float = 9, usage: Usage | None = None,
        red: str = "", turn: str = "retry", reason: str = "", repeats: int = 0, policy: str = "balanced",
        agent: str = "claude", promise: Promise | None = None, opinion: Opinion | None = None,
        attempt: Attempt | None = None, step: str = "retry", status: str = "open", memories: tuple[str, ...] = (),
    ) -> int:  # fmt: skip
        """A whole pass; its number."""
        began = self.now
        name = self.start(run, task, policy=policy, agent=agent, step=step)
        number, base = self.number, git(self.repo, "rev-parse", "HEAD")
        files = ("outbox.py",) if outcome in ("passed", "failed", "rework", "rejected") else ()
        if files:
            commit(self.repo, f"{task} {number}", self.later(minutes))
        else:
            self.later(minutes)
        head = self.shas[number] = git(self.repo, "rev-parse", "HEAD")
        used = usage or Usage(input=40_000, output=6_000, cache_read=200_000, turns=21, cost=0.42)
        answer = Answer(
            agent=agent, end="finished", text=f"I worked on {task}.\n<promise>{task}:DONE</promise>", usage=used,
            tools=14, seconds=minutes * 60 - 20, model="opus", messages=(("assistant", "Let me look at outbox.py"),),
        )  # fmt: skip
        made = attempt or Attempt(answer=answer, promise=promise or Promise(kind="done", text=task))
        made = replace(made, base=base, head=head, files=files)
        folder = self.repo / ".agent/history" / run / name
        write(folder / "stream.jsonl", json.dumps({"type": "assistant", "text": "Let me look at outbox.py"}) + "\n")
        expense = Expense(
            id=f"{name}-maker", at=self.now, run=run, pass_id=name, task=task, agent=agent, role="maker", model="opus",
            usage=used,
        )  # fmt: skip
        self.journal.record(expenses=[expense])
        self.record("pass.acted", run, {"attempt": plain(made)}, task, name)
        self.later(0.2)
        verdict = self.judge(outcome, head, red=red, reason=reason, repeats=repeats, opinion=opinion)
        write(folder / "verdict.json", dump(verdict))
        if opinion:
            paid = Usage(input=9_000, output=700, cost=0.05, estimated=True)
            second = replace(expense, id=f"{name}-checker", agent=opinion.agent, role="checker", usage=paid)
            self.journal.record(expenses=[second])
            used = used + paid
        self.record("pass.verified", run, {"verdict": plain(verdict)}, task, name)
        self.record("pass.consolidated", run, {"memories": list(memories)}, task, name)
        effort = Effort(
            id=name, number=number, agent=agent, outcome=outcome, reason=verdict.reason,
            summary=f"I tried way {number}.",
            failing=tuple((one.check.name, one.output) for one in verdict.checks if not one.passed), sha=head,
        )  # fmt: skip
        self.efforts.setdefault(task, []).append(effort)
        self.record("pass.ended", run, {
            "number": number, "mode": "implement", "outcome": outcome, "reason": verdict.reason, "next": turn,
            "status": status, "agent": agent, "usage": plain(used), "overhead": 0.142, "sha": head,
            "seconds": (self.now - began).total_seconds(), "title": TITLES[task], "counted": made.answer.end != "limit",
            "effort": plain(effort), "repeats": verdict.repeats, "promise": plain(made.promise),
        }, task, name)  # fmt: skip
        state = TaskState(
            status=status, reason=verdict.reason if status != "done" else "", passes=len(self.efforts[task]),  # type: ignore[arg-type]
            done_pass=name if status == "done" else "", done_sha=head if status == "done" else "",
        )  # fmt: skip
        self.journal.record(states={task: state})
        self.later(0.3)
        return number

    def judge(
        self, outcome: Outcome, sha: str, *, red: str, reason: str, repeats: int, opinion: Opinion | None
    ) -> Verdict:
        """What the runner found."""
        failing = outcome == "failed"
        results: tuple[CheckResult, ...] = ()
        if outcome in ("passed", "failed", "rework", "rejected"):
            results = (
                CheckResult(check=LINT, sha=sha, passed=True, exit_code=0, output="All checks passed!", seconds=0.8),
                CheckResult(
                    check=PYTEST, sha=sha, passed=not failing, exit_code=int(failing), seconds=11.4,
                    output=red or ("1 failed" if failing else "42 passed in 11.2s"),
                ),
            )  # fmt: skip
        said = reason or ("tests failed" if failing else "2 checks green, codex agrees")
        again = f", as in pass {repeats}" if repeats else ""
        return Verdict(
            outcome=outcome, sha=sha, checks=results, opinions=(opinion,) if opinion else (), reason=said + again,
            signature="tests" if failing else "", repeats=self.ids[repeats] if repeats else "",
        )  # fmt: skip


def night(repo: Path) -> Night:
    """The whole night: an evening's run that stops at its budget of passes, and one that ends with a question."""
    if not (repo / ".git/refs/heads/main").exists():
        git(repo, "checkout", "-q", "-B", "main")
        commit(repo, "begin", EVENING)
    settings = read(repo, {})
    made = Night(repo=repo, journal=open_journal(find(repo, folders=settings.folders)))
    evening(made)
    small_hours(made)
    return made


def evening(made: Night) -> None:
    """Three passes with a poor policy: a repeated failure and one task done."""
    run, poor = made.first, "poor"
    made.begin(run, policy=poor, checker="")
    made.later(0.1)
    made.work(run, "TASK-2", "failed", policy=poor, red="E   assert 1 == 3\n1 failed", memories=("m1",))
    made.work(run, "TASK-2", "failed", policy=poor, red="E   assert 1 == 3\n1 failed", repeats=1, turn="pivot")
    made.work(run, "TASK-1", "passed", policy=poor, turn="done", status="done", memories=("m2",))
    made.end(run, "passes", "3 of 3 passes", 1)


def small_hours(made: Night) -> None:
    """Ten passes: retries, a limit, a question, a parked task, a regression, work that was rescued, unknown cost."""
    run = made.second
    agrees = Opinion(agent="codex", outcome="pass")
    made.now = NIGHT
    made.begin(run, policy="balanced")
    made.later(0.1)
    made.work(
        run,
        "TASK-2",
        "rework",
        opinion=Opinion(agent="codex", outcome="rework", findings=("no jitter",)),
        reason="codex: no jitter",
    )
    made.work(run, "TASK-2", "passed", turn="done", status="done", opinion=agrees, memories=("m3", "m4"))
    made.work(
        run, "TASK-3", "nothing", minutes=3, reason="Which currency do refunds have?", turn="park", status="decide",
        promise=Promise(kind="decide", text="Which currency do refunds have?"),
    )  # fmt: skip
    made.record("decide.asked", run, {"question": "Which currency do refunds have?", "task": "TASK-3"}, "TASK-3")
    for turn, status in (("retry", "open"), ("pivot", "open"), ("park", "blocked")):
        made.work(
            run,
            "TASK-4",
            "failed",
            red="E   KeyError: 'ledger'\n1 failed",
            turn=turn,
            status=status,
            reason="" if turn != "park" else "failed 3 times, last: tests failed",
        )
    made.record("check.regressed", run, {"check": "tests", "pass": made.ids[3], "sha": made.shas[3]}, "TASK-1")
    change: dict[str, object] = {"from": "done", "to": "open", "reason": "`tests` was green and is red"}
    made.record("task.changed", run, change, "TASK-1")
    made.journal.record(states={"TASK-1": TaskState(status="open", reason="`tests` was green and is red", passes=1)})
    limited = Attempt(
        answer=Answer(agent="claude", end="limit", detail="5-hour limit reached"), rescued=("refs/spiral/rescue/x",)
    )
    made.work(
        run, "TASK-5", "error", minutes=1, usage=Usage(), reason="5-hour limit reached", turn="again", attempt=limited
    )
    until = made.now + timedelta(minutes=50)
    made.record("limit.paused", run, {"agent": "claude", "until": until.isoformat(), "reason": "5-hour limit reached"})
    made.journal.record(notes={"limit/claude": until.isoformat()})
    made.later(50)
    blind = Usage(input=10_000, output=900, unknown=True)
    made.work(run, "TASK-5", "passed", turn="done", status="done", agent="opencode", usage=blind, opinion=agrees)
    made.record("budget.warned", run, {"what": "hours", "share": 0.6})
    made.work(run, "TASK-7", "passed", turn="done", status="done", opinion=agrees)
    made.work(run, "TASK-6", "passed", turn="done", status="done", opinion=agrees)
    made.end(run, "decide", "TASK-3: Which currency do refunds have?", 3)


def git(repo: Path, *args: str) -> str:
    """Git's answer."""
    return subprocess.run(["git", "-C", str(repo), *args], capture_output=True, text=True, check=True).stdout.strip()


def commit(repo: Path, line: str, at: datetime) -> None:
    """A commit that adds a line."""
    path = repo / "outbox.py"
    path.write_text((path.read_text() if path.exists() else "") + f"# {line}\n")
    git(repo, "add", "outbox.py")
    when = f"@{int(at.timestamp())} +0000"
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", "-C", str(repo), *who, "commit", "-q", "--date", when, "-m", f"feat: {line}"], check=True)


def write(path: Path, text: str) -> None:
    """A file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
