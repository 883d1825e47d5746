"""`spiral ingest`: keep a conversation and learn from it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from spiral.memory.capture import heard
from spiral.model import ROLES, Message, Scope, home_of
from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell
from spiral.surfaces.cli.transcript import messages_of, transcribed


@click.command("ingest")
@click.argument("file", type=click.Path(path_type=Path), default="-")
@click.option("--session", default="", help="The conversation's name; the same again changes nothing.")
@click.option("--role", type=click.Choice(ROLES), default="user", help="Who speaks, when the input is plain text.")
@click.option("--source", default="", help="Where it comes from: tool:bash, web:https://…")
@click.option("--raw", is_flag=True, help="Only append the episodes, as fast as the disk allows; needs --session.")
@scoped
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    session: str,
    role: str,
    source: str,
    raw: bool,
    as_json: bool,
    **scope: str | None,
) -> None:
    """Keep the messages of FILE (or standard input) verbatim and distil memories from them.

    FILE holds JSON (a list of {"role", "content"}), JSON lines of the same, or plain text. The same conversation again
    changes nothing. A plain text on standard input is a turn said just now, and with --raw so is every message that has
    neither an id nor a time: said again, it is kept again.
    """
    text = sys.stdin.read() if str(file) == "-" else read(file)
    messages = messages_of(text, role, source)
    if raw or (str(file) == "-" and transcribed(text, source) is None):
        messages = heard(messages, datetime.now(UTC))
    if raw:
        kept = captured(ctx, messages, session, scope)
        tell({"session": session, "episodes": kept}) if as_json else click.echo(f"{kept} episodes kept")
        return
    with opened(ctx) as memory:
        found = memory.ingest(messages, session=session, **scope)  # type: ignore[arg-type]
    if as_json:
        learned = [{"id": item.id, "outcome": item.outcome, "text": item.memory.text} for item in found.memories]
        tell(
            {"session": found.session, "episodes": len(found.episodes), "memories": learned, "redacted": found.redacted}
        )
        return
    click.echo(f"session {found.session}: {len(found.episodes)} new episodes, {len(found.memories)} memories")
    for item in found.memories:
        click.echo(f"  {item.outcome:9} {item.memory.text}")
    if found.redacted:
        click.echo(f"redacted: {', '.join(found.redacted)}")


def read(file: Path) -> str:
    """The file's text, whatever its bytes."""
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as fault:
        raise click.UsageError(f"cannot read {str(file)!r}: {fault.strerror}") from fault


def captured(ctx: click.Context, messages: list[Message], session: str, levels: dict[str, str | None]) -> int:
    """Append the messages without opening the index: hooks call this at every turn."""
    from spiral.config import read as settings_of
    from spiral.memory.capture import capture, made_of
    from spiral.memory.files import Folder
    from spiral.place import find

    if not session:
        raise click.UsageError("--raw needs --session, which names the segment to append to")
    asked = ctx.find_root().obj
    settings = settings_of(asked.start, asked.flags)
    wanted = settings.memory
    place = find(asked.start, folders=settings.folders, app=wanted.app, root=wanted.root, index=wanted.index)
    scope = home_of(Scope(org=wanted.org, app=wanted.app, user=wanted.user, agent=wanted.agent), levels)
    made, _ = made_of(
        messages, scope, session=session, owner=wanted.owner, visibility=wanted.visibility, now=datetime.now(UTC)
    )
    capture(Folder(place.root), made)
    return len(made)
