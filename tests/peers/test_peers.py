"""The peers that are measured beside Spiral: only with `-m peers`, and where they are installed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from spiral.backends.minilm import MiniLm
from spiral.bench import peers
from spiral.bench.data import Question, Turn
from spiral.bench.systems import System
from spiral.errors import MissingExtraError, UsageError
from spiral.model import Message
from spiral.ports import Embedder

pytestmark = [
    pytest.mark.peers,
    # What the peers' own packages deprecate is for them to mend.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

PEERS: dict[str, Callable[[Embedder], System]] = {
    "chromadb": peers.Chroma,
    "langgraph": peers.LangGraph,
    "mem0": peers.Mem0,
    "mempalace": peers.MemPalace,
}
SAID = (
    "I started a pottery class on Thursdays.",
    "The vet says Biscuit needs a new diet for his kidneys.",
    "We painted the kitchen pale green last weekend.",
    "My sister moved to Lisbon for her job at the aquarium.",
    "The train to work was late again.",
    "I finally finished the marathon, in four hours and ten minutes.",
    "Our neighbour plays the trumpet after midnight.",
    "I planted tomatoes and basil on the balcony.",
    "The car failed its inspection because of the brakes.",
    "My grandmother taught me to bake rye bread.",
    "We watched a documentary about glaciers.",
    "I am learning Portuguese with an app.",
)
ASKED = {
    "How long did the marathon take?": 5,
    "Where does her sister live?": 3,
    "Why did the car not pass inspection?": 8,
}


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    model = MiniLm()
    yield model
    model.close()


@pytest.fixture(params=PEERS)
def make(request: pytest.FixtureRequest) -> Callable[[Embedder], System]:
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed; run: pip install -e '.[bench-peers]'")
    return PEERS[request.param]


def talk(ids: list[str]) -> list[Turn]:
    at = datetime(2024, 5, 7, tzinfo=UTC)
    return [
        Turn(id=id, session="one", message=Message(role="user", text=f"Ann: {text}", at=at))
        for id, text in zip(ids, SAID, strict=True)
    ]


def question(text: str) -> Question:
    return Question(id="q", text=text, category="plain", evidence=frozenset())


def test_the_turn_that_answers_comes_first(make: Callable[[Embedder], System], embedder: Embedder) -> None:
    system = make(embedder)
    system.take(talk([f"D1:{number}" for number in range(len(SAID))]))
    found = {text: system.rank(question(text), 3) for text in ASKED}
    system.close()
    assert {text: ids[0] for text, ids in found.items()} == {text: f"D1:{number}" for text, number in ASKED.items()}
    assert all(len(ids) == 3 for ids in found.values())


def test_a_second_conversation_finds_nothing_of_the_first(
    make: Callable[[Embedder], System], embedder: Embedder
) -> None:
    first, second = make(embedder), make(embedder)
    first.take(talk([f"first {number}" for number in range(len(SAID))]))
    first.close()
    second.take(talk([f"second {number}" for number in range(len(SAID))]))
    found = second.rank(question("How long did the marathon take?"), 25)
    second.close()
    assert sorted(found) == sorted(f"second {number}" for number in range(len(SAID)))


def test_turns_that_share_an_id_are_all_taken_and_named_once(
    make: Callable[[Embedder], System], embedder: Embedder
) -> None:
    system = make(embedder)
    system.take(talk(["same" if number in (3, 5) else str(number) for number in range(len(SAID))]))
    found = system.rank(question("How long did the marathon take?"), 25)
    system.close()
    assert (found[0], found.count("same"), len(found)) == ("same", 1, 11)


def test_the_keywords_of_mem0_count_when_their_stop_words_are_given(embedder: Embedder, tmp_path: Path) -> None:
    pytest.importorskip("mem0", reason="mem0 is not installed; run: pip install -e '.[bench-peers]'")
    (tmp_path / "english.txt").write_text("the\nis\nwhat\n", "utf-8")
    told = talk([str(number) for number in range(len(SAID))])
    # Which of the numbers is meant, no vector knows.
    codes = [replace(turn, message=replace(turn.message, text=f"The code is QX{turn.id}7Z.")) for turn in told]
    system = peers.Mem0(embedder, keywords=tmp_path)
    system.take(codes)
    found = [system.rank(question(f"What is QX{number}7Z?"), 3)[0] for number in range(len(SAID))]
    system.close()
    assert (system.name, found) == ("mem0 with keywords", [turn.id for turn in told])


def test_a_folder_without_stop_words_is_refused(embedder: Embedder, tmp_path: Path) -> None:
    pytest.importorskip("mem0", reason="mem0 is not installed; run: pip install -e '.[bench-peers]'")
    with pytest.raises(UsageError, match=r"no english\.txt in"):
        peers.Mem0(embedder, keywords=tmp_path)


def test_nothing_is_left_when_closed(
    make: Callable[[Embedder], System], embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers.settle()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    system = make(embedder)
    system.take(talk([str(number) for number in range(len(SAID))]))
    system.rank(question("Where does her sister live?"), 3)
    system.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not (tmp_path / "home/.mempalace").exists() and not (tmp_path / "home/.mem0").exists()


def test_a_peer_that_is_not_there_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(
        MissingExtraError, match=r"mem0 is not installed; run: pip install 'spiral-loop\[bench-peers\]'"
    ):
        peers.Mem0(embedder)
