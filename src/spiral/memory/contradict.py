"""Tells when two statements seem to contradict one another, without a model; in doubt they do not."""

from __future__ import annotations

import re

from spiral.memory.echo import turned
from spiral.memory.opposites import opposed
from spiral.memory.stems import CALENDAR, TOKEN, WRAPPERS, Said, is_exact, said, stem

LOOKED_AT = 600
"""Statements are sentences; of a longer text only this much is compared."""

_PAST = re.compile(r"\b(?:used to|formerly|previously|originally|back then|in the past)\b", re.IGNORECASE)
_DATED = re.compile(r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b")
_SPAN = re.compile(
    r"\b(\d{1,9}(?:\.\d{1,6})?) ?(ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?)\b",
    re.IGNORECASE,
)
_SECONDS = {
    "ms": 0.001,
    "mil": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "hou": 3600.0,
    "day": 86400.0,
    "wee": 604800.0,
}
_SWITCHED = (
    (re.compile(r"\b(is|are|turned|switched|set to) on(?= (?:for|in|by)\b|\W*$)", re.IGNORECASE), r"\1 enabled"),
    (re.compile(r"\b(is|are|turned|switched|set to) off\b", re.IGNORECASE), r"\1 disabled"),
    (re.compile(r"\b(is|are) up(?=\W*$)", re.IGNORECASE), r"\1 online"),
    (re.compile(r"\b(is|are) down(?=\W*$)", re.IGNORECASE), r"\1 offline"),
)
_ARTICLES = frozenset(("a", "an", "the"))
_PLACES = frozenset(("in", "on", "at", "to", "with", "by", "for", "from", "under", "as", "of", "after", "before"))
_BE = frozenset(("is", "are", "be", "=", "was"))
_EVENT = re.compile(
    r"\b(?:fixed|visited|bought|adopted|met|saw|reviewed|released|found|watched|closed|merged|went|failed|passed|"
    r"added|removed|finished|attended|tried|ate|moved|sold|won|lost)\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:supports?|owns?|loves?|likes?|enjoys?|knows?|speaks?|plays?|accepts?|reads?|writes?|includes?|contains?|"
    r"imports?|depends?|edit|touch)\b",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"\b(?:lives?|works?|runs?|listens?|starts?|ends?|happens?|expires?|defaults?|based|located|hosted|stored|written|"
    r"built|deployed?s?|logged|terminated|scheduled|kept|set|owned|led|maintained|managed|named|called|due|born)\b",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"\b(?:name|branch|version|colou?r|default|favou?rite|owner|limit|region|address|framework|database|language|"
    r"editor|license|licence|format|maintainer|lead|manager|port|host|role|status|theme|timezone|currency|"
    r"indentation)\b",
    re.IGNORECASE,
)
_IDLE = frozenset(("all", "decid", "run", "longer", "back", "allow")) | WRAPPERS


def contradicts(one: str, other: str) -> str:
    """Why two statements seem to contradict one another, or "": a negation, an opposite, another value."""
    one, other = _levelled(one), _levelled(other)
    if bool(_PAST.search(one)) != bool(_PAST.search(other)) or _on_other_days(one, other):
        return ""
    first, second = said(one), said(other)
    if not set(first.words) & set(second.words):
        return ""
    return _by_opposite(first, second) or _by_negation(first, second) or _by_value(one, other)


def _levelled(text: str) -> str:
    """The statement with switches spelled out and times in seconds: 30 minutes and 1800 seconds are one value."""
    text = text[:LOOKED_AT].strip()
    for pattern, written in _SWITCHED:
        text = pattern.sub(written, text)
    return _SPAN.sub(lambda match: f"{float(match[1]) * _factor(match[2].lower()):g}sec", text)


def _factor(unit: str) -> float:
    return _SECONDS.get(unit, _SECONDS.get(unit[:3], 1.0))


def _on_other_days(one: str, other: str) -> bool:
    here, there = set(_DATED.findall(one)), set(_DATED.findall(other))
    return bool(here and there and here != there)


def _odd(one: Said, other: Said) -> list[str]:
    return [word for word in dict.fromkeys(one.words) if word not in other.words]


def _by_opposite(first: Said, second: Said) -> str:
    """One word stands against its opposite and all else is the same, with the same negation."""
    mine, theirs = _odd(first, second), _odd(second, first)
    pairs = [(here, there) for here in mine for there in theirs if opposed(here, there)]
    if len(pairs) != 1 or bool(first.denied) != bool(second.denied):
        return ""
    rest = (set(mine) | set(theirs)) - set(pairs[0]) - _IDLE
    return "" if rest else f"opposite: {pairs[0][0]}/{pairs[0][1]}"


def _by_negation(first: Said, second: Said) -> str:
    """What one affirms the other denies, and neither speaks of anything else."""
    words = turned(first, second)
    odd = (set(_odd(first, second)) | set(_odd(second, first))) - _IDLE
    return (
        f"negation: {', '.join(words)}" if words and not odd and len(set(first.words) & set(second.words)) > 1 else ""
    )


def _by_value(one: str, other: str) -> str:
    """The same is said of the same, but for one value of the same sort in the same place."""
    if any(pattern.search(text) for pattern in (_EVENT, _MANY) for text in (one, other)):
        return ""
    here, there = _tokens(one), _tokens(other)
    start = _alike(here, there)
    end = _alike(here[start:][::-1], there[start:][::-1])
    mine, theirs = here[start : len(here) - end], there[start : len(there) - end]
    before, after = here[:start], here[len(here) - end :] if end else []
    if not (1 <= len(mine) <= 3 and 1 <= len(theirs) <= 3) or not _one_at_a_time(before, after, mine, theirs):
        return ""
    return f"value: {' '.join(mine)}/{' '.join(theirs)}"


def _tokens(text: str) -> list[str]:
    return [token for token in TOKEN.findall(text) if token.lower() not in _ARTICLES]


def _alike(one: list[str], other: list[str]) -> int:
    """How many words from the start are the same."""
    count = 0
    for here, there in zip(one, other, strict=False):
        if stem(here) != stem(there):
            break
        count += 1
    return count


def _one_at_a_time(before: list[str], after: list[str], mine: list[str], theirs: list[str]) -> bool:
    """Whether what stands around the two values makes them exclude one another."""
    sorts = _sort(mine, before), _sort(theirs, before)
    if "" in sorts or not before:
        return False
    lead, last = " ".join(before), before[-1].lower()
    held = bool(_HELD.search(lead)) and (last in _PLACES or sorts == ("number", "number"))
    chosen = before[0].lower() == "use" or "use" in [stem(word) for word in before]
    if chosen:
        return bool(after) and after[0].lower() in _PLACES and sorts[0] == sorts[1]
    if sorts in (("number", "number"), ("day", "day")):
        return _states(lead) or held or bool(after) or last in _PLACES
    if held and len(mine) == len(theirs) == 1:
        return True
    if sorts == ("name", "name"):
        return held or any(word.lower() in _BE for word in before) or lead.lower().endswith("returns")
    return last in _BE and bool(_ATTRIBUTE.search(lead)) and len(mine) == len(theirs) == 1


def _states(lead: str) -> bool:
    return any(word in _BE for word in lead.lower().split())


def _sort(value: list[str], before: list[str]) -> str:
    """What sort of value it is: a number, a day, a name or a plain word; "" for a mixture or a phrase."""
    sorts = {_sort_of(token, first=not before) for token in value}
    return sorts.pop() if len(sorts) == 1 else ""


def _sort_of(token: str, *, first: bool) -> str:
    reduced = stem(token)
    if reduced[:1].isdigit():
        return "number"
    if reduced in CALENDAR:
        return "day"
    if token.lower() in _PLACES or token.lower() in _BE:
        return ""
    return "name" if is_exact(token, first=first) else "word"
