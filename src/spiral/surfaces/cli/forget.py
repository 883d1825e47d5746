"""`spiral forget`: retire memories, or erase them for good."""

from __future__ import annotations

import click

from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell


@click.command("forget")
@click.argument("ids", nargs=-1)
@click.option("--key", default="", help="Forget what is held under this key.")
@click.option("--source", default="", help="Revoke everything learned from this source, and what was derived from it.")
@click.option("--reason", default="", help="Why; kept with the change.")
@click.option("--hard", is_flag=True, help="Erase the text from files, segments and index. There is no undo.")
@click.option("--undo", default="", help="Take back the change of this id.")
@scoped
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    ids: tuple[str, ...],
    key: str,
    source: str,
    reason: str,
    hard: bool,
    undo: str,
    as_json: bool,
    **scope: str | None,
) -> None:
    """Retire the memories of IDS, of a key or from a source, within one scope; --undo takes it back."""
    with opened(ctx) as memory:
        if undo:
            made = memory.undo(undo)
            tell({"change": made.id}) if as_json else click.echo(f"undone by {made.id}")
            return
        if hard:
            erased = memory.erase(*ids, key=key, source=source, **scope)
            kept = "git history may still hold these files; rewrite it with git-filter-repo to be rid of them"
            note = kept if memory.place.repository else ""
            if as_json:
                tell({"erased": erased.ids, "files": erased.files, "note": note})
                return
            click.echo(f"erased {len(erased.ids)}: {', '.join(erased.ids)}")
            for path in erased.files:
                click.echo(f"  {path}")
            if note:
                click.echo(f"note: {note}", err=True)
            return
        change = memory.forget(*ids, key=key, source=source, reason=reason, **scope)
    if as_json:
        tell({"change": change.id, "verb": change.verb, "targets": change.targets})
        return
    click.echo(f"{change.verb}: {len(change.targets)} memories; undo with `spiral forget --undo {change.id}`")
