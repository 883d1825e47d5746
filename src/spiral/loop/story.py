"""What became of runs and passes, read from the journal for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from spiral.errors import NotFoundError
from spiral.loop.lenient import Json, moment, number, table, tables, text, texts, usage, whole
from spiral.ports import Journal
from spiral.work import Check, CheckResult, Event, EventKind, Opinion, Usage

RUN_KINDS: tuple[EventKind, ...] = ("run.started", "run.resumed", "run.ended")
PASS_KINDS: tuple[EventKind, ...] = (
    "pass.started", "pass.hydrated", "pass.acted", "pass.verified", "pass.consolidated", "pass.ended",
)  # fmt: skip
OUTLINE: tuple[EventKind, ...] = ("pass.started", "pass.hydrated", "pass.consolidated", "pass.ended")
"""Enough to compare and count passes; outputs, diffs and messages are not read."""
OPINIONS = ("pass", "rework", "reject")
NEAR = 20
"""How far the number of a pass may be from its place in the journal."""
LAST = "last"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStory:
    """One run: who worked, within which bounds, and how it ended."""

    id: str
    began: datetime
    ended: datetime | None = None
    """None while it is under way, or when its runner died."""
    reason: str = ""
    detail: str = ""
    code: int = 0
    agent: str = ""
    checker: str = ""
    policy: str = ""
    branch: str = ""
    head: str = ""
    memory: bool = True
    """Whether its passes were told what is remembered."""
    resumed: int = 0
    budget: Mapping[str, float] = field(default_factory=dict)
    """Bounds by unit: `passes`, `hours`, `cost`, `tokens`; 0 is none."""

    @property
    def name(self) -> str:
        """The policy as runs are compared by it: whether the memory was on is part of it."""
        return (self.policy or "unknown") + ("" if self.memory else ", memory off")


@dataclass(frozen=True, kw_only=True, slots=True)
class PassStory:
    """One pass from its briefing to what came next."""

    id: str
    number: int = 0
    run: str = ""
    task: str = ""
    title: str = ""
    agent: str = ""
    mode: str = ""
    step: str = ""
    """How it was to go about the task: `retry`, `pivot`, `split`."""
    why: str = ""
    """Why it was a planning pass."""
    outcome: str = ""
    """Empty while it is under way."""
    reason: str = ""
    next: str = ""
    status: str = ""
    """The task's, after it."""
    began: datetime | None = None
    ended: datetime | None = None
    seconds: float = 0.0
    overhead: float = 0.0
    """Seconds that were neither the agent's nor the checks'."""
    usage: Usage = Usage()
    policy: str = ""
    briefing: int = 0
    """Tokens of it."""
    end: str = ""
    """How the agent's process ended."""
    detail: str = ""
    said: str = ""
    """The agent's final message."""
    promise: str = ""
    files: tuple[str, ...] = ()
    rescued: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    swept: bool = False
    checks: tuple[CheckResult, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    repeats: str = ""
    """The earlier pass whose failed approach it repeated."""
    base: str = ""
    sha: str = ""
    memories: tuple[str, ...] = ()
    screenshot: str = ""
    counted: bool = True
    """Whether it says something about the work: one that ended at a rate limit does not."""

    @property
    def red(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(result for result in self.checks if not result.passed)

    @property
    def passed(self) -> bool:
        """Whether the runner found the task done."""
        return self.outcome == "passed"

    @property
    def about(self) -> str:
        """The task, or what stands for it."""
        return self.task or ("planning" if self.mode == "plan" else "open run")


def runs(journal: Journal) -> list[RunStory]:
    """All runs, oldest first."""
    grouped: dict[str, list[Event]] = {}
    for event in journal.events(kinds=RUN_KINDS):
        grouped.setdefault(event.run, []).append(event)
    return [run_of(events) for events in grouped.values()]


def last_run(journal: Journal) -> RunStory | None:
    """The run that began or went on last."""
    newest = journal.events(kinds=("run.started", "run.resumed"), limit=1)
    return run_of(journal.events(run=newest[0].run, kinds=RUN_KINDS)) if newest else None


def find_run(journal: Journal, name: str) -> RunStory:
    """The run of that id, beginning of an id, or `last`."""
    if name == LAST:
        found = last_run(journal)
        if found is None:
            raise NotFoundError("there was no run yet; `spiral run` starts one")
        return found
    known = runs(journal)
    exact = [run for run in known if run.id == name]
    return only([run.id for run in known], name, exact or [run for run in known if run.id.startswith(name)], "run")


def only(known: Sequence[str], name: str, found: Sequence[RunStory], what: str) -> RunStory:
    """The one that was found; otherwise which there are."""
    if len(found) == 1 and name:
        return found[0]
    if found and name:
        raise NotFoundError(f"{name!r} may mean {', '.join(run.id for run in found[-4:])}; give more of the id")
    there = f"the last ones are {', '.join(known[-3:])}" if known else "there was none yet"
    raise NotFoundError(f"there is no {what} {name!r}; {there}")


def run_of(events: Sequence[Event]) -> RunStory:
    """A run from its own events, in order: what was said last holds."""
    first = next((event for event in events if event.kind != "run.ended"), events[0])
    opened = next((event for event in reversed(events) if event.kind != "run.ended"), first).data
    ending = events[-1] if events[-1].kind == "run.ended" else None
    closed: Json = ending.data if ending else {}
    bounds = table(opened, "budget")
    return RunStory(
        id=first.run, began=first.at, ended=ending.at if ending else None, reason=text(closed, "reason"),
        detail=text(closed, "detail"), code=whole(closed, "code"), agent=text(opened, "agent"),
        checker=text(opened, "checker"), policy=text(opened, "policy"), branch=text(opened, "branch"),
        head=text(first.data, "head"), memory=opened.get("memory") is not False,
        resumed=sum(event.kind == "run.resumed" for event in events),
        budget={name: number(bounds, name) for name in ("passes", "hours", "cost", "tokens")},
    )  # fmt: skip


def passes(journal: Journal, run: str = "", *, kinds: Sequence[EventKind] = PASS_KINDS) -> list[PassStory]:
    """The passes of a run (of all), in the order in which they began; what each used up is not in its own events
    alone, so the expenses are read too."""
    grouped: dict[str, list[Event]] = {}
    for event in journal.events(run=run, kinds=kinds):
        grouped.setdefault(event.pass_id, []).append(event)
    used: dict[str, Usage] = {}
    for one in journal.expenses(run=run):
        used[one.pass_id] = used.get(one.pass_id, Usage()) + one.usage
    return [pass_of(events, used.get(name)) for name, events in grouped.items()]


def find_pass(journal: Journal, name: str) -> PassStory:
    """The pass of that number, id, beginning of an id, or `last`."""
    event = started(journal, name)
    events = journal.events(pass_id=event.pass_id, kinds=PASS_KINDS)
    if any(event.kind == "pass.ended" for event in events):
        return pass_of(events)
    spent = [one.usage for one in journal.expenses(run=event.run) if one.pass_id == event.pass_id]
    return pass_of(events, sum(spent, Usage()))


def started(journal: Journal, name: str) -> Event:
    """How a pass began. By number only the newest events are read, as many as there are passes since."""
    newest = journal.events(kinds=("pass.started",), limit=1)
    if not newest:
        raise NotFoundError(f"there is no pass {name!r}: no pass was made yet; `spiral run` starts them")
    if name == LAST:
        return newest[0]
    top = whole(newest[0].data, "number")
    if name.isdecimal() and len(name) < 12:
        wanted = int(name)
        near = journal.events(kinds=("pass.started",), limit=max(top - wanted, 0) + NEAR)
        found = [event for event in near if whole(event.data, "number") == wanted]
        if not found:
            found = [e for e in journal.events(kinds=("pass.started",)) if whole(e.data, "number") == wanted]
    else:
        found = journal.events(pass_id=name, kinds=("pass.started",))
        if not found and name:
            found = [event for event in journal.events(kinds=("pass.started",)) if event.pass_id.startswith(name)]
    if not found:
        raise NotFoundError(f"there is no pass {name!r}; the last one is {top} (`spiral logs` shows them)")
    if len({event.pass_id for event in found}) > 1 and not name.isdecimal():
        near_ids = ", ".join(event.pass_id for event in found[-4:])
        raise NotFoundError(f"{name!r} may mean {near_ids} …; give its number or more of its id")
    return found[-1]


def pass_of(events: Iterable[Event], used: Usage | None = None) -> PassStory:
    """A pass from its own events; `used` where the expenses are known."""
    by = {event.kind: event for event in events}
    first = next(iter(by.values()))
    data: dict[str, Json] = {kind: event.data for kind, event in by.items()}
    begun, sent, over = data.get("pass.started", {}), data.get("pass.hydrated", {}), data.get("pass.ended", {})
    attempt = table(data.get("pass.acted", {}), "attempt")
    verdict = table(data.get("pass.verified", {}), "verdict")
    answer = table(attempt, "answer")
    ended = by.get("pass.ended")
    own = table(over, "usage") or table(answer, "usage")
    return PassStory(
        id=first.pass_id, run=first.run, task=first.task, number=whole(over, "number") or whole(begun, "number"),
        title=text(over, "title") or text(begun, "title"),
        agent=text(over, "agent") or text(answer, "agent") or text(begun, "agent"),
        mode=text(begun, "mode") or text(over, "mode"), step=text(begun, "step"), why=text(begun, "why"),
        outcome=text(over, "outcome"), reason=text(over, "reason") or text(verdict, "reason"), next=text(over, "next"),
        status=text(over, "status"), began=by["pass.started"].at if "pass.started" in by else first.at,
        ended=ended.at if ended else None, seconds=number(over, "seconds"), overhead=number(over, "overhead"),
        usage=used or usage(own), policy=text(sent, "policy"), briefing=whole(sent, "tokens"), end=text(answer, "end"),
        detail=text(answer, "detail"), said=text(answer, "text"), promise=promise_of(attempt, over),
        files=texts(attempt, "files"), rescued=texts(attempt, "rescued"), restored=texts(attempt, "restored"),
        swept=attempt.get("swept") is True, checks=tuple(map(result_of, tables(verdict, "checks"))),
        opinions=tuple(map(opinion_of, tables(verdict, "opinions"))),
        repeats=text(verdict, "repeats") or text(over, "repeats"), base=text(attempt, "base") or text(begun, "base"),
        sha=text(over, "sha") or text(attempt, "head"), screenshot=text(verdict, "screenshot"),
        memories=texts(data.get("pass.consolidated", {}), "memories"), counted=over.get("counted") is not False,
    )  # fmt: skip


def number_of(journal: Journal, name: str) -> str:
    """The number of a pass by its id; the id itself when nothing is known of it."""
    begun = journal.events(pass_id=name, kinds=("pass.started",), limit=1) if name else []
    return (text(begun[0].data, "number") if begun else "") or name


def promise_of(attempt: Json, over: Json) -> str:
    """What the agent claimed, in one line: `done TASK-3`, `blocked: no key`."""
    promise = table(attempt, "promise") or table(over, "promise")
    kind, said = text(promise, "kind"), text(promise, "text")
    return f"{kind}{':' if kind in ('blocked', 'decide') else ''} {said}".strip() if said else kind


def result_of(data: Json) -> CheckResult:
    """A check's result."""
    check = table(data, "check")
    name, command = text(check, "name"), text(check, "command")
    return CheckResult(
        check=Check(name=name or command or "check", command=command), sha=text(data, "sha"),
        passed=data.get("passed") is True, exit_code=whole(data, "exit_code"), output=text(data, "output"),
        seconds=number(data, "seconds"), cached=data.get("cached") is True, log=text(data, "log"),
    )  # fmt: skip


def opinion_of(data: Json) -> Opinion:
    """What a checker said."""
    outcome = text(data, "outcome")
    return Opinion(
        agent=text(data, "agent"),
        outcome=outcome if outcome in OPINIONS else "none",  # type: ignore[arg-type]
        findings=texts(data, "findings"),
        usage=usage(table(data, "usage")),
    )


def paused(journal: Journal, now: datetime) -> dict[str, datetime]:
    """Until when each agent's account is limited."""
    found = {name.partition("/")[2]: moment(value) for name, value in journal.notes("limit/").items()}
    return {agent: until for agent, until in found.items() if until is not None and until > now}
