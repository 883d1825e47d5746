"""Tells what is not worth remembering."""

from __future__ import annotations

import re
from collections.abc import Callable

from spiral.memory.sentences import examined
from spiral.memory.stems import STOP, TOKEN, is_exact, said

LOOKED_AT = 4_000
"""A memory is a sentence or two: what stands after this does not change whether it is worth keeping."""

_GREETING = re.compile(
    r"^(?:(?:oh|hey|hi|hello|hiya|howdy|good (?:morning|afternoon|evening|night|day)|greetings|welcome|bye|goodbye|"
    r"see you|talk soon|take care|cheers|thanks?|thank you|thx|ty|you(?:'re| are) (?:welcome|the best|great)|"
    r"no (?:worries|problem)|my pleasure|anytime|happy to help|nice to meet you|congrats|congratulations|good luck|"
    r"have a (?:good|great|nice) \w+|sorry|wow|lol|haha|yay|hmm+|please)\b[\s,!.]*)+",
    re.IGNORECASE,
)
_ACKNOWLEDGED = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|yep|yup|no|nope|sure|right|cool|great|perfect|fine|nice|awesome|amazing|got it|agreed|"
    r"exactly|true|indeed|understood|noted|done|all set|sounds good|go ahead|continue|go on|proceed|try again|"
    r"looks good|lgtm|makes sense|i see|i understand|will do|absolutely|definitely|of course|certainly|correct|"
    r"that(?:'s| is| was| makes| sounds| worked| works)|you(?:'re| are) (?:absolutely |totally |completely )?right|"
    r"keep going|it works|let's (?:see|go|do it|start|continue|move on)|never ?mind|whatever)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:(?:so|and|but|ok|also|btw|hey|please),? )*(?:what(?:'s)?|how(?:'s)?|why|when|where|who|whom|whose|which|can|"
    r"could|would|should|shall|will|is|are|am|was|were|do(?! not)|does|did|have|has|had|may|might|any(?:one| idea|"
    r" thoughts))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:so|and|but|ok|also),? )*(?:(?:can|could|would|will|do|did|are|have) (?:you|we|i|they)\b|(?:is|are) (?:it|"
    r"there|this|that)\b|(?:what|why|how) (?:do|does|did|is|are|can|could|should|would|to|about|if)\b|any (?:idea|"
    r"thoughts)\b)",
    re.IGNORECASE,
)
_PROGRESS = re.compile(
    r"^(?:(?:ok(?:ay)?|now|next|first|then|so|great|good|alright|perfect|hmm|wait)[,.!]? )*(?:let me\b(?! know)|"
    r"(?:now )?i(?:'ll| will| need to| should| can see| am going to|'m going to|'m now| am now| now)\b(?! (?:be|"
    r"prefer|never|always)\b)|i(?:'ve| have)?(?: now| just| also| successfully)? (?:updated|made|added|created|fixed|"
    r"implemented|completed|finished the|refactored|moved the|ran|verified|checked|read|reviewed|looked|searched|"
    r"examined|removed|renamed|written|wrote|committed|pushed)\b|(?:the )?(?:task|work|build|job|implementation|"
    r"change)s? (?:is|are) (?:in progress|complete|completed|done|running|underway|finished)|(?:still )?(?:working on|"
    r"waiting for|looking (?:at|into)|checking|investigating|searching)\b(?!.*\bis\b)|(?:running|reading|writing|"
    r"editing|executing|installing|building|fetching|compiling)\b[^.]{0,60}(?:…|\.\.\.)?$|all (?:changes|tests|tasks|"
    r"steps|done|checks)\b)",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"^(?:as an ai\b|i hope (?:this|that)|let me know\b|feel free\b|(?:certainly|sure|of course|absolutely)[!,.]|"
    r"great question|here(?:'s| is| are)\b[^.]{0,80}:?$|here(?:'s| is) (?:a|the|what)\b|i(?:'m| am) sorry\b|"
    r"i (?:can't|cannot|can not) (?:help|assist)|i apologi[sz]e|it depends on\b|you are (?:a|an) (?:helpful|expert|ai|"
    r"assistant|coding|claude|chatgpt|senior)\b|follow the user's instructions|you are (?:claude|chatgpt|"
    r"an? )\b.{0,60}\bassistant|i(?:'ll| will) keep (?:that|this|it) in mind|if you have any (?:other |more |"
    r"further )?questions|would you like me to)",
    re.IGNORECASE,
)
_ABOUT_TALK = re.compile(
    r"^(?:the )?(?:user|assistant|human|person|conversation|ai|agent|model|discussion|chat|session)\b(?: is| was| has|"
    r" have)?(?: \w{2,10}ly)? (?:ask(?:ed|s|ing)?|greet(?:ed|s)?|thank(?:ed|s)?|said (?:thanks|thank you|hello|hi|ok|"
    r"yes|no)\b|request(?:ed|s|ing)?|(?:want(?:ed|s)?|need(?:ed|s)?)(?: to know)? (?:help|assistance|to (?:fix|know|"
    r"understand|see|get|debug))|a (?:question|request)|working on (?:a|the|an|some|their) (?:\w+ )?(?:project|task|"
    r"code|problem|issue|file)\b|provid(?:ed|es|ing)|respond(?:ed|s)|explain(?:ed|s)|summari[sz]ed|acknowledged|"
    r"about\b|interested in (?:help|code)|confirmed|continu(?:ed|es)|sent|shared|discuss(?:ed|es))",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:(?:please|now|ok|also|then|and)[, ]+)*(?:fix|write|implement|create|build|refactor|show|explain|give|find|"
    r"help|generate|summari[sz]e|translate|list|tell|check|look|review|rewrite|debug|search|read|open|take|finish|"
    r"change|update|move|rename|try|suggest|describe|compare|analy[sz]e|make (?:the|it|this|that|me|a)\b)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"^(?:the )?current (?:time|date|step|task|working directory)\b|heartbeat[ _-]?ok\b|^(?:ping|pong|"
    r"heartbeat)\b[\w :.-]{0,30}$",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|must|from now on|by default|every|whenever|prefer\w*|remember|do not|don't|called|named|"
    r"because|instead of|rather than|not)\b",
    re.IGNORECASE,
)
_RAW = re.compile(r"^\s*[{\[<].*[}\]>]\s*$|^\S{40,}$", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


def junk(text: str) -> str:
    """Why this is not worth remembering, or "" when it is: each of its sentences has to be junk on its own."""
    looked = examined(text)[:LOOKED_AT].replace("’", "'").strip()
    if not any(char.isalpha() for char in looked):
        return "no content"
    if _RAW.match(looked):
        return "raw data"
    reasons = [_reason(sentence) for sentence in _SENTENCE.split(looked)]
    return "" if "" in reasons else reasons[0]


def restates(text: str, prompt: str) -> bool:
    """Whether a text only says again what a prompt asked: nearly all of its words are the prompt's."""
    words = set(said(text[:LOOKED_AT]).words)
    asked = set(said(prompt[:LOOKED_AT]).words)
    if len(words) < 2:
        return False
    shared = len(words & asked) / len(words)
    return shared >= (0.6 if _ABOUT_TALK.match(text) else 0.8)


def _reason(sentence: str) -> str:
    for reason, applies in _RULES:
        if applies(sentence):
            return reason
    tokens = TOKEN.findall(sentence)
    if not _tells(tokens):
        return "too short" if len(tokens) < 4 else "no content"
    return ""


def _tells(tokens: list[str]) -> bool:
    """Whether there is something in it: two words that carry meaning, or one and a number or a name."""
    carrying = [token for token in tokens if token.lower() not in STOP]
    exact = [token for position, token in enumerate(tokens) if is_exact(token, first=position == 0)]
    return len(tokens) >= 3 and len(carrying) >= (1 if exact else 2)


def _nothing_left(opening: re.Pattern[str], sentence: str) -> bool:
    """Whether a sentence is the opening and next to nothing else."""
    match = opening.match(sentence)
    if match is None:
        return False
    rest = TOKEN.findall(sentence[match.end() :])
    carrying = [token for token in rest if token.lower() not in STOP]
    return len(carrying) <= 3 and not any(is_exact(token) for token in carrying)


def _is_question(sentence: str) -> bool:
    if sentence.rstrip("\"')* ").endswith("?"):
        return True
    return bool(_ASKS.match(sentence)) or (
        len(sentence) < 60 and bool(_QUESTION.match(sentence)) and not _is_statement(sentence)
    )


def _is_statement(sentence: str) -> bool:
    """Whether a sentence that begins like a request or a question goes on to state something."""
    return bool(re.search(r"\b(?:is|are|was|were|has|have|lives?|means|;)\b", sentence[5:]))


_RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("greeting", lambda text: _nothing_left(_GREETING, text)),
    ("boilerplate", lambda text: bool(_BOILERPLATE.match(text))),
    ("restated prompt", lambda text: bool(_ABOUT_TALK.match(text))),
    ("question", _is_question),
    ("progress chatter", lambda text: bool(_PROGRESS.match(text))),
    ("acknowledgement", lambda text: _nothing_left(_ACKNOWLEDGED, text)),
    ("passing state", lambda text: bool(_PASSING.search(text))),
    ("request", lambda text: bool(_REQUEST.match(text)) and not _LASTING.search(text) and not _is_statement(text)),
)
