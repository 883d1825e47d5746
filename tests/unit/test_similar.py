"""When two statements say the same."""

from __future__ import annotations

import pytest

from spiral.memory.similar import near, restates

DIFFERENT = [
    ("Alice reports to Bob in the billing team", "Bob reports to Alice in the billing team"),
    ("The offset is -5", "The offset is 5"),
    ("We build with C", "We build with C++"),
    ("We build with C", "We build with C#"),
    ("if (a < b) return x", "if (a > b) return x"),
    ("if (a < b) return x", "if (b < a) return x"),
    ("set flag Foo", "set flag foo"),
    ("Turn the cache on", "Turn the cache off"),
    ("Run the linter before the tests", "Run the linter after the tests"),
    ("Deploys need a review or a green build", "Deploys need a review and a green build"),
    ("Retry five times", "Retry 5 times, then 3"),
    ("Keep ports from 80 to 90", "Keep ports from 90 to 80"),
    ("The gate is open!", "The gate is open?"),
    ("Die Maße stimmen", "Die Masse stimmen"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_may_mean_something_else_is_neither_the_same_nor_near(one: str, other: str) -> None:
    assert not restates(one, other)
    assert not near(one, other, least=0.8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys go out on Fridays.", "deploys  go out on fridays"),
        ("The tests run in CI", "Tests run in the CI!"),
        ("Use npm. It is fast", "Use npm. it is fast"),
        ("We  build\nwith C++.", "We build with C++"),
    ],
)
def test_spacing_articles_and_idle_capitals_make_no_other_statement(one: str, other: str) -> None:
    assert restates(one, other)
    assert near(one, other)


def test_a_word_more_makes_another_statement_but_a_near_one() -> None:
    one = "The payments service retries failed webhooks through the outbox worker"
    other = "The payments service always retries failed webhooks through the outbox worker"
    assert not restates(one, other)
    assert near(one, other)
