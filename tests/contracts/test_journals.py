"""What every journal promises; a new backend is one more line in JOURNALS."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spiral.backends import load
from spiral.errors import NotFoundError
from spiral.ports import Journal
from spiral.work import Event, EventKind, Expense, TaskState, Usage

JOURNALS = ("sqlite:",)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=JOURNALS)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    opened: Journal = load("journal", request.param, tmp_path / "spiral" / "journal.db")
    yield opened
    opened.close()


def event(name: str, kind: EventKind = "notice", task: str = "", run: str = "r1") -> Event:
    return Event(id=name, at=NOW, run=run, kind=kind, task=task, data={"text": "näher"})


def expense(name: str, cost: float, at: datetime = NOW, run: str = "r1") -> Expense:
    return Expense(
        id=name, at=at, run=run, pass_id="p", task="T", agent="a", role="maker", model="m",
        usage=Usage(input=10, output=2, cost=cost, estimated=True),
    )  # fmt: skip


def test_an_event_recorded_twice_is_there_once_and_unchanged(journal: Journal) -> None:
    journal.record([event("e1")])
    journal.record([Event(id="e1", at=NOW, run="r2", kind="notice"), event("e2")])
    assert [(found.id, found.run, found.seq, found.data) for found in journal.events()] == [
        ("e1", "r1", 1, {"text": "näher"}),
        ("e2", "r1", 2, {"text": "näher"}),
    ]


def test_what_is_recorded_together_is_there_together_or_not_at_all(journal: Journal) -> None:
    bad = Event(id="e2", at=NOW, run="r1", kind="notice", data={"x": object()})
    with pytest.raises(TypeError):
        journal.record([event("e1"), bad], states={"T": TaskState(status="done")}, notes={"n": "v"})
    assert (journal.events(), journal.states(), journal.note("n")) == ([], {}, "")
    journal.record([event("e1")], states={"T": TaskState(status="done")}, notes={"n": "v"})
    assert journal.states() == {"T": TaskState(status="done")}


def test_events_are_found_by_run_task_and_kind_newest_when_limited(journal: Journal) -> None:
    journal.record([event("a", "steer", "T1"), event("b", "notice", "T1"), event("c", "steer", "T2", run="r2")])
    assert [found.id for found in journal.events(task="T1")] == ["a", "b"]
    assert [found.id for found in journal.events(kinds=("steer",))] == ["a", "c"]
    assert [found.id for found in journal.events(limit=2)] == ["b", "c"]
    assert [found.id for found in journal.events(run="r1", after=1)] == ["b"]


def test_expenses_are_summed_by_run_and_since_a_moment(journal: Journal) -> None:
    journal.record(
        expenses=[expense("x", 1.5), expense("y", 2.0, run="r2"), expense("z", 4.0, NOW - timedelta(days=2))]
    )
    journal.record(expenses=[expense("x", 99.0)])
    assert journal.spent(run="r1") == Usage(input=20, output=4, cost=5.5, estimated=True)
    assert journal.spent(since=NOW - timedelta(days=1)).cost == 3.5
    assert [found.id for found in journal.expenses()] == ["z", "x", "y"]
    assert journal.spent(run="none") == Usage()


def test_a_text_is_kept_under_its_content(journal: Journal) -> None:
    name = journal.keep("briefing é \ud800")
    assert journal.keep("briefing é \ud800") == name
    assert journal.kept(name) == "briefing é \ud800"
    with pytest.raises(NotFoundError):
        journal.kept("nothing")


def test_notes_are_found_by_prefix_even_with_wildcards_in_it(journal: Journal) -> None:
    journal.record(notes={"a/1": "x", "a/2": "y", "b%": "z"})
    assert journal.notes("a/") == {"a/1": "x", "a/2": "y"}
    assert journal.notes("%") == {}
