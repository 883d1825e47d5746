"""A memory or a change as Markdown with front matter, for people to read, diff and edit."""

from __future__ import annotations

from collections.abc import Mapping

from spiral.errors import UsageError
from spiral.memory.codec import change_from, change_to, digest, printable, statement_from, statement_to
from spiral.memory.values import fit
from spiral.model import Change, Statement

FENCE = "---"


def write(memory: Statement) -> str:
    """The file of a memory: front matter, then the text."""
    table = statement_to(memory)
    text = str(table.pop("text"))
    return f"{FENCE}\n{dump(table)}{FENCE}\n\n{printable(text)}\n"


def write_change(change: Change) -> str:
    """The file of a change: front matter alone."""
    return f"{FENCE}\n{dump(change_to(change))}{FENCE}\n"


def read(raw: str, *, default: Statement) -> Statement:
    """The memory in a file. One made by hand needs nothing but text: its id then comes from its content."""
    table, text = split(raw)
    if not text:
        raise UsageError("there is no text below the front matter; write the statement there")
    named = dict(table) | {"text": text}
    if not named.get("id"):
        named["id"] = "m" + digest("file", text, str(sorted(table)))
    return statement_from(named, default=default)


def read_change(raw: str) -> Change:
    """The change in a file."""
    return change_from(split(raw)[0])


def split(raw: str) -> tuple[Mapping[str, object], str]:
    """Front matter and what follows it; a file without front matter is all text."""
    import yaml  # here, because recall reads no file and YAML takes as long to import as a recall to answer

    lines = raw.lstrip("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        return {}, raw.strip()
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), 0)
    if not end:
        raise UsageError("the front matter has no closing ---; add the line, or remove the opening one")
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        table = yaml.load("".join(lines[1:end]), Loader=loader)  # noqa: S506 - a safe loader, in C where there is one
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f" in line {mark.line + 2}" if mark else ""
        raise UsageError(f"the front matter is not YAML{line}: {getattr(fault, 'problem', fault)}") from fault
    except (ValueError, OverflowError) as fault:
        raise UsageError(f"the front matter holds a value that is none: {fault}") from fault
    except RecursionError as fault:
        raise UsageError("the front matter is nested too deeply; make it flatter") from fault
    named = fit(table if table is not None else {})
    if not isinstance(named, dict):
        raise UsageError(f"the front matter must be names and values, not {named!r}")
    return named, "".join(lines[end + 1 :]).strip()


def dump(table: Mapping[str, object]) -> str:
    """YAML in the order given."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(dict(table), Dumper=dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
