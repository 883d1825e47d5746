"""Makes relative dates absolute, so that a sentence still tells its day when the day is long gone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from spiral.memory.sentences import fenced

LOOKED_AT = 60_000
"""Characters of a text that are looked at; what follows stays as it is."""

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ["", "a an one", "two couple", "three few", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve"]
    )
    for word in words.split()
}  # fmt: skip
_VAGUE = ("couple", "few", "about", "around", "roughly", "almost", "nearly")

_DAY = "|".join(_DAYS)
_MONTH = "|".join(_MONTHS)
_COUNT = (
    r"(?P<count{0}>(?:(?:about|around|roughly|almost|nearly) )?"
    r"(?:\d{{1,4}}|an?(?: couple(?: of)?| few)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))"
)
_UNIT = r"(?P<unit{0}>minute|hour|day|week|weekend|month|year|decade|" + _DAY + r")s?"
_PHRASE = re.compile(
    r"(?<![\w/\\.=@#$'’\"-])(?:"
    r"(?P<beside>(?:the )?day (?:before yesterday|after tomorrow))"
    r"|(?P<near>yesterday|today|tomorrow)(?: (?:morning|afternoon|evening|night))?"
    r"|(?P<part>tonight|last night|this (?:morning|afternoon|evening))"
    r"|(?P<week>the week (?:before last|after next))"
    rf"|(?P<which>last|this(?: past| coming)?|next) (?P<what>week|weekend|month|year|quarter|{_DAY}|{_MONTH})"
    r"(?: (?:morning|afternoon|evening|night))?"
    rf"|{_COUNT.format(1)} {_UNIT.format(1)} (?P<back>ago)"
    rf"|{_COUNT.format(2)} {_UNIT.format(2)} (?P<hence>from (?:now|today))"
    rf"|in {_COUNT.format(3)} {_UNIT.format(3)}(?P<ahead>)"
    r")(?!\w)(?P<own>['’]s\b)?(?![\w/\\=@(-]|\.\w| \((?:about |week(?:end)? of )*\d{4})",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"`[^`\n]{1,500}`|^[ \t]*\$ .*$", re.MULTILINE)
_BEFORE_HABIT = re.compile(r"\b(?:the|every|each|per|very)\s$", re.IGNORECASE)
_AFTER_HABIT = re.compile(r"\s(?:of\b|in the\b|on the\b)", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:(?!need|speed|feed|seed|indeed|proceed|exceed)\w{2,20}ed|was|were|did|took|had|wrote|built|made|got|went|"
    r"ran|lost|won|read|sold|only|times?|once|twice)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|as of|effective|starting(?: from| on)?|beginning|from(?! now| today))\s+(?:on\s+)?"
    r"(?:[\w ’']{1,40}\()?(?:the )?(?:week of |weekend of )?(\d{4}-\d\d(?:-\d\d)?|(?<=\()\d{4}(?=\)))",
    re.IGNORECASE,
)


def absolute(text: str, now: datetime) -> str:
    """The text with the date added behind each relative one: "yesterday (2026-11-17)"; code is left alone.

    A second call changes nothing.
    """
    head, rest = text[:LOOKED_AT], text[LOOKED_AT:]
    code = [*fenced(head), *(match.span() for match in _CODE_SPAN.finditer(head))]
    today = now.date()

    def dated(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in code) or not _is_meant(match):
            return match[0]
        day = _when(match, today, now)
        return f"{match[0]} ({day})" if day else match[0]

    return _PHRASE.sub(dated, head) + rest


def began(text: str, now: datetime) -> datetime | None:
    """Since when a statement holds, where it says so ("since last Monday", "as of 2026-01-05"); else None."""
    match = _SINCE.search(absolute(text[:2_000], now))
    if match is None:
        return None
    year, month, day = ([int(part) for part in match[1].split("-")] + [1, 1])[:3]
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _is_meant(match: re.Match[str]) -> bool:
    """Whether it is a date at all: "the last week of March" and "wrote it in 3 days" are not."""
    before = match.string[max(0, match.start() - 60) : match.start()]
    after = match.string[match.end() : match.end() + 8]
    if match["which"]:
        return not (_BEFORE_HABIT.search(before) or _AFTER_HABIT.match(after))
    if match["ahead"] is not None:
        clause = re.split(r"[.!?;\n]", before)[-1]
        return not (_PAST.search(clause) or _AFTER_HABIT.match(after) or after.startswith((" row", " or ")))
    return True


def _when(match: re.Match[str], today: date, now: datetime) -> str:
    try:
        if match["count1"] or match["count2"] or match["count3"]:
            return _counted(match, today, now)
        if match["which"]:
            return _which(match["which"].lower().split()[0], match["what"].lower(), today)
        return _near(match, today)
    except (OverflowError, ValueError):
        # "9000 years ago" lies before the calendar begins: the words stay as they are.
        return ""


def _near(match: re.Match[str], today: date) -> str:
    if match["week"]:
        return _week(today, -2 if "before" in match["week"].lower() else 2)
    if match["beside"]:
        shift = -2 if "before" in match["beside"].lower() else 2
    elif match["part"]:
        shift = -1 if match["part"].lower() == "last night" else 0
    else:
        shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[match["near"].lower()]
    return (today + timedelta(days=shift)).isoformat()


def _which(which: str, what: str, today: date) -> str:
    step = {"last": -1, "this": 0, "next": 1}[which]
    if what in _DAYS:
        return _weekday(which, _DAYS.index(what), today)
    if what in _MONTHS:
        return _named_month(which, _MONTHS.index(what) + 1, today)
    spans: dict[str, Callable[[date, int], str]] = {
        "week": _week, "weekend": _weekend, "month": _month, "quarter": _quarter, "year": _year,
    }  # fmt: skip
    return spans[what](today, step)


def _weekday(which: str, weekday: int, today: date) -> str:
    """ "next Friday" said on a Monday means either of two days; then both are named."""
    if which == "last":
        return (today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)).isoformat()
    coming = today + timedelta(days=(weekday - today.weekday()) % 7)
    if which == "this":
        return coming.isoformat()
    if coming == today:
        coming += timedelta(days=7)
    next_week = today + timedelta(days=7 - today.weekday() + weekday)
    return coming.isoformat() if coming == next_week else f"{coming.isoformat()} or {next_week.isoformat()}"


def _named_month(which: str, month: int, today: date) -> str:
    year = today.year
    if which == "last" and month >= today.month:
        year -= 1
    if which == "next" and month <= today.month:
        year += 1
    return f"{year:04d}-{month:02d}"


def _week(today: date, step: int) -> str:
    return f"week of {(today + timedelta(days=7 * step - today.weekday())).isoformat()}"


def _weekend(today: date, step: int) -> str:
    """On a weekend, "this weekend" is the one that is on, and "last weekend" the one before it."""
    return f"weekend of {(today + timedelta(days=5 - today.weekday() + 7 * step)).isoformat()}"


def _month(today: date, step: int) -> str:
    year, month = divmod(today.year * 12 + today.month - 1 + step, 12)
    return date(year, month + 1, 1).strftime("%Y-%m")


def _quarter(today: date, step: int) -> str:
    year, quarter = divmod(today.year * 4 + (today.month - 1) // 3 + step, 4)
    return f"{year:04d}-Q{quarter + 1}"


def _year(today: date, step: int) -> str:
    return f"{date(today.year + step, 1, 1).year:04d}"


def _counted(match: re.Match[str], today: date, now: datetime) -> str:
    words = (match["count1"] or match["count2"] or match["count3"]).lower().split()
    unit = (match["unit1"] or match["unit2"] or match["unit3"]).lower()
    value = next((word for word in reversed(words) if word != "of"), "")
    count = int(value) if value.isdigit() else _NUMBERS[value]
    step = -count if match["back"] else count
    about = "about " if any(word in _VAGUE for word in words) else ""
    return about + _moved(unit, step, today, now)


def _moved(unit: str, step: int, today: date, now: datetime) -> str:
    if unit in _DAYS:
        nearest = date.fromisoformat(_weekday("last", _DAYS.index(unit), today))
        return (nearest + timedelta(days=7 * (step + 1))).isoformat() if step < 0 else ""
    if unit in ("minute", "hour"):
        return (now + timedelta(**{f"{unit}s": step})).date().isoformat()
    if unit in ("day", "week"):
        return (today + timedelta(days=step * (7 if unit == "week" else 1))).isoformat()
    if unit in ("year", "decade"):
        return _year(today, step * (10 if unit == "decade" else 1))
    return _month(today, step) if unit == "month" else _weekend(today, step)
