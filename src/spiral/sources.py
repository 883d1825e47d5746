"""What files, environment and flags give to the settings, checked against those that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from spiral.errors import ConfigError

Known = Mapping[str, Field[Any]]
"""Every setting by name (`memory.root`)."""
TRUE, FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
PREFIX = "SPIRAL_"
TOLD = ("SPIRAL_PASS", "SPIRAL_TASK", "SPIRAL_RUN", "SPIRAL_SCREENSHOT")
"""No settings: what a run tells to the programs that it starts, which may call us in turn."""
COMMON_KEY = "OPENAI_API_KEY"
"""Not ours, but often set: it serves as embedder.api_key when SPIRAL_EMBEDDER_API_KEY is not set."""


class Given(NamedTuple):
    """A value that a source gives to a setting."""

    name: str
    value: object
    origin: str
    base: Path
    """What a relative path starts from."""
    text: str = ""
    """What the file holds, if it came from one: there, numbers and truth values are not text."""


def variable(name: str) -> str:
    """The environment variable of a setting: `memory.root` → `SPIRAL_MEMORY_ROOT`."""
    return PREFIX + name.replace(".", "_").upper()


def closest(word: str, choices: Sequence[str]) -> str:
    """The end of a message about an unknown word: what was meant, or what there is to choose from."""
    # Only a message needs it, and it is slow to load.
    from difflib import get_close_matches

    near = get_close_matches(word, choices, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(choices)}"


def from_file(known: Known, file: Path | None, *, base: Path | None = None, shared: bool = False) -> Iterator[Given]:
    """What the file sets; relative paths start from `base`, by default its folder. `shared`: others see it too."""
    if file is None:
        return
    text = _text(file)
    if not text:
        return
    for table, entries in _parsed(file, text).items():
        for key, value in _entries(known, table, entries, str(file), text).items():
            given = Given(f"{table}.{key}", value, str(file), base or file.parent, text)
            if shared and _checked(known, given).metadata.get("secret"):
                raise ConfigError(
                    f"{_where(given)}: {given.name} is a secret, and everybody who sees the project sees its file; "
                    f"move it to the user's file, or set {variable(given.name)}"
                )
            yield given


def from_environment(known: Known, environ: Mapping[str, str], here: Path) -> Iterator[Given]:
    """What the environment sets; a variable that looks like ours and is not raises ConfigError."""
    variables = {variable(name): name for name in known}
    if key := environ.get(COMMON_KEY):
        yield Given("embedder.api_key", key, COMMON_KEY, here)
    for name in sorted(environ):
        if name in variables:
            yield Given(variables[name], environ[name], name, here)
        elif name.startswith(PREFIX) and name not in TOLD:
            raise ConfigError(f"unknown environment variable {name!r}; {closest(name, tuple(variables))} (or unset it)")


def from_flags(known: Known, flags: Mapping[str, object], here: Path) -> Iterator[Given]:
    """What the flags set; None stands for a flag that was not given."""
    for name, value in flags.items():
        if value is None:
            continue
        given = Given(name, value, f"flag --{name.rpartition('.')[2].replace('_', '-')}", here)
        if _checked(known, given).metadata.get("secret"):
            raise ConfigError(
                f"{given.origin}: a secret in a flag is seen by all users of the machine; set {variable(name)}"
            )
        yield given


def valued(given: Given, known: Known, home: Path | None) -> object:
    """The value as its setting wants it; `home` is what ~ stands for."""
    setting = _checked(known, given)
    spelled = not given.text
    try:
        if "path" in setting.metadata:
            return _path(given.value, given.base, home)
        if isinstance(setting.default, bool):
            return _truth(given.value, spelled=spelled)
        if isinstance(setting.default, float):
            return _amount(given.value, setting.metadata.get("least"), spelled=spelled)
        if isinstance(setting.default, tuple):
            return _list(given.value, spelled=spelled)
        if isinstance(setting.default, Mapping):
            return _table(given.value, spelled=spelled)
        if isinstance(setting.default, int):
            return _number(given.value, setting.metadata.get("least"), spelled=spelled)
        return _utf8(_word(given.value, setting.metadata.get("choices", ())))
    except ValueError as error:
        seen = "what it holds" if "secret" in setting.metadata else repr(given.value)
        raise ConfigError(f"{_where(given)}: {given.name} must be {error}, not {seen}") from error


def _checked(known: Known, given: Given) -> Field[Any]:
    """The setting that a value is for."""
    if given.name in known:
        return known[given.name]
    table, _, key = given.name.partition(".")
    keys = [name.partition(".")[2] for name in known if name.startswith(f"{table}.")]
    cure = closest(key, keys) if keys else closest(given.name, tuple(known))
    raise ConfigError(f"{_where(given)}: unknown setting {given.name!r}; {cure}")


def _entries(known: Known, table: str, entries: object, file: str, text: str) -> dict[str, object]:
    """What a table holds, if it is one of ours."""
    tables = tuple(dict.fromkeys(name.partition(".")[0] for name in known))
    if table in tables and isinstance(entries, dict):
        return entries
    if table in tables:
        problem = f"{table} must be a table, not {entries!r}; write [{table}] on a line of its own"
    elif astray := [name for name in known if name.endswith(f".{table}")]:
        problem = f"{table!r} stands outside of its table; write it under [{astray[0].partition('.')[0]}]"
    else:
        problem = f"unknown table {table!r}; {closest(table, tables)}"
    raise ConfigError(f"{file}{_line(text, table)}: {problem}")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigError(
            f"cannot read the settings in {str(file)!r}: {error.strerror}; correct or remove it"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def _parsed(file: Path, text: str) -> dict[str, object]:
    # Most folders have no file of settings, and most calls of the program are to be over in milliseconds.
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not TOML: {error}") from error


def _where(given: Given) -> str:
    table, _, key = given.name.partition(".")
    return f"{given.origin}{_line(given.text, table, key)}"


def _line(text: str, table: str, key: str = "") -> str:
    """`:7` when the key, or else its table, is plainly seen on line 7 of the text; otherwise nothing."""
    within, first = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+\s*[\"']?([\w-]+)", line):
            path = within = header[1]
        elif pair := re.match(r"([\w.\"'\s-]+?)=", line):
            path = ".".join(filter(None, (within, re.sub(r"[\s\"']", "", pair[1]))))
        else:
            continue
        if path == f"{table}.{key}":
            return f":{number}"
        if path.split(".")[0] == table:
            first = first or number
    return f":{first}" if first else ""


def _path(value: object, base: Path, home: Path | None) -> Path | None:
    text = _word(str(value) if isinstance(value, Path) else value)
    if not text:
        return None
    ours = text == "~" or text.startswith("~/")
    if ours and home is None:
        raise ValueError("a path without ~ while HOME is not set")
    try:
        return (home / text[2:] if ours and home else base / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise ValueError(f"a path that can be followed ({error})") from error


def _truth(value: object, *, spelled: bool) -> bool:
    if spelled and isinstance(value, str) and value.lower() in (*TRUE, *FALSE):
        return value.lower() in TRUE
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _number(value: object, least: int | None, *, spelled: bool) -> int:
    if spelled and isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        raise ValueError("a whole number" + ("" if least is None else f" of at least {least}"))
    return value


def _amount(value: object, least: float | None, *, spelled: bool) -> float:
    try:
        amount = float(value) if spelled and isinstance(value, str) else value
    except ValueError:
        amount = None
    if not isinstance(amount, int | float) or isinstance(amount, bool) or not abs(amount) < 1e15:
        raise ValueError("a number")
    if least is not None and amount < least:
        raise ValueError(f"a number of at least {least:g}")
    return float(amount)


def _list(value: object, *, spelled: bool) -> tuple[str, ...]:
    """In a file a list of texts; in the environment or a flag the same as JSON, or one text for a list of one."""
    if spelled and isinstance(value, str):
        value = _json(value) if value.lstrip().startswith("[") else [value] if value else []
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of texts")
    return tuple(value)


def _table(value: object, *, spelled: bool) -> Mapping[str, object]:
    """In a file a table; in the environment the same as a JSON object."""
    if spelled and isinstance(value, str):
        value = _json(value) if value.strip() else {}
    if not isinstance(value, Mapping):
        raise ValueError("a table")
    return MappingProxyType({str(key): item for key, item in value.items()})


def _json(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"JSON ({error})") from error


def _utf8(value: str) -> str:
    """A variable of the environment may hold any bytes; what is kept may not."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("text in UTF-8") from error
    return value


def _word(value: object, choices: tuple[str, ...] = ()) -> str:
    if not isinstance(value, str) or any(ord(char) < 32 or ord(char) == 127 for char in value):
        raise ValueError("text on one line, in quotes")
    if choices and value not in choices:
        raise ValueError(f"one of {', '.join(choices)}")
    return value
