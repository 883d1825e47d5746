"""Making the vectors that are owed, in batches, under a lease."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from spiral.errors import UsageError
from spiral.memory.files import failing
from spiral.memory.store import Store
from spiral.memory.sync import Progress

BATCH = 32


def embed(store: Store, progress: Progress | None = None, *, limit: int = 0, wait: bool = True) -> int:
    """Embed what is owed; how many. Each batch is committed as it is done, so a crash loses one batch of work at most.

    One winner: the lease, a lock on a file that the kernel frees when its holder dies. Who comes second waits and
    finds the work done, or without `wait` does nothing.
    """
    if store.embedder is None:
        raise UsageError("no embedding model is set; set embedder.model to minilm:, static: or openai:<model>")
    done = 0
    with lease(store, wait=wait) as mine:
        total = store.index.owing() if mine else 0
        while mine and (not limit or done < limit) and (owed := store.index.owed(BATCH)):
            vectors = store.embedder.embed([text for _, text in owed])
            with store.index.atomic():
                store.index.store([name for name, _ in owed], vectors)
            done += len(owed)
            if progress:
                progress("making vectors", done, max(total, done))
    return done


@contextmanager
def lease(store: Store, *, wait: bool) -> Iterator[bool]:
    """Whether this process may embed now."""
    with failing(store.locks):
        store.locks.mkdir(parents=True, exist_ok=True)
        handle = os.open(store.locks / "embed.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
