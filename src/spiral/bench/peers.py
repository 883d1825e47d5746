"""Other memories, to be measured beside Spiral: the same turns, the same embedder, no network.

Each keeps a turn as one document under its place in the conversation, because ids of turns may come twice.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING

from spiral.backends.minilm import MiniLm
from spiral.bench.data import Question, Turn
from spiral.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from spiral.ports import Embedder, Vectors

BATCH = 1_000
"""Documents at a time; Chroma refuses more than some five thousand."""
TALK = "talk"
"""The one user, wing or namespace that all turns go to: a system holds one conversation."""


class Chroma:
    """Chroma as it comes: nearest vectors, in a folder of its own."""

    name = "Chroma"

    def __init__(self, embedder: Embedder) -> None:
        settle()
        try:
            import chromadb
        except ImportError as error:
            raise missing("chromadb") from error
        self._folder = TemporaryDirectory(prefix="spiral-chroma-")
        self._client = chromadb.PersistentClient(
            self._folder.name, settings=chromadb.Settings(anonymized_telemetry=False)
        )
        self._collection = self._client.create_collection(TALK, embedding_function=ForChroma(embedder))
        self._ids: list[str] = []

    def take(self, turns: Sequence[Turn]) -> None:
        self._ids = [turn.id for turn in turns]
        for places, texts in batches(turns):
            self._collection.add(ids=places, documents=texts)

    def rank(self, question: Question, limit: int) -> list[str]:
        found = self._collection.query(query_texts=[question.text], n_results=limit, include=[])
        return turns_at(found["ids"][0], self._ids)

    def close(self) -> None:
        self._client.close()
        self._folder.cleanup()


class LangGraph:
    """LangGraph's store in memory, with an index over the texts."""

    name = "LangGraph store"

    def __init__(self, embedder: Embedder) -> None:
        settle()
        try:
            from langgraph.store.base import PutOp
            from langgraph.store.memory import InMemoryStore
        except ImportError as error:
            raise missing("langgraph") from error
        self._put = PutOp
        self._store = InMemoryStore(
            index={
                "dims": embedder.dimensions,
                "embed": lambda texts: embedder.embed(texts).tolist(),
                "fields": ["text"],
            }
        )
        self._ids: list[str] = []

    def take(self, turns: Sequence[Turn]) -> None:
        self._ids = [turn.id for turn in turns]
        for places, texts in batches(turns):
            self._store.batch(
                [self._put((TALK,), place, {"text": text}) for place, text in zip(places, texts, strict=True)]
            )

    def rank(self, question: Question, limit: int) -> list[str]:
        found = self._store.search((TALK,), query=question.text, limit=limit)
        return turns_at((item.key for item in found), self._ids)

    def close(self) -> None:
        """It holds nothing outside this process."""


class Mem0:
    """mem0 without a language model (`infer=False`), over its default store, Qdrant, in a folder of its own.

    As installed it ranks by vectors alone. Its keywords need fastembed and a model that it would download,
    `Qdrant/bm25`, which is no more than lists of stop words: `keywords` is a folder with its `english.txt`.
    """

    def __init__(self, embedder: Embedder, keywords: Path | None = None) -> None:
        settle()
        try:
            from mem0 import Memory
        except ImportError as error:
            raise missing("mem0") from error
        self.name = "mem0 with keywords" if keywords else "mem0"
        encoder = bm25(keywords) if keywords else False
        # It tells about each optional package that is not there, for each store.
        logging.getLogger("mem0").setLevel(logging.ERROR)
        self._folder = TemporaryDirectory(prefix="spiral-mem0-")
        # Its own classes for both models have to be made before they can be replaced or left alone; none is called.
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": f"{self._folder.name}/qdrant",
                        "on_disk": True,
                        "collection_name": TALK,
                        "embedding_model_dims": embedder.dimensions,
                    },
                },
                "history_db_path": f"{self._folder.name}/history.db",
                "embedder": unused,
                "llm": unused,
            }
        )
        self._memory.embedding_model = ForMem0(embedder)
        # One would name the folder in its settings; it has none for this, and loads what the machine happens to have.
        self._memory.vector_store._bm25_encoder = encoder  # noqa: SLF001 - as told above
        self._turns: dict[str, str] = {}

    def take(self, turns: Sequence[Turn]) -> None:
        # A message of the role `system` would be left out; who speaks stands in the text.
        messages = [{"role": "user", "content": document(turn)} for turn in turns]
        kept = self._memory.add(messages, user_id=TALK, infer=False)["results"]
        self._turns = {memory["id"]: turn.id for memory, turn in zip(kept, turns, strict=True)}

    def rank(self, question: Question, limit: int) -> list[str]:
        found = self._memory.search(question.text, filters={"user_id": TALK}, top_k=limit, threshold=0.0)["results"]
        return list(dict.fromkeys(self._turns[memory["id"]] for memory in found))

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()
        self._folder.cleanup()


class MemPalace:
    """MemPalace: drawers put in as its own tools do, found by its own search, which ranks vectors and words together.

    Closets, which it makes when it mines whole files, are not there: a drawer of a mined file is no single turn.
    """

    name = "MemPalace"

    def __init__(self, embedder: Embedder) -> None:
        settle()
        try:
            import mempalace.embedding
            import mempalace.palace
            import mempalace.searcher
        except ImportError as error:
            raise missing("mempalace") from error
        # One would pass an embedder; it takes only names of models that it downloads, or an HTTP endpoint's address.
        mempalace.embedding.get_embedding_function = lambda *_, **__: ForChroma(embedder)
        self._folder = TemporaryDirectory(prefix="spiral-mempalace-")
        self._backend = mempalace.palace.get_backend_for_palace(self._folder.name)
        self._drawers = mempalace.palace.get_collection(self._folder.name)
        self._search = mempalace.searcher.search_memories
        self._ids: list[str] = []

    def take(self, turns: Sequence[Turn]) -> None:
        self._ids = [turn.id for turn in turns]
        # One would expect its locks beside its settings; it leaves one for each palace in `~/.mempalace`.
        with home(self._folder.name):
            for places, texts in batches(turns):
                rooms = [{"wing": TALK, "room": turns[int(place)].session} for place in places]
                self._drawers.upsert(ids=places, documents=texts, metadatas=rooms)

    def rank(self, question: Question, limit: int) -> list[str]:
        found = self._search(question.text, self._folder.name, n_results=limit)
        # A failed search would otherwise count as one that found nothing.
        if found.get("error"):
            raise RuntimeError(f"MemPalace could not search for {question.text!r}: {found['error']}")
        return turns_at((hit["drawer_id"] for hit in found["results"]), self._ids)

    def close(self) -> None:
        self._backend.close_palace(self._folder.name)
        self._folder.cleanup()


class ForChroma:
    """An embedder as Chroma calls it, and MemPalace, which keeps its drawers there."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __call__(self, input: Sequence[str]) -> list[Vectors]:  # noqa: A002 - Chroma looks for this very name
        return list(self._embedder.embed(list(input)))

    def embed_query(self, input: Sequence[str]) -> list[Vectors]:  # noqa: A002 - as above
        return self(input)

    @staticmethod
    def name() -> str:
        return "spiral-bench"

    def get_config(self) -> dict[str, str]:
        return {}

    @staticmethod
    def build_from_config(config: Mapping[str, str]) -> ForChroma:  # noqa: ARG004 - Chroma's signature
        """Chroma makes one to compare names when a collection is opened again, and then uses the one it is given."""
        return ForChroma(MiniLm())

    def is_legacy(self) -> bool:
        return False

    def default_space(self) -> str:
        return "cosine"

    def supported_spaces(self) -> list[str]:
        return ["cosine", "l2", "ip"]


class ForMem0:
    """An embedder as mem0 calls it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str = "add") -> list[float]:  # noqa: ARG002 - mem0's signature
        row: list[float] = self._embedder.embed([text])[0].tolist()
        return row

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:  # noqa: ARG002
        rows: list[list[float]] = self._embedder.embed(texts).tolist()
        return rows


def bm25(folder: Path) -> object:
    """What mem0 weighs keywords with, from a folder with `english.txt`."""
    if not (folder / "english.txt").is_file():
        raise UsageError(f"no english.txt in {str(folder)!r}; name a folder with the files of Qdrant/bm25")
    try:
        from fastembed.sparse.bm25 import Bm25
    except ImportError as error:
        raise missing("fastembed") from error
    encoder: object = Bm25("Qdrant/bm25", specific_model_path=str(folder))
    return encoder


def document(turn: Turn) -> str:
    """What every peer is given of a turn."""
    said = turn.message
    date = f" ({said.at:%d %B %Y})" if said.at else ""
    return f"{said.role}{date}: {said.text}"


def batches(turns: Sequence[Turn]) -> Iterator[tuple[list[str], list[str]]]:
    """Places and texts of the turns, so many at a time."""
    for start in range(0, len(turns), BATCH):
        part = turns[start : start + BATCH]
        yield [str(start + place) for place in range(len(part))], [document(turn) for turn in part]


def turns_at(places: Iterable[str], ids: Sequence[str]) -> list[str]:
    """The ids of the turns at these places, each once."""
    return list(dict.fromkeys(ids[int(place)] for place in places))


def missing(package: str) -> MissingExtraError:
    """What to raise when a peer cannot be imported."""
    return MissingExtraError(f"{package} is not installed; run: pip install 'spiral-loop[bench-peers]'")


@contextmanager
def home(folder: str) -> Iterator[None]:
    """Lets the process take a folder for the user's home, for a while."""
    before = os.environ.get("HOME")  # noqa: TID251 - to put it back
    os.environ["HOME"] = folder  # noqa: TID251 - written for others
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]  # noqa: TID251 - as it was
        else:
            os.environ["HOME"] = before  # noqa: TID251 - as it was


@cache
def settle() -> None:
    """Keep the peers off the network and out of the user's settings, once for the process.

    They take this from the environment alone, some of it when they are imported.
    """
    folder = mkdtemp(prefix="spiral-peers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(  # noqa: TID251 - written for others, not read
        ANONYMIZED_TELEMETRY="False",
        HF_HUB_OFFLINE="1",
        LANGSMITH_TRACING="false",
        MEM0_DIR=f"{folder}/mem0",
        MEM0_TELEMETRY="False",
        MEMPALACE_BACKEND="chroma",
        MEMPALACE_CONFIG_DIR=f"{folder}/mempalace",
        MEMPALACE_EMBEDDING_MODEL="minilm",
        ORT_DISABLE_TELEMETRY="1",
    )
