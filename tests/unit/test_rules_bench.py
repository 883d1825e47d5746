"""The labelled sets are whole, and the rules stay above what they reached."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files

import pytest

from spiral.bench.rules import SPLITS, Row, measure, misses

LEAST = {"contradictions": 120, "distill": 60, "echoes": 120, "junk": 120}


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], Row]:
    return {(row.set, row.split): row for row in measure()}


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_a_set_is_large_enough_split_in_two_and_without_repetitions(name: str, least: int) -> None:
    lines = (files("spiral.bench") / "sets" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= least
    assert min(Counter(json.loads(line)["split"] for line in lines).values()) >= least // 2
    bare = [{key: value for key, value in json.loads(line).items() if key != "split"} for line in lines]
    assert len({json.dumps(line, sort_keys=True) for line in bare}) == len(lines)


def test_every_set_is_measured_on_both_halves(rows: dict[tuple[str, str], Row]) -> None:
    assert set(rows) == {(name, split) for name in LEAST for split in SPLITS}


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [("contradictions", 0.9, 0.7), ("distill", 0.85, 0.8), ("echoes", 0.88, 0.8), ("junk", 0.85, 0.8)],
)
def test_the_rules_hold_on_the_half_that_they_were_not_tuned_on(
    rows: dict[tuple[str, str], Row], name: str, precision: float, recall: float
) -> None:
    assert rows[name, "held"].precision >= precision
    assert rows[name, "held"].recall >= recall


def test_misses_are_named_for_the_half_that_may_be_looked_at() -> None:
    assert {miss.split for miss in misses("tune")} <= {"tune"}
    assert {miss.wrong for miss in misses("tune")} <= {"missed", "invented"}
