"""Settings into a loop, opened and closed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import which
from types import TracebackType
from typing import TYPE_CHECKING

from spiral import __version__
from spiral.app import Memory, open_journal
from spiral.backends import load
from spiral.config import Settings, read
from spiral.errors import ConfigError, MissingToolError, NotFoundError, UsageError
from spiral.loop.codec import noun
from spiral.loop.context import Asked, Loop, Run
from spiral.loop.git import Repo
from spiral.loop.hydrate import rooms
from spiral.ports import Agent, Journal
from spiral.sources import closest
from spiral.tables import BudgetSettings
from spiral.work import Answer, Event, Order, Task

if TYPE_CHECKING:
    # The surfaces, which see no backend, name it from here.
    from spiral.backends.agents.probe import Found as Found  # noqa: PLC0414
    from spiral.loop.preview import Preview
    from spiral.loop.run import Ended

Function = Callable[[Order, Callable[[str], None]], Answer | str]


def silent(_line: str) -> None:
    """Tells nobody."""


def nothing() -> Asked:
    """Wants nothing."""
    return ""


def installed_agents(settings: Settings) -> list[Found]:
    """The agents that are on this machine, with version and sign-in as far as one can tell."""
    from spiral.backends.agents.probe import installed
    from spiral.backends.agents.table import adapters

    return installed(adapters(settings.act.agents), settings.environ, settings.act.env)


def settings_faults(settings: Settings) -> list[str]:
    """What is wrong with the settings of the loop: names that nobody has, programs that are not there."""
    from spiral.backends.agents.sandbox import BWRAP, wrapper
    from spiral.backends.agents.table import adapters

    found: list[str] = []
    try:
        table = adapters(settings.act.agents)
        words = wrapper(settings.act.sandbox)
        rooms(settings.hydrate)
    except ConfigError as fault:
        return [str(fault)]
    path = settings.environ.get("PATH")
    for name, value in {
        "act.agent": settings.act.agent,
        "act.fallback": settings.act.fallback,
        "iterate.pivot_agent": settings.iterate.pivot_agent,
        "verify.checker": settings.verify.checker,
    }.items():
        if value in ("", "auto", "none"):
            continue
        if value not in table:
            found.append(f"{name}: unknown agent {value!r}; {closest(value, tuple(table))}")
        elif not which(table[value].command[0], path=path):
            found.append(f"{name}: {table[value].command[0]!r} is not installed; install it, or choose another agent")
    box = BWRAP if settings.act.sandbox == BWRAP else next(iter(words), "")
    if box and not which(box, path=path):
        found.append(f"act.sandbox: {box!r} is not installed; install it, or set act.sandbox to none")
    return found


def still_runs(command_json: Path) -> bool:
    """Whether an agent of which this was written down outlived its runner."""
    from spiral.backends.agents.group import outlived

    return outlived(command_json)


def end_agent(command_json: Path) -> bool:
    """End an agent that outlived its runner; whether there was one."""
    from spiral.backends.agents.group import end_orphan

    return end_orphan(command_json)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """What came of a planning pass."""

    ended: Ended
    tasks: tuple[Task, ...]
    """Those of the plan, with the ids that they have in the list; a draft's have the agent's own."""
    fault: str = ""
    """Why there is no plan."""


class Runner:
    """Drives agents through the tasks of one repository."""

    def __init__(
        self, memory: Memory, journal: Journal, agents: Mapping[str, Agent], *, auto: Callable[[], list[str]]
    ) -> None:
        self.memory = memory
        self.journal = journal
        self.agents = agents
        self.auto = auto

    @classmethod
    def open(
        cls,
        start: str | Path | None = None,
        *,
        settings: Settings | None = None,
        flags: Mapping[str, object] | None = None,
        agents: Mapping[str, Function] | None = None,
    ) -> Runner:
        """The runner of the repository that holds a folder; `agents` are functions of one's own, by name."""
        from spiral.backends.agents.function import FunctionAgent
        from spiral.backends.agents.probe import installed

        here = Path(start) if start is not None else Path.cwd()
        settings = settings or read(here, flags or {})
        memory = Memory.open(here, settings=settings)
        if memory.place.repository is None or memory.place.git_dir is None:
            memory.close()
            raise UsageError(f"{str(here)!r} is in no git repository; `git init` makes one")
        known = load("agents", "command:", settings.act, settings.environ, str(memory.place.git_dir))
        own = {name: FunctionAgent(name, function) for name, function in (agents or {}).items()}
        journal = open_journal(memory.place)

        def auto() -> list[str]:
            return [found.name for found in installed(known.table, settings.environ, settings.act.env)]

        return cls(memory, journal, Both(own, known), auto=auto)

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        self.memory.close()
        self.journal.close()

    @property
    def settings(self) -> Settings:
        """What holds here."""
        return self.memory.settings

    def loop(self, tell: Callable[[str], None] = silent, asked: Callable[[], Asked] = nothing) -> Loop:
        """What the stages work with."""
        from spiral.backends.agents.group import end_orphan
        from spiral.loop.process import allowed

        place = self.memory.place
        assert place.repository is not None
        assert place.git_dir is not None
        env = allowed(self.settings.environ, self.settings.act.env)
        return Loop(
            place=place,
            repo=Repo(top=place.repository, git_dir=place.git_dir, env=env),
            store=self.memory.store,
            scope=self.memory.store.home({}),
            journal=self.journal,
            settings=self.settings,
            agent=self.agents.__getitem__,
            end_orphan=end_orphan,
            env=env,
            tell=tell,
            asked=asked,
            clock=lambda: datetime.now(UTC),
            wrote=self.memory.wrote,
        )

    def run(
        self,
        *,
        passes: int = 0,
        once: bool = False,
        task: str = "",
        args: tuple[str, ...] = (),
        tell: Callable[[str], None] = silent,
        asked: Callable[[], Asked] = nothing,
    ) -> Ended:
        """Run passes until a reason to stop."""
        from spiral.loop.run import run

        loop = self.loop(tell, asked)
        return run(loop, self.fresh(loop, task=task, args=args, passes=passes), once=once)

    def fresh(self, loop: Loop, *, task: str = "", args: tuple[str, ...] = (), passes: int = 0) -> Run:
        """A run that has not begun."""
        from spiral.loop.run import new_run

        agent = self.maker()
        return new_run(
            loop, agent=agent, checker=self.checker(agent), fallback=self.settings.act.fallback, only=task, args=args,
            passes=passes, version=__version__,
        )  # fmt: skip

    def preview(self, *, passes: int = 0, task: str = "") -> Preview:
        """What a run would do first, without doing it."""
        from spiral.loop.preview import preview

        loop = self.loop()
        return preview(loop, self.fresh(loop, task=task, passes=passes))

    def plan(
        self,
        text: str,
        *,
        prd: bool = False,
        draft: bool = False,
        args: tuple[str, ...] = (),
        tell: Callable[[str], None] = silent,
        asked: Callable[[], Asked] = nothing,
    ) -> Planned:
        """One planning pass: from a text to tasks in the list, or only shown when it is a draft."""
        from spiral.loop.discover import planning
        from spiral.loop.plan import planned
        from spiral.loop.run import run
        from spiral.loop.tasks import load as load_tasks

        loop = self.loop(tell, asked)
        mine = self.fresh(loop, args=args, passes=1)
        known = {task.id for task in load_tasks(loop.folder).tasks}
        ended = run(loop, mine, only=planning(text, prd=prd, draft=draft))
        last = self.journal.events(run=mine.id, kinds=("pass.ended",), limit=1)
        if not last:
            return Planned(ended=ended, tasks=(), fault=ended.detail)
        if draft:
            message = (loop.folder / "history" / mine.id / last[0].pass_id / "final.md").read_text("utf-8")
            tasks, fault = planned(message)
            return Planned(ended=ended, tasks=tasks, fault=fault)
        made = tuple(task for task in load_tasks(loop.folder).tasks if task.id not in known)
        passed = last[0].data["outcome"] == "passed"
        return Planned(ended=ended, tasks=made, fault="" if passed else str(last[0].data["reason"]))

    def resume(
        self,
        *,
        given: Mapping[str, object] | None = None,
        tell: Callable[[str], None] = silent,
        asked: Callable[[], Asked] = nothing,
    ) -> Ended:
        """Go on with the last run, with its own bounds and what it has used up of them.

        `given`: bounds (`cost`, `hours`, `tokens`, `passes`) that take the place of its own.
        """
        from spiral.loop.passes import score
        from spiral.loop.run import run

        name = self.journal.note("run/last")
        begun = self.journal.events(run=name, kinds=("run.started",)) if name else []
        if not begun:
            raise NotFoundError("there is no run to resume; `spiral run` starts one")
        mine = noun(Run, begun[0].data["run"])  # type: ignore[arg-type]
        loop = self.loop(tell, asked)
        # The hours of the budget are hours of work: the time between a crash and now is none.
        done = timedelta(seconds=score(loop, mine.id).seconds)
        bounds = {**noted_bounds(begun[0]), **(given or {})}
        budget: BudgetSettings = replace(self.settings.budget, **bounds)  # type: ignore[arg-type]
        settings = replace(self.settings, budget=budget)
        return run(replace(loop, settings=settings), replace(mine, began=loop.clock() - done, passes=0), resumed=True)

    def maker(self) -> str:
        """The agent that does the work."""
        name = self.settings.act.agent
        if name != "auto":
            self.agents[name]
            return name
        found = self.auto()
        if not found:
            raise MissingToolError(
                "no agent is installed; install one (claude, codex, gemini, …), or name a command in [act.agents.mine]"
            )
        return found[0]

    def checker(self, maker: str) -> str:
        """The agent that judges: the one that is named, another one that is installed, or the same, starting fresh."""
        name = self.settings.verify.checker
        if name == "none":
            return ""
        if name != "auto":
            self.agents[name]
            return name
        return next((other for other in self.auto() if other != maker), maker)


def noted_bounds(began: Event) -> dict[str, object]:
    """The bounds that a run began with."""
    noted = began.data.get("budget")
    names = ("passes", "hours", "cost", "tokens")
    return {name: noted[name] for name in names if name in noted} if isinstance(noted, dict) else {}


class Both(Mapping[str, Agent]):
    """Agents of the builder's own, before those that the settings name."""

    def __init__(self, own: Mapping[str, Agent], known: Mapping[str, Agent]) -> None:
        self.own = own
        self.known = known

    def __getitem__(self, name: str) -> Agent:
        return self.own[name] if name in self.own else self.known[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter({**self.own, **dict.fromkeys(self.known)})

    def __len__(self) -> int:
        return len(set(self.own) | set(self.known))
