"""When a cron expression comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from spiral.errors import UsageError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SHORT = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
FARTHEST = 3_700
"""Days to look ahead: a 29th of February is at most eight years away, and a day that no year has is refused before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One of the five, with the numbers that it may have."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    """Words for the numbers, from `least` on."""


FIELDS = (
    Field(name="minute", least=0, most=59),
    Field(name="hour", least=0, most=23),
    Field(name="day of the month", least=1, most=31),
    Field(name="month", least=1, most=12, names=MONTHS),
    Field(name="day of the week", least=0, most=7, names=DAYS),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cron:
    """The numbers of each field."""

    text: str
    """As it was given, in five fields."""
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    """0 is Sunday."""
    either: bool
    """Both day fields are limited, and one of them is enough."""
    hourly: bool
    """The hours begin with `*`: it goes by the hours that there are, not by the clock on the wall."""

    def meets(self, day: date) -> bool:
        """Whether it comes on a day."""
        if day.month not in self.months:
            return False
        by_date, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_date or by_week if self.either else by_date and by_week


def parse(text: str) -> Cron:
    """The expression; UsageError names the field that is wrong. As in cron, when both days are limited one suffices."""
    words = SHORT.get(text.strip().lower(), text).split()
    if len(words) != 5:
        raise UsageError(
            f"{text!r} has {len(words)} fields, not five: minute, hour, day of the month, month, day of the week; "
            f"'0 2 * * *' is every night at two (or one of {', '.join(SHORT)})"
        )
    minutes, hours, days, months, weekdays = (numbers(word, field) for word, field in zip(words, FIELDS, strict=True))
    cron = Cron(
        text=" ".join(words),
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=tuple(sorted({number % 7 for number in weekdays})),
        either=not words[2].startswith("*") and not words[4].startswith("*"),
        hourly=words[1].startswith("*"),
    )
    first = date(2000, 1, 1)
    if not any(cron.meets(first + timedelta(days=number)) for number in range(366)):
        raise UsageError(f"{text!r} never comes: no month of {words[3]!r} has a day {words[2]!r}")
    return cron


def numbers(word: str, field: Field) -> tuple[int, ...]:
    """What a field stands for: `*`, numbers, names, ranges, steps, and lists of them."""
    found: set[int] = set()
    for part in word.split(","):
        span, slash, step = part.partition("/")
        if slash and not (step.isdecimal() and int(step) > 0):
            raise wrong(field, part, f"the step {step!r} must be a whole number of at least 1")
        first, last = bounds(span, field, part, open_end=bool(slash))
        found.update(range(first, last + 1, int(step or 1)))
    return tuple(sorted(found))


def bounds(span: str, field: Field, part: str, *, open_end: bool) -> tuple[int, int]:
    """The first and the last number of a span; `5/10` begins at 5 and has no end."""
    if span == "*":
        # Seven stands for Sunday, which is there as 0.
        return field.least, 6 if field.most == 7 else field.most
    low, dash, high = span.partition("-")
    first = number(low, field, part)
    if not dash:
        return first, field.most if open_end else first
    last = number(high, field, part)
    if field.most == 7 and last == 0:
        last = 7
    if first > last:
        raise wrong(field, part, f"it runs backwards; write {span.partition('-')[0]}-{field.most},{field.least}-{high}")
    return first, last


def number(word: str, field: Field, part: str) -> int:
    """One number or name."""
    if word.isdecimal() and field.least <= int(word) <= field.most:
        return int(word)
    if word.lower() in field.names:
        return field.names.index(word.lower()) + field.least
    named = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    raise wrong(field, part, f"it takes {field.least} to {field.most}{named}")


def wrong(field: Field, part: str, why: str) -> UsageError:
    """The error that names the field."""
    return UsageError(f"{part!r} in the field for the {field.name} cannot be: {why}")


def next_after(cron: Cron, moment: datetime, zone: tzinfo | None = None) -> datetime:
    """The first time after a moment, in UTC; `zone` is the one that the expression is meant in, else the machine's.

    A time that the clock leaps over in spring comes as much later as the leap is long; one that it shows twice in
    autumn comes once. An expression whose hours begin with `*` comes at every such time that there is instead.
    """
    here = moment.astimezone(zone).date() if zone else moment.astimezone().date()
    for ahead in range(-1, FARTHEST):
        day = here + timedelta(days=ahead)
        if cron.meets(day):
            later = [when for when in moments(cron, day, zone) if when > moment]
            if later:
                return min(later)
    raise UsageError(f"{cron.text!r} does not come in the next ten years")


def moments(cron: Cron, day: date, zone: tzinfo | None) -> Iterator[datetime]:
    """The times of a day, in UTC."""
    for hour in cron.hours:
        for minute in cron.minutes:
            shown = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - what a clock on the wall shows
            first, second = (in_utc(shown.replace(fold=fold), zone) for fold in (0, 1))
            if not cron.hourly:
                yield first
            elif first <= second:
                # In spring the two come in the other order: the clock never shows that time.
                yield from {first, second}


def in_utc(shown: datetime, zone: tzinfo | None) -> datetime:
    """The moment at which the clock on the wall shows a time."""
    return (shown.replace(tzinfo=zone) if zone else shown.astimezone()).astimezone(UTC)


def calendar(cron: Cron) -> list[str]:
    """The same as `OnCalendar=` values of systemd, which has no "either" day: then there are two."""
    months, days = listed(cron.months, 12), listed(cron.days, 31)
    clock = f"{listed(cron.hours, 24)}:{listed(cron.minutes, 60)}:00"
    week = "" if len(cron.weekdays) == 7 else ",".join(DAYS[number].title() for number in cron.weekdays) + " "
    if cron.either:
        return [f"*-{months}-{days} {clock}", f"{week}*-{months}-* {clock}"]
    return [f"{week}*-{months}-{days} {clock}"]


def listed(values: tuple[int, ...], all_of: int) -> str:
    """Numbers with two digits and commas; a star for all of them."""
    return "*" if len(values) == all_of else ",".join(f"{value:02}" for value in values)
