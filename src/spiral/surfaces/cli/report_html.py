"""The morning's page as one HTML file: no script, nothing to fetch, readable in the dark and on paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from spiral.loop.costs import Share
from spiral.loop.policies import PolicyRow
from spiral.loop.report import Report
from spiral.loop.wording import clean, local, money, tokens
from spiral.surfaces.cli import report_words as words
from spiral.surfaces.cli.report_markdown import HEADS, MOST_FAILURES, cells
from spiral.surfaces.cli.report_plots import gantt, meter

STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --faint: #66717d; --paper: #fff; --line: #dde2e7; --card: #f6f8fa;
  --good: #1a7f4b; --bad: #c33b3b; --warn: #a66a00; --cool: #5b7fb5; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe5ea; --faint: #93a0ac; --paper: #14181c; --line: #2f373f;
  --card: #1b2026; --good: #4cc38a; --bad: #ef7a7a; --warn: #e0a94a; --cool: #8db0e3; } }
@media print { :root { --ink: #000; --faint: #444; --paper: #fff; --line: #bbb; --card: #fff; }
  section, li, tr { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; font-weight: 600; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.lead { font-size: 1.5rem; line-height: 1.3; margin: .75rem 0 .25rem; } .faint { color: var(--faint); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
ul { list-style: none; padding: 0; margin: 0; } li { padding: .5rem 0; border-top: 1px solid var(--line); }
li ul li { border: 0; padding: .1rem 0 .1rem 1rem; color: var(--faint); }
code { font: .85em/1.4 ui-monospace, monospace; background: var(--card); border: 1px solid var(--line);
  border-radius: 4px; padding: .1em .35em; }
.ask { border-left: 4px solid var(--warn); background: var(--card); padding: .25rem 1rem; border-radius: 4px; }
.ask li:first-child { border: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; border: 0; } td.n, th.n { text-align: right; } .scroll { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--faint); font: 11px system-ui, sans-serif; }
"""


def e(said: object, most: int = 600) -> str:
    """Foreign words that stay words."""
    return escape(clean(str(said), most), quote=True)


def page_of(page: Report, app: str, known: Mapping[str, words.Lesson]) -> str:
    """The whole page."""
    parts = [
        f"<h1>{e(app)} <span class='faint'>{e(local(page.made, '%A, %d %B %Y, %H:%M'))}</span></h1>",
        f"<p class='lead'>{e(words.headline(page))}</p><p class='faint'>{e(words.bill(page))}</p>",
        items(f"<li>{e(words.run_line(page, run))}</li>" for run in page.runs),
        section("Waits for you", waiting(page), "ask"),
        section("Finished", finished(page)),
        section("Gone red again", (f"<li class='bad'>{e(words.regression(one))}</li>" for one in page.regressions)),
        section("Not finished", troubles(page)),
        section("Repeated approaches", (f"<li>{e(words.failure(one, page))}</li>" for one in page.repeats)),
        section("Rate limits", (f"<li>{e(line)}</li>" for line in words.pauses(page))),
        section("Rescued work", rescued(page)),
        block("Timeline", gantt(page)),
        block("Spent, by agent", spent(page.agents)),
        block("Spent, by task", spent(page.tasks[:20])),
        section("Learned", lessons(page, known)),
    ]
    return document(f"{app}: {local(page.made, '%Y-%m-%d %H:%M')}", parts)


def document(title: str, parts: Iterable[str]) -> str:
    """A file around the parts."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        # Nothing may be fetched or run, whatever words found their way in.
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{e(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def items(lines: Iterable[str]) -> str:
    """A list; nothing for nothing."""
    body = "\n".join(lines)
    return f"<ul>{body}</ul>" if body else ""


def section(title: str, lines: Iterable[str], kind: str = "") -> str:
    """A list under its heading; nothing when it has nothing to say."""
    body = items(lines)
    return block(title, f"<div class='{kind}'>{body}</div>" if kind and body else body)


def block(title: str, body: str) -> str:
    """Something under its heading."""
    return f"<section><h2>{e(title)}</h2>{body}</section>" if body else ""


def waiting(page: Report) -> Iterator[str]:
    """What a person has to do, with the command that does it."""
    shown, rest = words.few(page.waiting)
    for wait in shown:
        word = "asks" if wait.status == "decide" else "is blocked"
        title = f" <span class='faint'>{e(wait.title, 120)}</span>" if wait.title else ""
        yield f"<li><b>{e(wait.task)} {word}</b>{title}<br>{e(wait.reason)}<br><code>{e(wait.cure)}</code></li>"
    if rest:
        yield f"<li class='faint'>{e(rest)}</li>"


def finished(page: Report) -> Iterator[str]:
    """What is done, and what shows it."""
    shown, rest = words.few(page.finished)
    for one in shown:
        mark = "<span class='good'>✔</span>" if one.held else "<span class='bad'>✘ gone red since</span>"
        why = f"<span class='faint'>{e(words.proof(one))}; {e(words.effort(one))}</span>"
        yield f"<li>{mark} <b>{e(one.task or 'The work')}</b> {e(one.title, 120)}<br>{why}</li>"
    if rest:
        yield f"<li class='faint'>{e(rest)}</li>"


def troubles(page: Report) -> Iterator[str]:
    """What was tried without success."""
    shown, rest = words.few(page.troubles)
    for one in shown:
        tried = items(f"<li>{e(words.failure(story, page))}</li>" for story in one.passes[-MOST_FAILURES:])
        state = f"<span class='warn'>{e(words.standing_of(one))}</span>"
        yield f"<li><b>{e(one.task or 'The work')}</b> {e(one.title, 120)} · {state}{tried}</li>"
    if rest:
        yield f"<li class='faint'>{e(rest)}</li>"


def rescued(page: Report) -> Iterator[str]:
    """Work beside the branch, and how to look at it."""
    for one in page.rescues:
        yield f"<li>{e(one.task)} {e(one.why)}<br><code>git log -p -1 {e(one.ref)}</code></li>"


def spent(shares: Sequence[Share]) -> str:
    """Rows with a bar each."""
    if not shares:
        return ""
    dollars = any(share.usage.cost for share in shares)
    size = [share.usage.cost if dollars else float(share.usage.tokens) for share in shares]
    rows = "".join(
        f"<tr><td>{e(share.name, 60)}</td><td class='n'>{share.passes}</td>"
        f"<td class='n'>{e(tokens(share.usage.tokens))}</td>"
        f"<td class='n'>{e(money(share.usage))}</td><td>{meter(each, max(size))}</td></tr>"
        for share, each in zip(shares, size, strict=True)
    )
    head = "<tr><th></th><th class='n'>passes</th><th class='n'>tokens</th><th class='n'>cost</th><th></th></tr>"
    return f"<div class='scroll'><table>{head}{rows}</table></div>"


def lessons(page: Report, known: Mapping[str, words.Lesson]) -> Iterator[str]:
    """What is known now that was not known before."""
    worth, more = words.learned(page, known)
    for one in worth[:40]:
        about = f" <span class='faint'>{e(one.kind)}, {e(one.authority)}</span>" if one.kind else ""
        yield f"<li>{e(one.text)} <code>{e(one.id)[:9]}</code>{about}</li>"
    rest = more + max(len(worth) - 40, 0)
    if rest:
        yield f"<li class='faint'>{rest} more, attempts and verdicts among them: <code>spiral memory list</code></li>"


def policies_of(rows: Sequence[PolicyRow]) -> str:
    """Policies beside each other."""
    head = "".join(f"<th class='n'>{e(name)}</th>" for name in HEADS)
    body = "".join("<tr>" + "".join(f"<td class='n'>{e(cell)}</td>" for cell in cells(row)) + "</tr>" for row in rows)
    table = f"<div class='scroll'><table><tr>{head}</tr>{body}</table></div>"
    return document("Policies compared", ["<h1>Policies compared</h1>", table])
