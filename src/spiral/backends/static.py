"""Embeds with the static vectors of WordLlama: a hundred times faster than a model, and a little less exact."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from spiral.errors import ConfigError, EmbedderError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from spiral.ports import Vectors

WEIGHTS = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
DIMENSIONS = 256
LONGEST_TEXT = 10_000
"""Characters that are looked at, so that a text of any size is quick."""


def open_embedder(url: str, **_: object) -> Static:
    """The embedder of `static:`. Nothing is loaded before the first text; settings for endpoints are not looked at."""
    if url.partition(":")[2].strip("/"):
        raise ConfigError(f"static takes no name, got {url!r}; write 'static:'")
    # The package itself is not imported: that takes 300 ms, sets up logging, and its loader asks a hub.
    spec = find_spec("wordllama")
    missing = [name for name in ("safetensors", "tokenizers") if find_spec(name) is None]
    if spec is None or spec.origin is None or missing:
        raise MissingExtraError("the static embedder is not installed; run: pip install 'spiral-loop[static]'")
    return Static(Path(spec.origin).parent)


class Static:
    """A vector per token, the same in every text; a text's row is their mean."""

    name = f"wordllama-l2-supercat-256@{WEIGHTS_SHA256[:8]}"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: tuple[Tokenizer, NDArray[np.float16]] | None = None
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row per text, of which the first 10,000 characters count; zeros when it is empty."""
        import numpy as np

        tokenizer, table = self._load()
        # Lone surrogates are no text to the tokeniser.
        clean = [text[:LONGEST_TEXT].encode("utf-8", "ignore").decode() for text in texts]
        result = np.zeros((len(clean), DIMENSIONS), np.float32)
        for row, encoding in enumerate(tokenizer.encode_batch(clean, add_special_tokens=False)):
            total = table[encoding.ids].sum(axis=0, dtype=np.float32)
            if length := float(np.linalg.norm(total)):
                result[row] = total / length
        return result

    def verify(self) -> str:
        """The sha256 of the weights; EmbedderError when a file is not the one this version was made for."""
        self._read(TOKENIZER, TOKENIZER_SHA256)
        self._read(WEIGHTS, WEIGHTS_SHA256)
        return WEIGHTS_SHA256

    def close(self) -> None:
        """Release the vectors; a later text loads them again."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[Tokenizer, NDArray[np.float16]]:
        """The lock admits one loader; whoever waited for it finds the vectors there."""
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        with self._lock:
            if self._loaded is None:
                tokenizer = Tokenizer.from_str(self._read(TOKENIZER, TOKENIZER_SHA256).decode())
                self._loaded = tokenizer, load(self._read(WEIGHTS, WEIGHTS_SHA256))["embedding.weight"]
            return self._loaded

    def _read(self, name: str, sha256: str) -> bytes:
        """The file, known to be whole: hashing takes 20 ms, and nothing that is parsed later can be damaged."""
        path = self._folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise EmbedderError(f"cannot read {str(path)!r}: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            cure = "run: pip install --force-reinstall 'spiral-loop[static]'"
            raise EmbedderError(f"{str(path)!r} is damaged (its hash is not {sha256[:8]}…); {cure}")
        return content
