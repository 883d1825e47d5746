"""The briefing of a pass: the same inputs and policy give the same bytes, and never more than the policy allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spiral.errors import ConfigError
from spiral.loop import prompts
from spiral.memory.brief import OPENING
from spiral.memory.tokens import tokens
from spiral.sources import closest
from spiral.tables import HydrateSettings
from spiral.work import Effort, Mode, Task, TaskState

SECTIONS = (
    "instructions", "where", "task", "steering", "answer", "attempts", "memories", "git", "anchors", "summary",
    "vision", "page", "skills", "log",
)  # fmt: skip
"""In the order in which a reader meets them."""

HEADINGS: Mapping[str, str] = {
    "where": "Where we are",
    "task": "The task",
    "steering": "Steering: what the operator says now",
    "answer": "The operator's answer to your question",
    "attempts": "Attempts so far at this task",
    "memories": "Memory",
    "git": "The repository",
    "anchors": "Conventions of this project",
    "summary": "What is being built",
    "vision": "Why",
    "page": "What is known, in short",
    "skills": "Skills",
    "log": "The last entries of the log",
}

POLICIES: Mapping[str, Mapping[str, int]] = {
    "poor": {
        "instructions": 900, "where": 320, "task": 900, "steering": 300, "answer": 200, "attempts": 500,
        "memories": 400, "git": 120, "anchors": 0, "summary": 0, "vision": 0, "page": 0, "skills": 0, "log": 0,
    },
    "balanced": {
        "instructions": 1500, "where": 320, "task": 1800, "steering": 600, "answer": 300, "attempts": 1500,
        "memories": 1500, "git": 250, "anchors": 600, "summary": 600, "vision": 300, "page": 600, "skills": 250,
        "log": 300,
    },
    "rich": {
        "instructions": 3000, "where": 320, "task": 4000, "steering": 1500, "answer": 600, "attempts": 5000,
        "memories": 4000, "git": 500, "anchors": 2000, "summary": 2000, "vision": 1000, "page": 2500, "skills": 800,
        "log": 1200,
    },
}  # fmt: skip
PLANNED = 16_000
"""Room for the text that a planning pass plans from: what is cut off would never become a task."""
TAILS = ("log",)
"""Sections of which the end matters more than the beginning."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """What a file or a part of the state said when the pass began."""

    source: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A memory as it was served, framed as data."""

    id: str
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """Everything that a briefing is made of."""

    pass_id: str
    number: int
    mode: Mode
    task: Task
    state: TaskState
    left: str
    """What is used up of the budget."""
    ends: str
    """What ends the run."""
    texts: Mapping[str, Text] = field(default_factory=dict)
    known: tuple[Known, ...] = ()
    efforts: tuple[Effort, ...] = ()
    """Oldest first."""
    attempt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One part of a briefing, for the manifest."""

    name: str
    source: str
    tokens: int
    left_out: int = 0
    """Tokens of it that found no room."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Briefing:
    """What a pass is told."""

    text: str
    tokens: int
    policy: str
    sections: tuple[Section, ...]
    served: tuple[str, ...] = ()
    """Ids of the memories in it."""


def rooms(settings: HydrateSettings, mode: Mode = "implement") -> Mapping[str, int]:
    """Most tokens of each section: the policy's, and the user's numbers over it. What is planned from comes whole."""
    chosen = dict(POLICIES[settings.policy])
    if mode == "plan":
        chosen["task"] = PLANNED
    for name, most in settings.sections.items():
        if name not in SECTIONS:
            raise ConfigError(f"hydrate.sections: unknown section {name!r}; {closest(name, SECTIONS)}")
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise ConfigError(f"hydrate.sections.{name} must be a whole number of at least 0, not {most!r}")
        chosen[name] = most
    if not settings.memory:
        chosen |= dict.fromkeys(("attempts", "memories", "page", "log"), 0)
    return chosen


def hydrate(inputs: Inputs, settings: HydrateSettings) -> Briefing:
    """The briefing. Pure: the same inputs and settings give the same bytes."""
    room = rooms(settings, inputs.mode)
    parts: list[str] = []
    manifest: list[Section] = []
    served: tuple[str, ...] = ()
    for name in SECTIONS:
        source, whole = rendered(inputs, name, room[name])
        heading = f"## {HEADINGS[name]}\n\n" if name in HEADINGS else ""
        body = fitted(whole, room[name] - tokens(heading) - 4, tail=name in TAILS)
        if name == "memories":
            body, served = recalled(inputs, room[name] - tokens(heading) - 4)
        full = tokens(whole)
        if body:
            parts.append(heading + body.strip() + "\n")
        if full:
            used = tokens(heading + body) if body else 0
            manifest.append(Section(name=name, source=source, tokens=used, left_out=max(0, full - tokens(body))))
    text = "\n".join(parts)
    return Briefing(text=text, tokens=tokens(text), policy=settings.policy, sections=tuple(manifest), served=served)


def rendered(inputs: Inputs, name: str, room: int) -> tuple[str, str]:
    """(where it comes from, the whole of it)."""
    render = RENDERERS.get(name)
    if render is not None:
        return render(inputs, room)
    text = inputs.texts.get(name, Text(source="", text=""))
    return text.source, text.text


def instructions(inputs: Inputs, _room: int) -> tuple[str, str]:
    """The project's own prompt, or ours for the mode; a planning pass always has ours, which asks for JSON.

    Where the project's begins with ours for `implement`, as `spiral init` writes it, ours for the mode takes its place.
    """
    own = inputs.texts.get("prompt")
    if own is not None and own.text.strip() and inputs.mode != "plan":
        begun = prompts.instructions("implement")
        rest = own.text.removeprefix(begun)
        return own.source, own.text if rest == own.text else prompts.instructions(inputs.mode) + rest
    return f"built in: {inputs.mode}", prompts.instructions(inputs.mode)


def where(inputs: Inputs, _room: int) -> tuple[str, str]:
    """Which pass this is and how it ends."""
    said = prompts.where(
        inputs.task, inputs.state, number=inputs.number, attempt=inputs.attempt, left=inputs.left, ends=inputs.ends,
        planning=inputs.mode == "plan",
    )  # fmt: skip
    return "journal", said


def the_task(inputs: Inputs, _room: int) -> tuple[str, str]:
    """What is to be done."""
    if not inputs.task.title:
        return "", ""
    text = inputs.texts.get("spec", Text(source="", text=""))
    return text.source or "tasks.json", prompts.spec(inputs.task, text.text)


def attempts(inputs: Inputs, room: int) -> tuple[str, str]:
    """What was tried, the newest in full, the older ones in a line each, as many as there is room for."""
    efforts = inputs.efforts
    if not efforts:
        return "", ""
    opening = f"{len(efforts)} earlier passes worked on this task. Do not repeat an approach that failed.\n"
    lines = [brief_effort(effort) for effort in efforts[:-1]][::-1]
    newest = full_effort(efforts[-1], max(room // 2, 80))
    kept: list[str] = []
    left = room - tokens(opening) - tokens(newest) - 40
    for line in lines:
        if tokens(line) > left:
            break
        left -= tokens(line)
        kept.append(line)
    older = "\nBefore that, newest first:\n" + "\n".join(kept) if kept else ""
    missing = len(lines) - len(kept)
    more = f"\n({missing} older passes left out.)" if missing else ""
    return "journal", opening + "\n" + newest + older + more


def brief_effort(effort: Effort) -> str:
    """One line about a pass."""
    failing = ", ".join(name for name, _ in effort.failing)
    said = " ".join(effort.summary.split())[:160]
    again = f" It repeated the approach of pass {effort.repeats}." if effort.repeats else ""
    return f"- pass {effort.number}: {effort.outcome}" + (f" ({failing})" if failing else "") + f". {said}{again}"


def full_effort(effort: Effort, room: int) -> str:
    """All that matters about a pass."""
    parts = [f"Pass {effort.number} by {effort.agent}: {effort.outcome}. {effort.reason}".strip()]
    if effort.repeats:
        parts.append(f"It repeated the approach of pass {effort.repeats}, which had failed in the same way.")
    if effort.summary:
        parts.append("What it said it did: " + fitted(" ".join(effort.summary.split()), room // 4))
    for name, output in effort.failing:
        share = max(40, room // (3 * len(effort.failing)))
        parts.append(f"`{name}` failed:\n```\n{fitted(output.strip(), share, tail=True)}\n```")
    if effort.findings:
        parts.append("The checker found:\n" + "\n".join(f"- {finding}" for finding in effort.findings[:12]))
    if effort.diff:
        parts.append(f"Its diff:\n```diff\n{fitted(effort.diff, room // 3)}\n```")
    return fitted("\n".join(parts), room)


def memories(inputs: Inputs, _room: int) -> tuple[str, str]:
    """What was recalled, all of it."""
    return "recall", "\n".join(known.line for known in inputs.known)


def recalled(inputs: Inputs, room: int) -> tuple[str, tuple[str, ...]]:
    """As many memories as fit, best first, and which they are."""
    left = room - tokens(OPENING) - 4
    kept: list[Known] = []
    for known in inputs.known:
        width = tokens(known.line) + 1
        if width <= left:
            left -= width
            kept.append(known)
    if not kept:
        return "", ()
    return OPENING + "\n\n" + "\n".join(known.line for known in kept), tuple(known.id for known in kept)


def fitted(text: str, room: int, *, tail: bool = False) -> str:
    """The text, cut at its end (or at its beginning) so that it takes at most `room` tokens."""
    if room <= 3:
        return ""
    if tokens(text) <= room:
        return text
    piece = text[-room * 6 :] if tail else text[: room * 6]
    while piece and tokens(piece) > room - 2:
        piece = piece[len(piece) // 12 + 1 :] if tail else piece[: len(piece) * 11 // 12]
    return f"… {piece.lstrip()}" if tail else f"{piece.rstrip()} …"


RENDERERS: Mapping[str, Callable[[Inputs, int], tuple[str, str]]] = {
    "instructions": instructions,
    "where": where,
    "task": the_task,
    "attempts": attempts,
    "memories": memories,
}
