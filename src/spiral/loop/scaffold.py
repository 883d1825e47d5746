"""The files that a project needs for its first run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spiral.config import PROJECT_FILE
from spiral.errors import StoreError
from spiral.loop.detect import Stack
from spiral.loop.prompts import instructions
from spiral.tables import BudgetSettings

OWN_WORDS = """

## This project

<!-- In your own words: what it is, what matters here, what must never be done. Every pass reads this. -->
"""
STEERING = """\
<!-- What you write below this comment is told to every pass from the next one on, until you delete it.
     `spiral steer "…"` does the same without a file. -->
"""
TASKS = '{\n  "tasks": []\n}\n'
IGNORED = "# Every pass in full: briefing, stream, checks. Large, and not for the repository.\nhistory/\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Laid:
    """What became of the files, by their path in the project."""

    written: tuple[str, ...]
    left: tuple[str, ...]
    """There already, and not touched."""


def files(stack: Stack, agent: str) -> Mapping[str, str]:
    """The text of each file, by its path in the project."""
    return {
        ".agent/PROMPT.md": instructions("implement") + OWN_WORDS,
        ".agent/STEERING.md": STEERING,
        ".agent/tasks.json": TASKS,
        ".agent/.gitignore": IGNORED,
        PROJECT_FILE: settings_text(stack, agent),
    }


def lay(top: Path, wanted: Mapping[str, str]) -> Laid:
    """Write the files that are not there. One winner each: a file is made, never replaced; a retry writes nothing."""
    written: list[str] = []
    try:
        (top / ".agent" / "tasks").mkdir(parents=True, exist_ok=True)
        for name, text in wanted.items():
            try:
                with (top / name).open("x", encoding="utf-8") as file:
                    file.write(text)
            except FileExistsError:
                continue
            written.append(name)
    except OSError as fault:
        raise StoreError(f"cannot write to {str(fault.filename or top)!r}: {fault.strerror}") from fault
    return Laid(written=tuple(written), left=tuple(name for name in wanted if name not in written))


def settings_text(stack: Stack, agent: str) -> str:
    """spiral.toml, with what was found and, as comments, what one changes first."""
    most = BudgetSettings()
    checks = "".join(f"  {quoted(check)},\n" for check in stack.checks)
    listed = f"[\n{checks}]" if checks else "[]"
    return f"""\
# What holds for this project. `spiral config` shows every setting and where its value came from.

[verify]
# Run on a clean checkout of every commit: a task is done only when all of them succeed.
checks = {listed}
# Makes that checkout usable; run again when a manifest or a lock file changes.
setup = {quoted(stack.setup)}
# checker = "none"  # "auto": another agent judges what the checks let through; "none": the checks alone

[act]
agent = {quoted(agent or "auto")}
# model = ""
# timeout = 3600.0  # most seconds of a pass

[budget]
# passes = {most.passes}  # most passes of a run
# hours = {most.hours}
# cost = {most.cost}  # most dollars of a run; 0: no cap
# day = {most.day}  # most dollars of all runs in 24 hours; 0: no cap
"""


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)
