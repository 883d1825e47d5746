"""Settings, read once at the edge from files, environment and flags."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from spiral.errors import ConfigError
from spiral.place import Folders, Repository, app_name, folder_of, repository
from spiral.sources import from_environment, from_file, from_flags, valued
from spiral.tables import (
    ActSettings,
    BudgetSettings,
    ConsolidateSettings,
    DiscoverSettings,
    HydrateSettings,
    IterateSettings,
    NotifySettings,
    VerifySettings,
)

if TYPE_CHECKING:
    from spiral.model import Visibility

NOTHING: Mapping[str, str] = MappingProxyType({})
PROJECT_FILE = "spiral.toml"

# A setting is a field; its metadata tell the rest: `help`, and where they apply `choices`, `least` (of a number),
# `path` (text that becomes a Path, or None when empty) and `secret` (never shown, never in a project's file).


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySettings:
    """Where the memory lives, and for whom it is read and written."""

    root: Path | None = field(
        default=None,
        metadata={
            "help": "Folder of the memory's files. Empty: `.agent/memory` in the main checkout, or by app outside git.",
            "path": True,
        },
    )
    index: Path | None = field(
        default=None,
        metadata={"help": "Folder of the index. Empty: inside the git dir, or by app outside git.", "path": True},
    )
    app: str = field(
        default="",
        metadata={"help": "Application. Empty: name of the main checkout, or of the folder outside git."},
    )
    org: str = field(default="", metadata={"help": "Organisation. Empty: none."})
    owner: str = field(default="", metadata={"help": "Who owns what is written. Empty: name of this machine's user."})
    user: str = field(default="", metadata={"help": "User whom the memory is about. Empty: all users."})
    agent: str = field(default="", metadata={"help": "Agent whom the memory is for. Empty: all agents."})
    visibility: Visibility = field(
        default="team",
        metadata={
            "help": "Who sees what is written: `private`, `team` or `org`.",
            "choices": ("private", "team", "org"),
        },
    )
    budget: int = field(default=2000, metadata={"help": "Most tokens that one recall may serve.", "least": 1})


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSettings:
    """What turns texts into vectors, so that they are found by meaning."""

    model: str = field(
        default="minilm:",
        metadata={
            "help": "Model, as a URL: `minilm:` and `static:` run here, `openai:<model>` elsewhere. `none`: words only."
        },
    )
    base_url: str = field(default="https://api.openai.com/v1", metadata={"help": "Server of an `openai:` model."})
    api_key: str = field(
        default="",
        repr=False,
        metadata={
            "help": "Key for that server. Only in the environment (`OPENAI_API_KEY` serves too) or the user's file.",
            "secret": True,
        },
    )
    background: bool = field(default=True, metadata={"help": "Whether long-lived processes embed in the background."})
    dimensions: int = field(
        default=0,
        metadata={"help": "Length of the vectors, where a model offers several. 0: the model's own.", "least": 0},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class LogSettings:
    """What is told about the work, and to where."""

    level: Literal["debug", "info", "warning", "error"] = field(
        default="warning",
        metadata={
            "help": "Least that is told: `debug`, `info`, `warning` or `error`.",
            "choices": ("debug", "info", "warning", "error"),
        },
    )
    format: Literal["text", "json"] = field(
        default="text",
        metadata={"help": "`text` for people, `json` for one object a line.", "choices": ("text", "json")},
    )
    file: Path | None = field(
        default=None, metadata={"help": "File to append to. Empty: standard error.", "path": True}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Everything that can be set. A field whose default is a dataclass is a table of spiral.toml."""

    memory: MemorySettings = MemorySettings()
    embedder: EmbedderSettings = EmbedderSettings()
    discover: DiscoverSettings = DiscoverSettings()
    hydrate: HydrateSettings = HydrateSettings()
    act: ActSettings = ActSettings()
    verify: VerifySettings = VerifySettings()
    consolidate: ConsolidateSettings = ConsolidateSettings()
    iterate: IterateSettings = IterateSettings()
    budget: BudgetSettings = BudgetSettings()
    notify: NotifySettings = NotifySettings()
    log: LogSettings = LogSettings()
    folders: Folders = field(default_factory=Folders)
    """Not a setting: the user's own folders, as the environment tells."""
    environ: Mapping[str, str] = field(default_factory=lambda: NOTHING, repr=False, compare=False)
    """Not a setting: the environment as it was, for the programs that are started."""
    origins: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Where each value came from: `memory.root` → `default`, a file, a variable or a flag."""


class Row(NamedTuple):
    """One setting as it is shown; a secret's value says only whether it is set."""

    name: str
    value: str | int | float | bool
    origin: str
    help: str


def read(
    start: Path | None = None, flags: Mapping[str, object] = NOTHING, environ: Mapping[str, str] | None = None
) -> Settings:
    """What holds in `start`, by default the current folder. Default < user's file < project's < environment < flag.

    A flag is named like its setting (`memory.root`); a flag that is None was not given.
    """
    environ = os.environ if environ is None else environ
    here = folder_of(_current() if start is None else start)
    home, folders, known = repository(here), _folders(environ), _known()
    project = _project_file(here, home)
    values: dict[str, object] = {name: item.default for name, item in known.items()}
    origins = dict.fromkeys(known, "default")
    for given in (
        *from_file(known, folders.config_file),
        *from_file(known, project, base=home.checkout if home else None, shared=True),
        *from_environment(known, environ, here),
        *from_flags(known, flags, here),
    ):
        values[given.name] = valued(given, known, _absolute(environ, "HOME"))
        origins[given.name] = given.origin
    redirected = origins["embedder.base_url"] == str(project)
    if redirected and values["embedder.api_key"] and values["embedder.base_url"] != EmbedderSettings().base_url:
        # Otherwise a repository that one merely looks at could have the key sent to a server of its choice.
        values["embedder.api_key"] = ""
        origins["embedder.api_key"] = f"withheld, because {project} chose embedder.base_url"
    values["memory.app"] = values["memory.app"] or app_name(here, home)
    values["memory.owner"] = values["memory.owner"] or _user(environ)
    return replace(_assembled(values, folders, origins), environ=MappingProxyType(dict(environ)))


def environment() -> Mapping[str, str]:
    """The environment as it is, for who reads no settings."""
    return MappingProxyType(dict(os.environ))


def rows(settings: Settings) -> Sequence[Row]:
    """Every setting with its value, where that came from, and what it is for."""
    return tuple(
        Row(
            name=name,
            value=_shown(getattr(getattr(settings, table), key), secret="secret" in item.metadata),
            origin=settings.origins.get(name, "default"),
            help=item.metadata["help"],
        )
        for name, item in _known().items()
        for table, key in (name.split("."),)
    )


def _tables() -> dict[str, type[Any]]:
    return {item.name: type(item.default) for item in fields(Settings) if is_dataclass(item.default)}


def _known() -> dict[str, Field[Any]]:
    return {f"{table}.{item.name}": item for table, kind in _tables().items() for item in fields(kind)}


def _assembled(values: Mapping[str, object], folders: Folders, origins: Mapping[str, str]) -> Settings:
    tables: dict[str, Any] = {
        table: kind(**{item.name: values[f"{table}.{item.name}"] for item in fields(kind)})
        for table, kind in _tables().items()
    }
    return Settings(**tables, folders=folders, origins=MappingProxyType(dict(origins)))


def _current() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError("the current folder is gone; change to one that exists") from error


def _folders(environ: Mapping[str, str]) -> Folders:
    home = _absolute(environ, "HOME")
    data, cache, config = (
        _absolute(environ, name) or (home and home / usual)
        for name, usual in (
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_CONFIG_HOME", ".config"),
        )
    )
    return Folders(data=data, cache=cache, config_file=config and config / "spiral" / "config.toml")


def _absolute(environ: Mapping[str, str], name: str) -> Path | None:
    """The variable as a path; one that is not absolute counts as not set, as the XDG rules say."""
    path = environ.get(name, "")
    return Path(path) if path.startswith("/") else None


def _user(environ: Mapping[str, str]) -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A container often runs under a number that has no name.
        return environ.get("USER") or f"uid-{os.getuid()}"


def _project_file(here: Path, home: Repository | None) -> Path | None:
    """The worktree's own spiral.toml, else the main checkout's; outside git that of the folder itself.

    Folders in between do not count: an agent that changes its folder must not change its memory.
    """
    folders = (here,) if home is None else (home.top, home.checkout or home.top)
    return next((folder / PROJECT_FILE for folder in folders if (folder / PROJECT_FILE).exists()), None)


def _shown(value: object, *, secret: bool) -> str | int | float | bool:
    if secret:
        return "set" if value else "not set"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=dict) if value else ""
    return value if isinstance(value, int | float | str) else str(value or "")
