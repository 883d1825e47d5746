"""Supersession, scoping and budget as properties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from spiral.memory import rank
from spiral.memory.settle import Moment, active, settle
from spiral.memory.tokens import excerpt, tokens
from spiral.model import ANY, LEVELS, Change, Hit, Scope, Statement

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def fact(number: int, learned: int, since: int | None, until: int | None) -> Statement:
    return Statement(
        id=f"m{number:04}",
        text=f"fact {number}",
        kind="semantic",
        scope=Scope(app="a"),
        owner="o",
        key="k",
        learned=DAY + timedelta(days=learned),
        valid_from=DAY + timedelta(days=since) if since is not None else None,
        valid_to=DAY + timedelta(days=until) if until is not None else None,
    )


days = st.integers(0, 60)
facts = st.lists(st.tuples(days, st.none() | days, st.none() | days), min_size=1, max_size=8).map(
    lambda rows: [fact(number, *row) for number, row in enumerate(rows)]
)


@given(facts, days, days, st.sets(st.integers(0, 7)))
def test_at_most_one_fact_of_a_slot_is_current_at_any_moment(
    chain: list[Statement], true: int, known: int, forgotten: set[int]
) -> None:
    changes = [
        Change(id=f"c{number}", verb="forget", targets=(f"m{number:04}",), at=DAY + timedelta(days=30))
        for number in forgotten
    ]
    at = Moment(DAY + timedelta(days=true), DAY + timedelta(days=known))
    states = settle(chain, ["slot"] * len(chain), changes, at)
    assert sum(state.state == "current" for state in states.values()) <= 1
    assert set(states) == {memory.id for memory in chain if memory.learned <= at.known}


@given(facts, days)
def test_forgetting_never_brings_an_older_fact_back_and_undoing_restores_all(chain: list[Statement], day: int) -> None:
    at = Moment(DAY + timedelta(days=day), DAY + timedelta(days=99))
    slots = ["slot"] * len(chain)
    before = settle(chain, slots, [], at)
    head = [name for name, state in before.items() if state.state == "current"]
    if head:
        gone = Change(id="c1", verb="forget", targets=(head[0],), at=DAY + timedelta(days=90))
        after = settle(chain, slots, [gone], at)
        assert [name for name, state in after.items() if state.state == "current"] == []
        undo = Change(id="c2", verb="undo", targets=("c1",), at=DAY + timedelta(days=91))
        assert settle(chain, slots, [gone, undo], at) == before


names = st.sampled_from(["", "x", "y"])
scopes = st.builds(Scope, **dict.fromkeys(LEVELS, names))


@given(scopes, scopes)
def test_a_scope_admits_what_is_as_wide_or_the_same(asked: Scope, held: Scope) -> None:
    expected = all(getattr(held, level) in ("", getattr(asked, level)) for level in LEVELS)
    assert asked.admits(held) == expected
    assert Scope(**dict.fromkeys(LEVELS, ANY)).admits(held)


@given(st.lists(st.integers(1, 400), max_size=30), st.integers(1, 1000), st.integers(1, 20))
def test_hits_never_exceed_the_budget_and_nothing_vanishes(sizes: list[int], budget: int, limit: int) -> None:
    hits = [Hit(id=f"m{at}", text="t", score=1.0, tokens=size, channels={}) for at, size in enumerate(sizes)]
    kept, dropped = rank.within(hits, budget, limit)
    assert sum(hit.tokens for hit in kept) <= budget
    assert len(kept) <= limit
    assert {hit.id for hit in kept} | {item.id for item in dropped} == {hit.id for hit in hits}


@given(st.text(max_size=2000), st.integers(10, 300))
def test_an_excerpt_fits(text: str, room: int) -> None:
    assert tokens(excerpt(text, ("a",), room)) <= room


def test_an_undone_undo_is_void_whatever_the_clock_said() -> None:
    gone = Change(id="c1", verb="forget", targets=("m0000",), at=DAY + timedelta(days=10))
    back = Change(id="c2", verb="undo", targets=("c1",), at=DAY + timedelta(days=11))
    again = Change(id="c3", verb="undo", targets=("c2",), at=DAY + timedelta(days=5))
    assert active([gone, back, again], DAY + timedelta(days=20)) == [again, gone]
    ring = [Change(id=f"c{at}", verb="undo", targets=(f"c{(at + 1) % 3}",), at=DAY) for at in range(3)]
    assert [change.id for change in active(ring, DAY)] == ["c1"]
