"""The agents that are known, as rows of data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from spiral.errors import ConfigError
from spiral.model import EMPTY
from spiral.sources import closest

Stream = Literal["claude", "codex", "gemini", "opencode", "text"]
Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapter:
    """How one agent is called and read; table.toml tells what each field means."""

    name: str
    command: Words
    stream: Stream = "text"
    args: Words = ()
    model: str = ""
    model_flag: Words = ()
    turns_flag: Words = ()
    budget_flag: Words = ()
    mcp_flag: Words = ()
    assumed: str = ""
    env: Words = ()
    keys: Words = ()
    set: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    sandbox_set: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    limits: Words = ()
    signin: Words = ()
    version: Words = ()
    """Arguments that make it tell its version. Without any it is not asked: a command of the user's own that does not
    know them would take the question for a start, and go to work."""
    homes: Words = ()
    credentials: Words = ()
    verified: bool = False

    @property
    def prompt(self) -> Literal["stdin", "argument", "file"]:
        """How the prompt reaches it."""
        whole = " ".join(self.command)
        if "{prompt_file}" in whole:
            return "file"
        return "argument" if "{prompt}" in whole else "stdin"

    @property
    def capabilities(self) -> Words:
        """What it can be asked for, or tells by itself."""
        takes = {"model": self.model_flag, "turns": self.turns_flag, "budget": self.budget_flag, "mcp": self.mcp_flag}
        return (*(name for name, flag in takes.items() if flag), *(("usage",) if self.stream != "text" else ()))


def adapters(own: Mapping[str, object] = EMPTY) -> Mapping[str, Adapter]:
    """Every known agent by name, with the user's `[act.agents.NAME]` tables over the packaged ones.

    Raises ConfigError for a key that is unknown or mistyped, and for an agent of one's own without a command.
    """
    known = dict(packaged())
    for name, row in own.items():
        given = _checked(name, row)
        if name in known:
            altered = "command" in given or "stream" in given
            told = {"version": ()} if "command" in given else {}
            known[name] = replace(known[name], **(told | given), verified=known[name].verified and not altered)
        elif "command" in given:
            known[name] = Adapter(name=name, **given)
        else:
            raise ConfigError(f"act.agents.{name} has no command; {closest(name, tuple(known))} (or give it a command)")
    return known


@cache
def packaged() -> Mapping[str, Adapter]:
    """The agents that come with the package."""
    rows = tomllib.loads((files(__package__) / "table.toml").read_text(encoding="utf-8"))
    return {name: Adapter(name=name, **({"version": ("--version",)} | _frozen(row))) for name, row in rows.items()}


def _checked(name: str, row: object) -> dict[str, Any]:
    """What a table of the user's sets, with the types that the fields have."""
    where = f"act.agents.{name}"
    if not isinstance(row, Mapping):
        raise ConfigError(f"{where} must be a table, not {row!r}; write [{where}] on a line of its own")
    kinds = {item.name: str(item.type) for item in fields(Adapter) if item.name not in ("name", "verified")}
    for key, value in row.items():
        if key not in kinds:
            raise ConfigError(f"unknown setting '{where}.{key}'; {closest(str(key), tuple(kinds))}")
        if fault := _fault(kinds[key], value):
            raise ConfigError(f"{where}.{key} must be {fault}, not {value!r}")
    for pattern in (*row.get("limits", ()), *row.get("signin", ())):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(f"{where}: {pattern!r} is not a pattern: {error}") from error
    if "command" in row and not row["command"]:
        raise ConfigError(f"{where}.command must name a program, not be empty")
    return _frozen(row)


def _fault(kind: str, value: object) -> str:
    """What a value should have been; empty when it is right."""
    if kind == "Stream":
        return "" if value in get_args(Stream) else f"one of {', '.join(get_args(Stream))}"
    if kind == "Words":
        texts = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        return "" if texts else "a list of texts"
    if kind.startswith("Mapping"):
        texts = isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())
        return "" if texts else "a table of texts"
    return "" if isinstance(value, str) else "text"


def _frozen(row: Mapping[str, object]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
