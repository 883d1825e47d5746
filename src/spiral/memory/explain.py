"""Why a memory answers a question, or does not."""

from __future__ import annotations

from spiral.memory.recall import Query, recall
from spiral.memory.store import Store


def explain(store: Store, query: Query, name: str) -> str:
    """Where the memory stands among the answers and through which channels, or what kept it out; in one line."""
    memory = store.find(name, query.scope)
    found = recall(store, query)
    for place, hit in enumerate(found, 1):
        if memory.id in (hit.id, *hit.twins):
            shares = ", ".join(f"{channel} {share:.2f}" for channel, share in hit.channels.items())
            stands = "" if hit.id == memory.id else f" through its twin {hit.id}"
            return f"{memory.id} is answer {place} of {len(found)}{stands}, score {hit.score:.3f}: {shares}"
    for dropped in found.dropped:
        if dropped.id == memory.id:
            return f"{memory.id} was found (score {dropped.score:.3f}) and dropped: {dropped.reason}"
    if memory.quarantine:
        return f"{memory.id} is in quarantine: {memory.quarantine}"
    version = store.versions([memory.id])[memory.id]
    if version.state != "current":
        return f"{memory.id} is {version.state}" + (f" by {version.by}" if version.by else "")
    return f"{memory.id} is current, and no channel found it for this question"
