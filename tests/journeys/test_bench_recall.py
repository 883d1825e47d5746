"""`spiral bench recall` on a conversation made up in LoCoMo's format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run

SAID = (
    "I adopted a beagle called Biscuit.", "The rent went up again.", "My sister plays the oboe.",
    "We painted the kitchen green.", "I failed my driving test.", "Lunch was soup.",
)  # fmt: skip


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    turns = [{"speaker": "Ada", "dia_id": f"D1:{at}", "text": text} for at, text in enumerate(SAID, 1)]
    asked = [
        {"question": "Which dog did Ada adopt?", "evidence": ["D1:1"], "category": 4},
        {"question": "What instrument does the sister play?", "evidence": ["D1:3"], "category": 1},
        {"question": "What is not there?", "evidence": ["D1:2"], "category": 5},
    ]
    said = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([{"sample_id": "made-up", "conversation": said, "qa": asked}]))
    return path


def test_every_system_is_measured_on_the_same_questions(spiral: Run, talks: Path) -> None:
    found = json.loads(spiral("bench", "recall", "--data", str(talks), "--json").stdout)
    assert (found["dataset"], found["questions"]) == ("locomo", 2)
    assert list(found["systems"]) == ["spiral", "bm25", "minilm", "rrf"]
    assert {system: row["R@5"] for system, row in found["systems"].items()}["spiral"] == 100.0
    assert found["systems"]["spiral"]["by_category"]["multi-hop"]["questions"] == 1
    table = spiral("bench", "recall", "--data", str(talks), "--systems", "bm25").stdout
    assert "single-hop" in table


def test_one_question_shows_what_was_found_and_what_was_wanted(spiral: Run, talks: Path) -> None:
    told = spiral("bench", "recall", "--data", str(talks), "--systems", "spiral", "--question", "made-up/0").stdout
    assert told.splitlines()[:2] == ["made-up/0: Which dog did Ada adopt?", "wanted: D1:1"]
    assert "spiral       D1:1*" in told


def test_what_cannot_be_measured_is_told(spiral: Run, talks: Path, tmp_path: Path) -> None:
    assert "unknown system 'x'" in spiral("bench", "recall", "--data", str(talks), "--systems", "x", code=64).stderr
    assert "cannot read" in spiral("bench", "recall", "--data", str(tmp_path / "none.json"), code=64).stderr
    assert "no LoCoMo" in spiral("bench", "recall", "--data", str(tmp_path), code=64).stderr
    asked = ("--question", "made-up/9")
    assert "no question 'made-up/9'" in spiral("bench", "recall", "--data", str(talks), *asked, code=66).stderr
