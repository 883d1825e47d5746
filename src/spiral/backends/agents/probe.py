"""Which agents are on this machine, and whether they look ready."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from spiral.backends.agents.environment import environment
from spiral.backends.agents.table import Adapter

PATIENCE = 10.0
"""Seconds for a program to tell its version."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """An agent whose program is there."""

    name: str
    path: str
    version: str
    """Empty when it did not tell."""
    verified: bool
    """Tried with the real program when Spiral was built."""
    signed_in: bool | None
    """As far as files and variables tell; None when they do not."""
    how: str
    """What that was judged by."""
    capabilities: tuple[str, ...]


def installed(table: Mapping[str, Adapter], environ: Mapping[str, str], allowed: Sequence[str] = ()) -> list[Found]:
    """The agents of the table that are in PATH, in its order. `allowed`: variables that the user lets agents see."""
    there = [
        (adapter, path)
        for adapter in table.values()
        if (path := shutil.which(adapter.command[0], path=environ.get("PATH")))
    ]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(lambda one: _found(one[0], one[1], environ, allowed), there))


def _found(adapter: Adapter, path: str, environ: Mapping[str, str], allowed: Sequence[str]) -> Found:
    signed_in, how = _signed_in(adapter, environ, allowed)
    return Found(
        name=adapter.name,
        path=path,
        version=_version(adapter, path, environ),
        verified=adapter.verified,
        signed_in=signed_in,
        how=how,
        capabilities=adapter.capabilities,
    )


def _version(adapter: Adapter, path: str, environ: Mapping[str, str]) -> str:
    if not adapter.version:
        return ""
    try:
        done = subprocess.run(
            [path, *adapter.version],
            env=environment(environ, adapter.env, push=False),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    told = re.search(rb"\d+\.\d+[\w.+-]*", done.stdout or done.stderr)
    return told[0].decode("ascii", "replace") if told else ""


def _signed_in(adapter: Adapter, environ: Mapping[str, str], allowed: Sequence[str]) -> tuple[bool | None, str]:
    home = Path(environ.get("HOME", "/"))
    for name in adapter.credentials:
        if (home / name).is_file():
            return True, f"~/{name}"
    set_keys = [name for name in adapter.keys if environ.get(name)]
    passed = [name for name in set_keys if name in (*adapter.env, *allowed)]
    if passed:
        return True, f"${passed[0]}"
    if set_keys:
        return False, f"${set_keys[0]} is set but kept from agents; add it to act.env to bill that key"
    if not adapter.credentials and not adapter.keys:
        return None, "nothing to judge it by"
    looked = [*(f"~/{name}" for name in adapter.credentials), *(f"${name}" for name in adapter.keys)]
    # A key ring of the system, as on macOS, may hold it where no file shows.
    return None if _key_ring() else False, f"neither of {', '.join(looked)}"


def _key_ring() -> bool:
    return Path("/usr/bin/security").exists()
