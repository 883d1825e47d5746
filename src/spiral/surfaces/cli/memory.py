"""`spiral memory …`: list, show, export, import and maintain memories."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from spiral.errors import UsageError
from spiral.memory.codec import statement_to
from spiral.model import KINDS, Version
from spiral.surfaces.cli.options import AS_JSON, opened, progressing, scoped, tell
from spiral.surfaces.cli.reindex import command as reindex


@click.group("memory")
def command() -> None:
    """List, show, export, import and maintain memories."""


@command.command("list")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind.")
@click.option("--retired", is_flag=True, help="Also what is superseded, forgotten or in quarantine.")
@click.option("--conflicts", is_flag=True, help="Only what seems to contradict another memory, both sides.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@scoped
@AS_JSON
@click.pass_context
def list_(
    ctx: click.Context,
    /,
    kinds: tuple[str, ...],
    retired: bool,
    conflicts: bool,
    limit: int,
    as_json: bool,
    **scope: str | None,
) -> None:
    """List the memories of a scope, the newest last."""
    with opened(ctx) as memory:
        found = memory.list(
            kinds=kinds,  # type: ignore[arg-type]
            retired=retired,
            conflicts=conflicts,
            limit=limit,
            **scope,
        )
    if as_json:
        tell({"memories": [statement_to(item) for item in found]})
        return
    for item in found:
        key = f"[{item.key}] " if item.key else ""
        click.echo(f"{item.id[:9]}  {item.kind:10} {item.authority:9} {key}{' '.join(item.text.split())[:90]}")


@command.command("get")
@click.argument("id")
@scoped
@AS_JSON
@click.pass_context
def get(ctx: click.Context, /, id: str, as_json: bool, **scope: str | None) -> None:  # noqa: A002
    """Show one memory with its state and evidence; the beginning of its id is enough."""
    with opened(ctx) as memory:
        found = memory.get(id, **scope)
    show(found, as_json=as_json)


@command.command("history")
@click.argument("id")
@scoped
@AS_JSON
@click.pass_context
def history(ctx: click.Context, /, id: str, as_json: bool, **scope: str | None) -> None:  # noqa: A002
    """Show everything that was held about the same thing, oldest first; ID or a key."""
    with opened(ctx) as memory:
        found = memory.history(id, **scope)
    if as_json:
        tell({"versions": [table_of(version) for version in found]})
        return
    for version in found:
        by = f" by {version.by[:9]}" if version.by else ""
        since = f"{version.memory.since:%Y-%m-%d %H:%M}"
        click.echo(
            f"{since}  {version.memory.id[:9]}  {version.state}{by}: {' '.join(version.memory.text.split())[:90]}"
        )


@command.command("export")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=None, help="A file instead of standard output."
)
@scoped
@click.pass_context
def export(ctx: click.Context, /, output: Path | None, **scope: str | None) -> None:
    """Write everything in a scope as JSON lines."""
    with opened(ctx) as memory:
        if output is None:
            for line in memory.export(**scope):
                click.echo(line)
            return
        try:
            count = write_lines(output, memory.export(**scope))
        except OSError as fault:
            raise UsageError(f"cannot write to {str(output)!r}: {fault.strerror}; choose another file") from fault
    click.echo(f"{count - 1} lines in {output}")


def write_lines(output: Path, lines: Iterable[str]) -> int:
    """Write the lines to a file; how many."""
    count = 0
    with output.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count


@command.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@scoped
@AS_JSON
@click.pass_context
def import_(ctx: click.Context, /, path: Path, as_json: bool, **scope: str | None) -> None:
    """Take in a Spiral or mem0 export, Claude Code's memory folder or any Markdown; twice changes nothing. An export of
    one app is taken into the app that asks."""
    with opened(ctx) as memory:
        tally = memory.import_(path, **scope)
    if as_json:
        tell(dict(tally))
        return
    click.echo(", ".join(f"{count} {what}" for what, count in tally.items()))


@command.command("embed")
@AS_JSON
@click.pass_context
def embed(ctx: click.Context, /, as_json: bool) -> None:
    """Make the vectors that are owed; stopped half-way, it goes on from there."""
    with opened(ctx) as memory, progressing() as progress:
        done = memory.embed(progress)
    tell({"embedded": done}) if as_json else click.echo(f"{done} vectors made")


command.add_command(reindex, "reindex")


def show(version: Version, *, as_json: bool) -> None:
    """One memory in full."""
    if as_json:
        tell(table_of(version))
        return
    from spiral.memory.document import write

    click.echo(f"state: {version.state}" + (f" by {version.by}" if version.by else ""))
    click.echo(write(version.memory), nl=False)


def table_of(version: Version) -> dict[str, object]:
    """A version for machines."""
    retired = version.retired.isoformat() if version.retired else None
    return {"state": version.state, "by": version.by, "retired": retired, "memory": statement_to(version.memory)}
