"""What the operator says while a run goes on: STEERING.md, `spiral steer`, and answers to questions."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from pathlib import Path

from spiral.errors import NotFoundError, UsageError
from spiral.loop.gather import read
from spiral.ports import Journal
from spiral.work import Event, TaskState

PREFIX = "steer/"
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
"""What a file says about itself to people, and to nobody else."""


def steering(agent: Path, journal: Journal) -> str:
    """What stands in STEERING.md, and what was steered since the last pass that was told it."""
    said = [COMMENT.sub("", read(agent / "STEERING.md")).strip(), *journal.notes(PREFIX).values()]
    return "\n\n".join(text for text in said if text)


def steer(journal: Journal, text: str, *, run: str, now: datetime) -> str:
    """Say something to every pass from the next one on, until it is taken back; the name to take it back by.

    One transaction; each call is something new to say.
    """
    if not text.strip():
        raise UsageError("there is nothing to say; give the text in quotes")
    name = uuid.uuid4().hex[:6]
    event = Event(id=f"steer-{name}", at=now, run=run, kind="steer", data={"text": text, "name": name})
    journal.record([event], notes={f"{PREFIX}{now:%Y%m%dT%H%M%S}-{name}": text.strip()})
    return name


def take_back(journal: Journal, name: str) -> None:
    """Stop saying something."""
    found = [key for key in journal.notes(PREFIX) if key.endswith(f"-{name}")]
    if not found:
        said = ", ".join(key.rpartition("-")[2] for key, text in journal.notes(PREFIX).items() if text)
        raise NotFoundError(f"nothing is steered by the name {name!r}" + (f"; there is {said}" if said else ""))
    journal.record(notes=dict.fromkeys(found, ""))


def decide(journal: Journal, task: str, state: TaskState, answer: str, *, run: str, now: datetime) -> TaskState:
    """Answer what a task waits for and open it again. A second answer replaces the first until a pass has read it."""
    if not answer.strip():
        raise UsageError("the answer is empty; say what is decided")
    event = Event(
        id=f"answer-{uuid.uuid4().hex[:12]}", at=now, run=run, task=task, kind="decide.answered",
        data={"question": state.reason, "answer": answer},
    )  # fmt: skip
    opened = TaskState(
        status="open", reason=state.reason, answer=answer.strip(), passes=state.passes, failures=0, base=state.base
    )
    journal.record([event], states={task: opened})
    return opened
