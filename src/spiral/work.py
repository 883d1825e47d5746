"""The nouns of the loop, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from spiral.model import EMPTY

Mode = Literal["implement", "refactor", "review", "test", "plan"]
MODES: tuple[Mode, ...] = ("implement", "refactor", "review", "test", "plan")

Status = Literal["open", "done", "blocked", "decide", "skipped"]
STATUSES: tuple[Status, ...] = ("open", "done", "blocked", "decide", "skipped")
"""`blocked` and `decide` are parked: the loop goes on without them until a person or an answer opens them again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A command whose exit code says whether something holds."""

    name: str
    command: str
    """For `sh -c`, in the top folder of a clean checkout."""
    timeout: float = 0.0
    """Seconds; 0: what the settings say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """The atomic unit of work, as its files describe it; what became of it is in its `TaskState`."""

    id: str
    title: str
    description: str = ""
    priority: int = 0
    """Lower comes first; equal ones in the order of the file."""
    depends: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    mode: Mode = "implement"
    category: str = ""
    spec: str = ""
    """Path of a specification, relative to the project."""
    screenshot: str = ""
    """A command that writes an image to the path in $SPIRAL_SCREENSHOT."""
    status: Status = "open"
    """What the file says; the journal, where it knows the task, has the last word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskState:
    """What the runner knows about a task, derived from its passes."""

    status: Status = "open"
    reason: str = ""
    """Why it is parked, skipped or open again; the question, when a decision is wanted."""
    answer: str = ""
    """What a person answered to the question."""
    passes: int = 0
    failures: int = 0
    """Failed passes in a row: what the breaker counts."""
    step: Literal["retry", "pivot", "split", "park"] = "retry"
    """How the next pass goes about it."""
    base: str = ""
    """The commit that the work on it began from; empty before the first pass."""
    done_pass: str = ""
    done_sha: str = ""
    """Where its checks were green."""


PromiseKind = Literal["complete", "done", "blocked", "decide"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Promise:
    """What an agent claims in its final message: a request to verify."""

    kind: PromiseKind
    text: str = ""
    """The reason of `blocked`, the question of `decide`, the task of `done`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What was used up; sums with `+`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int = 0
    cost: float = 0.0
    """US dollars."""
    estimated: bool = False
    """The cost comes from a price table, or belongs to a subscription."""
    unknown: bool = False
    """Something was used whose cost nobody told; the cost is a lower bound."""

    @property
    def tokens(self) -> int:
        """All tokens together."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            turns=self.turns + other.turns,
            cost=self.cost + other.cost,
            estimated=self.estimated or other.estimated,
            unknown=self.unknown or other.unknown,
        )


End = Literal[
    "finished", "failed", "timeout", "silent", "turns", "budget", "limit", "signin", "missing", "sandbox", "stopped"
]
"""How an agent's process ended: by itself (`finished`, or `failed` with an error); ended by the runner for its time,
its silence, its turns or its cost; by a rate limit; for want of a sign-in, of the program or of its sandbox; by a
person."""
UNUSED: tuple[End, ...] = ("limit", "signin", "missing", "sandbox")
"""Ends at which the agent never got to work: no pass is counted, and nothing is learned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What an agent is told to do, and its bounds."""

    prompt: str
    folder: str
    """Where it works."""
    history: str
    """Folder for `stream.jsonl`, `stderr.txt` and `command.json`, which the agent's backend writes as it goes."""
    args: tuple[str, ...] = ()
    """More arguments from the caller."""
    model: str = ""
    seconds: float = 3_600.0
    silence: float = 900.0
    turns: int = 0
    """0: no cap."""
    cost: float = 0.0
    """Dollars that are left for this pass; 0: no cap."""
    tokens: int = 0
    mcp: str = ""
    """A file with MCP servers in the `mcpServers` form, for agents that take one."""
    env: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    """Variables on top of those that the allow-list lets through."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back from an agent."""

    agent: str
    end: End
    text: str = ""
    """Its final message."""
    usage: Usage = Usage()
    tools: int = 0
    """Tool calls, where the stream tells."""
    exit_code: int = 0
    seconds: float = 0.0
    resets: datetime | None = None
    """When a rate limit ends."""
    session: str = ""
    model: str = ""
    detail: str = ""
    """What went wrong, in one line."""
    messages: tuple[tuple[str, str], ...] = ()
    """(role, text) of what was said and of tool results with their commands, for the memory; bounded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What an agent did to the repository."""

    answer: Answer
    promise: Promise | None = None
    base: str = ""
    """HEAD before."""
    head: str = ""
    """HEAD after, with whatever was left uncommitted committed by the runner."""
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths that differ between base and head, without `.agent/`."""
    swept: bool = False
    """The runner had to commit what the agent left."""
    rescued: tuple[str, ...] = ()
    """Refs that keep work which is not on the branch."""
    restored: tuple[str, ...] = ()
    """Protected paths that the agent had altered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """What a check found."""

    check: Check
    sha: str
    passed: bool
    exit_code: int
    output: str = ""
    """The end of it; the whole is in the history."""
    seconds: float = 0.0
    cached: bool = False
    log: str = ""
    """File of the whole output, relative to the pass's history."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What a checker says."""

    agent: str
    outcome: Literal["pass", "rework", "reject", "none"]
    """`none`: it gave no verdict that could be read."""
    findings: tuple[str, ...] = ()
    usage: Usage = Usage()


Outcome = Literal["passed", "failed", "rework", "rejected", "nothing", "error"]
"""`failed`: a check is red. `rework`, `rejected`: the checker's word. `nothing`: no work was done. `error`: the agent's
process failed before its work could be judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the runner found when it ran the checks itself, and what a different agent said of it."""

    outcome: Outcome
    sha: str = ""
    checks: tuple[CheckResult, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    reason: str = ""
    """One line for people."""
    signature: str = ""
    """Equal for failures of the same kind; empty when nothing failed."""
    repeats: str = ""
    """The earlier pass whose failed approach this one repeated."""
    screenshot: str = ""

    @property
    def passed(self) -> bool:
        """Whether the task is done."""
        return self.outcome == "passed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """An earlier pass at a task, as a later one needs to know it."""

    id: str
    number: int
    agent: str
    outcome: Outcome
    reason: str
    signature: str = ""
    failing: tuple[tuple[str, str], ...] = ()
    """(name of the check, end of its output)."""
    findings: tuple[str, ...] = ()
    summary: str = ""
    """What the agent said it did."""
    diff: str = ""
    """Its beginning."""
    files: tuple[str, ...] = ()
    sketch: tuple[str, ...] = ()
    """Hashes of the diff's changed lines, to compare with other diffs."""
    repeats: str = ""
    sha: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expense:
    """What one agent used up, for whom and why."""

    id: str
    """Equal ids are one expense, however often it is recorded."""
    at: datetime
    run: str
    pass_id: str
    task: str
    agent: str
    role: Literal["maker", "checker", "planner"]
    model: str
    usage: Usage


EventKind = Literal[
    "run.started", "run.ended", "run.resumed",
    "pass.started", "pass.hydrated", "pass.acted", "pass.verified", "pass.consolidated", "pass.ended",
    "task.changed", "steer", "decide.asked", "decide.answered", "limit.paused", "budget.warned", "check.regressed",
    "rescue.made", "notice",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A milestone: the one source for status, logs, reports and notifications."""

    id: str
    """Minted before the work, so that a retry carries the same one and changes nothing."""
    at: datetime
    run: str
    kind: EventKind
    task: str = ""
    pass_id: str = ""
    data: Mapping[str, object] = field(default_factory=dict)
    """Plain JSON."""
    seq: int = 0
    """Its place in the journal, given when it is recorded."""
