"""What was served is not learned again; what differs from it is."""

from __future__ import annotations

import time

import pytest

from spiral.memory.echo import echoes, is_echo

SERVED = [
    "The staging database listens on port 5433.",
    "Never push directly to main.",
    "User: I prefer tabs over spaces.",
]


@pytest.mark.parametrize(
    "text",
    [
        "The staging database listens on port 5433.",
        "the staging database\nlistens on port 5433.",
        "As noted earlier, port 5433 is what the staging DB listens on.",
        "Don't push directly to main.",
        "The user prefers tabs over spaces.",
        "The staging database listens on port 5433. Never push directly to main.",
        "Okay. The staging database listens on port 5433, and you prefer tabs over spaces.",
    ],
)
def test_what_was_served_comes_back_as_an_echo(text: str) -> None:
    assert is_echo(text, SERVED)


@pytest.mark.parametrize(
    "text",
    [
        "The staging database listens on port 5434.",
        "The staging database no longer listens on port 5433.",
        "The production database listens on port 5433.",
        "Pushing directly to main is fine.",
        "User: I prefer spaces over tabs.",
        "The staging database listens on port 5433. The cache is Varnish.",
        "Deploys are frozen in December.",
        "",
    ],
)
def test_what_differs_or_adds_is_no_echo(text: str) -> None:
    assert not is_echo(text, SERVED)


def test_nothing_served_means_no_echo() -> None:
    assert not is_echo("The staging database listens on port 5433.", [])


def test_an_echo_tells_what_it_is_nearest_to_and_what_is_new() -> None:
    found = echoes("The staging database listens on port 5434.", SERVED)
    assert (found.served, found.news) == (SERVED[0], ("5434",))


@pytest.mark.parametrize("unit", ["a", "a ", "`a ", "no, ", " and ", "a/", ". ", "\n", "Use a, not b. "])
def test_ten_megabytes_on_either_side_take_less_than_a_second(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    for one, served in ((text, SERVED), (SERVED[0], ["x", text])):
        start = time.perf_counter()
        is_echo(one, served)
        assert time.perf_counter() - start < 1


def test_a_long_answer_against_many_memories_takes_less_than_a_second() -> None:
    served = [f"The service number {number} listens on port {5000 + number}, not on {number}." for number in range(100)]
    text = " ".join(f"The worker number {number} writes to bucket {number} after the deploy." for number in range(200))
    start = time.perf_counter()
    assert not is_echo(text, served)
    assert time.perf_counter() - start < 1
