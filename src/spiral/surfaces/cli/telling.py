"""What a run tells while it goes on: a live view on a terminal, lines elsewhere, JSON for machines."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from spiral.loop.budget import shown
from spiral.loop.codec import plain
from spiral.loop.tasks import load

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spiral.loop.run import Ended
    from spiral.ports import Journal
    from spiral.runner import Runner

EVERY = 0.5
"""Seconds between two looks at the journal."""
LAST = 8
"""Lines of what was told last."""
NEXT = {
    "complete": "spiral report", "once": "spiral run", "passes": "spiral resume -n N   (more passes)",
    "blocked": "spiral tasks list --status blocked", "decide": 'spiral decide ID "…"', "signin": "spiral doctor",
    "missing": "spiral doctor", "budget": "spiral resume --max-cost N   (a larger budget)",
    "stuck": "spiral tasks list --status blocked", "limit": "spiral resume", "unverified": "spiral status",
    "stopped": "spiral resume", "interrupted": "spiral resume", "empty": 'spiral tasks add "…"',
    "sandbox": "spiral doctor",
}  # fmt: skip


class Teller(Protocol):
    """Where the lines of a run go."""

    def tell(self, line: str) -> None:
        """A line for people."""

    def end(self, ended: Ended, code: int) -> None:
        """The last word."""


def last_words(ended: Ended, journal: Journal) -> str:
    """What the run came to, why it stopped, and what to type next."""
    told = journal.events(kinds=("run.ended",), limit=1)
    data = told[0].data if told else {}
    sign = "≥ " if data.get("unknown") else "est. " if data.get("estimated") else ""
    came = f"{data.get('passes', 0)} passes, {data.get('done', 0)} tasks done, {sign}${data.get('cost', 0):.2f}"
    why = f"{ended.reason}: {ended.detail}" if ended.detail else ended.reason
    asking = ended.detail.partition(":")[0] if ended.reason == "decide" else ""
    return f"{came}\n{why}\nnext: {NEXT[ended.reason].replace('ID', asking or 'ID')}"


class Lines:
    """One line after the other, each when it is told."""

    def __init__(self, runner: Runner) -> None:
        self.journal = runner.journal

    def tell(self, line: str) -> None:
        """Print it with the time."""
        click.echo(f"{datetime.now().astimezone():%H:%M:%S} {line}")

    def end(self, ended: Ended, code: int) -> None:  # noqa: ARG002 - the port's
        """Print what it came to."""
        click.echo(last_words(ended, self.journal))


class Objects:
    """One JSON object a line: each event of the journal, each line for people, and the result."""

    def __init__(self, runner: Runner) -> None:
        self.journal = runner.journal
        newest = self.journal.events(limit=1)
        self.seen = newest[0].seq if newest else 0

    def tell(self, line: str) -> None:
        """The events since, then the line."""
        self.catch_up()
        self.write({"line": line})

    def end(self, ended: Ended, code: int) -> None:
        """The rest of the events, and the result."""
        self.catch_up()
        self.write({"ended": {"reason": ended.reason, "detail": ended.detail, "code": code}})

    def catch_up(self) -> None:
        """Write what the journal has got since the last look."""
        for event in self.journal.events(after=self.seen):
            self.seen = event.seq
            self.write({"event": plain(event)})

    def write(self, table: dict[str, object]) -> None:
        """One line."""
        click.echo(json.dumps(table, ensure_ascii=False, default=str))
        sys.stdout.flush()


class View:
    """A live view: progress, the step under way, spend against budget, the last check, the last lines."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner = runner
        self.folder = folder
        self.lines: deque[str] = deque(maxlen=LAST)
        self.step = "starting"
        self.check = ""
        self.looked = 0.0
        self.counts: Counter[str] = Counter()
        self.spend = ""
        self.began = time.monotonic()
        self.keep: Callable[[str], None] = self.lines.append
        """Prints above the view, where it stays."""

    def tell(self, line: str) -> None:
        """Take it in; the view draws itself several times a second."""
        self.lines.append(line)
        if line.startswith("pass "):
            # A pass is told twice: when it begins, and with its outcome.
            if line.partition(" ·")[0] == self.step.partition(" ·")[0]:
                self.keep(line)
            self.step, self.check = line, ""
        elif " passed " in line or "exit code" in line:
            self.check = line
        if time.monotonic() - self.looked > EVERY:
            self.look()

    def look(self) -> None:
        """Read how the run stands."""
        from spiral.loop.context import Run
        from spiral.loop.run import left

        self.looked = time.monotonic()
        loop = self.runner.loop()
        states = load(self.folder).states(loop.journal.states())
        self.counts = Counter(state.status for state in states.values())
        name = loop.journal.note("run/last")
        began = loop.journal.events(run=name, kinds=("run.started",)) if name else []
        if began:
            mine = Run(id=name, began=began[0].at, agent="", checker="")
            self.spend = " · ".join(f"{one.what} {shown(one)}" for one in left(loop, mine).limits)

    def end(self, ended: Ended, code: int) -> None:  # noqa: ARG002 - the port's
        """Print what it came to; the view is gone by then."""
        click.echo(last_words(ended, self.runner.journal))

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        done, parked = self.counts["done"], self.counts["blocked"] + self.counts["decide"]
        whole = sum(self.counts.values()) - self.counts["skipped"]
        width = 30
        filled = width * done // whole if whole else 0
        table = Table.grid(padding=(0, 2))
        table.add_row("tasks", Text("█" * filled + "░" * (width - filled), style="green"))
        table.add_row("", f"{done} done · {self.counts['open']} open · {parked} parked")
        table.add_row("now", Text(self.step, style="bold", overflow="ellipsis", no_wrap=True))
        table.add_row("check", Text(self.check or "none yet", overflow="ellipsis", no_wrap=True))
        table.add_row("spent", self.spend or "nothing yet")
        table.add_row("time", f"{time.strftime('%H:%M:%S', time.gmtime(time.monotonic() - self.began))}")
        said = [Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in self.lines]
        hint = Text("Ctrl-C ends after this pass, twice now", style="dim italic")
        return Group(table, Text(), *said, Text(), hint)


@contextmanager
def telling(runner: Runner, folder: Path, *, as_json: bool) -> Iterator[Teller]:
    """The way to tell that suits where the output goes."""
    if as_json:
        yield Objects(runner)
    elif not sys.stdout.isatty():
        yield Lines(runner)
    else:
        from rich.live import Live

        view = View(runner, folder)
        view.look()
        with Live(view, refresh_per_second=4, transient=True) as live:
            view.keep = lambda line: live.console.print(line, markup=False, highlight=False)
            yield view
