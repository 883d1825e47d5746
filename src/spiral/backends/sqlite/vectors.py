"""Vectors in flat files beside the database, at the place that the entry's number names.

Three files a model: the vectors in half precision, their signs as bits to look through many quickly, and the partition
of each row, so that a search never touches what its view may not see. A row is written and synced before the
transaction that calls it present commits, so a crash leaves at most rows that nobody refers to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = 8_000
"""Up to so many rows every vector is compared; beyond, the signs choose this many first."""
MANY = 4_096
"""Rows that are checked at once."""


class VectorFiles:
    """The vectors of one model."""

    def __init__(self, folder: Path, model: int, dimensions: int) -> None:
        self.dimensions = dimensions
        self.words = (dimensions + 63) // 64
        self.widths = {"f16": dimensions * 2, "bits": self.words * 8, "part": 4}
        self.paths = {name: folder / f"vectors-{model}.{name}" for name in self.widths}

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

    def clear(self, rows: Sequence[int]) -> None:
        """Overwrite the rows with zeros, for an entry that must leave no trace; also where another file is damaged."""
        for name, width in self.widths.items():
            size = self.paths[name].stat().st_size if self.paths[name].exists() else 0
            present = [row for row in rows if row * width < size]
            if present:
                write_rows(self.paths[name], present, [bytes(width)] * len(present))

    def length(self) -> int:
        """Rows that are complete in all three files; none if one of them is lost."""
        try:
            return min(self.paths[name].stat().st_size // width for name, width in self.widths.items())
        except OSError:
            return 0

    def signs(self, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
        """One bit a dimension, padded to whole words."""
        import numpy as np

        packed = np.packbits(vectors > 0, axis=1)
        padded = np.zeros((len(vectors), self.words * 8), dtype=np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64)

    def read(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """The vectors at these rows; none of them if the file has not all."""
        import numpy as np

        if not rows or max(rows) >= self.length():
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.asarray(self.half()[list(rows)], dtype=np.float32)

    def half(self) -> NDArray[np.float16]:
        """All vectors, as they are on disk."""
        import numpy as np

        shape = (self.length(), self.dimensions)
        return np.memmap(self.paths["f16"], dtype=np.float16, mode="r", shape=shape)

    def whole(self, rows: Sequence[int]) -> list[int]:
        """Those of the rows whose vector is there with the length of one, as every embedder gives it."""
        import numpy as np

        found: list[int] = []
        there = [row for row in rows if row < self.length()]
        for at in range(0, len(there), MANY):
            some = there[at : at + MANY]
            with np.errstate(all="ignore"):
                length = np.linalg.norm(self.read(some), axis=1)
            found.extend(row for row, good in zip(some, abs(length - 1.0) < 0.05, strict=True) if good)
        return found

    def intact(self, parts: Mapping[int, int]) -> list[int]:
        """Those of the rows whose three files agree with each other and with the partition that the row is in."""
        import numpy as np

        found: list[int] = []
        length = self.length()
        there = sorted(row for row in parts if row < length)
        if not there:
            return []
        part = np.fromfile(self.paths["part"], dtype="<i4", count=length)
        bits = np.memmap(self.paths["bits"], dtype=np.uint64, mode="r", shape=(length, self.words))
        for at in range(0, len(there), MANY):
            some = there[at : at + MANY]
            vectors = self.read(some)
            with np.errstate(all="ignore"):
                long = np.linalg.norm(vectors, axis=1)
            # A text without a single known word has a vector of zeros.
            good = (abs(long - 1.0) < 0.05) | (long == 0.0)
            # Half precision loses the sign of what is nearly zero.
            apart = np.bitwise_count(bits[some] ^ self.signs(vectors)).sum(axis=1, dtype=np.uint16)
            good &= apart <= self.dimensions // 16
            good &= part[some] == [parts[row] for row in some]
            found.extend(row for row, kept in zip(some, good, strict=True) if kept)
        return found

    def nearest(self, vector: NDArray[np.float32], parts: Sequence[int], limit: int) -> list[tuple[int, float]]:
        """(row, similarity) of at least the `limit` nearest rows in these partitions, ties all included.

        The same rows in another order give the same answer: every cut keeps all that are as near as the last one. Files
        that are lost or damaged give fewer rows, never an error: the other channels go on.
        """
        import numpy as np

        try:
            rows = self.likely(vector, parts)
            if not len(rows):
                return []
            with np.errstate(all="ignore"):
                near = self.half()[rows].astype(np.float32) @ vector
        except (OSError, ValueError, IndexError):
            return []
        sound = np.abs(near) < 1.5
        rows, near = rows[sound], near[sound]
        if len(rows) > limit:
            keep = near >= np.partition(near, -limit)[-limit]
            rows, near = rows[keep], near[keep]
        return [(int(row), float(score)) for row, score in zip(rows, near, strict=True)]

    def likely(self, vector: NDArray[np.float32], parts: Sequence[int]) -> NDArray[np.intp]:
        """The rows of these partitions; of very many, those whose signs are nearest."""
        import numpy as np

        length, top = self.length(), max(parts, default=0)
        if not length:
            return np.zeros(0, dtype=np.intp)
        part = np.fromfile(self.paths["part"], dtype="<i4", count=length)
        wanted = np.zeros(top + 2, dtype=bool)
        wanted[list(parts)] = True
        wanted[0] = False
        rows = np.flatnonzero(wanted[np.clip(part, 0, top + 1)])
        if len(rows) > EXACT:
            bits = np.memmap(self.paths["bits"], dtype=np.uint64, mode="r", shape=(length, self.words))
            chosen = bits[rows] if len(rows) < length // 2 else np.asarray(bits)
            apart = np.bitwise_count(chosen ^ self.signs(vector.reshape(1, -1))).sum(axis=1, dtype=np.uint16)
            if chosen.shape[0] == length:
                apart = apart[rows]
            rows = rows[apart <= np.partition(apart, EXACT // 4)[EXACT // 4]]
        return rows


def write_rows(path: Path, rows: Sequence[int], pieces: Sequence[bytes]) -> None:
    """Write fixed-size pieces at their rows, then sync."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for row, piece in zip(rows, pieces, strict=True):
            os.pwrite(handle, piece, row * len(piece))
        os.fdatasync(handle)
    finally:
        os.close(handle)
