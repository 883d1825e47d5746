"""Two statements contradict one another only where no doubt is left."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spiral.memory.contradict import contradicts


@pytest.mark.parametrize(
    ("one", "other", "sort"),
    [
        ("We deploy on Fridays", "We deploy on Mondays", "value"),
        ("The port is 5433", "The port is 5434", "value"),
        ("Strict mode is enabled", "Strict mode is disabled", "opposite"),
        ("Strict mode is on", "Strict mode is off", "opposite"),
        ("The frontend build needs Node 20", "The frontend build does not need Node 20", "negation"),
    ],
)
def test_a_contradiction_is_named(one: str, other: str, sort: str) -> None:
    assert contradicts(one, other).startswith(f"{sort}: ")
    assert contradicts(other, one).startswith(f"{sort}: ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The staging port is 5433", "The production port is 5434"),
        ("Tokens expire after 30 minutes", "Tokens expire after 1800 seconds"),
        ("We used to deploy on Fridays", "We deploy on Mondays"),
        ("Sam likes tea", "Sam likes coffee"),
        ("I visited Porto", "I visited Lisbon"),
        ("In 2024 we had 3 servers", "In 2026 we had 5 servers"),
        ("The port is 5433", "The port is 5433."),
        ("The port is 5433", "Anna owns billing"),
        ("", ""),
    ],
)
def test_what_can_both_be_so_is_no_contradiction(one: str, other: str) -> None:
    assert contradicts(one, other) == ""
    assert contradicts(other, one) == ""


@given(st.text(alphabet="ab not never is on 5.,", max_size=60))
def test_nothing_contradicts_itself(text: str) -> None:
    assert contradicts(text, text) == ""


@pytest.mark.parametrize("unit", ["a", "a ", "not, ", "`a ", "1 ms ", "is on ", ". "])
def test_ten_megabytes_take_less_than_a_second(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    start = time.perf_counter()
    contradicts(text, text[1:])
    assert time.perf_counter() - start < 1
