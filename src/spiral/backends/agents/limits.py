"""What an agent's words say about rate limits and sign-in, when no typed event does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

LIMITS = (
    r"\b(?:rate|usage|session|weekly|daily|monthly|5-hour|hourly|request|token) limit (?:reached|exceeded|hit)\b",
    r"\b(?:hit|reached|exceeded) your .{0,40}\b(?:limit|quota)\b",
    r"\brate.?limit(?:ed|_error)\b",
    r"\btoo many requests\b",
    r"\b(?:quota exceeded|exceeded your current quota|insufficient_quota|resource_exhausted)\b",
    r"\b(?:status|error|http|code)\W{0,3}429\b",
)
SIGNIN = (
    r"\bnot (?:logged|signed) in\b",
    r"\b(?:please|must|need to) (?:run /login|log ?in|sign ?in|authenticate)\b",
    r"\binvalid (?:api key|x-api-key|authentication)\b",
    r"\bincorrect api key\b",
    r"\bauthentication[_ ](?:error|failed|required)\b",
    r"\b401 unauthorized\b",
)
LATE = timedelta(minutes=10)
"""A time of day this little in the past is now, not tomorrow: the message took a while."""

EPOCH = re.compile(r"\|\s*(\d{10})(\d{3})?\b")
ISO = re.compile(r"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)")
WAIT = re.compile(r"\b(?:in|after|wait)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?){1,4})", re.IGNORECASE)
PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
CLOCK = re.compile(
    r"\b(?:resets?|again|until|available)\b(?:\s+(?:at|on|by|after))*\s+"
    r"(?:(?P<month>[A-Z][a-z]{2})[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(?P<year>\d{4}),?\s+)?(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)?\s*(?P<half>[ap])?\.?m?\b\.?\s*(?:\((?P<zone>[A-Za-z0-9_+/-]+)\))?",
    re.IGNORECASE,
)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def limited(text: str, patterns: Sequence[str] = ()) -> str:
    """The line that tells of a limit; empty when none does."""
    return _line(text, (*patterns, *LIMITS))


def signed_out(text: str, patterns: Sequence[str] = ()) -> str:
    """The line that tells of a missing sign-in; empty when none does."""
    return _line(text, (*patterns, *SIGNIN))


def resets(text: str, now: datetime) -> datetime | None:
    """When a limit ends, as its message says; None when it does not say. A time of day without a zone is `now`'s."""
    if epoch := EPOCH.search(text):
        return datetime.fromtimestamp(int(epoch[1]), UTC)
    if iso := ISO.search(text):
        moment = datetime.fromisoformat(iso[1])
        return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    if (wait := WAIT.search(text)) and (seconds := _seconds(wait[1])):
        return now + timedelta(seconds=seconds)
    clock = CLOCK.search(text)
    return _moment(clock, now) if clock else None


def _line(text: str, patterns: Sequence[str]) -> str:
    for line in text.splitlines():
        if any(re.search(pattern, line, re.IGNORECASE) for pattern in patterns):
            return line.strip()[:300]
    return ""


def _seconds(text: str) -> float:
    """What `2 days 3h 5 minutes` is; 0 when a unit is unknown."""
    total = 0.0
    for number, unit in PART.findall(text):
        word = unit.lower()
        short = "ms" if word.startswith(("ms", "milli")) else word[0]
        if short not in UNITS or word.startswith("mo"):
            return total
        total += float(number) * UNITS[short]
    return total


def _moment(clock: re.Match[str], now: datetime) -> datetime | None:
    zone = _zone(clock["zone"], now)
    here = now.astimezone(zone)
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
    elif not clock["minute"]:
        return None
    try:
        moment = here.replace(hour=hour, minute=int(clock["minute"] or 0), second=0, microsecond=0)
        if clock["month"]:
            month = MONTHS.index(clock["month"].lower()) + 1
            moment = moment.replace(year=int(clock["year"] or here.year), month=month, day=int(clock["day"]))
            past = moment + timedelta(days=180) < here and not clock["year"]
            return moment.replace(year=here.year + 1) if past else moment
    except ValueError:
        return None
    return moment if moment + LATE >= here else moment + timedelta(days=1)


def _zone(name: str | None, now: datetime) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else now.tzinfo
    except (OSError, ValueError, KeyError):
        return now.tzinfo
