"""Reduces words to what they share, so that two ways of saying a thing can be compared without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

TOKEN = re.compile(r"`[^`\n]{1,200}`|[^\W_](?:[\w./:@+#'’-]{0,80}[\w#+])?|/[\w./-]{1,100}\w")

_GRAMMAR = """
a about again also although am an and any are as at be because been being but by can could did do does doing done each
either even ever every for from get gets getting go goes going got had has have having he her here hers him his how i
if in into is it its just like make makes many may me might more most much must my need of on one's onto or other our
ours own per place please rather really same say says she should so some still such take takes than that the their
them then there these they this those through to too until up upon us very via want was we well were what when where
which while who whom whose why will with within would you your yours yet i'm i've i'd i'll we're we've we'll it's
that's you're they're there's let's let now s t re ve ll d m user everything something thing things way lot bit kind
sort happen happens happened went gone
"""
STOP = frozenset(_GRAMMAR.split())
"""Words that carry the grammar, without those that can turn a meaning round: after, off, over, only, not, never."""

_WRAPPING = """
accord accordingly ask asked check checked earlier expect expected know known mention mentioned memory memories mind
note noted previously recall recalled record remember remembered remind said state stated tell told understand
understood okay ok sure mentioned keep team project currently about approximately roughly always
"""
WRAPPERS = frozenset(_WRAPPING.split())
"""Words that people put around what they repeat: "as you told me, …", "I recall that …"."""

_NEGATING = """
not no never none neither nor without cannot nothing nobody nowhere avoid avoids avoiding stop stopped quit against
don't doesn't didn't isn't aren't wasn't weren't won't can't couldn't shouldn't mustn't hasn't haven't hadn't wouldn't
ain't needn't dont doesnt didnt isnt cant wont dropped
"""
NEGATORS = frozenset(_NEGATING.split())
_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_NUMBERS = _COUNTING.split()
_SYNONYMS = """
database db datastore
repository repo
config configuration setting settings
environment env
directory folder dir
production prod
kubernetes k8s
postgres postgresql pg
javascript js
typescript ts
python py
authentication auth
dependency dep
package pkg
document docs doc documentation
use utilize utilise employ
prefer favour favor
start begin commence
fix repair resolve
fail break crash
delete remove
create add
large big
buy purchase
need require necessary
ship release
folder directory
child kid
mother mom mum
father dad
own owner
forbid forbidden prohibit ban disallow
hold live store keep locate
message msg
night nightly
day daily
week weekly
hour hourly
month monthly
direct directly
move relocate
answer reply respond response
error failure
quick fast
""".strip().splitlines()

Word = str


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A sentence reduced to its words: what it is about, what is denied, and what must agree to the letter."""

    words: tuple[Word, ...]
    """Stems of the words that carry meaning, in order."""
    denied: frozenset[Word]
    """Those that stand under a negation."""
    exact: frozenset[Word]
    """Numbers, identifiers, names, days and months: these cannot be paraphrased."""


_DATES = """
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
october november december first second third fourth last next
"""
CALENDAR = frozenset(_DATES.split())
_ALLOWING = frozenset(("allow", "permit", "fine", "support", "possible", "accept", "ok", "okay"))
_FORBIDDING = frozenset(("forbid",))
_LIMITS = re.compile(r"[,;:()—]|\.(?=\s|$)|\b(?:but|because|since|so|unless|except|although|and)\b", re.IGNORECASE)
_PREFERRED = re.compile(r"(\bprefer(?:s|red)?(?: \S{1,40}){1,3}?) to (?!\w+ing\b)", re.IGNORECASE)
_CONTRAST = re.compile(r"\b(?:instead of|rather than|over|no longer|any ?more|in place of)\b", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word's stem: plural, -ing, -ed, -ly and the like removed; known synonyms share one."""
    word = word.lower().strip("`'’.").replace("’", "'")
    if word in _NUMBERS:
        return str(_NUMBERS.index(word))
    if word in _SAME:
        return _SAME[word]
    if not word.isalpha():
        return word[:-2] if word.endswith("'s") else word
    cut = _cut(word)
    return _SAME.get(cut, cut)


def said(sentence: str) -> Said:
    """A sentence reduced to its words."""
    sentence = _PREFERRED.sub(r"\1 rather than ", sentence)
    words: list[str] = []
    denied: set[str] = set()
    exact: set[str] = set()
    everything = False
    for clause, negated in _clauses(sentence):
        for position, token in clause:
            reduced = stem(token)
            if is_exact(token, first=position == 0):
                exact.add(reduced)
            elif reduced in STOP or token.lower() in STOP or len(reduced) < 2:
                continue
            words.append(reduced)
            if negated:
                denied.add(reduced)
                everything = everything or reduced in _ALLOWING
            everything = everything or reduced in _FORBIDDING
    if everything:
        denied.update(words)
        words = [word for word in words if word not in _ALLOWING | _FORBIDDING]
    return Said(words=tuple(words), denied=frozenset(denied), exact=frozenset(exact))


def is_exact(token: str, *, first: bool = False) -> bool:
    """Whether a word is a number, an identifier, a name, a day or a month."""
    plain = token.strip("`'’")
    if plain.lower() in _NUMBERS or stem(plain) in CALENDAR:
        return True
    if token.startswith("`") or any(char.isdigit() or char in "_/@#+" for char in plain) or "." in plain:
        return True
    if any(char.isupper() for char in plain[1:]):
        return True
    return plain[:1].isupper() and not first and plain.lower() not in STOP


def _clauses(sentence: str) -> list[tuple[list[tuple[int, str]], bool]]:
    """The words in runs, each affirmed or denied; a negation reaches to the end of its clause."""
    runs: list[tuple[list[tuple[int, str]], bool]] = []
    position = 0
    start = 0
    for limit in [*_LIMITS.finditer(sentence), None]:
        end = limit.start() if limit else len(sentence)
        negated = False
        run: list[tuple[int, str]] = []
        for part, contrast in _contrasts(sentence[start:end]):
            if contrast:
                runs.append((run, negated))
                run, negated = [], not negated
            for token in TOKEN.findall(part):
                if token.lower().replace("’", "'") in NEGATORS:
                    runs.append((run, negated))
                    run, negated = [], not negated
                    continue
                run.append((position, token))
                position += 1
        runs.append((run, negated))
        start = limit.end() if limit else end
    return runs


def _contrasts(clause: str) -> list[tuple[str, bool]]:
    """The clause cut where it turns against what follows; "any more" turns nothing, the "not" before it does."""
    parts: list[tuple[str, bool]] = []
    start, contrast = 0, False
    for match in _CONTRAST.finditer(clause):
        parts.append((clause[start : match.start()], contrast))
        start, contrast = match.end(), not match[0].lower().startswith("any")
    return [*parts, (clause[start:], contrast)]


def _cut(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 5 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return _cut(word[:-1])
    for ending in ("ing", "ed", "ly", "er"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and any(c in "aeiouy" for c in word[: -len(ending)]):
            return _whole(word[: -len(ending)])
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    return word


def _whole(root: str) -> str:
    """A doubled consonant is undone: stopp → stop."""
    return root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root


def _same() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _SYNONYMS:
        first, *others = line.split()
        for word in (first, *others):
            table.setdefault(word, first)
            table.setdefault(_cut(word), first)
    return table


_SAME = _same()
