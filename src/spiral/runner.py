"""Settings into a loop, opened and closed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from spiral import __version__
from spiral.app import Memory, open_journal
from spiral.backends import load
from spiral.config import Settings, read
from spiral.errors import MissingToolError, NotFoundError, UsageError
from spiral.loop.codec import noun
from spiral.loop.context import Asked, Loop, Run
from spiral.loop.git import Repo
from spiral.ports import Agent, Journal
from spiral.work import Answer, Order

if TYPE_CHECKING:
    from spiral.loop.run import Ended

Function = Callable[[Order, Callable[[str], None]], Answer | str]


def silent(_line: str) -> None:
    """Tells nobody."""


def nothing() -> Asked:
    """Wants nothing."""
    return ""


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
        from spiral.loop.run import new_run, run

        loop = self.loop(tell, asked)
        agent = self.maker()
        mine = new_run(
            loop, agent=agent, checker=self.checker(agent), fallback=self.settings.act.fallback, only=task, args=args,
            passes=passes, version=__version__,
        )  # fmt: skip
        return run(loop, mine, once=once)

    def resume(self, *, tell: Callable[[str], None] = silent, asked: Callable[[], Asked] = nothing) -> Ended:
        """Go on with the last run, with its own bounds and what it has used up of them."""
        from spiral.loop.run import run

        name = self.journal.note("run/last")
        begun = self.journal.events(run=name, kinds=("run.started",)) if name else []
        if not begun:
            raise NotFoundError("there is no run to resume; `spiral run` starts one")
        mine = noun(Run, begun[0].data["run"])  # type: ignore[arg-type]
        return run(self.loop(tell, asked), mine, resumed=True)

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
