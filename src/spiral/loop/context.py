"""What a run works with, and a pass under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from spiral.config import Settings
from spiral.loop.git import Repo
from spiral.loop.sweep import Start
from spiral.memory.store import Store
from spiral.model import Scope
from spiral.place import Place
from spiral.ports import Agent, Journal
from spiral.work import Event, EventKind, Mode, Task, TaskState

Asked = str
"""What a person wants of the run: nothing, `stop` after this pass, or `now`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """Everything that the stages work with, opened and closed together."""

    place: Place
    repo: Repo
    store: Store
    scope: Scope
    journal: Journal
    settings: Settings
    agent: Callable[[str], Agent]
    """The agent of that name."""
    end_orphan: Callable[[Path], bool]
    """Ends an agent whose runner died, by what its `command.json` says."""
    env: Mapping[str, str]
    """For checks and notices: what the allow-list lets through."""
    tell: Callable[[str], None]
    """A line for people."""
    asked: Callable[[], Asked]
    clock: Callable[[], datetime]
    wrote: Callable[[], None]
    """Called after the memory was written to, so that vectors are made in the background."""

    @property
    def folder(self) -> Path:
        """The `.agent/` folder."""
        return self.place.project / ".agent"

    @property
    def private(self) -> Path:
        """The runner's own folder, out of the agents' reach."""
        return self.repo.git_dir / "spiral"


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The passes between one `spiral run` and its stop."""

    id: str
    began: datetime
    agent: str
    checker: str
    """Empty: checks alone."""
    fallback: str = ""
    only: str = ""
    """The one task to work on."""
    args: tuple[str, ...] = ()
    passes: int = 0
    """Most passes of this run; 0: what the settings say."""
    version: str = ""
    """Of the Spiral that began it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How a run stands, kept beside its events so that no pass has to read them all."""

    begun: int = 0
    counted: int = 0
    """Passes that count against the budget: one that ended at a rate limit does not."""
    done: int = 0
    """Tasks that were finished."""
    parked: int = 0
    """Tasks parked in a row for want of success."""
    unplanned: int = 0
    """Planning passes in a row that came to nothing."""
    seconds: float = 0.0
    """Spent in passes; what lies between a crash and its resumption does not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """A pass under way: what must be known to go on with it after a crash."""

    id: str
    number: int
    """Over all runs of the project."""
    run: str
    task: Task
    state: TaskState
    mode: Mode
    agent: str
    start: Start
    """How the repository stood when it began."""
    began: datetime
    why: str = ""
    """Why it is a planning pass."""
    prd: str = ""
    draft: bool = False
    """The plan is only shown, not put into the task list."""

    def event(self, kind: EventKind, at: datetime, data: Mapping[str, object]) -> Event:
        """A milestone of this pass; the same milestone always has the same id."""
        return Event(
            id=f"{self.id}-{kind}", at=at, run=self.run, kind=kind, task=self.task.id, pass_id=self.id, data=data
        )
