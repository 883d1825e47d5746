"""What the middle wishes for from the outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near they are in meaning."""

    @property
    def name(self) -> str:
        """The model, exactly: vectors are comparable only under the same name."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit-length row per text, in order; a text of any length or content gets one (zeros when it is empty).

        Pure: a second call gives the same rows. Raises EmbedderError when the model cannot answer.
        """

    def close(self) -> None:
        """Release what it holds; a second call does nothing."""
