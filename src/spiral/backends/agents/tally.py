"""What a stream amounts to so far: words, tools, usage, troubles."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from spiral.backends.agents.prices import Prices, priced
from spiral.backends.agents.steps import (
    Began,
    Called,
    Ended,
    Fault,
    Line,
    Returned,
    Said,
    Spent,
    Step,
    Totalled,
    Turned,
)
from spiral.work import Usage

MOST_LINES, MOST_TEXT = 200, 20_000
"""Of output without structure, how much from its end is the final message."""
SAID, RETURNED, COMMAND = 8_000, 2_000, 500
"""Characters that are kept of a message, of a tool's result and of a command."""
MESSAGES, KEPT = 400, 400_000
"""How many messages, and how many characters of them, are kept; the newest."""


class Tally:
    """Adds up steps. Never fails, whatever they hold."""

    def __init__(self, *, prices: Prices, model: str = "", assumed: str = "") -> None:
        self.prices = prices
        self.assumed = assumed
        self.model = model
        self.session = ""
        self.faults: list[Fault] = []
        self.turns: set[str] = set()
        self.calls: dict[str, Called] = {}
        self.tools = 0
        self.last = ""
        self.ended = False
        self.saying = False
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self.kept: deque[tuple[str, str]] = deque(maxlen=MESSAGES)
        self.size = 0
        self.spent: dict[str, Spent] = {}
        self.total: Usage | None = None
        self.subscription = False
        self.summed = Usage()

    def add(self, step: Step) -> list[str]:
        """Take the step in; what comes back are lines for people."""
        whole = ""
        if self.saying and not (isinstance(step, Said) and step.more):
            self.saying = False
            whole = first_line(self.last)
        return [line for line in (whole, self._added(step)) if line]

    def _added(self, step: Step) -> str:
        match step:
            case Began():
                self.session = step.session or self.session
                self.model = step.model or self.model
                self.subscription = self.subscription or step.subscription
            case Turned():
                if step.key not in self.turns:
                    # The model answered, so what was in its way has been overcome.
                    self.faults = [fault for fault in self.faults if fault.fatal]
                self.turns.add(step.key or str(len(self.turns)))
            case Spent() | Totalled():
                self._spend(step)
            case Fault():
                self.faults = [*self.faults[-50:], step]
                return f"! {first_line(step.text)}"
            case Ended():
                self.last = step.text or self.last
                self.ended = True
            case _:
                return self._heard(step)
        return ""

    def _heard(self, step: Said | Called | Returned | Line) -> str:
        if isinstance(step, Said):
            return self._said(step)
        if isinstance(step, Line):
            self.lines.append(step.text[:MOST_TEXT])
            return step.text[:300]
        if isinstance(step, Called):
            fresh = step.key not in self.calls or not step.key
            self.tools += fresh
            self.calls[step.key] = replace(step, command=clipped(step.command, COMMAND))
            return f"{'$' if step.shell else step.tool} {first_line(step.command)}".rstrip() if fresh else ""
        call = self.calls.get(step.key, Called(key=step.key, tool="tool"))
        head = f"$ {call.command}" if call.shell else f"{call.tool} {call.command}".rstrip()
        code = [] if step.exit_code is None else [f"exit code {step.exit_code}"]
        self._keep("tool", "\n".join([head, clipped(step.text, RETURNED), *code]))
        return ""

    @property
    def text(self) -> str:
        """The final message: the last thing said, or else the end of what came without structure."""
        return self.last or "\n".join(self.lines)[-MOST_TEXT:].strip()

    @property
    def usage(self) -> Usage:
        """What was used up so far; unknown when nothing told."""
        silent = not self.spent and self.total is None
        turns = self.summed.turns or len(self.turns)
        return replace(self.summed, turns=turns, unknown=self.summed.unknown or silent)

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """What was said and what the tools gave back, in order; the newest, within bounds."""
        plain = self.text if not self.kept else ""
        return (*self.kept, *((("assistant", clipped(plain, SAID)),) if plain else ()))

    def _said(self, step: Said) -> str:
        if step.more and self.saying and self.kept:
            _, before = self.kept.pop()
            self.size -= len(before)
            self.last += step.text[:MOST_TEXT]
            self._keep("assistant", clipped(before + step.text, SAID))
            return ""
        self.saying = step.more
        self.last = step.text
        self._keep("assistant", clipped(step.text, SAID))
        return "" if step.more else first_line(step.text)

    def _keep(self, role: str, text: str) -> None:
        if len(self.kept) == MESSAGES:
            self.size -= len(self.kept[0][1])
        self.kept.append((role, text))
        self.size += len(text)
        while self.size > KEPT and len(self.kept) > 1:
            self.size -= len(self.kept.popleft()[1])

    def _spend(self, step: Spent | Totalled) -> None:
        if isinstance(step, Totalled):
            self.total = step.usage
        else:
            self.spent[step.key or f"#{len(self.spent)}"] = step
        parts = [self._priced(one) for one in self.spent.values()]
        counted = sum(parts, Usage())
        if self.total is None:
            self.summed = counted
        elif self.total.unknown:
            more = counted if counted.tokens >= self.total.tokens else self._estimate(self.total)
            self.summed = replace(more, turns=self.total.turns)
        else:
            more = self.total if self.total.tokens >= counted.tokens else counted
            told = replace(more, cost=self.total.cost, turns=self.total.turns)
            self.summed = replace(told, estimated=self.subscription, unknown=False)

    def _priced(self, spent: Spent) -> Usage:
        return spent.usage if spent.told else self._estimate(spent.usage, spent.model)

    def _estimate(self, usage: Usage, model: str = "") -> Usage:
        return priced(replace(usage, unknown=False), model or self.model or self.assumed, self.prices)


def clipped(text: str, most: int) -> str:
    """The text, without its middle when it is long."""
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]}\n[… {len(text) - most} characters …]\n{text[-most // 3 :]}"


def first_line(text: str) -> str:
    """For people: the first line that holds something, not too long."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]
