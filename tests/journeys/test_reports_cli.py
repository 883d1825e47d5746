"""What an operator reads in the morning, through the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import Run
from journal_of_a_night import Night, night
from loop_project import make_project
from spiral.work import Event

VOID = ("meta", "br", "line", "rect", "circle")


@pytest.fixture
def made(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Night]:
    monkeypatch.setenv("TZ", "UTC")
    recorded = night(repo)
    yield recorded
    recorded.journal.close()


class Page(HTMLParser):
    """Notes what is in a page and whether every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")]
        if tag not in VOID or (tag == "rect" and not self.get_starttag_text().endswith("/>")):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_status_tells_how_the_night_ended_and_how_to_answer(spiral: Run, made: Night) -> None:
    shown = spiral("status").stdout
    for said in (
        f"run         {made.second} · claude, checked by codex · balanced · main",
        "ended Mon 01:12 after 2 h 12: what is left waits for a decision",
        "4 of 7 done · 1 open · 2 parked",
        "at least $3.61 est. of $25.00 · 10 of 50 passes · 2.2 of 10 hours",
        "tests green in pass 13",
        "TASK-3 asks: Which currency do refunds have?",
        '→ spiral decide TASK-3 "…"',
        "memories    0",
    ):
        assert said in shown
    told = json.loads(spiral("status", "--json").stdout)
    assert (told["memories"], told["run"]["id"], told["run"]["code"], told["pass"]) == (0, made.second, 3, None)
    assert told["tasks"] == {"done": 4, "open": 1, "parked": 2, "skipped": 0}
    assert told["waiting"][0]["cure"] == 'spiral decide TASK-3 "…"'


def test_status_counts_the_tasks_that_no_pass_has_touched(spiral: Run, made: Night) -> None:
    tasks = [{"id": f"TASK-{n}", "title": f"Number {n}", "status": "open"} for n in range(1, 31)]
    (made.repo / ".agent/tasks.json").write_text(json.dumps({"tasks": tasks}))
    assert "4 of 30 done · 24 open · 2 parked" in spiral("status").stdout


def test_status_without_a_run(spiral: Run) -> None:
    assert "none yet; `spiral run` starts one" in spiral("status").stdout
    told = json.loads(spiral("status", "--json").stdout)
    assert (told["run"], told["waiting"]) == (None, [])


def test_logs_are_lines_for_people_and_objects_for_machines(spiral: Run, made: Night) -> None:
    shown = spiral("logs", "-n", "0").stdout
    assert "── Sun 2026-03-01 ──\n21:30:00  run       run began: claude works, policy poor, branch main" in shown
    assert "pass 2    TASK-2 failed · tests failed, as in pass 1 · another approach comes next" in shown
    assert "limit     claude is rate-limited until Mon 00:43 · 5-hour limit reached" in shown
    assert "\x1b" not in shown
    assert "TASK-4" not in spiral("logs", "--task", "TASK-3", "-n", "0").stdout
    rows = [json.loads(line) for line in spiral("logs", "--json", "-n", "3", "--run", made.first).stdout.splitlines()]
    assert [row["kind"] for row in rows] == ["pass.consolidated", "pass.ended", "run.ended"]


@pytest.mark.parametrize("args", [("logs", "-f", "-n", "1"), ("status", "--watch")])
def test_following_goes_on_until_it_is_interrupted(made: Night, args: tuple[str, ...]) -> None:
    command = [sys.executable, "-u", "-m", "spiral.surfaces.cli.main", *args]
    with subprocess.Popen(command, cwd=made.repo, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "what is left waits" not in process.stdout.readline():
            assert process.poll() is None
        made.later(60)
        made.begin("r-next", policy="rich")
        made.journal.record([Event(id="n", at=made.now, run="r-next", kind="notice", data={"text": "hello"})])
        line = process.stdout.readline()
        while "── " in line:
            line = process.stdout.readline()
        assert "run began" in line or "its runner is gone" in line
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


def test_show_tells_a_pass_and_its_parts(spiral: Run, made: Night) -> None:
    shown = spiral("show", "9").stdout
    for said in (
        "pass 9 · TASK-4 · Import the old ledger",
        "failed: failed 3 times, last: tests failed → parked",
        "$0.42 · 246k tokens · 21 turns",
        "✘ tests  pytest -q",
        "E   KeyError: 'ledger'",
        "I worked on TASK-4.",
        "briefing: 1,",
    ):
        assert said in shown
    assert spiral("show", "9", "--briefing").stdout.strip() == made.briefings[9].strip()
    assert '"argv": ["claude", "-p", "{prompt}"]' in spiral("show", "9", "--command").stdout
    assert '"text": "Let me look at outbox.py"' in spiral("show", "9", "--stream").stdout
    assert "── tests: red, exit code 1 (11 s" in spiral("show", "9", "--checks").stdout
    assert json.loads(spiral("show", "9", "--verdict").stdout)["outcome"] == "failed"
    told = json.loads(spiral("show", "9", "--json").stdout)
    assert (told["number"], told["outcome"], told["cost"], told["checks"][1]["exit_code"]) == (9, "failed", 0.42, 1)
    assert "repeats  the failed approach of pass 1" in spiral("show", "2").stdout
    assert "\x1b" not in spiral("show", "11").stdout


def test_show_falls_back_on_the_journal_when_files_are_gone(spiral: Run, made: Night) -> None:
    shutil.rmtree(made.repo / ".agent/history")
    assert spiral("show", "9", "--briefing").stdout.strip() == made.briefings[9].strip()
    found = spiral("show", "9", "--stream")
    assert found.stdout == "assistant: Let me look at outbox.py\n"
    assert "the stream's file is gone" in found.stderr
    assert "E   KeyError: 'ledger'" in spiral("show", "9", "--checks").stdout
    assert "the command line of pass 9 is gone" in spiral("show", "9", "--command", code=66).stderr


def test_a_briefing_that_was_altered_on_disk_is_shown_as_it_was_sent(spiral: Run, made: Night) -> None:
    (made.repo / ".agent/history" / made.second / made.ids[9] / "briefing.md").write_text("nothing to see")
    assert "nothing to see" not in spiral("show", "9", "--briefing").stdout


def test_diff_shows_what_a_pass_changed(spiral: Run, made: Night) -> None:
    assert spiral("diff", "9").stdout.endswith(" # TASK-4 8\n+# TASK-4 9\n")
    assert "outbox.py | 1 +" in spiral("diff", "9", "--stat").stdout
    told = json.loads(spiral("diff", "9", "--json").stdout)
    assert (told["base"], told["sha"]) == (made.shas[8], made.shas[9])
    assert told["files"] == [{"path": "outbox.py", "added": "1", "removed": "0"}]
    assert spiral("diff", "6").stderr == "pass 6 changed nothing\n"
    assert "there is no pass '77'" in spiral("diff", "77", code=66).stderr
    made.begin("r-next", policy="rich")
    made.start("r-next", "TASK-7")
    (made.repo / "outbox.py").write_text("under way\n")
    assert "+under way" in spiral("diff", "last").stdout


def test_diff_of_a_commit_that_is_gone(spiral: Run, made: Night) -> None:
    gone = Event(
        id="z", at=made.now, run="r", kind="pass.started", pass_id="r-1", data={"number": 99, "base": "0" * 40}
    )
    made.journal.record([gone])
    assert "is no longer in this repository" in spiral("diff", "99", code=66).stderr


def test_cost_by_each_way(spiral: Run, made: Night) -> None:
    found = spiral("cost")
    assert found.stdout.splitlines()[1].split() == ["TASK-2", "4", "178k", "25.4k", "800k", "$1.78", "est.", "█" * 24]
    assert "at least $4.87 est." in found.stdout.splitlines()[-1]
    assert "did not tell a cost" in found.stderr
    assert "opencode       1" in spiral("cost", "--by", "agent").stdout
    assert [line.split()[0] for line in spiral("cost", "--by", "day").stdout.splitlines()[1:3]] == [
        "2026-03-01", "2026-03-02",
    ]  # fmt: skip
    told = json.loads(spiral("cost", "--by", "role", "--run", "last", "--json").stdout)
    assert [(row["name"], row["passes"]) for row in told["rows"]] == [("maker", 10), ("checker", 5)]
    assert told["total"]["cost"] == pytest.approx(3.61)
    assert spiral("cost", "--since", "1m").stdout == "nothing was used up since then\n"


def test_the_report_is_a_page_for_the_morning(spiral: Run, made: Night) -> None:
    page = spiral("report").stdout
    for said in (
        "**4 tasks finished in 10 passes. 4 of 7 tasks are done, 1 open, 2 parked. 2 wait for you.**",
        "ended because what is left waits for a decision (TASK-3: Which currency do refunds have?)",
        "at least $3.61 est. · 2.0M tokens · 2 h 12 by the clock",
        "- **TASK-3 asks** (Choose the currency of refunds): Which currency do refunds have?\n  - `spiral decide ",
        "- **TASK-2** Retry failed webhooks\n  - 2 checks green (lint, tests), codex agrees; in 2 passes, pass 5, ",
        f"commit {made.shas[5][:10]}",
        'TASK-1: "tests" is red since 23:51; pass 3 had made it green',
        "pass 8 failed: tests: E KeyError: 'ledger' → another approach comes next",
        "`git log -p -1 refs/spiral/rescue/x`",
        "opencode  10.9k     unknown",
        "TASK-4  ···✕✕✕····",
        "Pay \\<script\\>",
    ):
        assert said in page
    both = spiral("report", "--since", "2026-03-01").stdout
    assert "pass 2 failed: tests: E assert 1 == 3, repeating pass 1 → another approach comes next" in both
    assert "**TASK-1** Keep payments in an outbox — **has gone red since, see below**" in both
    told = json.loads(spiral("report", "--json").stdout)
    assert [one["task"] for one in told["finished"]] == ["TASK-2", "TASK-5", "TASK-7", "TASK-6"]


def test_the_report_tells_what_was_learned(spiral: Run, made: Night) -> None:
    learned = json.loads(spiral("remember", "Refunds are rounded half to even.", "--json").stdout)["id"]
    data = {"memories": [learned]}
    made.journal.record(
        [Event(id="l", at=made.now, run=made.second, kind="pass.consolidated", pass_id="late", data=data)]
    )
    assert f"- Refunds are rounded half to even. `{learned[:9]}` (semantic, observed)" in spiral("report").stdout


def test_the_html_needs_nothing_else_and_hostile_words_stay_words(spiral: Run, made: Night, tmp_path: Path) -> None:
    file = tmp_path / "morning.html"
    assert spiral("report", "--html", str(file)).stdout == f"written to {file}\n"
    page = Page()
    page.feed(file.read_text())
    page.close()
    assert page.open == []
    assert "script" not in page.seen
    assert (page.links, "link" in page.seen, "img" in page.seen) == ([], False, False)
    assert 'Pay <script>alert("x")</script> & | `rm`' in page.words
    assert "4 tasks finished in 10 passes" in page.words
    assert {"svg", "rect", "table"} <= page.seen
    assert "cannot write to" in spiral("report", "--html", "/no/such/folder/x.html", code=64).stderr


def test_policies_are_compared(spiral: Run, made: Night, tmp_path: Path) -> None:
    rows = [line.split() for line in spiral("report", "--by", "policy").stdout.splitlines()]
    assert [row[1:18:2] for row in rows[2:]] == [
        ["balanced", "1", "9", "4", "44%", "4", "2.2", "0", "1,672"],
        ["poor", "1", "3", "1", "33%", "1", "3.0", "1", "994"],
    ]
    told = json.loads(spiral("report", "--by", "policy", "--json").stdout)["policies"]
    assert [(row["policy"], row["repeats"]) for row in told] == [("balanced", 0), ("poor", 1)]
    spiral("report", "--by", "policy", "--html", str(tmp_path / "p.html"))
    assert "balanced" in (tmp_path / "p.html").read_text()


def test_replay_says_whether_the_bytes_are_the_same(spiral: Run, made: Night) -> None:
    size = len(made.briefings[8].encode())
    assert f"pass 8 · TASK-4 · identical: {size:,} bytes" in spiral("replay", "8").stdout
    (made.repo / ".agent/history" / made.second / made.ids[8] / "briefing.md").unlink()
    assert json.loads(spiral("replay", "8", "--json").stdout)["identical"] is True
    other = spiral("replay", "8", "--policy", "poor").stdout
    assert "sent with balanced, replayed with poor" in other
    assert "memories        538    374       122  recall" in other
    assert "what poor would have given\nYou are one pass" in other
    assert " │ " in spiral("replay", "8", "--policy", "rich", "--side-by-side").stdout
    (made.repo / "spiral.toml").write_text("[hydrate]\nsections = { memories = 10 }\n")
    assert "identical" in spiral("replay", "8").stdout


def test_replay_tells_when_it_comes_out_otherwise(spiral: Run, made: Night) -> None:
    sent = made.journal.events(pass_id=made.ids[8], kinds=("pass.hydrated",))[0]
    data = {**sent.data, "briefing": made.journal.keep("something else\n")}
    begun = made.journal.events(pass_id=made.ids[8], kinds=("pass.started",))[0]
    number = {**begun.data, "number": 99}
    made.journal.record(
        [
            Event(id="s", at=made.now, run=made.second, kind="pass.started", pass_id="odd", data=number),
            Event(id="h", at=made.now, run=made.second, kind="pass.hydrated", pass_id="odd", data=data),
        ]
    )
    found = spiral("replay", "99", code=10)
    assert "differs from what was sent" in found.stdout
    assert "-something else" in found.stdout


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["show", "1"], 66, "no pass was made yet; `spiral run` starts them"),
        (["report"], 66, "there was no run yet"),
        (["report", "--run", "x"], 66, "there is no run 'x'; there was none yet"),
        (["report", "--since", "soon"], 64, "write 12h, 3d"),
        (["report", "--since", "1d", "--run", "last"], 64, "give --run or --since, not both"),
        (["cost", "--by", "mood"], 64, "'mood' is not one of"),
        (["replay", "1", "--policy", "lavish"], 64, "'lavish' is not one of"),
        (["logs", "--run", "x"], 66, "there is no run 'x'"),
    ],
)
def test_what_cannot_be_shown_is_said_with_the_cure(spiral: Run, args: list[str], code: int, line: str) -> None:
    assert line in spiral(*args, code=code).stderr


def test_a_terminal_gets_colours_and_no_foreign_escapes(made: Night) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spiral.surfaces.cli.main", "logs", "-n", "0", "--task", "TASK-5"]
    with subprocess.Popen(command, cwd=made.repo, stdout=theirs, stdin=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        assert process.wait(20) == 0
    os.close(ours)
    assert b"\x1b[32m" in shown
    assert b"\x1b[31mag" not in shown
    assert b"`rm` [31m" in shown


def test_a_real_run_is_told_as_it_went(spiral: Run, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    project = make_project(tmp_path / "real")
    check = "grep -q right one.txt"
    project.tasks({"id": "1", "title": "Write one", "checks": [check]}, {"id": "2", "title": "Ask", "checks": ["true"]})
    project.script(
        {"for": "task 1", "write": {"one.txt": "wrong\n"}, "commit": "feat: one", "say": "<promise>1:DONE</promise>"},
        {
            "for": "task 1", "write": {"one.txt": "right\n"}, "commit": "feat: one again",
            "say": "Now it is.\nLearned: The greeter reads its greeting at start.\n<promise>1:DONE</promise>",
        },
        {"for": "task 2", "say": "<promise>DECIDE:which database?</promise>"},
    )  # fmt: skip
    assert project.run().reason == "decide"
    here = project.folder
    assert "1 of 2 done · 0 open · 1 parked" in spiral("status", cwd=here).stdout
    page = spiral("report", cwd=here).stdout
    assert "**1 task finished in 3 passes. 1 of 2 tasks are done, 0 open, 1 parked. 1 waits for you.**" in page
    assert "- **2 asks** (Ask): which database?\n  - `spiral decide 2 " in page
    assert "1 check green (grep -q right one.txt); in 2 passes, pass 2, commit " in page
    assert "- The greeter reads its greeting at start. `" in page
    assert "1  ✕●·\n2  ··○" in page
    for number in ("1", "2", "3"):
        assert "identical" in spiral("replay", number, cwd=here).stdout
    assert "+right" in spiral("diff", "2", cwd=here).stdout
    assert "✘ grep -q right one.txt" in spiral("show", "1", cwd=here).stdout
    assert "scripted.py" in spiral("show", "1", "--command", cwd=here).stdout
