"""What is not worth remembering is told from what is, with the reason."""

from __future__ import annotations

import time

import pytest

from spiral.memory.junk import junk, restates


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hello!", "greeting"),
        ("Thanks so much!", "greeting"),
        ("Sounds good, go ahead.", "acknowledgement"),
        ("Let me check the file first.", "progress chatter"),
        ("I hope this helps! Let me know if you have any other questions.", "boilerplate"),
        ("The user asked me to fix the failing test.", "restated prompt"),
        ("What does this function do?", "question"),
        ("Fix the failing test", "request"),
        ("The current time is 14:32.", "passing state"),
        ("👍", "no content"),
        ("", "no content"),
        ('{"type": "ping"}', "raw data"),
        ("it broke", "too short"),
    ],
)
def test_junk_is_named_by_its_reason(text: str, reason: str) -> None:
    assert junk(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "The staging database listens on port 5433.",
        "Use pnpm, not npm.",
        "Thanks to the index on `created_at`, the report takes 2 s.",
        "Good Morning Ltd is our largest customer.",
        "Please always answer in German.",
        "Looking up users by email is case-insensitive.",
    ],
)
def test_a_statement_is_kept_though_it_begins_like_chatter(text: str) -> None:
    assert junk(text) == ""


def test_one_sentence_worth_keeping_saves_the_rest() -> None:
    assert junk("Sure! Let me look. The port of staging is 5433.") == ""


def test_a_text_that_only_says_the_prompt_again_restates_it() -> None:
    prompt = "please fix the failing test in tests/test_api.py"
    assert restates("The failing test in tests/test_api.py has to be fixed", prompt)
    assert not restates("The test in tests/test_api.py fails because the clock is naive", prompt)
    assert not restates("", prompt)


@pytest.mark.parametrize("unit", ["a", "hi ", "ok, so and ", "I've ", ". ", "{[<", "the user is ", "\n"])
def test_ten_megabytes_take_less_than_a_second(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    start = time.perf_counter()
    junk(text)
    restates(text, text)
    assert time.perf_counter() - start < 1
