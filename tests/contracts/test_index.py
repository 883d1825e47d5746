"""What every index promises; a new backend is one more line in INDEXES."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spiral.backends import load
from spiral.model import Scope
from spiral.ports import Entry, Index, Probe, Sighting, View

INDEXES = ("sqlite:",)
SHOP = Scope(org="acme", app="shop")
VIEW = View(scope=SHOP, owner="ann")


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    opened: Index = load("index", request.param, tmp_path / "index", model="test-model")
    yield opened
    opened.close()


def entry(name: str, text: str = "plain words", **rest: object) -> Entry:
    made = Entry(
        id=name, type="memory", scope=SHOP, owner="ann", visibility="team", path=f"memories/{name}.md", at=1, body="{}",
        text=text, words=text,
    )  # fmt: skip
    return replace(made, **rest)  # type: ignore[arg-type]


def put(index: Index, *entries: Entry) -> None:
    with index.atomic():
        index.put(entries)


def found(index: Index, probe: Probe, view: View = VIEW) -> dict[str, list[str]]:
    return {channel: [name for name, _ in hits] for channel, hits in index.search(probe, view).items()}


def test_an_entry_that_is_put_again_replaces_the_first(index: Index) -> None:
    put(index, entry("m1", "red apple"))
    put(index, entry("m1", "green pear"))
    assert found(index, Probe(words=("apple",))) == {}
    assert found(index, Probe(words=("pear",))) == {"words": ["m1"]}
    assert index.counts().memories == 1


def test_what_fails_inside_a_transaction_leaves_nothing(index: Index) -> None:
    def fail() -> None:
        with index.atomic():
            index.put([entry("m1")])
            index.note("name", "value")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert (index.get(["m1"]), index.note("name")) == ({}, "")


def test_a_search_sees_its_own_scope_and_what_is_above_it(index: Index) -> None:
    put(
        index,
        entry("org", scope=Scope(org="acme")),
        entry("app"),
        entry("agent", scope=replace(SHOP, agent="coder")),
        entry("other", scope=Scope(org="acme", app="bank")),
        entry("foreign", scope=Scope(org="evil", app="shop")),
    )
    probe = Probe(words=("plain",))
    assert sorted(found(index, probe)["words"]) == ["app", "org"]
    assert sorted(found(index, probe, replace(VIEW, scope=replace(SHOP, agent="coder")))["words"]) == [
        "agent", "app", "org",
    ]  # fmt: skip


def test_private_entries_are_their_owners(index: Index) -> None:
    put(index, entry("mine", visibility="private"), entry("hers", visibility="private", owner="eve"))
    assert found(index, Probe(words=("plain",))) == {"words": ["mine"]}


def test_what_is_not_current_or_in_quarantine_shows_only_when_asked_for(index: Index) -> None:
    put(index, entry("old"), entry("bad", hidden=True), entry("good"))
    with index.atomic():
        index.mark([("old", False, 0)])
    probe = Probe(words=("plain",))
    assert found(index, probe) == {"words": ["good"]}
    assert sorted(found(index, probe, replace(VIEW, live=False))["words"]) == ["good", "old"]
    assert sorted(found(index, probe, replace(VIEW, hidden=True))["words"]) == ["bad", "good"]


def test_each_channel_finds_by_its_own_means(index: Index) -> None:
    put(index, entry("m1", key="db/port", exact="stripewebhookhandler", anchors=("outbox.py",)))
    with index.atomic():
        index.store(["m1"], np.array([[1.0, 0.0]], dtype=np.float32))
    probe = Probe(
        words=("plain",), exact=("stripewebhookhandler",), parts=("webhookhand",), keys=("db",), anchors=("outbox.py",),
        vector=np.array([[1.0, 0.0]], dtype=np.float32),
    )  # fmt: skip
    assert found(index, replace(probe, exact=())) == {
        channel: ["m1"] for channel in ("key", "words", "part", "anchor", "vector")
    }
    assert found(index, Probe(exact=("stripewebhookhandler",))) == {"exact": ["m1"]}


@pytest.mark.parametrize("word", ['"', "AND", "NEAR(", "a*", "col:", "'); DROP TABLE doc;--", "\x00", "-x", "^"])
def test_metacharacters_are_words_like_any_other(index: Index, word: str) -> None:
    put(index, entry("m1"))
    found(index, Probe(words=(word,), exact=(word,), parts=(word + "xyz",), keys=(word,), anchors=(word,)))
    assert found(index, Probe(words=("plain",))) == {"words": ["m1"]}


def test_vectors_are_owed_until_they_are_stored(index: Index) -> None:
    put(index, entry("m1", "one"), entry("m2", "two"))
    assert sorted(index.owed(10)) == [("m1", "one"), ("m2", "two")]
    with index.atomic():
        index.store(["m1", "gone"], np.eye(2, dtype=np.float32))
    assert (index.owed(10), index.owing()) == ([("m2", "two")], 1)
    put(index, entry("m1", "one, altered"))
    assert index.owing() == 2


def test_a_successor_takes_the_place_of_the_index_and_borrows_its_vectors(index: Index) -> None:
    put(index, entry("m1", "one"), entry("m2", "two"))
    with index.atomic():
        index.store(["m1", "m2"], np.eye(2, dtype=np.float32))
    after = index.successor()
    put(after, entry("m1", "one"), entry("m2", "two, altered"))
    assert after.borrow(index) == 1
    after.succeed()
    after.close()
    index.refresh()
    assert index.owed(10) == [("m2", "two, altered")]


def test_sightings_are_kept_by_folder(index: Index) -> None:
    file, broken = Sighting(path="memories/a.md", stamp="1"), Sighting(path="memories/b.md", stamp="2", fault="torn")
    with index.atomic():
        index.sight([Sighting(path="memories/", stamp="0"), file, broken])
        index.unsight(["memories/a.md"])
    assert index.sightings("memories/") == {broken.path: broken}
    assert list(index.sightings()) == ["memories/"]
    assert index.faults() == [broken]


def test_a_purged_text_is_in_no_file(index: Index, tmp_path: Path) -> None:
    put(index, entry("m1", "zanzibar", exact="zanzibarhandler"), entry("m2"))
    with index.atomic():
        index.store(["m1"], np.eye(1, 2, dtype=np.float32))
    index.purge(["m1"])
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]
    assert (kept, index.get(["m1"]), list(index.get(["m2"]))) == ([], {}, ["m2"])
