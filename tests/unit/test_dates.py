"""Relative dates are made absolute, and nothing else is touched."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spiral.memory.dates import absolute, began

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("I did it yesterday.", "I did it yesterday (2026-11-17)."),
        ("today's build failed", "today's (2026-11-18) build failed"),
        ("Tomorrow morning we ship.", "Tomorrow morning (2026-11-19) we ship."),
        ("the day before yesterday", "the day before yesterday (2026-11-16)"),
        ("last night it broke", "last night (2026-11-17) it broke"),
        ("last Friday", "last Friday (2026-11-13)"),
        ("last Wednesday", "last Wednesday (2026-11-11)"),
        ("next Monday", "next Monday (2026-11-23)"),
        ("two days ago", "two days ago (2026-11-16)"),
        ("a couple of months ago", "a couple of months ago (about 2026-09)"),
        ("in 3 weeks we ship", "in 3 weeks (2026-12-09) we ship"),
        ("last week", "last week (week of 2026-11-09)"),
        ("this weekend", "this weekend (weekend of 2026-11-21)"),
        ("last month's report", "last month's (2026-10) report"),
        ("next quarter", "next quarter (2027-Q1)"),
        ("last year", "last year (2025)"),
        ("last December", "last December (2025-12)"),
    ],
)
def test_a_relative_date_gets_its_day_and_keeps_its_words(text: str, dated: str) -> None:
    assert absolute(text, NOW) == dated


def test_next_friday_said_on_a_wednesday_means_either_of_two_days() -> None:
    assert absolute("next Friday", NOW) == "next Friday (2026-11-20 or 2026-11-27)"


@pytest.mark.parametrize(
    "text",
    [
        "run `date -d yesterday`",
        "```\nyesterday\n```",
        "$ date -d yesterday",
        "x = today()",
        "last_week and next-week and today.py and /var/today/x",
        "--since=yesterday",
        "the last week of March",
        "I wrote it in 3 days",
        "every day",
        "9000 years ago",
        "yesterday (2026-11-17)",
    ],
)
def test_code_identifiers_habits_and_dates_that_are_told_stay_as_they_are(text: str) -> None:
    assert absolute(text, NOW) == text


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("since last Monday we use uv", datetime(2026, 11, 16, tzinfo=UTC)),
        ("As of 2026-01-05 the API is public", datetime(2026, 1, 5, tzinfo=UTC)),
        ("since last month", datetime(2026, 10, 1, tzinfo=UTC)),
        ("as of 2026-02-31", None),
        ("we met last Monday", None),
    ],
)
def test_since_when_a_statement_holds(text: str, since: datetime | None) -> None:
    assert began(text, NOW) == since


@given(
    st.lists(st.sampled_from(["yesterday", "last week", "in 3 days", "two years ago", "we ship", ".", "\n", "`", "a"])),
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_a_second_call_changes_nothing_at_any_time(words: list[str], now: datetime) -> None:
    once = absolute(" ".join(words), now)
    assert absolute(once, now) == once


@pytest.mark.parametrize("unit", ["yesterday ", "in a few ", "a", "`a ", "```\n", "last ", "1 "])
def test_ten_megabytes_take_less_than_a_second(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    start = time.perf_counter()
    absolute(text, NOW)
    began(text, NOW)
    assert time.perf_counter() - start < 1
