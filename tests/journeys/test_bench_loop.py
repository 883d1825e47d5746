"""`spiral bench loop` on a small past: the figures are there, and the memory ends the repeats."""

from __future__ import annotations

import json

from conftest import Run


def test_the_cost_of_the_loop_and_the_worth_of_its_memory_are_measured(spiral: Run) -> None:
    told = spiral("bench", "loop", "--tasks", "60", "--passes", "40", "--memories", "50", "--seeds", "1", "--json")
    found = json.loads(told.stdout)
    early, late = found["costs"]
    assert (early["after"], late["after"]) == (4, 40)
    assert 0 < late["tokens"] <= late["most"]
    assert 0 < late["briefing"] < late["overhead"]
    heeding = {row["half"]: row for row in found["effects"][1]["rows"]}
    assert heeding["circle"]["repeats"] > 0
    assert heeding["spiral"]["repeats"] == 0
