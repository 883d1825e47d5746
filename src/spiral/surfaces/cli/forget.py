"""`spiral forget`: retire memories, or erase them for good."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from spiral.errors import StoreLockedError
from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell, warn

if TYPE_CHECKING:
    from spiral.memory.erase import Erased
    from spiral.model import Change

HISTORY = "git history may still hold these files; rewrite it with git-filter-repo to be rid of them"


@click.command("forget")
@click.argument("ids", nargs=-1)
@click.option("--key", default="", help="Forget what is held under this key.")
@click.option(
    "--source", default="", help="Revoke everything that came from this source, and what was derived from it."
)
@click.option("--session", default="", help="Forget everything said in this session, and what was derived from it.")
@click.option("--reason", default="", help="Why; kept with the change.")
@click.option("--hard", is_flag=True, help="Erase the text from files, segments and index. There is no undo.")
@click.option("--undo", default="", help="Take back the change of this id.")
@scoped
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    ids: tuple[str, ...],
    key: str,
    source: str,
    session: str,
    reason: str,
    hard: bool,
    undo: str,
    as_json: bool,
    **scope: str | None,
) -> None:
    """Retire the memories and episodes of IDS, of a key, a source or a session, within one app; --undo takes it back.
    With --hard, exit 11 if another process still reads the erased text."""
    with opened(ctx) as memory:
        if undo:
            made = memory.undo(undo, **scope)
            tell({"change": made.id}) if as_json else click.echo(f"undone by {made.id}")
            return
        if hard:
            erased = memory.erase(*ids, key=key, source=source, session=session, **scope)
            show_erased(erased, HISTORY if memory.place.repository else "", as_json=as_json)
            return
        change = memory.forget(*ids, key=key, source=source, session=session, reason=reason, **scope)
    show_change(change, scope, as_json=as_json)


def show_change(change: Change, scope: Mapping[str, str | None], *, as_json: bool) -> None:
    """What was retired, and how to take it back from the same scope."""
    if as_json:
        tell({"change": change.id, "verb": change.verb, "targets": change.targets})
        return
    named = "".join(f" --{level} '{value}'" for level, value in scope.items() if value is not None)
    click.echo(f"{change.verb}: {len(change.targets)} retired; undo with `spiral forget --undo {change.id}{named}`")


def show_erased(erased: Erased, note: str, *, as_json: bool) -> None:
    """What was erased, and where the text may still be."""
    if as_json:
        tell({"erased": erased.ids, "files": erased.files, "left": erased.left, "note": note})
    else:
        click.echo(f"erased {len(erased.ids)}: {', '.join(erased.ids)}")
        for path in erased.files:
            click.echo(f"  {path}")
        warn(tuple(text for text in (erased.left, note) if text))
    if erased.left:
        sys.exit(StoreLockedError.exit_code)
