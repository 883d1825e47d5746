"""Everything in a scope as JSON lines, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from spiral.errors import UsageError
from spiral.memory import codec, entries
from spiral.memory.foreign import read_foreign, recognise
from spiral.memory.remember import remember, save, save_change
from spiral.memory.served import keep
from spiral.memory.store import Store
from spiral.model import Scope

FORMAT = 1


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


def take_in(store: Store, path: Path, scope: Scope) -> dict[str, int]:
    """Import a file or folder; how many of each were new. A second import changes nothing."""
    if not path.exists():
        raise UsageError(f"there is no file {str(path)!r} to import")
    store.use()
    if recognise(path) != "spiral":
        return take_foreign(store, path, scope)
    tally = {"memories": 0, "changes": 0, "episodes": 0}
    lines = path.read_text("utf-8", errors="replace").splitlines()
    if json.loads(lines[0]).get("format", 0) > FORMAT:
        raise UsageError(f"{str(path)!r} was exported by a newer Spiral; upgrade this one")
    with store.index.atomic():
        for number, line in enumerate(lines[1:], 2):
            if line.strip():
                take_line(store, line, f"{path}:{number}", tally)
    return tally


def take_line(store: Store, line: str, where: str, tally: dict[str, int]) -> None:
    """One line of our own export; what is there already stays as it is."""
    try:
        table = json.loads(line)
        body = table[table["type"]]
        known = store.index.get([body["id"]])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{where} is not a line of a Spiral export") from None
    if known:
        return
    if table["type"] == "memory":
        save(store, codec.statement_from(body, default=entries.BLANK))
        tally["memories"] += 1
    elif table["type"] == "change":
        save_change(store, codec.change_from(body))
        tally["changes"] += 1
    else:
        keep(store, [codec.episode_from(body)])
        tally["episodes"] += 1


def take_foreign(store: Store, path: Path, scope: Scope) -> dict[str, int]:
    """Another program's memories, each through the same door as any other."""
    tally = {"memories": 0, "already there": 0}
    for item in read_foreign(path, store.clock()):
        levels: dict[str, str | None] = {**scope.levels(), **item.levels}
        outcome = remember(store, item.draft, store.home(levels)).outcome
        tally["memories" if outcome == "added" else "already there"] += 1
    return tally
