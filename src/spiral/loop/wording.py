"""Milestones, money and time in words that an operator reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime

from spiral.loop.lenient import Json, listed, moment, number, table, text, texts, usage, whole
from spiral.work import Event, Usage

ENDS: Mapping[str, str] = {
    "complete": "everything is done and verified",
    "passes": "the number of passes was used up",
    "blocked": "what is left is blocked",
    "decide": "what is left waits for a decision",
    "sandbox": "the sandbox could not be set up",
    "signin": "the agent is not signed in",
    "missing": "the agent is not installed",
    "budget": "the budget was used up",
    "stuck": "task after task was parked without success",
    "limit": "the agent is rate-limited",
    "unverified": "the result could not be verified",
    "stopped": "it was asked to stop",
    "interrupted": "it was interrupted",
    "once": "one pass was asked for",
    "empty": "there is no task",
}
STEPS: Mapping[str, str] = {
    "pass.started": "putting the briefing together",
    "pass.hydrated": "the agent is at work",
    "pass.acted": "the checks are running",
    "pass.verified": "learning from it",
    "pass.consolidated": "deciding what comes next",
    "pass.ended": "between two passes",
}
AGENT_ENDS: Mapping[str, str] = {
    "finished": "finished", "failed": "failed", "timeout": "ran out of time", "silent": "fell silent",
    "turns": "reached its cap on turns", "budget": "reached its budget", "limit": "hit its rate limit",
    "signin": "is not signed in", "missing": "is not installed", "stopped": "was stopped",
}  # fmt: skip
NEXT: Mapping[str, str] = {
    "done": "done",
    "again": "a fresh pass goes on",
    "retry": "tried again with the failure in hand",
    "pivot": "another approach comes next",
    "split": "to be split into smaller tasks",
    "park": "parked",
}
TONES: Mapping[str, str] = {
    "passed": "green", "done": "green", "failed": "red", "rejected": "red", "error": "red", "rework": "yellow",
    "nothing": "yellow",
}  # fmt: skip
"""The colour of an outcome; the same in every view."""


def clean(words: str, most: int = 0) -> str:
    """One line without control characters, which could play tricks on a terminal; cut to `most` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in words).split())
    return f"{line[: most - 1].rstrip()}…" if most and len(line) > most else line


def block(words: str) -> str:
    """Many lines without control characters."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in words.replace("\r\n", "\n"))


def money(used: Usage) -> str:
    """A cost; `est.` when it comes from a price table, `at least` when a part of it is unknown."""
    if not math.isfinite(used.cost):
        return "unknown"
    if used.unknown and not used.cost:
        return "unknown" if used.tokens or used.turns else "unknown cost"
    sign = "at least " if used.unknown else ""
    return f"{sign}${used.cost:,.2f}{' est.' if used.estimated else ''}"


def tokens(count: float) -> str:
    """A number of tokens, short."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.{1 if count < 100 * size else 0}f}{unit}"
    return f"{count:.0f}"


def span(seconds: float) -> str:
    """A length of time, short."""
    if not math.isfinite(seconds) or seconds < 0:
        return "?"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d}"


def count(number_of: int, thing: str, things: str = "") -> str:
    """`1 pass`, `2 passes`."""
    return f"{number_of:,} {thing if number_of == 1 else things or thing + 's'}"


def local(at: datetime, form: str = "%H:%M") -> str:
    """A moment on the operator's own clock."""
    return at.astimezone().strftime(form)


def ending(reason: str, detail: str = "") -> str:
    """Why a run stopped."""
    said = ENDS.get(reason, reason or "it did not say why")
    return f"{said} ({clean(detail, 300)})" if detail else said


def told(event: Event) -> str:
    """An event as one line, without its time."""
    say = TELLERS.get(event.kind)
    rest = say(event.data) if say else clean(str(dict(event.data)), 160)
    about = f"{event.task} · " if event.task and not event.kind.startswith("pass.") else ""
    return clean(f"{about}{rest}")


def tone(event: Event) -> str:
    """The colour of an event; empty for none."""
    if event.kind == "pass.ended":
        return TONES.get(text(event.data, "outcome"), "")
    if event.kind == "task.changed":
        return {"done": "green", "blocked": "yellow", "decide": "yellow"}.get(text(event.data, "to"), "")
    return {
        "check.regressed": "red", "decide.asked": "yellow", "limit.paused": "yellow", "budget.warned": "yellow",
        "rescue.made": "yellow", "run.started": "bold", "run.resumed": "bold", "run.ended": "bold",
        "pass.started": "bold",
    }.get(event.kind, "")  # fmt: skip


def run_started(data: Json) -> str:
    checker = f", {text(data, 'checker')} checks" if text(data, "checker") else ""
    where = f"policy {text(data, 'policy') or '?'}, branch {text(data, 'branch') or '?'}"
    return f"run began: {text(data, 'agent') or '?'} works{checker}, {where}"


def run_ended(data: Json) -> str:
    cost = money(usage(data))
    done, made = count(whole(data, "done"), "task"), count(whole(data, "passes"), "pass", "passes")
    return f"run ended: {ending(text(data, 'reason'), text(data, 'detail'))}; {made}, {done} finished, {cost}"


def pass_started(data: Json) -> str:
    step = f" · {text(data, 'step')}" if text(data, "step") not in ("", "retry") else ""
    return (
        f"began: {text(data, 'mode') or 'work'} by {text(data, 'agent') or '?'}{step} · {text(data, 'title')}".rstrip(
            " ·"
        )
    )


def pass_hydrated(data: Json) -> str:
    served = len(listed(data, "served"))
    known = f", {count(served, 'memory', 'memories')}" if served else ""
    return f"briefed: {whole(data, 'tokens'):,} tokens ({text(data, 'policy') or '?'}{known})"


def pass_acted(data: Json) -> str:
    attempt = table(data, "attempt")
    answer = table(attempt, "answer")
    promise = text(table(attempt, "promise"), "kind")
    claims = f", claims {promise}" if promise else ""
    files, detail = count(len(texts(attempt, "files")), "file"), text(answer, "detail")
    said = f" ({detail})" if detail else ""
    end = AGENT_ENDS.get(text(answer, "end"), text(answer, "end") or "ended")
    return f"the agent {end} after {span(number(answer, 'seconds'))}: {files} changed{claims}{said}"


def pass_verified(data: Json) -> str:
    verdict = table(data, "verdict")
    return f"verdict: {text(verdict, 'outcome') or '?'} · {text(verdict, 'reason')}".rstrip(" ·")


def pass_ended(data: Json) -> str:
    outcome, after = text(data, "outcome") or "ended", NEXT.get(text(data, "next"), text(data, "next"))
    reason = "" if outcome == "passed" else text(data, "reason")
    parts = (outcome, reason, after, f"{span(number(data, 'seconds'))}, {money(usage(table(data, 'usage')))}")
    return " · ".join(part for part in parts if part)


def pass_consolidated(data: Json) -> str:
    made = len(listed(data, "memories"))
    return f"learned: {count(made, 'memory', 'memories')}" if made else "learned nothing new"


def limit_paused(data: Json) -> str:
    until = moment(text(data, "until"))
    said = f"until {local(until, '%a %H:%M')}" if until else "until it says otherwise"
    return f"{text(data, 'agent') or 'the agent'} is rate-limited {said} · {text(data, 'reason')}".rstrip(" ·")


TELLERS: Mapping[str, Callable[[Json], str]] = {
    "run.started": run_started,
    "run.resumed": lambda data: run_started(data).replace("run began", "run goes on"),
    "run.ended": run_ended,
    "pass.started": pass_started,
    "pass.hydrated": pass_hydrated,
    "pass.acted": pass_acted,
    "pass.verified": pass_verified,
    "pass.consolidated": pass_consolidated,
    "pass.ended": pass_ended,
    "task.changed": lambda data: (
        f"{text(data, 'from') or '?'} → {text(data, 'to') or '?'} · {text(data, 'reason')}".rstrip(" ·")
    ),
    "steer": lambda data: f"steered: {text(data, 'text')}",
    "decide.asked": lambda data: f"asks: {text(data, 'question')}",
    "decide.answered": lambda data: f"answered: {text(data, 'answer')}",
    "limit.paused": limit_paused,
    "budget.warned": lambda data: f"{number(data, 'share'):.0%} of the {text(data, 'what') or 'budget'} bound is used",
    "check.regressed": lambda data: (
        f"regressed: `{text(data, 'check')}` is red again, pass {text(data, 'pass') or '?'} had fixed it"
    ),
    "rescue.made": lambda data: f"rescued: {text(data, 'ref')} keeps {text(data, 'why') or 'work beside the branch'}",
    "notice": lambda data: text(data, "text"),
}
