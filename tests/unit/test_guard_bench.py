"""The published figures do not fall unseen. The floors lie well below what is measured."""

from __future__ import annotations

from spiral.bench.guard import injections, measure, secrets

FLOORS = {
    ("injections", "tune"): (0.95, 0.90),
    ("injections", "held"): (0.92, 0.78),
    ("secrets", "tune"): (0.95, 0.90),
    ("secrets", "held"): (0.95, 0.90),
}


def test_precision_and_recall_stay_above_their_floors() -> None:
    rows = {(row.set, row.split): row for row in measure()}
    assert rows.keys() == FLOORS.keys()
    for place, (precision, recall) in FLOORS.items():
        assert rows[place].precision >= precision, rows[place]
        assert rows[place].recall >= recall, rows[place]


def test_the_sets_are_large_and_half_of_each_is_ordinary() -> None:
    for examples, least in ((injections(), 150), (secrets(), 140)):
        assert len(examples) >= least
        assert 0.4 <= sum(example.caught for example in examples) / len(examples) <= 0.6
        assert len({example.text for example in examples}) == len({example.id for example in examples}) == len(examples)


def test_test_secrets_are_put_together_the_same_way_each_time() -> None:
    assert secrets() == secrets()
    assert all((example.secret in example.text and example.secret != "") == example.caught for example in secrets())
