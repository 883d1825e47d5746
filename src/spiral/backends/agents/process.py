"""An agent that is a program: started, listened to, bounded and ended."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from spiral.backends.agents.command import PROMPT_FILE, Command, command_for
from spiral.backends.agents.environment import environment, without_push
from spiral.backends.agents.group import GRACE
from spiral.backends.agents.judge import Judgement, judge
from spiral.backends.agents.launch import exited, launch
from spiral.backends.agents.prices import Prices
from spiral.backends.agents.running import TICK, Running
from spiral.backends.agents.sandbox import BWRAP, NONE, boxed
from spiral.backends.agents.table import Adapter
from spiral.backends.agents.tally import Tally
from spiral.work import Answer, End, Order

LINGER = 30.0
"""Seconds that a program may take to exit after its last word."""


class CommandAgent:
    """A coding agent's command line. The environment is what the caller's is; what passes is decided here."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        environ: Mapping[str, str],
        prices: Prices,
        names: Sequence[str] = (),
        push: bool = False,
        sandbox: str = NONE,
        git_dir: str = "",
        grace: float = GRACE,
    ) -> None:
        self.adapter = adapter
        self._environ = environ
        self._prices = prices
        self._names = names
        self._push = push
        self._sandbox = sandbox
        self._git_dir = git_dir
        self._grace = grace

    @property
    def name(self) -> str:
        """What the settings call it."""
        return self.adapter.name

    def act(self, order: Order, tell: Callable[[str], None], stop: Callable[[], bool]) -> Answer:
        """Run the program on the order. See the port."""
        began = time.monotonic()
        env = self._environment(order)
        if self._sandbox == BWRAP and not shutil.which(BWRAP, path=env.get("PATH")):
            cure = "install bubblewrap or choose another sandbox"
            return Answer(
                agent=self.name, end="sandbox", detail=f"act.sandbox is bwrap, which is not installed; {cure}"
            )
        if missing := self._missing(order, env):
            return Answer(agent=self.name, end="missing", detail=missing)
        try:
            run = self._start(order, env)
        except (OSError, ValueError) as fault:
            return Answer(agent=self.name, end="failed", detail=f"it could not be started: {fault}")
        try:
            cut = self._watch(run, order, tell, stop)
        finally:
            run.finish(self._grace)
        for line in run.rest():
            run.tally_line(self.adapter.stream, line)
        return replace(self._answer(run, cut), seconds=round(time.monotonic() - began, 3))

    def _environment(self, order: Order) -> dict[str, str]:
        boxed_in = self._sandbox not in ("", NONE)
        env = environment(self._environ, (*self.adapter.env, *self._names), push=self._push)
        env |= {**self.adapter.set, **(self.adapter.sandbox_set if boxed_in else {}), **order.env}
        return env if self._push else without_push(env, order.folder)

    def _missing(self, order: Order, env: Mapping[str, str]) -> str:
        """Why the program cannot be run; empty when it can."""
        program = self.adapter.command[0]
        if "/" not in program:
            found = shutil.which(program, path=env.get("PATH"))
            return "" if found else f"{program!r} is not in PATH; install it, or set act.agents.{self.name}.command"
        path = Path(order.folder) / program
        if not path.is_file():
            return f"there is no program {str(path)!r}; correct act.agents.{self.name}.command"
        return "" if shutil.which(str(path)) else f"{str(path)!r} is not executable; run: chmod +x {path}"

    def _start(self, order: Order, env: Mapping[str, str]) -> Running:
        history = Path(order.history)
        history.mkdir(parents=True, exist_ok=True)
        command = command_for(self.adapter, order)
        if command.prompt_file:
            (history / PROMPT_FILE).write_text(order.prompt, encoding="utf-8", errors="replace")
        argv, shown = self._boxed(command, order, env)
        process, group = launch(argv, shown=shown, env=env, folder=order.folder, history=history, name=self.name)
        tally = Tally(prices=self._prices, model=order.model or self.adapter.model, assumed=self.adapter.assumed)
        return Running(process, group, tally, history, command.stdin)

    def _boxed(self, command: Command, order: Order, env: Mapping[str, str]) -> tuple[list[str], list[str]]:
        home = Path(env.get("HOME", "/"))
        homes = [str(home / name) for name in self.adapter.homes]

        def placed(argv: Sequence[str]) -> list[str]:
            return boxed(
                self._sandbox,
                argv,
                folder=order.folder,
                history=order.history,
                git_dir=self._git_dir,
                homes=homes,
            )

        return placed(command.argv), placed(command.shown)

    def _watch(
        self, run: Running, order: Order, tell: Callable[[str], None], stop: Callable[[], bool]
    ) -> Judgement | None:
        """Listen until the program ends by itself (None) or has to be ended (why)."""
        began = asked = time.monotonic()
        ended = 0.0
        while True:
            for line in run.lines():
                for told in run.tally_line(self.adapter.stream, line):
                    tell(told)
            now = time.monotonic()
            if now - asked >= TICK:
                asked = now
                if stop():
                    return Judgement(end="stopped", detail="ended on request")
            if run.tally.ended:
                ended = ended or now
                if now - ended > LINGER:
                    run.lingered = True
                    return None
            elif cut := _bounded(run, order, now - began, now - run.heard):
                return cut
            if exited(run.process):
                return None

    def _answer(self, run: Running, cut: Judgement | None) -> Answer:
        tally, code = run.tally, run.process.returncode
        now = datetime.now().astimezone()
        errors = run.errors()
        judged = judge(tally, self.adapter, exit_code=0 if run.lingered else code, errors=errors, now=now)
        if cut is not None and not (cut.end in ("silent", "timeout") and _barred(tally)):
            judged = cut
        return Answer(
            agent=self.name,
            end=judged.end,
            text=tally.text,
            usage=tally.usage,
            tools=tally.tools,
            exit_code=code,
            resets=judged.resets,
            session=tally.session,
            model=tally.model,
            detail="; ".join(filter(None, (judged.detail, *run.faults()))),
            messages=tally.messages,
        )


def _bounded(run: Running, order: Order, passed: float, quiet: float) -> Judgement | None:
    """The bound that was overstepped, if one was."""
    usage = run.tally.usage
    bounds: list[tuple[bool, End, str]] = [
        (passed > order.seconds, "timeout", f"no end after {order.seconds:g} seconds"),
        (quiet > order.silence, "silent", f"no word for {order.silence:g} seconds"),
        (0 < order.turns < len(run.tally.turns), "turns", f"more than {order.turns} turns"),
        (0 < order.cost <= usage.cost, "budget", f"${usage.cost:.2f} of ${order.cost:.2f} are spent"),
        (0 < order.tokens <= usage.tokens, "budget", f"{usage.tokens} of {order.tokens} tokens are spent"),
    ]
    return next((Judgement(end=end, detail=detail) for hit, end, detail in bounds if hit), None)


def _barred(tally: Tally) -> bool:
    """Whether it was still waiting for a limit to end or for a sign-in."""
    return any(fault.trouble in ("limit", "signin") for fault in tally.faults)
