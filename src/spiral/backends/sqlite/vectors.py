"""Vectors in flat files beside the database, at the place that the entry's number names.

Three files a model: the vectors in half precision, their signs as bits to look through many quickly, and the partition
of each row, so that a search never touches what its view may not see. A row is written and synced before the
transaction that calls it present commits, so a crash leaves at most rows that nobody refers to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = 8_000
"""Up to so many rows every vector is compared; beyond, the signs choose this many first."""


class VectorFiles:
    """The vectors of one model."""

    def __init__(self, folder: Path, model: int, dimensions: int) -> None:
        self.dimensions = dimensions
        self.words = (dimensions + 63) // 64
        self.paths = {name: folder / f"vectors-{model}.{name}" for name in ("f16", "bits", "part")}

    def write(self, rows: Sequence[int], parts: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Put the vectors at their rows and make them durable; writing the same again changes nothing."""
        import numpy as np

        half = np.ascontiguousarray(vectors, dtype=np.float16)
        bits = self.signs(vectors)
        blocks = {
            "f16": [half[at].tobytes() for at in range(len(rows))],
            "bits": [bits[at].tobytes() for at in range(len(rows))],
            "part": [int(part).to_bytes(4, "little") for part in parts],
        }
        for name, pieces in blocks.items():
            write_rows(self.paths[name], rows, pieces)

    def clear(self, rows: Iterable[int]) -> None:
        """Overwrite the rows with zeros, for an entry that must leave no trace."""
        present = [row for row in rows if self.paths["part"].exists() and row < self.length()]
        for name, width in (("f16", self.dimensions * 2), ("bits", self.words * 8), ("part", 4)):
            if present:
                write_rows(self.paths[name], present, [bytes(width)] * len(present))

    def length(self) -> int:
        """Rows that are complete in all three files."""
        widths = {"f16": self.dimensions * 2, "bits": self.words * 8, "part": 4}
        return min(self.paths[name].stat().st_size // width for name, width in widths.items())

    def signs(self, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
        """One bit a dimension, padded to whole words."""
        import numpy as np

        packed = np.packbits(vectors > 0, axis=1)
        padded = np.zeros((len(vectors), self.words * 8), dtype=np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64)

    def read(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """The vectors at these rows."""
        import numpy as np

        half = np.memmap(self.paths["f16"], dtype=np.float16, mode="r").reshape(-1, self.dimensions)
        return np.asarray(half[list(rows)], dtype=np.float32)

    def nearest(self, vector: NDArray[np.float32], parts: Iterable[int], limit: int) -> list[tuple[int, float]]:
        """(row, similarity) of at least the `limit` nearest rows in these partitions, ties all included.

        The same rows in another order give the same answer: every cut keeps all that are as near as the last one.
        """
        import numpy as np

        if not all(path.exists() for path in self.paths.values()) or not (length := self.length()):
            return []
        part = np.fromfile(self.paths["part"], dtype="<i4", count=length)
        wanted = np.zeros(max(int(part.max(initial=0)), *parts, 0) + 1, dtype=bool)
        wanted[list(parts)] = True
        wanted[0] = False
        rows = np.flatnonzero(wanted[part])
        if len(rows) > EXACT:
            bits = np.memmap(self.paths["bits"], dtype=np.uint64, mode="r", shape=(length, self.words))
            chosen = bits[rows] if len(rows) < length // 2 else np.asarray(bits)
            apart = np.bitwise_count(chosen ^ self.signs(vector.reshape(1, -1))).sum(axis=1, dtype=np.uint16)
            if chosen.shape[0] == length:
                apart = apart[rows]
            rows = rows[apart <= np.partition(apart, EXACT // 4)[EXACT // 4]]
        if not len(rows):
            return []
        half = np.memmap(self.paths["f16"], dtype=np.float16, mode="r", shape=(length, self.dimensions))
        near = half[rows].astype(np.float32) @ vector
        if len(rows) > limit:
            keep = near >= np.partition(near, -limit)[-limit]
            rows, near = rows[keep], near[keep]
        return [(int(row), float(score)) for row, score in zip(rows, near, strict=True)]


def write_rows(path: Path, rows: Sequence[int], pieces: Sequence[bytes]) -> None:
    """Write fixed-size pieces at their rows, then sync."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for row, piece in zip(rows, pieces, strict=True):
            os.pwrite(handle, piece, row * len(piece))
        os.fdatasync(handle)
    finally:
        os.close(handle)
