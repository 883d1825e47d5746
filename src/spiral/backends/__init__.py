"""The outside world, one file per way to reach it; the scheme of a URL picks one, and only then is it imported.

Others add their own under the entry point group `spiral.backends`, named `embedder.<scheme>` or `index.<scheme>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

from spiral.errors import ConfigError

GROUP = "spiral.backends"

EMBEDDERS: dict[str, str] = {
    "minilm": "spiral.backends.minilm:open_embedder",
    "openai": "spiral.backends.openai:open_embedder",
    "static": "spiral.backends.static:open_embedder",
}
INDEXES: dict[str, str] = {
    "sqlite": "spiral.backends.sqlite.index:open_index",
}
JOURNALS: dict[str, str] = {
    "sqlite": "spiral.backends.sqlite.journal:open_journal",
}
AGENTS: dict[str, str] = {
    "command": "spiral.backends.agents.opening:open_agents",
}
TABLES: Mapping[str, Mapping[str, str]] = {
    "agents": AGENTS,
    "embedder": EMBEDDERS,
    "index": INDEXES,
    "journal": JOURNALS,
}


def load(kind: Literal["agents", "embedder", "index", "journal"], url: str, *args: Any, **settings: Any) -> Any:
    """What the callable behind the URL's scheme makes of the URL and the settings; ours come before others'."""
    scheme = url.partition(":")[0]
    target = TABLES[kind].get(scheme) or _registered(kind).get(scheme)
    if ":" not in url or target is None:
        known = ", ".join(sorted({*TABLES[kind], *_registered(kind)}))
        raise ConfigError(f"unknown scheme {scheme!r} in {url!r}; choose one of {known}")
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)(url, *args, **settings)


def _registered(kind: str) -> dict[str, str]:
    """Schemes of other packages; looking for them takes tens of milliseconds, so not before ours are tried."""
    from importlib.metadata import entry_points

    prefix = f"{kind}."
    found = entry_points(group=GROUP)
    return {entry.name.removeprefix(prefix): entry.value for entry in found if entry.name.startswith(prefix)}
