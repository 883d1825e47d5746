"""What every index promises; a new backend is one more line in INDEXES."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
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


def test_the_beginning_of_an_id_finds_it_whatever_follows(index: Index) -> None:
    put(index, entry("fizz-buzz-1"), entry("fa-1"), entry("fj-1"))
    assert [row.id for row in index.select("id^", ["fi"])] == ["fizz-buzz-1"]


def test_identifiers_of_another_scope_crowd_nothing_out(index: Index) -> None:
    put(index, entry("mine", exact="orblaxhandlerfactory"))
    put(index, *(entry(f"o{at}", scope=Scope(org="acme", app="bank"), exact=f"orblaxq{at}") for at in range(60)))
    put(index, *(entry(f"r{at}", exact=f"orblaxr{at}") for at in range(60)))
    with index.atomic():
        index.mark((f"r{at}", False, 0) for at in range(60))
    assert found(index, Probe(parts=("orblax",))) == {"part": ["mine"]}


def test_a_word_that_stands_in_the_text_is_a_finding_among_few_texts_too(index: Index) -> None:
    put(index, entry("m1", "moon is cheese", exact="e1027"))
    for other in range(3):
        for channel, hits in index.search(Probe(words=("moon",), exact=("e1027",)), VIEW).items():
            assert [name for name, score in hits if score >= 0.5] == ["m1"], (channel, hits)
        put(index, entry(f"o{other}", "gamma rays"))


def test_only_what_was_known_by_then_is_found(index: Index) -> None:
    put(index, entry("early", at=10), entry("late", at=20))
    assert found(index, Probe(words=("plain",)), replace(VIEW, known=15)) == {"words": ["early"]}


def test_a_path_may_hold_any_bytes(index: Index) -> None:
    path = "memories/od\udcffd/\udcfe.md"
    file, folder = Sighting(path=path, stamp="1", fault="torn"), Sighting(path="memories/od\udcffd/", stamp="0")
    put(index, entry("m1", path=path))
    with index.atomic():
        index.sight([file, folder])
    assert [row.path for row in index.select("path", [path])] == [path]
    assert (index.sightings(folder.path), index.faults()) == ({path: file}, [file])
    with index.atomic():
        index.unsight([path, folder.path])
    assert (index.sightings(), index.faults()) == ({}, [])


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


def test_a_successor_has_the_notes_of_the_index_as_they_are_in_the_end(index: Index) -> None:
    with index.atomic():
        index.note("first", "1")
    after = index.successor()
    put(after, entry("m1"))
    with index.atomic():
        index.note("second", "2")
        index.note("first", "")
    after.succeed()
    after.close()
    index.refresh()
    assert (index.note("first"), index.note("second"), list(index.get(["m1"]))) == ("", "2", ["m1"])


def test_what_was_done_outside_is_taken_back_if_the_transaction_fails_and_only_then(index: Index) -> None:
    done: list[str] = []
    with index.atomic():
        index.otherwise(lambda: done.append("never"))
    with suppress(ZeroDivisionError), index.atomic():
        index.put([entry("m1")])
        index.otherwise(lambda: done.append("first"))
        with index.atomic():
            index.otherwise(lambda: done.append("second"))
        raise ZeroDivisionError
    assert (done, index.get(["m1"])) == (["second", "first"], {})


def test_only_whole_vectors_are_borrowed(index: Index) -> None:
    put(index, entry("m1", "one"), entry("m2", "two"))
    with index.atomic():
        index.store(["m1", "m2"], np.array([[1.0, 0.0], [0.0, 0.0]], dtype=np.float32))
    after = index.successor()
    put(after, entry("m1", "one"), entry("m2", "two"))
    assert (after.borrow(index), after.owed(10)) == (1, [("m2", "two")])
    after.close()


def test_an_index_that_is_whole_has_no_damage(index: Index) -> None:
    assert index.damage() == []
    put(index, entry("m1", "one"), entry("m2", "two"), entry("m3", "three"))
    with index.atomic():
        index.store(["m1", "m2"], np.array([[1.0, 0.0], [0.0, 0.0]], dtype=np.float32))
        index.remove(["m3"])
    assert index.damage() == []


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
