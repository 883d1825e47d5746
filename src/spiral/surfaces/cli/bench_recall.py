"""`spiral bench recall`: how much of what answers a question is found, beside the plain ways and other memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spiral.errors import NotFoundError
from spiral.surfaces.cli.options import AS_JSON, tell

if TYPE_CHECKING:
    from spiral.bench.recall import Result


@click.command("recall")
@click.option(
    "--data", "path", type=click.Path(path_type=Path), required=True,
    help="A file of LoCoMo or LongMemEval, or a folder of BEAM, that you have.",
)  # fmt: skip
@click.option(
    "--systems", default="spiral,bm25,minilm,rrf", show_default=True,
    help="Also chroma, langgraph, mem0, mempalace: with the extra bench-peers.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(0), default=0, help="The first so many conversations; 0: all.")
@click.option("--question", "wanted", default="", help="Show what each system finds for this question.")
@AS_JSON
def command(path: Path, systems: str, limit: int, wanted: str, as_json: bool) -> None:
    """How much of what answers a question is found, in percent, on public conversations; nothing is downloaded.

    \b
    spiral bench recall --data locomo10.json
    spiral bench recall --data longmemeval_s.json --systems spiral,bm25 --limit 50
    spiral bench recall --data beam/100K --question 100K/1/knowledge_update/0
    """
    from dataclasses import replace

    from spiral.bench import data, recall

    talks = data.read(path, limit)
    if wanted:
        talks = [
            replace(talk, questions=tuple(one for one in talk.questions if one.id == wanted))
            for talk in talks
            if any(one.id == wanted for one in talk.questions)
        ]
        if not talks:
            raise NotFoundError(f"there is no question {wanted!r} in {str(path)!r}")
    results = [
        recall.measure(talks, name.strip(), lambda line: click.echo(line, err=True)) for name in systems.split(",")
    ]
    rows = {result.system: recall.summary(result) for result in results}
    if as_json:
        first = next(iter(rows.values()))
        tell(
            {
                "dataset": "+".join(dict.fromkeys(talk.dataset for talk in talks)),
                "questions": len(results[0].answers),
                "systems": rows,
                "ingest_per_s": first["ingest_per_s"],
                "recall_ms": first["recall_ms"],
            }
        )
    elif wanted:
        explain(results)
    else:
        show(rows)


def show(rows: Mapping[str, Mapping[str, object]]) -> None:
    """A table a category, with the intervals of the whole."""
    names = [
        name for name in next(iter(rows.values())) if name not in ("ci95", "by_category", "ingest_per_s", "recall_ms")
    ]
    head = "".join(f"{name:>16}" for name in names)
    click.echo(f"{'system':12}{head}{'turns/s':>10}{'p50 ms':>8}{'p95 ms':>8}")
    for system, row in rows.items():
        wide, times = row["ci95"], row["recall_ms"]
        assert isinstance(wide, dict)
        assert isinstance(times, dict)
        cells = "".join(f"{row[name]!s:>9} ± {wide[name]!s:<4}" for name in names)
        click.echo(f"{system:12}{cells}{row['ingest_per_s']!s:>10}{times['p50']!s:>8}{times['p95']!s:>8}")
    by = {system: row["by_category"] for system, row in rows.items()}
    categories = next(iter(by.values()))
    assert isinstance(categories, dict)
    shown = names[1] if "R@10" in names else names[0]
    click.echo(f"\n{shown + ' by category':28}{'questions':>10}" + "".join(f"{system:>12}" for system in by))
    for name, first in categories.items():
        cells = ""
        for found in by.values():
            assert isinstance(found, dict)
            cells += f"{found[name][shown]!s:>12}"
        click.echo(f"{name:28}{first['questions']!s:>10}{cells}")


def explain(results: Sequence[Result]) -> None:
    """What each system found, with a mark at what was wanted."""
    asked = results[0].answers[0].question
    click.echo(f"{asked.id}: {asked.text}\nwanted: {', '.join(sorted(asked.evidence))}")
    for result in results:
        [answer] = result.answers
        marked = [f"{name}*" if name in asked.evidence else name for name in answer.found[:10]]
        click.echo(f"{result.system:12} {' '.join(marked)}")
