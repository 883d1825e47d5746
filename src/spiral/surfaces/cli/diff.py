"""`spiral diff`: what a pass changed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click

from spiral.errors import MissingToolError, NotFoundError, UsageError
from spiral.loop.story import PassStory, find_pass
from spiral.surfaces.cli.options import AS_JSON
from spiral.surfaces.cli.printing import tell_json
from spiral.surfaces.cli.project import opened_project

SHA = re.compile(r"[0-9a-f]{7,64}")


@click.command("diff")
@click.argument("name", metavar="PASS")
@click.option("--stat", is_flag=True, help="Only which files, and how much.")
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, name: str, stat: bool, as_json: bool) -> None:
    """Show what a pass changed in the repository. PASS is its number, its id, or `last`; of a pass under way, what it
    has changed so far.

    \b
    spiral diff 47
    spiral diff last --stat
    """
    with opened_project(ctx) as project:
        story = find_pass(project.journal, name)
        if project.place.git_dir is None:
            raise UsageError(f"{str(project.place.project)!r} is no git repository, so there is nothing to compare")
        folder = project.place.project
    ends = compared(folder, story)
    if as_json:
        files = [line.split("\t", 2) for line in asked(folder, "--numstat", *ends).splitlines()]
        tell_json(
            {
                "pass": story.id, "number": story.number, "base": ends[0], "sha": ends[1] if len(ends) > 1 else "",
                "files": [{"path": path, "added": added, "removed": removed} for added, removed, path in files],
                "patch": "" if stat else asked(folder, *ends),
            }
        )  # fmt: skip
        return
    if not asked(folder, "--shortstat", *ends).strip():
        click.echo(f"pass {story.number} changed nothing", err=True)
        return
    colour = "--color=always" if sys.stdout.isatty() else "--color=never"
    click.echo(asked(folder, colour, *(("--stat",) if stat else ()), *ends), nl=False)


def compared(folder: Path, story: PassStory) -> tuple[str, ...]:
    """The commits to compare; one alone means with the files as they are now."""
    ends = (story.base, story.sha) if story.outcome else (story.base,)
    for sha in ends:
        if not SHA.fullmatch(sha):
            raise NotFoundError(f"the journal knows no commit for pass {story.number}; `spiral show {story.number}`")
        if git(folder, "cat-file", "-e", f"{sha}^{{commit}}").returncode:
            raise NotFoundError(f"commit {sha[:12]} of pass {story.number} is no longer in this repository")
    return ends


def asked(folder: Path, *args: str) -> str:
    """What git says about a difference, without pager, programs of the repository's own, or doubt about names."""
    done = git(folder, "diff", "--no-ext-diff", "--no-textconv", *args, "--")
    if done.returncode:
        raise NotFoundError(f"git cannot compare them: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def git(folder: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run git."""
    try:
        return subprocess.run(["git", "--no-pager", "-C", str(folder), *args], capture_output=True, check=False)
    except FileNotFoundError:
        raise MissingToolError("git is not installed; install it with your system's package manager") from None
