"""`spiral explain`: why a memory answers a question, or does not."""

from __future__ import annotations

import click

from spiral.surfaces.cli.options import AS_JSON, opened, scoped, tell, warn


@click.command("explain")
@click.argument("question")
@click.argument("id", default="")
@scoped
@AS_JSON
@click.pass_context
def command(ctx: click.Context, /, question: str, id: str, as_json: bool, **scope: str | None) -> None:  # noqa: A002
    """Say what each channel found for QUESTION, what was dropped and why; with ID, why that memory is there or not."""
    with opened(ctx) as memory:
        if id:
            line = memory.explain(question, id, **scope)
            tell({"explanation": line}) if as_json else click.echo(line)
            return
        found = memory.recall(question, **scope)  # type: ignore[arg-type]
    if as_json:
        hits = [{"id": hit.id, "score": hit.score, "channels": dict(hit.channels), "text": hit.text} for hit in found]
        dropped = [{"id": item.id, "score": item.score, "reason": item.reason} for item in found.dropped]
        tell({"hits": hits, "dropped": dropped, "degraded": found.degraded})
        return
    for place, hit in enumerate(found, 1):
        shares = "  ".join(f"{name} {share:.2f}" for name, share in hit.channels.items())
        click.echo(f"{place:2}. {hit.score:5.2f}  {hit.id[:9]}  {' '.join(hit.text.split())[:70]}")
        click.echo(f"           {shares}" + (f"  stands for {', '.join(hit.twins)}" if hit.twins else ""))
    if found.dropped:
        click.echo("dropped:")
    for item in found.dropped[:20]:
        click.echo(f"    {item.score:5.2f}  {item.id[:9]}  {item.reason}")
    warn(found.degraded)
