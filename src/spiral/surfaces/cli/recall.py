"""`spiral recall`: find what is known about a question."""

from __future__ import annotations

import click

from spiral.model import KINDS, Hit
from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell, warn


@click.command("recall")
@click.argument("question")
@click.option("--budget", type=click.IntRange(1), default=None, help="Tokens for all answers together.")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Answers at most.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be given again.")
@click.option("--no-episodes", is_flag=True, help="Only distilled memories.")
@click.option("--links", is_flag=True, help="Follow links one step.")
@click.option("--as-of", default=None, help="What did we know then?")
@click.option("--true-at", default=None, help="What was true then?")
@click.option("--quarantined", is_flag=True, help="Also what is held in quarantine.")
@click.option("--session", default="", help="Note what was served to this session.")
@scoped
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context, /, question: str, no_episodes: bool, budget: int | None, as_json: bool, **rest: object
) -> None:
    """Find what is known about QUESTION, the best first.

    \b
    spiral recall "how do we retry webhooks?"
    spiral recall E1027 --json
    """
    with opened(ctx) as memory:
        found = memory.recall(question, budget=budget or 0, episodes=not no_episodes, **rest)  # type: ignore[arg-type]
    if as_json:
        tell(
            {
                "question": question,
                "hits": [as_table(hit) for hit in found],
                "tokens": found.tokens,
                "dropped": [{"id": item.id, "reason": item.reason, "score": item.score} for item in found.dropped],
                "degraded": found.degraded,
            }
        )
        return
    if not found.hits:
        click.echo("nothing found")
    for place, hit in enumerate(found, 1):
        click.echo(f"{place:2}. {' '.join(hit.text.split())}")
        click.echo(f"    {told(hit)}")
    warn(found.degraded)


def told(hit: Hit) -> str:
    """Where a hit comes from, on one line."""
    channels = " ".join(f"{name} {share:.2f}" for name, share in hit.channels.items())
    if hit.memory is not None:
        what = f"{hit.memory.kind} · {hit.memory.authority} · {hit.memory.since:%Y-%m-%d}"
    else:
        assert hit.episode is not None
        what = f"episode · {hit.episode.role} · {hit.episode.at:%Y-%m-%d}"
    return f"{hit.id[:9]} · {what} · {hit.score:.2f} ({channels})"


def as_table(hit: Hit) -> dict[str, object]:
    """A hit for machines."""
    table: dict[str, object] = {"id": hit.id, "text": hit.text, "score": round(hit.score, 6), "tokens": hit.tokens}
    table |= {
        "channels": {name: round(share, 6) for name, share in hit.channels.items()},
        "twins": hit.twins,
        "via": hit.via,
    }
    if hit.memory is not None:
        memory = hit.memory
        table |= {"type": "memory", "kind": memory.kind, "key": memory.key, "authority": memory.authority}
        table |= {"source": memory.source, "learned": memory.learned.isoformat(), "scope": memory.scope.levels()}
        table |= {"conflicts": memory.conflicts, "quarantine": memory.quarantine}
    elif hit.episode is not None:
        table |= {"type": "episode", "role": hit.episode.role, "session": hit.episode.session}
        table |= {"source": hit.episode.source, "at": hit.episode.at.isoformat(), "scope": hit.episode.scope.levels()}
    return table
