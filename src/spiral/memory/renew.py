"""What a restatement brings that the memory it restates has not, and the version that has both."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from spiral.model import AUTHORITIES, Draft, Statement

T = TypeVar("T")
FILE = "file:"
"""How the source of an import begins."""


def imported(draft: Draft) -> bool:
    """Whether the draft comes from another program's file."""
    return draft.learned is not None or draft.source.startswith(FILE)


def adds(held: Statement, fresh: Statement, draft: Draft) -> bool:
    """Whether a new version is due: a stronger authority, a way out of quarantine, other times, more to find it by.

    What rules or an import take to be there anew is worth its evidence alone, unless they say more; only who states
    it directly lifts an end that was set before.
    """
    if fresh.quarantine:
        return False
    if held.quarantine or AUTHORITIES.index(fresh.authority) < AUTHORITIES.index(held.authority):
        return True
    if draft.rule:
        return False
    given = [(fresh.valid_from, held.valid_from), (fresh.valid_to, held.valid_to), (fresh.expires, held.expires)]
    if any(new is not None and new != old for new, old in given):
        return True
    lifted = not imported(draft) and any(new is None and old is not None for new, old in given[1:])
    lists = ((draft.tags, held.tags), (draft.files, held.files), (draft.commits, held.commits))
    more = any(set(new) - set(old) for new, old in (*lists, (draft.links, held.links)))
    replaces = bool(set(fresh.supersedes) - {held.id, *held.supersedes})
    return lifted or more or replaces or not draft.metadata.items() <= held.metadata.items()


def renewed(held: Statement, fresh: Statement, draft: Draft) -> Statement:
    """The fresh statement with what the held one has besides; nothing is taken from quarantine."""
    if held.quarantine:
        return fresh
    stronger = AUTHORITIES.index(fresh.authority) < AUTHORITIES.index(held.authority)
    direct = not draft.rule and not imported(draft)
    return replace(
        fresh,
        authority=fresh.authority if stronger else held.authority,
        # What a stronger voice says stands by itself, also when the weaker one's source is revoked.
        evidence=fresh.evidence if stronger else joined(held.evidence, fresh.evidence),
        tags=joined(held.tags, fresh.tags),
        entities=joined(held.entities, fresh.entities),
        files=joined(held.files, fresh.files),
        commits=joined(held.commits, fresh.commits),
        links=joined(held.links, fresh.links),
        metadata={**held.metadata, **fresh.metadata},
        valid_from=fresh.valid_from or held.valid_from,
        valid_to=fresh.valid_to if direct else fresh.valid_to or held.valid_to,
        expires=fresh.expires if direct else fresh.expires or held.expires,
        learned=max(fresh.learned, held.learned + timedelta(microseconds=1)),
    )


def joined(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...]:
    """Both, each once, in order."""
    return tuple(dict.fromkeys((*one, *other)))
