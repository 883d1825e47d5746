"""Options and output that several verbs share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from spiral.model import LEVELS

if TYPE_CHECKING:
    from spiral.app import Memory
    from spiral.memory.sync import Progress

Function = TypeVar("Function", bound=Callable[..., object])

AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object, for machines.")


class Text(click.types.StringParamType):
    """Text that can be kept: an argument may hold any bytes, a memory may not."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, if it is UTF-8."""
        text = str(super().convert(value, param, ctx))
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self.fail(f"{text!r} is not UTF-8", param, ctx)
        return text


def strict(command: click.Command) -> click.Command:
    """The command, taking text in UTF-8 alone; paths may still have any name."""
    for param in command.params:
        if param.type is click.STRING:
            param.type = Text()
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        strict(inner)
    return command


def scoped(function: Function) -> Function:
    """Adds an option for each level of a scope."""
    for level in reversed(LEVELS):
        function = click.option(f"--{level}", default=None, help=f"The {level} it belongs to.")(function)
    return function


@contextmanager
def opened(ctx: click.Context) -> Iterator[Memory]:
    """The memory that this call is about."""
    from spiral.app import Memory
    from spiral.config import read
    from spiral.logs import configure

    asked = ctx.find_root().obj
    settings = read(asked.start, asked.flags)
    configure(settings.log)
    with Memory.open(asked.start, settings=settings) as memory:
        yield memory


def tell(table: Mapping[str, object]) -> None:
    """JSON on standard output."""
    click.echo(json.dumps(table, ensure_ascii=False, default=str))


def warn(notes: tuple[str, ...]) -> None:
    """What was degraded, on standard error, where it spoils no pipe."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


@contextmanager
def progressing() -> Iterator[Progress | None]:
    """A progress bar on a terminal; nothing elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, object] = {}

        def step(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield step
