"""`spiral resume`: go on with the last run."""

from __future__ import annotations

import click

from spiral.surfaces.cli.run import EVENTS, bounded, bounds, drive, opened_runner


@click.command("resume")
@bounded
@EVENTS
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    passes: int | None,
    max_cost: float | None,
    max_time: str | None,
    max_tokens: int | None,
    as_json: bool,
) -> None:
    """Go on with the last run: with its agent, its bounds, and what it has used up of them.

    A pass that was interrupted is brought to its end first; nothing that it had finished is done again. A bound that
    is given here takes the place of the run's own.
    """
    given = {**bounds(max_cost, max_time, max_tokens), "budget.passes": passes}
    wanted = {name.removeprefix("budget."): value for name, value in given.items() if value is not None}
    with opened_runner(ctx) as runner:
        drive(runner, lambda told, asked: runner.resume(given=wanted, tell=told, asked=asked), as_json=as_json)
