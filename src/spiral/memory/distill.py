"""Distils memories from the episodes of one session by rule, without a model; learning nothing is a good outcome."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spiral.memory.dates import absolute, began
from spiral.memory.distill_commands import distill_commands
from spiral.memory.distill_said import Stated, stated
from spiral.memory.junk import junk, restates
from spiral.memory.sentences import examined, sentences
from spiral.memory.similar import spoken
from spiral.model import AUTHORITIES, Draft, Episode, Evidence

MOST = 40
"""Drafts that one episode may yield: who says more than that in one breath has pasted it."""

_SENTENCES = 300
_SPAN = re.compile(r"`([^`\n]{1,120})`")
_IDENTIFIER = re.compile(r"\b(?:[a-z0-9]+_\w+|[A-Z]+_[A-Z_0-9]+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w*)\b")
_FILE = re.compile(
    r"(?<![\w:/@.])(?:\.{0,2}/)?(?:[\w.-]{1,60}/){0,12}[\w-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,5}\b|"
    r"(?<![\w:/])(?:[\w.-]{1,60}/){1,12}(?=[\s,.;:)`]|$)"
)
_DOMAIN = re.compile(r"^[\w-]+\.(?:com|org|net|io|dev|ai|e|g|co|uk|de)$", re.IGNORECASE)
_FINDING = re.compile(
    r"\b(?:root cause|turns out|turned out|caused by|the fix (?:is|was)|fixed (?:it |this |that )?by|failed because|"
    r"fails because|broke because|the (?:culprit|reason) (?:is|was))\b",
    re.IGNORECASE,
)


def distill(episodes: Sequence[Episode]) -> tuple[Draft, ...]:
    """What one session's episodes, in order, teach: what people stated, and what tools showed to work.

    Pure: the same episodes give the same drafts. What we served to the session ourselves is never taken.
    """
    heard = [episode for episode in episodes if not episode.served and episode.role != "system"]
    commands, used = distill_commands(heard)
    roles = {episode.role for episode in heard}
    # A talk among people names its speakers; a lone message without one is said to an agent that has yet to answer.
    with_agent = roles != {"user"} or not any(_speaker(episode) for episode in heard)
    drafts: list[Draft] = []
    answered = prompt = ""
    for episode in heard:
        if episode.role == "user":
            drafts.extend(_from_person(episode, answered, with_agent=with_agent))
            prompt = episode.text
        elif episode.role == "assistant" and "tool" in roles:
            drafts.extend(_from_assistant(episode, prompt, used))
        answered = episode.text if episode.role == "assistant" else ""
    return _without_twins([*drafts, *commands])


def _from_person(episode: Episode, answered: str, *, with_agent: bool) -> Iterator[Draft]:
    found = stated(_spoken(episode.text), answered=answered, speaker=_speaker(episode), with_agent=with_agent)
    for statement in found[:MOST]:
        yield _draft(statement, episode, source=episode.source or "user")


def _from_assistant(episode: Episode, prompt: str, used: frozenset[str]) -> Iterator[Draft]:
    """What an assistant says it found out: never more than inferred, and only where it names what it speaks of."""
    for sentence in _spoken(episode.text):
        if sentence in used or not _FINDING.search(sentence) or sentence.endswith("?"):
            continue
        if not (_named(sentence) or _files(sentence)) or junk(sentence) or restates(sentence, prompt):
            continue
        statement = Stated(text=sentence, quote=sentence, rule="finding", kind="episodic", authority="inferred")
        yield _draft(statement, episode, source=episode.source or "assistant")


def _spoken(text: str) -> tuple[str, ...]:
    found = sentences(text)
    return found if len(found) <= _SENTENCES else (*found[: _SENTENCES - 50], *found[-50:])


def _speaker(episode: Episode) -> str:
    """Who speaks, where the episode's source is a person's name rather than a channel."""
    source = episode.source.strip()
    named = source and source.lower() not in ("user", "human", "me") and not re.search(r"[:/@]", source)
    return source if named else ""


def _draft(statement: Stated, episode: Episode, *, source: str) -> Draft:
    text = absolute(" ".join(statement.text.split()), episode.at)
    since = began(text, episode.at)
    return Draft(
        text=text,
        kind=statement.kind,
        key=statement.key,
        entities=_named(text),
        files=_files(text),
        authority=statement.authority,
        evidence=(Evidence(kind="quote", text=statement.quote, source=episode.id, at=episode.at),),
        source=source,
        session=episode.session,
        # What begins only later is known now: a date ahead would hide the memory until then.
        valid_from=since if since is not None and since <= episode.at else None,
        rule=statement.rule,
    )


def _named(text: str) -> tuple[str, ...]:
    """Identifiers that the text names: what stands in backticks, snake_case, camelCase, CONSTANTS."""
    spans = [span for span in _SPAN.findall(text) if " " not in span and not _files(span)]
    plain = _IDENTIFIER.findall(_SPAN.sub(" ", _FILE.sub(" ", text)))
    return tuple(dict.fromkeys([*spans, *plain]))


def _files(text: str) -> tuple[str, ...]:
    found = (match.group() for match in _FILE.finditer(examined(text)))
    return tuple(dict.fromkeys(path for path in found if not _DOMAIN.match(path)))


def _without_twins(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """What is said twice is one memory with both quotes, and as strong as the stronger."""
    kept: dict[tuple[str, ...], Draft] = {}
    for draft in drafts:
        words = spoken(draft.text)
        twin = kept.setdefault(words, draft)
        if twin is not draft:
            stronger = min(twin, draft, key=lambda one: AUTHORITIES.index(one.authority))
            kept[words] = replace(stronger, evidence=(*twin.evidence, *draft.evidence))
    return tuple(kept.values())
