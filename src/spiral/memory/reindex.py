"""Rebuilding the index from the files alone."""

from __future__ import annotations

from contextlib import closing, suppress

from spiral.errors import StoreError
from spiral.memory import embed, erase, sync
from spiral.memory.store import Store
from spiral.memory.sync import Progress
from spiral.ports import Counts


def reindex(store: Store, progress: Progress | None = None) -> Counts:
    """Build a new index beside the present one, then swap it in.

    Writers go on meanwhile; what they wrote is followed once more inside the writers' lock before the swap, so nothing
    is missed. A crash before the swap leaves the present index as it was. Who rebuilds at the same time does so after.
    """
    with closing(store.index.successor()) as fresh:
        sync.follow(store.folder, fresh, store.default, full=True, progress=progress)
        # The present index may be damaged, which may be why we are here: the vectors are then made anew below.
        with suppress(StoreError):
            fresh.borrow(store.index)
        with fresh.atomic():
            sync.follow(store.folder, fresh, store.default, full=True)
        fresh.succeed()
    # What was erased meanwhile may have been read before.
    store.use(every_file=True)
    erase.finish(store)
    if store.embedder is not None:
        embed.embed(store, progress)
    return store.index.counts()
