"""The rules for what a person states: wishes, corrections, decisions and facts, from sentences in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spiral.memory.distill_facts import Fact, fact
from spiral.memory.junk import junk
from spiral.memory.sentences import sentences
from spiral.memory.stems import STOP, TOKEN, said
from spiral.model import Authority, Kind

_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|and|but|also|btw|by the way|anyway|yeah|yes|yep|oh|ah|hey|hi|hello|please|"
    r"quick context|context|background|for context|now|plus|in general|generally|honestly|basically|alright|great|"
    r"(?:thanks?|thank you)(?: for \w+)?|cool)\b[,:;!.–—-]*\s+)+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r",? (?:by the way|btw|fyi|please|thanks|thank you|ok(?:ay)?|final answer)[.!]*$", re.IGNORECASE)
_TAG = re.compile(r",? (?:ok(?:ay)?|right|yes|please|alright|deal)\?+$", re.IGNORECASE)
_ASKED = re.compile(
    r"[,;:–—-]\s*(?:so |and |but |then )?(?:can|could|would|will|do|does|did|should|is|are|what(?:'s)?|how|why|which|"
    r"where|any|please|have|who|when)\b[^,]*(?:,[^?]*)?\?\s*$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[,;:–—-]\s+(?:(?:so|and|but|then|now) )*|\s(?:so|and|but) (?:now )?)(?:(?:can|could|would|will) you\b|"
    r"should i\b|do you\b|how (?:do|can|should)\b|what (?:are|is|should)\b|i(?:'m| am| was) (?:kinda |also |just |"
    r"now )?(?:wondering|not sure|unsure|curious|thinking,)|i(?:'d| would) (?:love|like|appreciate) (?:to (?:know|"
    r"hear|get|see)|some|any|your)\b|i(?: also)? need (?:help|advice|some)\b|i want to (?:make sure|know)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
"""A request that hangs on to a statement."""
_PLAYS = re.compile(
    r"\b(?:i want you to act as|act as an?\b|pretend (?:to be|that)|you (?:are|will be) an? [\w ]{2,60}(?:expert|"
    r"assistant|writer|instructor|teacher|bot|translator|coach|model)\b|ignore (?:all|any) previous)",
    re.IGNORECASE,
)
"""Opens a prompt that sets up a role: what it demands holds for that prompt alone."""
_BARE_NO = re.compile(
    r"^(?:no|nope|nah|wrong|incorrect|not quite|that(?:'s| is| was) (?:not (?:right|correct|true)|wrong|"
    r"incorrect))[.!,]*$",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"^(?:please )?(?:(?:remember|keep in mind|bear in mind|note|make a note|take note|don't forget|do not forget|"
    r"be aware|for (?:future |your |later )?reference|for the record|fyi|heads[- ]up|just so you know|"
    r"nb)\b(?:,? (?:that|this))?|(?:important|convention|reminder|rule|policy)(?=:))\s*[:,–—-]?\s+(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_NO_MEMORY = re.compile(
    r"^(?:when|me\b|how|the time|what|if (?:you|i)|us\b|our (?:talk|chat|conversation))", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"^(?:no|nope|nah|wrong|incorrect|not quite|not really|actually|correction|sorry|you(?:'re| are) wrong|i (?:meant|"
    r"said)|that(?:'s| is| was) (?:not (?:right|correct|true|quite right|what i (?:said|meant|asked)(?: for)?)|wrong|"
    r"incorrect))\b[\s,.:;!–—-]+(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_SOFT = re.compile(r"^(?:actually|sorry|i (?:meant|said))\b", re.IGNORECASE)
"""Begins a correction, and as often something else: it counts where what it corrects is known."""
_CORRECTS = re.compile(
    r"^(?:please |just |you should |we )*(?:use|it's|it is|it should|that's|should|our|the|don't|do not|never|always|"
    r"put|run|call|set|make it|keep|name it|we|my|this|releases?|deploys?|tests?|\w+s (?:are|go|live|run|belong)\b)",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    r"^not (?P<old>[^,;]{1,60})[,;] (?:but )?(?P<what>(?:use|it's|it is|the|we|put|call) .+)$", re.IGNORECASE
)
_NOT_OLD = re.compile(r",? (?:and )?(?:not|instead of|rather than) (?P<old>[^,.;]{1,60})[.!]*$", re.IGNORECASE)
_PREFERS = re.compile(
    r"\bi(?:'d| would)? (?:(?:really|strongly|generally|usually|much|always|still|personally) )*(?:prefer|rather)\b|"
    r"\bi (?:(?:really|absolutely) )?(?:hate|dislike|can't stand|don't like|do not like|don't want you to)\b|"
    r"\bmy (?:preference|preferred [\w ]{1,30}|fav(?:ou?)?rite [\w ]{1,40}) (?:is|are)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(r"\bi(?:'d| would)? (?:always )?(?:want|like|need|expect) you to\b", re.IGNORECASE)
_RULE = re.compile(
    r"^(?:always|never|from now on(?!,? you are)|going forward|in (?:the )?future,|whenever|every time|avoid)\b|"
    r"^(?:do not|don't|stop) (?:ever )?(?:commit|push|merg|deploy|edit|touch|modify|install|delet|renam|import|mock|"
    r"skip|forc|hard-?cod|disabl|upgrad|bump|rely)\w{0,4}\b",
    re.IGNORECASE,
)
_WORK_RULE = re.compile(
    r"^(?:make sure|ensure|be sure|only (?:use|run|edit))\b.{0,200}\b(?:always|every|each|never|whenever|before|"
    r"after)\b|^(?:do not|don't|stop) (?:ever )?(?:change|chang|us|add|run|runn|remov|writ|creat|log|break|put|mix|"
    r"stor|call|assum)\w{0,4}\b",
    re.IGNORECASE,
)
"""Asked for in a text as often as in a project: a rule only where it speaks of work on code."""
_USE = re.compile(
    r"^use .{2,120}\b(?:instead of|rather than|not|over|for all|everywhere|by default|(?:in|for|across) (?:this|"
    r"the whole|our|the entire) (?:repo|repository|project|codebase|code base|team))\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:must(?: not| never)?|should(?: always| never| not|n't)|(?<!i )(?:always|never)|may not|(?:is|"
    r"are) not allowed|(?:is|are) forbidden)\b|\byou should\b.{1,80}\b(?:before|after|every|each|whenever)\b",
    re.IGNORECASE,
)
_FOR_WORK = re.compile(
    r"`|\w/\w|\b(?:tests?|commit\w*|branch\w*|main|deploy\w*|code|files?|migrations?|configs?|database|db|builds?|api|"
    r"repo\w*|prs?|merg\w+|releases?|push\w*|servers?|endpoints?|modules?|comments?|docs?|schemas?|quer(?:y|ies)|"
    r"dependenc\w+|packages?|lint\w*|format\w*|logs?|secrets?|tokens?|production|staging|ci|network|errors?|"
    r"exceptions?|imports?|variables?|edit\w*|install\w*|scripts?|bash|sql|json|uv|pip|npm|git)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:for now|this time|yet|right now|at the moment|just now|in this (?:function|case|message|essay|poem|story|"
    r"text|one|example)|worry|give up|bother)\b",
    re.IGNORECASE,
)
_LETS = re.compile(
    r"^(?:let's|lets|let us) (?P<what>(?:go with|use|stick (?:with|to)|switch to|move to|migrate to|adopt|pick|choose|"
    r"standardi[sz]e on|drop)\b.+)$",
    re.IGNORECASE | re.DOTALL,
)
_DECIDED = re.compile(
    r"\b(?:we|the team)(?:'ve| have)? (?:(?:all|finally|now|just) )*(?:decided|agreed|chose|settled on|opted)\b|"
    r"^(?:after [^,]{1,60}, )?i(?:'ve| have)? (?:(?:finally|now|just) )*(?:decided|chose|settled on|opted)\b|\b(?:we|"
    r"the team)(?:'re| are| is|'ll| will) (?:(?:now|going to) )*(?:going with|go with|use|using|switch(?:ing)? to|"
    r"mov(?:e|ing) to|migrat(?:e|ing) to|drop(?:ping)?|adopt(?:ing)?|stick(?:ing)? (?:with|to))\b|^decision:",
    re.IGNORECASE,
)
_OPEN_CHOICE = re.compile(
    r"^(?:go with|use|stick with|stick to|pick|choose|adopt|drop) (?:(?:the )?(?:option|first|second|third|last|"
    r"latter|former|other|same)\b|that|this|it|them|these|those|yours?|\w$|\d)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|there|him|her|them|one)(?:'s|'re|'ll)?\b", re.IGNORECASE
)
_PERSONAL = ("event", "identity", "life")
_SELF = re.compile(r"\b(?:i|my|me|mine|i'm|i've|i'd|i'll|myself)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """Something that was stated, with the words that show it."""

    text: str
    quote: str
    """The verbatim part of the episode that supports it."""
    rule: str
    kind: Kind = "semantic"
    authority: Authority = "observed"
    key: str = ""


def stated(spoken: Sequence[str], *, answered: str, speaker: str, with_agent: bool) -> list[Stated]:
    """What a person states in these sentences; `answered` is what an assistant had just said."""
    found: list[Stated] = []
    refused = False
    with_agent = with_agent and not any(_PLAYS.search(sentence) for sentence in spoken[:3])
    for sentence in spoken:
        if _BARE_NO.match(sentence):
            refused = True
            continue
        text = _statement(sentence)
        if text:
            statement = _first(text, answered, refused=refused, with_agent=with_agent)
            if statement is not None:
                found.append(_finished(statement, sentence, speaker))
        refused = False
    return found


def _statement(sentence: str) -> str:
    """The sentence without what leads into it and without the question at its end; "" where it only asks."""
    text = _TAG.sub("", sentence.replace("’", "'").strip())
    if text.rstrip("\"')* ").endswith("?"):
        match = _ASKED.search(text)
        if match is None:
            return ""
        text = text[: match.start()]
    return _TAIL.sub("", _ASIDE.sub("", _LEAD.sub("", text))).strip(" ,;:–—-")


def _first(text: str, answered: str, *, refused: bool, with_agent: bool) -> Fact | None:
    """The first rule that applies; among people alone nobody is instructed, so that only facts are left."""
    found = None
    if with_agent:
        found = _remembered(text) or _corrected(text, answered, refused=refused)
        found = found or _wished(text) or _ruled(text) or _decided(text)
    if found is None:
        plain = re.sub(r"^(?:no|nope|actually|sorry)[,.:;]\s+", "", text, flags=re.IGNORECASE)
        found = fact(plain, with_agent=with_agent)
    return found if found is not None and _stands_alone(found) else None


def _finished(found: Fact, sentence: str, speaker: str) -> Stated:
    text = found.text[:1].upper() + found.text[1:]
    if speaker:
        text = f"{speaker}: {text}"
    elif found.rule in _PERSONAL or _SELF.search(found.text.split(' (corrects: "')[0]):
        text = f"User: {text}"
    key = (
        found.key.replace("user/", f"{speaker.lower()}/", 1) if speaker and found.key.startswith("user/") else found.key
    )
    return Stated(text=text, quote=sentence, rule=found.rule, kind=found.kind, authority=found.authority, key=key)


def _stands_alone(found: Fact) -> bool:
    """Whether somebody could tell later what was meant; a correction carries with it what "it" is."""
    carrying = {token.lower() for token in TOKEN.findall(found.text) if token.lower() not in STOP}
    if len(carrying) < 2 or junk(found.text):
        return False
    return found.rule == "correction" or not _POINTS_BACK.match(found.text)


def _remembered(text: str) -> Fact | None:
    match = _REMEMBER.match(text)
    if match is None or _NO_MEMORY.match(match["what"]):
        return None
    what = match["what"]
    to_do = what.lower().startswith("to ")
    lasting = to_do or bool(_RULE.match(what) or _MODAL.search(what))
    plain = fact(what, with_agent=True)
    return Fact(
        text=what[3:] if to_do else what,
        rule="remember",
        kind="procedural" if lasting else plain.kind if plain else "semantic",
        authority="directive",
        key=plain.key if plain else "",
    )


def _corrected(text: str, answered: str, *, refused: bool) -> Fact | None:
    """A correction carries what it corrects, where that is known; without, "it's 9090" says nothing."""
    inverted = _NOT_BUT.match(text)
    match = inverted or _CORRECTION.match(text)
    what = match["what"] if match else text if refused else ""
    if not what or not (inverted or _CORRECTS.match(what)):
        return None
    old = inverted["old"] if inverted else (said_old["old"] if (said_old := _NOT_OLD.search(what)) else "")
    wrong = _what_was_said(answered, what, old)
    if not wrong and (_POINTS_BACK.match(what) or (_SOFT.match(text) and not old)):
        return None
    context = f' (corrects: "{wrong}")' if wrong else ""
    text = f"{what}, not {old}" if inverted else what
    kind: Kind = (
        "procedural" if re.match(r"(?:use|don't|do not|never|always|put|run)\b", what, re.IGNORECASE) else "semantic"
    )
    return Fact(text=text.rstrip(".!") + context, rule="correction", kind=kind, authority="directive")


def _what_was_said(answered: str, what: str, old: str) -> str:
    """The sentence that is corrected: the one that names the old value, or shares most words, or stands alone."""
    candidates = [" ".join(sentence.split()) for sentence in sentences(answered)][:60]
    candidates = [sentence for sentence in candidates if len(sentence.split()) >= 3 and len(sentence) <= 200]
    if old:
        named = [sentence for sentence in candidates if old.strip("`'\" .").lower() in sentence.lower()]
        if named:
            return named[0]
    words = set(said(what).words)
    best = max(candidates, key=lambda sentence: len(words & set(said(sentence).words)), default="")
    return best if best and (len(candidates) == 1 or words & set(said(best).words)) else ""


def _wished(text: str) -> Fact | None:
    if _PREFERS.search(text) or (
        _WANTS.search(text) and re.search(r"\b(?:always|never|before|every|whenever|unless|not)\b", text, re.IGNORECASE)
    ):
        return Fact(text=text, rule="preference", kind="semantic", authority="directive")
    return None


def _ruled(text: str) -> Fact | None:
    if _PASSING.search(text) or text.lower().startswith(("i ", "i'", "my ")):
        return None
    ordered = _RULE.match(text) or _USE.match(text)
    for_work = len(text) <= 240 and _FOR_WORK.search(text) is not None
    if ordered or (for_work and (_WORK_RULE.match(text) or _MODAL.search(text))):
        return Fact(text=text, rule="rule", kind="procedural", authority="directive")
    return None


def _decided(text: str) -> Fact | None:
    lets = _LETS.match(text)
    if lets:
        if _OPEN_CHOICE.match(lets["what"]):
            return None
        return Fact(text=f"decided to {lets['what']}", rule="decision", kind="semantic", authority="directive")
    if _DECIDED.search(text):
        return Fact(text=text, rule="decision", kind="semantic", authority="directive")
    return None
