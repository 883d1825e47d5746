"""The project that a verb of the loop is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from spiral.config import Settings
    from spiral.place import Place
    from spiral.ports import Journal


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """Where the work is, how it is set, and what was done so far."""

    place: Place
    settings: Settings
    journal: Journal

    @property
    def agent_folder(self) -> Path:
        """The folder `.agent/`, whether or not it is there."""
        return self.place.project / ".agent"


@contextmanager
def opened_project(ctx: click.Context) -> Iterator[Project]:
    """The project that this call is about, its journal open."""
    from spiral.app import open_journal
    from spiral.config import read
    from spiral.logs import configure
    from spiral.place import find

    asked = ctx.find_root().obj
    settings = read(asked.start, asked.flags)
    configure(settings.log)
    wanted = settings.memory
    place = find(asked.start, folders=settings.folders, app=wanted.app, root=wanted.root, index=wanted.index)
    journal = open_journal(place)
    try:
        yield Project(place=place, settings=settings, journal=journal)
    finally:
        journal.close()
