"""Reads the memories of other programs, as drafts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import yaml

from spiral.errors import UsageError
from spiral.memory.foreign_markdown import GENERATED, Passage, passages
from spiral.memory.foreign_mem0 import mem0_drafts
from spiral.model import EMPTY, Draft, utc

Shape = Literal["spiral", "mem0", "claude-code", "markdown"]

INDEX = "MEMORY.md"
_JSON = (".json", ".jsonl", ".ndjson")
_MARKDOWN = (".md", ".markdown", ".mdx", ".txt")
_WHOLE = 2_000
"""A topic file with front matter is one memory up to so many characters."""
_LINK = re.compile(r"\]\(<?([^)>#\s]+\.md)")
_FRONT = re.compile(r"\ufeff?---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\s*([\w-]+):[ \t]+(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Foreign:
    """A memory of another program, and the scope levels that it names."""

    draft: Draft
    levels: Mapping[str, str] = field(default_factory=lambda: EMPTY)


def recognise(path: Path) -> Shape:
    """What wrote a file or folder."""
    if not path.exists():
        raise UsageError(f"there is nothing at {str(path)!r} to import; check the path")
    if path.is_dir() is path.is_file():
        raise UsageError(f"{str(path)!r} is neither a file nor a folder; save what it gives to a file first")
    if any(_is_store(folder) for folder in (_memory_folder(path), *path.resolve().parents)):
        raise UsageError(f"{str(path)!r} is in a memory of Spiral's own; `spiral memory export` makes a file of it")
    if path.is_dir():
        return "claude-code" if (_memory_folder(path) / INDEX).is_file() or _topics(path) else "markdown"
    try:
        with path.open("rb") as file:
            start = file.read(65_536)
    except OSError as fault:
        raise UsageError(f"{str(path)!r} cannot be read ({fault.strerror}); check its permissions") from fault
    if b"\0" in start:
        raise UsageError(f"{str(path)!r} is not text; choose a JSON, JSONL or Markdown file, or a folder of these")
    first = start.decode(errors="replace").lstrip("\ufeff \t\r\n").partition("\n")[0]
    if _is_ours(first):
        return "spiral"
    if _is_memory(start.decode(errors="replace")):
        raise UsageError(f"{str(path)!r} is a memory of Spiral's own; put it into the folder `memories` instead")
    if path.suffix.lower() in _JSON or (path.suffix.lower() not in _MARKDOWN and first.startswith(("{", "["))):
        return "mem0"
    return "claude-code" if path.name == INDEX and _is_claude(path.parent) else "markdown"


def read_foreign(path: Path, now: datetime) -> tuple[Foreign, ...]:
    """The memories in a file or folder of another program, in the order in which they stand there.

    Bytes that are not UTF-8 are replaced. The same files give the same drafts, so a second import changes nothing.
    """
    shape = recognise(path)
    if shape == "spiral":
        raise UsageError(f"{str(path)!r} is an export of Spiral's own; it is imported as such")
    if shape == "mem0":
        source = f"file:{path.name}"
        return tuple(
            Foreign(draft=replace(draft, source=source), levels=levels)
            for draft, levels in mem0_drafts(_text(path), str(path), now)
        )
    if shape == "claude-code":
        return tuple(_claude(_memory_folder(path), now))
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"there is no Markdown file in {str(path)!r}; choose a folder that holds some")
    return tuple(foreign for file in files for foreign in _document(file, file.name, now))


def _claude(folder: Path, now: datetime) -> Iterator[Foreign]:
    """Claude Code's own notes: an index, and a file a topic. What the index says of a file, the file says better."""
    for file in _files(folder):
        name = file.relative_to(folder).as_posix()
        if name == INDEX:
            yield from _index(file, now)
        elif _front(_text(file))[0]:
            yield from _topic(file, name, now)
        else:
            yield from _document(file, name, now, shape="claude-code", tags=(_slug(file.stem),))


def _index(file: Path, now: datetime) -> Iterator[Foreign]:
    for foreign in _document(file, INDEX, now, shape="claude-code"):
        links = _LINK.findall(foreign.draft.text)
        if not links or not all((file.parent / link).is_file() for link in links):
            yield foreign


def _topic(file: Path, name: str, now: datetime) -> Iterator[Foreign]:
    """A topic with front matter is one memory; an edited one takes the place of what was imported before."""
    table, body = _front(_text(file))
    body = body.partition(GENERATED)[0].strip()
    title = table.get("name") or file.stem
    sort = table.get("type", "")
    if not body or len(body) > _WHOLE:
        yield from _document(file, name, now, shape="claude-code", tags=(*([sort] if sort else []), _slug(title)))
        return
    said = table.get("description", "")
    yield Foreign(
        draft=Draft(
            text=body if said.rstrip(".") in body else f"{said}\n\n{body}",
            kind="procedural" if sort == "feedback" else "semantic",
            key=f"claude-code/{_slug(title)}",
            tags=tuple(dict.fromkeys(tag for tag in (sort, *_headings(body)) if tag)),
            source=f"file:{name}",
            metadata={**table, "from": "claude-code"},
            learned=_written(file, now),
        )
    )


def _document(
    file: Path, name: str, now: datetime, *, shape: Shape = "markdown", tags: tuple[str, ...] = ()
) -> Iterator[Foreign]:
    learned = _written(file, now)
    for passage in passages(_front(_text(file))[1]):
        yield Foreign(
            draft=Draft(
                text=passage.text,
                kind="procedural" if passage.ordered else "semantic",
                tags=tuple(dict.fromkeys((*tags, *_heading_tags(passage)))),
                source=f"file:{name}",
                metadata={"from": shape},
                learned=learned,
            )
        )


def _headings(body: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for passage in passages(body) for tag in _heading_tags(passage)))


def _heading_tags(passage: Passage) -> tuple[str, ...]:
    slugs = (_slug(heading) for heading in passage.headings)
    return tuple(slug for slug in slugs if slug not in ("", "memory", "memory-md"))


def _front(text: str) -> tuple[dict[str, str], str]:
    """Front matter as plain texts, and what follows it. Front matter that is not quite YAML is read line by line."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    try:
        table = yaml.safe_load(found[1])
    except yaml.YAMLError:
        table = {name: value.strip("\"' ") for name, value in _FIELD.findall(found[1])}
    if not isinstance(table, dict):
        return {}, text
    inner = table.pop("metadata", None)
    whole = {**table, **inner} if isinstance(inner, dict) else table
    plain = {str(name): str(value).strip() for name, value in whole.items() if isinstance(value, str | int | float)}
    return plain, text[found.end() :]


def _files(folder: Path) -> list[Path]:
    """The Markdown files in a folder, the index first; none that a link takes elsewhere, and no memory of our own."""
    home = folder.resolve()
    found = (
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in _MARKDOWN[:3]
        and file.is_file()
        and file.resolve().is_relative_to(home)
        and not any(_is_store(parent) for parent in file.parents)
        and not _is_memory(_text(file))
    )
    return sorted(found, key=lambda file: (file.relative_to(folder).as_posix() != INDEX, file.as_posix()))


def _memory_folder(path: Path) -> Path:
    """Where the notes lie: the folder itself, the index's folder, or `memory` in a project's folder."""
    folder = path if path.is_dir() else path.parent
    return folder / "memory" if (folder / "memory" / INDEX).is_file() and not (folder / INDEX).is_file() else folder


def _topics(folder: Path) -> bool:
    return any({"name", "description"} <= set(_front(_text(file))[0]) for file in _files(folder)[:20])


def _is_claude(folder: Path) -> bool:
    return folder.name == "memory" and folder.parent.parent.name == "projects"


def _is_store(folder: Path) -> bool:
    """Whether a folder is the root of a memory of our own."""
    return (folder / "format.json").is_file() and (folder / "memories").is_dir()


def _is_memory(text: str) -> bool:
    """Whether a file's front matter is that of a memory of our own."""
    found = _FRONT.match(text.replace("\r\n", "\n"))
    names = {name for name, _ in _FIELD.findall(found[1])} if found else set()
    return {"id", "kind", "learned", "visibility"} <= names


def _is_ours(line: str) -> bool:
    try:
        table = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(table, dict) and "spiral" in table


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace").lstrip("\ufeff")
    except OSError as fault:
        raise UsageError(f"{str(path)!r} cannot be read ({fault.strerror}); check its permissions") from fault


def _written(file: Path, now: datetime) -> datetime:
    return min(datetime.fromtimestamp(int(file.stat().st_mtime), tz=UTC), utc(now))


def _slug(text: str) -> str:
    return _WORD.sub("-", text.replace("`", "").replace("_", "-").lower()).strip("-")[:60]
