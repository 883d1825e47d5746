"""Finds the secrets that a name beside them gives away: `password=…`, `"api_key": "…"`, `--token …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from spiral.memory.redact_tokens import Span

Family = Literal["password", "secret", "token"]

_TAIL = (
    r"(?:[_-]?(?:\d{1,3}|prod(?:uction)?|staging|live|test|dev|value|default))?"
    r"(?P<closed>(?:\\{0,3}[\"'`]|\]){0,3})[ \t]{0,20}"
    r"(?:: ?[a-z][a-z.|\[\] ]{0,40}=(?!=)|(?P<sep>:=|=>|={1,3}|:(?!:)|>(?=[^<\s])|is (?:now )?"
    r"|(?<=[ \t])(?=[^\s=:])))[ \t]{0,20}"
)
_KEYS = "|".join(
    f"(?<={kind}{joint}key)"
    for kind in ("api", "access", "private", "encryption", "signing", "master", "account", "license")
    for joint in ("", "_", "-")
)
_NAMES: tuple[tuple[str, Family, str], ...] = (
    ("pass", "password", r"pass(?:word|wd|phrase|code|(?<![a-z]pass))" + _TAIL),
    ("pwd", "password", "pwd" + _TAIL),
    ("secret", "secret", r"secret(?:[_-]?(?:access)?[_-]?key)?(?:[_-]base)?" + _TAIL),
    ("key", "secret", rf"key(?:{_KEYS}|(?<=api key))" + _TAIL),
    ("token", "token", "token" + _TAIL),
    ("credential", "token", "credentials?" + _TAIL),
    ("auth", "token", "auth(?<![a-z]auth)" + _TAIL),
    ("sessid", "token", "sessid" + _TAIL),
    ("sessionid", "token", "sessionid" + _TAIL),
    ("connect.sid", "token", r"connect\.sid" + _TAIL),
)
"""What a name contains, what that says of the value, and a pattern for the text in lower case, compiled when needed."""
_VALUE = re.compile(
    r"(?:[rbfuRBFU]{0,2}(?P<quote>\"{3}|'{3}|\\{0,3}[\"'`])(?!(?P=quote))(?P<quoted>(?:\\.|[^\\\n]){1,4000}?)(?P=quote))"
    r"|(?:[|>][-+]?[ \t]*\n[ \t]+)?[\"'`]?(?P<bare>(?:(?!\\[nrt])[^\s\"'`]){1,300}+)"
)
_JUDGED = 300
"""So much of an unquoted value is looked at; when it is a secret, the rest goes too."""
_BARE_END = re.compile(r"[\s\"'`]")
_FLAG = re.compile(r"(?<![\w-])--[\w-]{0,40}\Z")
_ELEMENT = re.compile(r"<[\w:.-]{0,40}\Z")
_FLAG_END = re.compile(r"[ \t]*(?:[\n\\|;&>\"'`)-]|\Z)")
"""After a flag's value comes another flag or the end; in a sentence about the flag, a word."""
_PAGING = re.compile(r"(?:page|next|continuation|sync|cursor|resume|csrf|fencing)[_-]?\Z")
_LINE_START = re.compile(
    r"[ \t]*+(?:(?:export|set|env|-e)[ \t]++|[-#*>]++[ \t]*+)*+[\w.\"'\[\]/:@-]*+\Z", re.IGNORECASE
)
_LINE_END = re.compile(r"[\"'`]?[ \t]*(?:#[^\n]*)?(?:\r?\n|\\n|\Z)")
_UNFINISHED = (",", ")", "):", "{")
"""A line that ends so is code."""
_CUT = re.compile(r"[&;,)}\]<]")

_PLACEHOLDER = re.compile(
    r"\$\{.*|\$\(.*|\$[A-Za-z_]\w*\Z|%[s(].*|%\w+%\Z|\{.*|<.*|\[.*|\*+\Z|\.{2,}|…"
    r"|\W?[xX*.•_-]{3,}\Z|(?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake|placeholder)(?:[-_ ].*|\Z)"
    r"|(?:change[-_ ]?me|redacted|hidden|secret|password|passwd|token|todo|tbd|none|null|nil|undefined|true|false"
    r"|yes|no|on|off|[01]|string|str|bytes|text|n/?a|empty|required|optional|unset|default|test)[-_!.]*\Z"
    r"|.{0,40}(?:(?:example|placeholder|changeme|xxxx)(?:[-_ ].*)?|\.{3}|…)\Z",
    re.IGNORECASE | re.DOTALL,
)
_SHOUTED = re.compile(r"[A-Z]*_*[A-Z_]*(?:PASS|TOKEN|SECRET|KEY|CREDENTIAL)[A-Z_]*\Z")
_CODE = re.compile(
    r"[A-Za-z_$][\w$.]*[(\[].*|[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[;,)]*\Z|:.*|\w+\?\Z",
    re.DOTALL,
)
_SYNTAX = re.compile(r"[&*!@(=|+-]")
_SPELT = re.compile(
    r"(?=.{0,80}(?:[_.-]|[a-z][A-Z]))[A-Za-z_.-]{0,60}(?i:pass|secret|token|key|credential)[A-Za-z_.-]{0,60}\Z"
)
"""A name that speaks of secrets, not a secret: `challengePassword`."""
_IDENTIFIER = re.compile(r"[A-Za-z_$]+[;,)]*\Z")
_HASHED = re.compile(r"(?:sha\d{1,3}|md5|blake\d?\w?|urn|data)[:-]", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]*)*\Z|[A-Za-z]:\\|[a-z+]{2,12}://")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_PROSE = re.compile(
    r"\b(?:required?|invalid|incorrect|wrong|missing|expired|enter|must|please|your|forgot|reset|confirm|cannot|should|is"
    r"|are|not|the|and|for|with|use|field|policy|characters?|mismatch)\b",
    re.IGNORECASE,
)
_TERM = re.compile(r"base64|utf-?8|sha-?\d+|oauth2?|md5|[hr]s256|aes-?\d+|http2|ed25519|x509", re.IGNORECASE)


def named_spans(text: str) -> Iterator[Span]:
    """Where a value stands beside a name that says it is secret; the name itself is kept."""
    # The one letter whose small form is longer would shift every position after it.
    lower = text.replace("\u0130", "I").lower()
    for core, family, pattern in _NAMES:
        start = lower.find(core)
        while start >= 0:
            span = _named(text, lower, family, re.compile(pattern).match(lower, start))
            if span:
                yield span
            start = lower.find(core, span.end if span else start + len(core))


def _named(text: str, lower: str, family: Family, name: re.Match[str] | None) -> Span | None:
    if not name:
        return None
    start = name.start()
    before = {"": _FLAG, ">": _ELEMENT}.get(name["sep"])
    if before and not before.search(text, max(0, start - 42), start):
        return None
    if family == "token" and _PAGING.search(lower, max(0, start - 14), start):
        return None
    value = _VALUE.match(text, name.end())
    return _judged(text, name, value, family) if value else None


def mixed(value: str, least: int = 16) -> bool:
    """Whether a value looks drawn by chance: long, of letters and digits, few of them repeated."""
    return (
        len(value) >= least
        and any(char.isdigit() for char in value)
        and any(char.isalpha() for char in value)
        and len(set(value)) >= 8
        and not any(char.isspace() for char in value)
    )


def placeholder(value: str) -> bool:
    """Whether a value only stands where a secret would stand."""
    return bool(_PLACEHOLDER.match(value) or _SHOUTED.match(value))


def _judged(text: str, name: re.Match[str], value: re.Match[str], family: Family) -> Span | None:
    sep = name["sep"] or ""
    quoted = value["quoted"] is not None
    start, end = value.span("quoted" if quoted else "bare")
    tight = name.end() - name.end("closed") == len(sep)
    alone = not quoted and not text.endswith(_UNFINISHED, start, end) and _alone(text, name.start(), end)
    if not quoted:
        end = _bare_end(text, start, end, alone=alone)
    flag = name["sep"] == ""
    if flag and not quoted and not _FLAG_END.match(text, end):
        return None
    if sep.startswith("is "):
        end = start + len(text[start:end].rstrip(".,;:!?)"))
        found = _told(text[start:end])
    else:
        shouted = text[name.start() : name.end("closed")].isupper() and (tight or sep == ":")
        settled = quoted and sep not in ("==", "===")
        literal = settled or flag or sep == ">" or shouted or (alone and tight and sep == "=")
        found = _secret(text[start:end], family, literal=literal, quoted=quoted)
    if not found:
        return None
    if not quoted and end - start == _JUDGED:
        rest = _BARE_END.search(text, end)
        end = rest.start() if rest else len(text)
    return Span(start, end, family)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether name and value fill their line, as in a settings file."""
    edge = max(0, start - 120)
    begin = max(
        text.rfind("\n", edge, start) + 1, text.rfind("\\n", edge, start) + 2 if "\\n" in text[edge:start] else 0, edge
    )
    at_line = begin == 0 or text[begin - 1] in "\nn"
    return at_line and bool(_LINE_START.match(text[begin:start])) and bool(_LINE_END.match(text, end))


def _bare_end(text: str, start: int, end: int, *, alone: bool) -> int:
    if alone:
        return start + len(text[start:end].rstrip(",;")) or end
    cut = _CUT.search(text, start, end)
    if cut and not text.startswith("[redacted:", start) and "(" not in text[start : cut.start()]:
        return max(cut.start(), start)
    return end


def _told(value: str) -> bool:
    """Whether "the password is …" is followed by one."""
    rest = _TERM.sub("", value)
    return (
        len(value) >= 6
        and any(char.isdigit() for char in rest)
        and any(char.isalpha() for char in rest)
        and not placeholder(value)
        and not _CODE.match(value)
        and not _PATH.match(value)
        and not _UUID.match(value)
    )


def _secret(value: str, family: Family, *, literal: bool, quoted: bool) -> bool:
    if placeholder(value) or _HASHED.match(value) or _PATH.match(value):
        return False
    if not quoted and _CODE.match(value):
        return False
    if not literal and (_IDENTIFIER.match(value) or _SYNTAX.match(value)):
        return False
    if _SPELT.match(value):
        return False
    if _PROSE.search(value) and (" " in value or not literal):
        return False
    return _weighed(value, family, literal=literal)


def _weighed(value: str, family: Family, *, literal: bool) -> bool:
    telling = any(not char.isalpha() and char not in "_- " for char in value)
    if family == "password":
        return len(value) >= 3 if literal else len(value) >= 6 and telling
    if family == "secret":
        return " " not in value and (len(value) >= 6 if literal else len(value) >= 8 and telling)
    return mixed(value) and not _UUID.match(value)
