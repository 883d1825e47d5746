"""The rules for plain facts that a person states about the project or about themself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spiral.memory.stems import STOP, TOKEN, is_exact
from spiral.model import Authority, Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """What a rule took from a sentence."""

    text: str
    rule: str
    kind: Kind = "semantic"
    authority: Authority = "observed"
    key: str = ""


_NAME = re.compile(
    r"\bmy name(?:'s| is) (?P<name>[A-Z][\w'-]{1,30})\b|^call me (?P<call>[A-Z][\w'-]{1,30})\b", re.IGNORECASE
)
_OWN = re.compile(
    r"^my (?P<what>e-?mail(?: address)?|time ?zone|birthday|pronouns)(?: is| are|'s) \S[^,;]{0,60}$", re.IGNORECASE
)
_SELF = re.compile(
    r"\bi(?:'m| am) (?:(?:currently|also|now|originally|still) )*(?:(?:a|an|the) (?!bit|little|lot|huge fan|big fan|"
    r"fan)(?:[\w-]+ ){0,4}?\w+|based|located|from|living|born|allergic|married|engaged|divorced|vegetarian|vegan|"
    r"\d{1,2} years old)\b|\bi (?:currently )?(?:work|live|study|teach|volunteer) (?:at|for|as|in|with|on)\b|"
    r"\bi (?:own|speak|play|collect|drive|run a|run an|go to|attend)\b|\bi(?:'ve got| have) (?:a|an|two|three|four|"
    r"five|\d+|my own) (?!question|problem|issue|bug|feeling|idea|request|doubt|lot|few|task|couple of questions|file|"
    r"function|list|code)",
    re.IGNORECASE,
)
_KIN = (
    "wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse|son|daughter|kids?|children|child|baby|mother|mom|mum|father|dad|parents|"
    "sister|brother|siblings|grand(?:mother|father|ma|pa|parents)|aunt|uncle|cousin|niece|nephew|family|friends?|roommate|neighbou?r|boss|"
    "manager|colleague|coworker|team|dog|cat|puppy|kitten|pets?|car|house|apartment|flat|company|startup|job|birthday|wedding|"
    "office|phone|laptop|bike|doctor|therapist|teacher"
)
_MINE = re.compile(
    rf"\bmy (?:[\w-]+ )?(?:{_KIN})(?:,? (?:and i|\w+,))?(?:'s(?: name is)?| (?:just |recently |also )?(?:is|are|was|"
    rf"were|has|have|had|lives?|works?|plays?|"
    r"loves?|likes?|got|went|moved|started|bought|gave|named|called|died|passed|turned|graduated|\w{3,}ed)\b)",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: (?:just|recently|also|finally|already|actually|even|both))* (?P<verb>(?!need|feed|"
    r"speed|indeed)\w{3,20}ed|went|bought|got|took|had|saw|met|made|won|lost|sold|began|ran|wrote|read|found|gave|"
    r"left|taught|built|flew|drove|swam|ate|drank|threw|grew|spent|broke|chose|sang|rode|hosted|caught|came|did|bred|"
    r"led|became)\b(?!')",
    re.IGNORECASE,
)
_IDLE_VERBS = """
needed wanted hoped guessed agreed wondered liked loved enjoyed decided tried noticed pasted asked realized realised
assumed expected supposed used mentioned talked looked thought added changed updated tested checked installed copied
followed appreciated chatted spoke talked understood wished did came made found took had received seemed attached
clicked
"""
_NO_EVENT = frozenset(_IDLE_VERBS.split())
"""Verbs of thinking, wishing and working on the task at hand: they tell of no event that matters later."""
_STILL_EVENT = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: just| recently)? (?:had (?:a|an|my|our|dinner|lunch|surgery)|took (?:a|an|my|our|"
    r"the)|made (?:a|an|my)|found (?:a|an|my)|received (?:a|an|my)|came (?:back|out)|tried (?:a|an|my)|did (?:a|an|"
    r"my)|got (?:a|an|my|married|engaged|accepted|promoted|hired|fired))\b(?! (?:error|bug|issue|problem|look|chance|"
    r"decision|lot|bit|question|message|warning|mistake))",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\bi(?:'m| am|'ve been| have been) (?:(?:currently|also|now|actually|really) )*(?P<verb>(?!trying|thinking|"
    r"wondering|having|getting|looking|feeling|meaning|going to (?:try|need|use|check|look)|using|seeing|making sure|"
    r"asking|hoping|doing|not|being|missing|loving|enjoying|staying|keeping|believing|starting to|realizing|helping|"
    r"handling|dealing|running into|considering (?:if|whether)|working on (?:a|an|the|this|my) (?:project|script|"
    r"function|code|bug|class|program|essay|paper|query|feature))\w{3,}ing)\b",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:like (?:this|these|the following|so)|as follows|below|above|the following|this (?:code|function|error|"
    r"message|essay|text)|my (?:current )?(?:code|function|implementation|query|script)|an? (?:error|exception|"
    r"warning|(?:good |great )?(?:plan|idea)|function|button|navbar|component)|the (?:error|issue|problem|bug)|"
    r"approaches)\b",
    re.IGNORECASE,
)
"""Speaks of the work at hand, which is over when the conversation is."""
_SUPPOSED = re.compile(
    r"^(?:for (?:instance|example)|imagine|suppose|say|like)\b[^.]*$|\b(?:if|unless|whether|assuming|suppose|imagine|"
    r"knowing|make sure|ensure|feel like)\s+(?:that\s+)?$",
    re.IGNORECASE,
)
_NOTHING_NAMED = re.compile(
    r"\s+(?:(?:up|out|through|even|such|quite|just|really|about) )*(?:(?:a )?(?:lot|bunch|few|couple|some|most|all|"
    r"many|both|part|more|much) )?(?:of )?(?:it|them|him|her|stuff|something|anything|everything|so much|a lot|"
    r"(?:some |those |big |new |many |other )*(?:things?|stuff|downsides)|(?:those|these|this|that)(?=\W*$|[,;.!–—-]|"
    r"\s(?:and|but|so|because|to|in|on|at|for|with|before|after|since|when)\b))\b",
    re.IGNORECASE,
)
"""What follows a verb when the object was named in an earlier sentence."""
_WE = re.compile(
    r"^(?:(?:since|as of|from|starting) [\w -]{2,40}?,? )?(?:we|our team) (?:(?:also|currently|only|usually|mostly|"
    r"still|now) )*(?:use|deploy|run|ship|release|host|store|keep|have|build|test|support|write|work|meet|require|"
    r"target|follow|track|log|cache|monitor|pin|rely|own|maintain|publish|review|merge|squash|rebase|are on|sell|"
    r"serve|don't (?:use|deploy|run|support|have)|do not (?:use|deploy|run|support|have)|no longer)\b(?! (?:to|"
    r"a (?:problem|bug|issue|question)|an (?:issue|error)|so much|fun)\b)",
    re.IGNORECASE,
)
_THING = re.compile(
    r"^(?:(?:the|our|this|all|every|each) )?(?P<subject>(?:`[^`]{1,60}`|[\w./-]{1,40})(?: (?:`[^`]{1,60}`|"
    r"[\w./-]{1,40})){0,5}?) (?:is|are|lives?|runs?|listens?|uses?|requires?|needs?|expects?|returns?|points?|"
    r"depends?|belongs?|goes|go|supports?|starts?|expires?|defaults?|has|have|gets?|takes?|costs?|sits?|reads?|"
    r"writes?|comes?)\b",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^(?P<who>[A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20})?) (?:owns|maintains|leads|manages|reviews|handles|runs|"
    r"is (?:responsible|in charge|on call|(?:the|our) (?:\w+ )?(?:lead|owner|maintainer|manager|admin|reviewer|"
    r"architect|contact|cto|ceo)))\b"
)
_NO_SUBJECT = re.compile(
    r"^(?:to|below|use|rank|given|each row|i|it|this|that|these|those|they|he|she|you|there|here|what|who|which|where|"
    r"when|why|how|if|because|since|while|as|something|nothing|everything|someone|let|please|not|no|my|your|his|her|"
    r"their)\b|\b(?:error|code|output|result|message|problem|question|answer|image|photo|picture|essay|story|text|"
    r"idea|thing|issue|bug|reason|point|above|following|goal|task|you|i)s?\b",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\b(?:broken|failing|fails|wrong|crash\w*|doesn't work|not working|weird|strange|great|awesome|amazing|inspiring|"
    r"wonderful|nice|beautiful|interesting|important to|difficult|hard to|missing|undefined|confus\w+|red|stuck|"
    r"hanging)\b",
    re.IGNORECASE,
)
_EMPTY_WORDS = """
good great nice amazing awesome really lately new big hard fun super pretty cool happy glad excited things thing stuff
time times chance progress feeling love way experience journey lot wild since talked totally definitely
"""
_SAYS_NOTHING = frozenset(_EMPTY_WORDS.split())
_WORK = re.compile(
    r"`|\b(?:db|database|server|service|api|app|gateway|staging|production|prod|repo|repository|branch|port|cluster|"
    r"queue|cache|bucket|table|schema|pipeline|ci|build|deploy\w*|release\w*|tests?|suite|cron|job|worker|frontend|"
    r"backend|module|package|library|config\w*|secrets?|token|key|endpoint|environment|env|vpn|docker|account|docs?|"
    r"documentation|linter|migrations?|index|project|website|site|domain|customers?|invoices?|sprint|standup|"
    r"licen[cs]e|logs?|helpers?|files?)\b",
    re.IGNORECASE,
)
_OF_THE_TIME = re.compile(
    r"\b(?:every|each|daily|weekly|nightly|hourly|always|never|only|must|by default)\b", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    r"^(?:the|our) (?P<subject>[\w-]+(?: [\w-]+){0,2}) (?P<what>port|url|host|hostname|region|version|branch|timeout|"
    r"limit|owner|licen[cs]e) is (?P<value>`[^`]{1,80}`|\S{1,80}?)\.?$",
    re.IGNORECASE,
)
_PORT = re.compile(
    r"^(?:the|our) (?P<subject>[\w-]+(?: [\w-]+){0,2}) (?:is|runs|listens) on port \d{2,5}\.?$", re.IGNORECASE
)
_ALIASES = {
    "db": "database",
    "prod": "production",
    "env": "environment",
    "repo": "repository",
    "config": "configuration",
}


def fact(text: str, *, with_agent: bool) -> Fact | None:
    """The plain fact that a sentence states, or None."""
    return _about_self(text) or _about_work(text, with_agent=with_agent) or _about_life(text)


def _about_self(text: str) -> Fact | None:
    if _NAME.search(text):
        return Fact(text=text, rule="identity", key="user/name")
    own = _OWN.match(text)
    if own:
        what = re.sub(r"[ -]|address", "", own["what"].lower())
        return Fact(text=text, rule="identity", key=f"user/{what}")
    itself = _SELF.search(text)
    return Fact(text=text, rule="identity") if itself and _lasts(text, itself) and _tells(text, least=2) else None


def _about_work(text: str, *, with_agent: bool) -> Fact | None:
    if not with_agent or _COMPLAINT.search(text):
        return None
    if _WE.match(text) or _ROLE.match(text):
        return Fact(text=text, rule="project", key=_key(text))
    thing = _THING.match(text)
    if thing is None or _NO_SUBJECT.search(thing["subject"]) or not _WORK.search(text):
        return None
    return Fact(text=text, rule="project", key=_key(text)) if _is_concrete(text) else None


def _about_life(text: str) -> Fact | None:
    did = _DID.search(text)
    if did and (did["verb"].lower() not in _NO_EVENT or _STILL_EVENT.search(text)) and _lasts(text, did):
        return Fact(text=text, rule="event", kind="episodic") if _tells(text) else None
    life = _MINE.search(text) or _DOING.search(text)
    return Fact(text=text, rule="life") if life and _lasts(text, life) and _tells(text) else None


def _lasts(text: str, found: re.Match[str]) -> bool:
    """Whether it happened, is more than the work at hand, and names its object."""
    if _AT_HAND.search(text) or _SUPPOSED.search(text[: found.start()]):
        return False
    return _is_concrete(text) or not _NOTHING_NAMED.match(text, found.end())


def _tells(text: str, *, least: int = 3) -> bool:
    """Whether enough is said that somebody could ask for it later."""
    words = {token.lower() for token in TOKEN.findall(text)}
    return len(words - STOP - _SAYS_NOTHING) >= (2 if _is_concrete(text) else least)


def _is_concrete(text: str) -> bool:
    """Whether the sentence names something: a number, a name, an identifier, a day, or how often."""
    tokens = TOKEN.findall(text)
    named = any(is_exact(token, first=position == 0) for position, token in enumerate(tokens) if token.upper() != "I")
    return named or bool(_OF_THE_TIME.search(text))


def _key(text: str) -> str:
    """What the fact is about, for the few forms that cannot be mistaken; a wrong key would hide what still holds."""
    attribute = _ATTRIBUTE.match(text)
    if attribute:
        return f"{_slug(attribute['subject'])}/{attribute['what'].lower()}"
    port = _PORT.match(text)
    return f"{_slug(port['subject'])}/port" if port else ""


def _slug(words: str) -> str:
    return "-".join(_ALIASES.get(word, word) for word in words.lower().split())
