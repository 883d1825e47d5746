"""What a pass taught, kept for the passes after it."""

from __future__ import annotations

import re

from spiral.memory.ingest import ingest
from spiral.memory.remember import remember
from spiral.memory.served import told
from spiral.memory.store import Store
from spiral.model import Authority, Draft, Evidence, Message, Scope
from spiral.work import Attempt, Effort, Task, Verdict

LEARNED = re.compile(
    r"^\s*[-*]?\s*(?:\*\*)?(?:learned|lesson|note for later)(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.{12,600})$", re.IGNORECASE
)
LESSONS = 8
"""Most statements that one pass may propose."""
SAID = 40
"""Messages of a pass that are kept as episodes."""


def consolidate(
    store: Store, scope: Scope, task: Task, attempt: Attempt, verdict: Verdict, effort: Effort
) -> tuple[str, ...]:
    """Write what the pass taught; the ids of the memories it made.

    The attempt is always kept, with its outcome. What the agent says it learned is verified only when the pass was:
    otherwise it is inferred. A retry finds everything there by content and changes nothing.
    """
    store.use()
    session = effort.id
    ids = heard(store, scope, session, attempt, verdict)
    served = told(store, session, scope)
    for draft in (of_attempt(task, effort, verdict), *of_opinions(task, effort, verdict)):
        ids.append(remember(store, draft, scope).id)
    for text in lessons(attempt.answer.text):
        found = remember(store, of_lesson(text, task, effort, verdict), scope, served=served)
        if found.outcome in ("added", "merged"):
            ids.append(found.id)
    return tuple(dict.fromkeys(ids))


def heard(store: Store, scope: Scope, session: str, attempt: Attempt, verdict: Verdict) -> list[str]:
    """Keep what was said in the pass as episodes, and what the rules take from it."""
    roles = {"assistant": "assistant", "tool": "tool", "user": "user"}
    said = [
        Message(role=roles.get(role, "tool"), text=text, source=f"agent:{attempt.answer.agent}")  # type: ignore[arg-type]
        for role, text in attempt.answer.messages[-SAID:]
        if text.strip()
    ]
    if not said:
        return []
    most: Authority = "verified" if verdict.passed else "inferred"
    found = ingest(store, said, scope, session=session, most=most)
    return [item.id for item in found.memories if item.outcome in ("added", "merged")]


def of_attempt(task: Task, effort: Effort, verdict: Verdict) -> Draft:
    """The attempt as an episodic memory."""
    about = f"{task.id} ({task.title})" if task.id else task.title or "the open task"
    said = " ".join(effort.summary.split())[:300]
    failing = "; ".join(f"{name}: {last(output)}" for name, output in effort.failing[:3])
    parts = [f"Pass {effort.number} at {about} by {effort.agent}: {effort.outcome}."]
    if failing:
        parts.append(f"Failed: {failing}")
    elif not verdict.passed and effort.reason:
        parts.append(effort.reason)
    if said:
        parts.append(f"Approach: {said}")
    return Draft(
        text=" ".join(parts),
        kind="episodic",
        tags=("attempt", *((task.id,) if task.id else ())),
        files=effort.files[:20],
        commits=(effort.sha,) if effort.sha else (),
        authority="observed",
        evidence=evidence(verdict),
        source=f"pass:{effort.id}",
        session=effort.id,
    )


def of_opinions(task: Task, effort: Effort, verdict: Verdict) -> list[Draft]:
    """What checkers found, as memories."""
    return [
        Draft(
            text=f"{opinion.agent} judged {task.id or task.title} in pass {effort.number}: {opinion.outcome}."
            + "".join(f" {finding.rstrip('.')}." for finding in opinion.findings[:6]),
            kind="episodic",
            tags=("verdict", *((task.id,) if task.id else ())),
            files=effort.files[:20],
            authority="observed",
            source=f"checker:{opinion.agent}",
            session=effort.id,
        )
        for opinion in verdict.opinions
        if opinion.outcome != "none"
    ]


def of_lesson(text: str, task: Task, effort: Effort, verdict: Verdict) -> Draft:
    """What the agent says it learned; backed by the checks of this pass if they were green."""
    quote = Evidence(kind="quote", text=text, source=f"pass:{effort.id}")
    return Draft(
        text=text,
        kind="semantic",
        tags=(task.id,) if task.id else (),
        commits=(verdict.sha,) if verdict.passed and verdict.sha else (),
        authority="verified" if verdict.passed else "inferred",
        evidence=(quote, *evidence(verdict)) if verdict.passed else (quote,),
        source=f"pass:{effort.id}",
        session=effort.id,
    )


def lessons(message: str) -> list[str]:
    """Lines of the final message that say what was learned."""
    found = [match[1].strip() for line in message.splitlines() if (match := LEARNED.match(line))]
    return list(dict.fromkeys(found))[:LESSONS]


def evidence(verdict: Verdict) -> tuple[Evidence, ...]:
    """The checks and opinions behind a verdict."""
    checks = tuple(
        Evidence(
            kind="check",
            text=f"{result.check.command}: {'passed' if result.passed else f'exit code {result.exit_code}'}",
            source=result.sha,
        )
        for result in verdict.checks[:8]
    )
    opinions = tuple(
        Evidence(kind="verdict", text=f"{opinion.agent}: {opinion.outcome}", source=verdict.sha)
        for opinion in verdict.opinions
        if opinion.outcome != "none"
    )
    return checks + opinions


def last(output: str) -> str:
    """The last line of an output that says something."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
