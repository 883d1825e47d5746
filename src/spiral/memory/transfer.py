"""Everything in a scope as JSON lines, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spiral.errors import UsageError
from spiral.memory import codec, entries, sync
from spiral.memory.foreign import read_foreign, recognise
from spiral.memory.remember import LONGEST, remember, save, save_change
from spiral.memory.served import keep
from spiral.memory.store import Store
from spiral.model import Change, Episode, Scope, Statement
from spiral.ports import Row

FORMAT = 1

Line = Statement | Episode | Change


def export(store: Store, scope: Scope) -> Iterator[str]:
    """One line a memory, change and episode that the caller may see, retired too; the first line says what it is."""
    store.use()
    yield json.dumps({"spiral": "export", "format": FORMAT})
    ids: set[str] = set()
    for kind in ("memory", "episode"):
        view = store.view(scope, types=(kind,), live=False, hidden=True)
        for row in store.index.select("type", [kind], view=view):
            ids.add(row.id)
            yield f'{{"type":"{kind}","{kind}":{row.body}}}'
    for row in store.index.select("type", ["change"]):
        change = entries.change_of(row)
        if ids & set(change.targets):
            ids.add(row.id)
            yield f'{{"type":"change","change":{row.body}}}'


def take_in(store: Store, path: Path, levels: Mapping[str, str | None]) -> dict[str, int]:
    """Import a file or folder into a scope; how many of each were new. A second import changes nothing.

    Everything is read before anything is written, so a line that is wrong leaves the store as it was.
    """
    scope = store.home(levels)
    if not path.exists():
        raise UsageError(f"there is no file {str(path)!r} to import")
    store.use()
    if recognise(path) != "spiral":
        return take_foreign(store, path, scope)
    lines = moved(read_export(path), scope, levels)
    tally = {"memories": 0, "changes": 0, "episodes": 0}
    elsewhere = 0
    with store.index.atomic():
        for line in lines:
            if there := store.index.get([line.id]):
                elsewhere += not isinstance(line, Change) and scope_of(there[line.id]) != line.scope
            else:
                tally[take(store, line)] += 1
    if elsewhere and not any(tally.values()):
        raise UsageError(
            f"all of {str(path)!r} is in this store already, {elsewhere} of it in another scope than {scope}, where it "
            "stays: an id stands for one scope; import it into a store of its own (--root FOLDER)"
        )
    apart = sum(1 for line in lines if not isinstance(line, Change) and line.scope.app not in ("", scope.app))
    return tally | ({"of other apps": apart} if apart else {})


def scope_of(row: Row) -> Scope:
    """Whose an entry of the index is."""
    return (entries.memory_of(row) if row.type == "memory" else entries.episode_of(row)).scope


def read_export(path: Path) -> list[Line]:
    """Every line of our own export; the first one that is wrong is named with its number."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as fault:
        raise UsageError(f"{str(path)!r} cannot be read ({fault.strerror}); check its permissions") from fault
    lines = [line.strip("\ufeff \t\r") for line in text.split("\n")]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    form = json.loads(numbered[0][1]).get("format")
    if not isinstance(form, int) or form < 1:
        raise UsageError(f"{path}:{numbered[0][0]} has format {form!r}, which is none; export it again")
    if form > FORMAT:
        raise UsageError(f"{str(path)!r} was exported by a newer Spiral; upgrade this one")
    return [read_line(line, f"{path}:{number}") for number, line in numbered[1:]]


def read_line(raw: str, where: str) -> Line:
    """One line of our own export."""
    try:
        table = json.loads(raw)
        kind = table["type"]
        body = table[kind]
        line: Line
        if kind == "memory":
            line = codec.statement_from(body, default=entries.BLANK)
        elif kind == "change":
            line = codec.change_from(body)
        elif kind == "episode":
            line = codec.episode_from(body)
        else:
            raise KeyError(kind)
        if not codec.ID.fullmatch(line.id):
            raise UsageError(f"the id {line.id!r} is none")
    except UsageError as fault:
        raise UsageError(f"{where}: {fault}; nothing was imported") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise UsageError(f"{where} is not a line of a Spiral export; nothing was imported") from None
    return line


def moved(lines: Sequence[Line], scope: Scope, levels: Mapping[str, str | None]) -> list[Line]:
    """The lines in the scope that they are imported into: the levels that were named, and the app if they have but one.

    An export of several apps keeps them apart unless the caller names one.
    """
    apps = {line.scope.app for line in lines if not isinstance(line, Change) and line.visibility != "org"} - {""}
    named = {level: value for level, value in scope.levels().items() if levels.get(level) is not None}
    if len(apps) == 1:
        named["app"] = scope.app

    def at_home(line: Line) -> Line:
        if isinstance(line, Change) or (line.scope.app not in apps and "app" not in levels):
            return line
        return replace(line, scope=replace(line.scope, **named))

    return [at_home(line) for line in lines]


def take(store: Store, line: Line) -> str:
    """Write one line of an export; what it is. Inside `atomic`."""
    if isinstance(line, Statement):
        save(store, line)
        return "memories"
    if isinstance(line, Change):
        save_change(store, line)
        return "changes"
    keep(store, [line])
    sync.judge(store.index, sync.Touched(ids={line.id}), store.clock())
    return "episodes"


def take_foreign(store: Store, path: Path, scope: Scope) -> dict[str, int]:
    """Another program's memories, each through the same door as any other."""
    tally = {"memories": 0, "already there": 0}
    found = read_foreign(path, store.clock())
    for item in found:
        if len(item.draft.text) > LONGEST:
            raise UsageError(
                f"{path} holds a memory of {len(item.draft.text):,} characters ({item.draft.text[:40]!r}…); "
                "ingest it as an episode instead; nothing was imported"
            )
    for item in found:
        levels: dict[str, str | None] = {**scope.levels(), **item.levels}
        outcome = remember(store, item.draft, store.home(levels)).outcome
        tally["memories" if outcome == "added" else "already there"] += 1
    return tally
