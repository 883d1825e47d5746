"""What `spiral demo` shows: a line for each pass, how far it is, and how the halves compare."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from spiral.demo.half import Half, Row
from spiral.demo.plot import MARKS, plot
from spiral.demo.project import Terms

NAMES = {False: "circle", True: "spiral"}
STYLES = {False: "yellow", True: "green"}
CARRIED = 3
"""Statements of the memory that are shown."""


class Screen:
    """The demo on a terminal, or as plain lines elsewhere."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)
        self.wide = self.console.width >= 118

    def say(self, *parts: str | tuple[str, str]) -> None:
        """One line, some of it in colour."""
        self.console.print(Text.assemble(*parts))

    def open(self) -> None:
        """What is about to happen."""
        ignored = round((1 - self.terms.heed) * 100)
        self.say(
            ("A loop without memory is a circle: it repeats. ", "bold"),
            ("A loop that remembers is a spiral.", "bold green"),
        )
        self.say(
            f"\n{len(self.terms.jobs)} tasks in a real git repository, judged by real tests."
            f" The agent is simulated: no model, no key, no network."
        )
        self.say(
            "It acts on the text of its briefing alone"
            + (f", and ignores even that in {ignored} of 100 passes." if ignored else ".")
            + f" The same agent, seed ({self.terms.seed}) and tasks, twice."
        )

    @contextmanager
    def half(self, *, memory: bool) -> Iterator[tuple[Callable[[Row], None], Callable[[str], None]]]:
        """Shows a half while it runs: `show` takes a pass that ended, `step` what happens now."""
        told = "passes are told what was tried and learned" if memory else "each pass starts from nothing"
        self.say(
            f"\n{1 + memory}. ", (f"The {NAMES[memory]}", f"bold {STYLES[memory]}"), f": memory {on(memory)}, {told}"
        )
        self.say(
            (f"   {'pass':>4}  {'task' if self.wide else '':{27 if self.wide else 2}} {'it tried':37} outcome", "dim")
        )
        with self.console.status("   setting up", spinner="dots") as status:
            done = Counter(len(self.terms.jobs))

            def show(row: Row) -> None:
                done.rows.append(row)
                self.row(row)

            def step(line: str) -> None:
                status.update(f"   {done.bar()}  {line[:70]}")

            yield show, step

    def row(self, row: Row) -> None:
        """One pass."""
        mark = ("✓ done", "green") if row.passed else (f"✗ {why(row)}", "red")
        again = (f" ↺ as in pass {row.repeated}", "yellow") if row.repeated else ""
        left = (" · not committed", "dim") if row.swept else ""
        self.say(f"   {row.number:4}  {self.about(row)} {row.tried:37.37} ", mark, again, left)

    def about(self, row: Row) -> str:
        """The task of a pass, with its title where there is room."""
        return f"{row.task} {row.title}".ljust(27)[:27] if self.wide else row.task

    def ended(self, half: Half) -> None:
        """Why a half stopped."""
        detail = f": {half.detail}" if half.detail and not half.complete else ""
        self.say((f"   ended: {half.reason}{detail}"[:160], "dim"))

    def compare(self, first: Half, second: Half) -> None:
        """Both halves side by side, with a plot."""
        self.say(f"\n   {'':28}", ("circle".rjust(10), "bold yellow"), ("spiral".rjust(10), "bold green"))
        for name, read in MEASURES:
            self.say(f"   {name:28}{read(first):>10}{read(second):>10}")
        self.say(f"\n   tasks done ({MARKS[0]} circle, {MARKS[1]} spiral, {MARKS[2]} both)")
        series = [[row.done for row in half.rows] for half in (first, second)]
        for line in plot(series[0], series[1], second.tasks):
            text = Text(f"   {line}")
            for mark, style in zip(MARKS, ("yellow", "green", "cyan"), strict=True):
                text.highlight_words([mark], style)
            self.console.print(text)
        if second.learned:
            self.say("\n   What the memory carried from pass to pass, beside the attempts:")
            for said in second.learned[:CARRIED]:
                self.say(("     " + said, "italic"))
            more = len(second.learned) - CARRIED
            if more > 0:
                self.say((f"     … and {more} more", "dim"))

    def close(self, kept: Path | None) -> None:
        """What to type next."""
        where = str(kept) if kept else "demo"
        rows = [
            (f"spiral -C {where}/spiral report", "the run on one page; `show 7`: all about a pass"),
            (f"git -C {where}/spiral log", "what the agent and the runner committed"),
            (f"cat {where}/spiral/.agent/memory/MEMORY.md", "what a fresh pass reads first"),
        ]
        if kept is None:
            rows = [("spiral demo --keep demo", "the same, and both repositories stay, to look around in"), *rows[:1]]
        rows += [
            ("spiral demo --seed 2", "other chances; `--heed 1`: an agent that always listens"),
            ("spiral bench loop", "many seeds, and what the loop itself costs"),
            ("spiral init && spiral run", "in your own repository, with your own agent"),
        ]
        self.say(("\nNext:", "bold"))
        for typed, about in rows:
            self.say("   ", (f"{typed:42}", "cyan"), f" {about}")


class Counter:
    """How many tasks are done."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.rows: list[Row] = []

    def bar(self) -> str:
        """As a bar."""
        done = self.rows[-1].done if self.rows else 0
        return f"{'█' * done}{'░' * (self.tasks - done)} {done} of {self.tasks} done, pass {len(self.rows) + 1}"


def on(memory: bool) -> str:
    """`on` or `off`."""
    return "on" if memory else "off"


def why(row: Row) -> str:
    """Why a pass did not succeed, in few words."""
    parked = ", parked" if row.parked else ""
    return ("claimed done, did nothing" if row.claimed else row.outcome) + parked


MEASURES: tuple[tuple[str, Callable[[Half], str]], ...] = (
    ("tasks done", lambda half: f"{half.done} of {half.tasks}"),
    ("passes", lambda half: str(len(half.rows))),
    ("repeated failed approaches", lambda half: str(half.repeats)),
    ("cost, simulated", lambda half: f"${half.cost:.2f}"),
    ("  for each task done", lambda half: f"${half.cost / half.done:.2f}" if half.done else "-"),
    ("time", lambda half: f"{half.seconds:.0f} s"),
)
