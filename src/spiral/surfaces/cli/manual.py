"""Writes docs/cli.md from the verbs' own help: `python -m spiral.surfaces.cli.manual > docs/cli.md`."""

from __future__ import annotations

import click

from spiral.surfaces.cli.main import HELP, VERBS, Verbs, spiral

OPENING = """# The command line

Every verb takes `--help`; those that print results take `--json`. Scope options (`--org` … `--branch`) default to the
settings. Before the verb: `-C FOLDER`, `--root FOLDER`, `--log-level`, `--log-format`.

Exit codes of `run` and `resume`: [the loop](loop.md#exit-codes). Of all others: 0 done · 2 `doctor` or `tasks lint`
found something · 6 a missing extra or program · 10 `replay` made other bytes than were sent · 11 locked by another
process · 64 wrong use · 66 not found · 69 the embedding model did not answer · 70 a fault of our own · 74 files or
index unusable · 130 interrupted.
"""


def manual() -> str:
    """The whole page."""
    assert isinstance(spiral, Verbs)
    parts = [OPENING]
    for verb in (verb for verbs in VERBS.values() for verb in verbs):
        command = spiral.get_command(click.Context(spiral), verb)
        assert command is not None
        parts.append(f"## {verb}\n\n{HELP[verb]}\n\n{shown(command, f'spiral {verb}')}")
        if isinstance(command, click.Group):
            parts += [shown(command.commands[name], f"spiral {verb} {name}") for name in sorted(command.commands)]
    return "\n".join(parts)


def shown(command: click.Command, name: str) -> str:
    """A command's help, as a terminal of 100 columns shows it."""
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": 100, "max_content_width": 100}
    with click.Context(command, info_name=name, **settings) as ctx:  # type: ignore[arg-type]
        text = "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
    return f"```\n{text}\n```\n"


if __name__ == "__main__":
    click.echo(manual(), nl=False)
