"""Cron expressions: what they mean, when they come next, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from spiral.errors import UsageError
from spiral.loop.cron import calendar, next_after, parse

BERLIN = ZoneInfo("Europe/Berlin")


def times(text: str, start: str, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    """The next times as a clock there shows them, with its distance from UTC."""
    moment = datetime.fromisoformat(start).replace(tzinfo=zone).astimezone(UTC)
    found = []
    for _ in range(count):
        moment = next_after(parse(text), moment, zone)
        found.append(f"{moment.astimezone(zone):%Y-%m-%d %H:%M %z}"[:-2])
    return found


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("0 2 * * *", "2026-03-10 02:00", ["2026-03-11 02:00 +01", "2026-03-12 02:00 +01"]),
        ("*/20 8-9 * * mon-fri", "2026-03-13 09:39", ["2026-03-13 09:40 +01", "2026-03-16 08:00 +01"]),
        ("15,45 22/1 * * *", "2026-03-10 22:20", ["2026-03-10 22:45 +01", "2026-03-10 23:15 +01"]),
        ("5/25 * * * *", "2026-03-10 10:06", ["2026-03-10 10:30 +01", "2026-03-10 10:55 +01"]),
        ("0 0 * JAN,jul sun", "2026-01-30 00:00", ["2026-07-05 00:00 +02", "2026-07-12 00:00 +02"]),
        ("0 12 * * 7", "2026-03-10 00:00", ["2026-03-15 12:00 +01", "2026-03-22 12:00 +01"]),
        ("0 12 * * sat-sun", "2026-03-10 00:00", ["2026-03-14 12:00 +01", "2026-03-15 12:00 +01"]),
        ("@weekly", "2026-03-10 00:00", ["2026-03-15 00:00 +01", "2026-03-22 00:00 +01"]),
        ("59 23 31 12 *", "2026-03-10 00:00", ["2026-12-31 23:59 +01", "2027-12-31 23:59 +01"]),
    ],
)
def test_the_next_times(text: str, start: str, expected: list[str]) -> None:
    assert times(text, start, 2) == expected


def test_the_29th_of_february_comes_in_leap_years_and_not_in_2100() -> None:
    assert times("0 0 29 2 *", "2094-01-01 00:00", 2) == ["2096-02-29 00:00 +01", "2104-02-29 00:00 +01"]


def test_either_day_is_enough_when_both_are_limited_and_both_count_otherwise() -> None:
    assert times("0 0 13 * fri", "2026-03-07 00:00", 3) == [
        "2026-03-13 00:00 +01", "2026-03-20 00:00 +01", "2026-03-27 00:00 +01",
    ]  # fmt: skip
    assert times("0 0 13 * *", "2026-03-07 00:00", 1) == ["2026-03-13 00:00 +01"]
    assert times("0 0 */2 * tue", "2026-03-07 00:00", 2) == ["2026-03-17 00:00 +01", "2026-03-31 00:00 +02"]


def test_a_time_that_spring_leaps_over_comes_later_and_once() -> None:
    assert times("30 2 * * *", "2026-03-28 12:00", 2) == ["2026-03-29 03:30 +02", "2026-03-30 02:30 +02"]
    assert times("0 * * * *", "2026-03-29 01:00", 2) == ["2026-03-29 03:00 +02", "2026-03-29 04:00 +02"]
    assert times("0 */2 * * *", "2026-03-29 00:30", 2) == ["2026-03-29 04:00 +02", "2026-03-29 06:00 +02"]


def test_a_time_that_autumn_repeats_comes_once_but_every_hour_comes_every_hour() -> None:
    assert times("30 2 * * *", "2026-10-24 12:00", 2) == ["2026-10-25 02:30 +02", "2026-10-26 02:30 +01"]
    assert times("30 * * * *", "2026-10-25 01:30", 3) == [
        "2026-10-25 02:30 +02", "2026-10-25 02:30 +01", "2026-10-25 03:30 +01",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0 2 * *", "has 4 fields, not five"),
        ("", "has 0 fields, not five"),
        ("60 2 * * *", "'60' in the field for the minute cannot be: it takes 0 to 59"),
        ("0 24 * * *", "'24' in the field for the hour cannot be: it takes 0 to 23"),
        ("0 0 0 * *", "'0' in the field for the day of the month cannot be: it takes 1 to 31"),
        ("0 0 * foo *", "'foo' in the field for the month cannot be: it takes 1 to 12, or jan to dec"),
        ("0 0 * * 8", "'8' in the field for the day of the week cannot be: it takes 0 to 7, or sun to sat"),
        ("*/0 * * * *", "'*/0' in the field for the minute cannot be: the step '0' must be a whole number"),
        ("0 20-4 * * *", "'20-4' in the field for the hour cannot be: it runs backwards; write 20-23,0-4"),
        ("0 0 1,, * *", "'' in the field for the day of the month cannot be"),
        ("0 0 L * *", "'L' in the field for the day of the month cannot be"),
        ("0 0 30 2 *", "never comes: no month of '2' has a day '30'"),
    ],
)
def test_a_wrong_expression_names_the_field(text: str, line: str) -> None:
    with pytest.raises(UsageError) as fault:
        parse(text)
    assert line in str(fault.value)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0 2 * * *", ["*-*-* 02:00:00"]),
        ("*/30 * * * 1-5", ["Mon,Tue,Wed,Thu,Fri *-*-* *:00,30:00"]),
        ("0 0 1 1,7 fri", ["*-01,07-01 00:00:00", "Fri *-01,07-* 00:00:00"]),
    ],
)
def test_the_same_for_systemd(text: str, lines: list[str]) -> None:
    assert calendar(parse(text)) == lines
