"""Memories, episodes and changes as the index keeps them, and back."""

from __future__ import annotations

import json
from functools import lru_cache

from spiral.memory import codec
from spiral.memory.words import terms
from spiral.model import AUTHORITIES, Change, Episode, Scope, Statement
from spiral.ports import Entry, Relation, Row


def of_memory(memory: Statement, path: str) -> Entry:
    """A memory's entry. Its key, tags, entities and files are searched as words too."""
    searched = terms(" \n ".join((memory.text, memory.key, *memory.tags, *memory.entities, *memory.files)))
    points: list[tuple[Relation, str]] = [
        *(("supersedes", target) for target in memory.supersedes),
        *(("links", target) for target in memory.links),
        *(("conflicts", target) for target in memory.conflicts),
        *(("derives", item.source) for item in memory.evidence if item.source),
    ]
    return Entry(
        id=memory.id,
        type="memory",
        scope=memory.scope,
        owner=memory.owner,
        visibility=memory.visibility,
        path=path,
        at=codec.micros(memory.learned),
        body=codec.to_json(codec.statement_to(memory)),
        text=memory.text,
        kind=memory.kind,
        slot=codec.slot(memory),
        digest=codec.twin(memory.text, memory.kind, memory.key, (memory.scope, memory.owner, memory.visibility)),
        key=memory.key,
        session=memory.session,
        source=memory.source,
        authority=AUTHORITIES.index(memory.authority),
        hidden=bool(memory.quarantine),
        words=" ".join(searched.words),
        exact=" ".join(searched.exact),
        anchors=anchors(memory),
        points=tuple(points),
    )


def anchors(memory: Statement) -> tuple[str, ...]:
    """Entities, files and commits in one spelling; a file also by its name alone."""
    files = [file.lower() for file in memory.files]
    names = [file.rsplit("/", 1)[-1] for file in files]
    return tuple(dict.fromkeys([*(entity.lower() for entity in memory.entities), *files, *names, *memory.commits]))


def of_episode(episode: Episode, path: str) -> Entry:
    """An episode's entry; a note of what was served is kept and never found by its words."""
    searched = terms(episode.text)
    return Entry(
        id=episode.id,
        type="episode",
        scope=episode.scope,
        owner=episode.owner,
        visibility=episode.visibility,
        path=path,
        at=codec.micros(episode.at),
        body=codec.to_json(codec.episode_to(episode)),
        text="" if episode.served else episode.text,
        session=episode.session,
        source=episode.source,
        words=" ".join(searched.words),
        exact=" ".join(searched.exact),
    )


def of_change(change: Change, path: str) -> Entry:
    """A change's entry: it is found by what it points at."""
    return Entry(
        id=change.id,
        type="change",
        scope=Scope(),
        owner=change.by,
        visibility="team",
        path=path,
        at=codec.micros(change.at),
        body=codec.to_json(codec.change_to(change)),
        points=tuple(("changes", target) for target in change.targets),
    )


def memory_of(row: Row) -> Statement:
    """The memory in a row of the index."""
    return memory_in(row.body)


@lru_cache(maxsize=4_096)
def memory_in(body: str) -> Statement:
    """The memory in a body; kept, because the page and the rules read the same ones again and again."""
    return codec.statement_from(json.loads(body), default=BLANK)


def episode_of(row: Row) -> Episode:
    """The episode in a row of the index."""
    return codec.episode_from(json.loads(row.body))


def change_of(row: Row) -> Change:
    """The change in a row of the index."""
    return codec.change_from(json.loads(row.body))


BLANK = Statement(id="m-blank", text="-", kind="semantic", scope=Scope(), owner="", learned=codec.EPOCH)
