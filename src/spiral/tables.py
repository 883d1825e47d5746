"""The tables of spiral.toml that tune the loop, one for each stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


class Table(dict[str, object]):
    """A table with names of the user's own; never altered, so it can be a default."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NONE: Mapping[str, object] = Table()


@dataclass(frozen=True, kw_only=True, slots=True)
class DiscoverSettings:
    """Which task comes next."""

    kind: Literal["auto", "closed", "open"] = field(
        default="auto",
        metadata={
            "help": "`closed` follows the task list; `open` has PROMPT.md, checks, a budget. `auto`: by what is there.",
            "choices": ("auto", "closed", "open"),
        },
    )
    plan: bool = field(
        default=True,
        metadata={
            "help": "Whether a planning pass comes first when there is a PRD and no open task, or a task is too large."
        },
    )
    largest: int = field(
        default=20, metadata={"help": "Steps, criteria and files beyond which a task is too large.", "least": 1}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class HydrateSettings:
    """What a pass is told."""

    policy: Literal["poor", "balanced", "rich"] = field(
        default="balanced",
        metadata={
            "help": "How much a briefing holds: `poor`, `balanced` or `rich`.",
            "choices": ("poor", "balanced", "rich"),
        },
    )
    sections: Mapping[str, object] = field(
        default=NONE, metadata={"help": "Most tokens of a section, over the policy's: `{ memories = 800 }`."}
    )
    memory: bool = field(
        default=True, metadata={"help": "Whether a pass is told what is remembered and what was tried before."}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ActSettings:
    """Who does the work, and within which bounds."""

    agent: str = field(default="auto", metadata={"help": "The agent. `auto`: the first one that is installed."})
    model: str = field(default="", metadata={"help": "Its model. Empty: its own default."})
    args: tuple[str, ...] = field(default=(), metadata={"help": "More arguments for it."})
    fallback: str = field(default="", metadata={"help": "The agent to use while the first one is rate-limited."})
    timeout: float = field(default=3600.0, metadata={"help": "Most seconds of a pass.", "least": 1})
    silence: float = field(default=900.0, metadata={"help": "Most seconds without a word from it.", "least": 1})
    turns: int = field(
        default=60, metadata={"help": "Most turns in a pass; a fresh pass goes on. 0: no cap.", "least": 0}
    )
    env: tuple[str, ...] = field(
        default=(), metadata={"help": "Environment variables that it may see beside the usual."}
    )
    agents: Mapping[str, object] = field(
        default=NONE, metadata={"help": "Agents of one's own, or changes to known ones: `[act.agents.mine]`."}
    )
    mcp: Mapping[str, object] = field(
        default=NONE, metadata={"help": "MCP servers for every agent that takes them: `[act.mcp.docs]`."}
    )
    prices: Mapping[str, object] = field(
        default=NONE,
        metadata={"help": 'Dollars for a million tokens: `{ "gpt-x" = [1.25, 10.0, 0.125] }` (in, out, cached).'},
    )
    sandbox: str = field(
        default="none",
        metadata={"help": "`none`, `bwrap`, or a command of one's own that ends in `{command}`."},
    )
    protect: tuple[str, ...] = field(
        default=(), metadata={"help": "Paths that no agent may change; they are restored."}
    )
    push: bool = field(default=False, metadata={"help": "Whether an agent may push."})


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifySettings:
    """What the runner believes, and why."""

    checks: tuple[str, ...] = field(default=(), metadata={"help": "The project's checks, run for every task."})
    setup: str = field(
        default="", metadata={"help": "Makes a clean checkout usable; run again when its inputs change."}
    )
    inputs: tuple[str, ...] = field(
        default=(),
        metadata={"help": "Files whose change makes the set-up run again. Empty: the usual manifests and lock files."},
    )
    timeout: float = field(default=600.0, metadata={"help": "Most seconds of a check.", "least": 1})
    checker: str = field(
        default="auto",
        metadata={
            "help": "The agent that judges. `auto`: another one that is installed, else the same. `none`: checks alone."
        },
    )
    rounds: int = field(default=3, metadata={"help": "Most times that a checker may send a task back.", "least": 1})
    recheck: int = field(
        default=10,
        metadata={"help": "Passes after which the checks of finished tasks run again. 0: never.", "least": 0},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidateSettings:
    """What is kept of a pass."""

    learn: bool = field(default=True, metadata={"help": "Whether passes write to the memory."})
    commit: bool = field(default=True, metadata={"help": "Whether the runner commits the memory, tasks and log."})


@dataclass(frozen=True, kw_only=True, slots=True)
class IterateSettings:
    """What comes after a pass."""

    retries: int = field(default=2, metadata={"help": "Failures before another approach is asked for.", "least": 1})
    pivots: int = field(default=2, metadata={"help": "Other approaches before the task is split.", "least": 0})
    split: bool = field(
        default=True, metadata={"help": "Whether a task that fails is split by a planning pass before it is parked."}
    )
    pivot_agent: str = field(default="", metadata={"help": "The agent for other approaches. Empty: the same."})
    stuck: int = field(
        default=3, metadata={"help": "Tasks parked in a row, for want of success, that end the run.", "least": 1}
    )
    on_limit: Literal["wait", "stop"] = field(
        default="wait",
        metadata={"help": "At a rate limit: `wait` until it ends, or `stop`.", "choices": ("wait", "stop")},
    )
    stop_on_help: bool = field(default=False, metadata={"help": "Whether BLOCKED or DECIDE ends the run."})
    until: str = field(default="", metadata={"help": "A command; the run is complete when it succeeds."})


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetSettings:
    """What a run may use up: makers, checkers and planners together."""

    passes: int = field(default=50, metadata={"help": "Most passes of a run.", "least": 1})
    hours: float = field(default=10.0, metadata={"help": "Most hours of a run.", "least": 0})
    cost: float = field(default=25.0, metadata={"help": "Most dollars of a run. 0: no cap.", "least": 0})
    tokens: int = field(default=0, metadata={"help": "Most tokens of a run. 0: no cap.", "least": 0})
    day: float = field(default=0.0, metadata={"help": "Most dollars of all runs in 24 hours. 0: no cap.", "least": 0})
    week: float = field(default=0.0, metadata={"help": "Most dollars of all runs in 7 days. 0: no cap.", "least": 0})


@dataclass(frozen=True, kw_only=True, slots=True)
class NotifySettings:
    """Who is told when something needs a person."""

    webhook: str = field(default="", metadata={"help": "A URL that gets a JSON object by POST."})
    command: str = field(default="", metadata={"help": "A command that gets the same object on standard input."})
    on: tuple[str, ...] = field(
        default=("blocked", "decide", "finished", "budget", "crash"), metadata={"help": "Which events are told."}
    )
