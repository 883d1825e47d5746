"""The memory alone at work, in a folder of its own."""

from __future__ import annotations

import time
from pathlib import Path

import click

from spiral.config import Settings
from spiral.surfaces.cli.options import warn

SESSION = (
    ("user", "We deploy on Fridays from the release branch. Always run `make check` before you push."),
    ("assistant", "Understood."),
    ("user", "No, use pnpm, not npm, for the frontend."),
    ("tool", "$ pytest -q\nModuleNotFoundError: No module named 'shop'\nexit code 1"),
    ("tool", "$ pip install -e . && pytest -q\n42 passed\nexit code 0"),
)
QUESTIONS = (
    "which package manager do we use?",
    "how are webhooks retried?",
    "StripeWebhook",
    "E1027",
    "when do we ship?",
)


def settings(folder: Path, environ: dict[str, str]) -> Settings:
    """Settings that keep everything in the folder, and none of the user's."""
    from spiral.config import read

    flags = {"memory.root": str(folder / "memory"), "memory.index": str(folder / "index"), "memory.app": "shop"}
    return read(folder, flags, environ)


def show_memory(folder: Path, environ: dict[str, str]) -> None:
    """Statements, a conversation, a fact that changes, recall and a brief."""
    from spiral.app import Memory
    from spiral.model import Message

    with Memory.open(folder, settings=settings(folder, environ)) as memory:
        click.secho("1. Statements are kept as files", bold=True)
        first = memory.remember("Retries go through outbox.py; never call Stripe inline.", key="payments/retries")
        memory.remember("StripeWebhookHandler in payments/webhook.py raises E1027 when the signature is stale.")
        click.echo(f"   {memory.store.folder.path_of(first.memory)}")
        click.secho("2. A conversation is kept verbatim, and what matters is distilled from it", bold=True)
        said = [Message(role=role, text=text) for role, text in SESSION]  # type: ignore[arg-type]
        for item in memory.ingest(said, session="monday").memories:
            click.echo(f"   {item.memory.authority:9} {item.memory.text}")
        click.secho("3. A newer fact supersedes an older one, and history stays", bold=True)
        memory.remember("Retries go through the queue in jobs/retry.py since March.", key="payments/retries")
        for version in memory.history("payments/retries"):
            click.echo(f"   {version.state:10} {version.memory.text}")
        click.echo(
            f"   {memory.embed()} vectors made by {memory.store.embedder.name if memory.store.embedder else 'none'}"
        )
        click.secho("4. It is found by meaning, by identifier and by parts of one", bold=True)
        for question in QUESTIONS:
            began = time.perf_counter()
            found = memory.recall(question, limit=1)
            best = found[0].text.splitlines()[0] if found.hits else "nothing"
            click.echo(f"   {question:34} → {best[:76]}  ({(time.perf_counter() - began) * 1000:.0f} ms)")
            warn(found.degraded)
        click.secho("5. A fresh context is briefed within a budget", bold=True)
        block = memory.brief("fix the webhook retries", budget=400)
        click.echo("   " + block.text.strip().replace("\n", "\n   "))
        click.echo(f"   ({block.tokens} of 400 tokens)")
    click.echo('\nNow yours: spiral remember "…"   spiral recall "…"   spiral status')
