"""What an operator is told is what the journal says, whatever version wrote it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journal_of_a_night import EVENING, NIGHT, Night, night
from spiral.backends import load
from spiral.errors import NotFoundError, UsageError
from spiral.loop.costs import bar, shares
from spiral.loop.policies import by_policy
from spiral.loop.replay import replay
from spiral.loop.report import report
from spiral.loop.standing import Progress, standing
from spiral.loop.story import OUTLINE, find_pass, find_run, last_run, passes, runs
from spiral.loop.tasks import TaskList
from spiral.loop.timeline import timeline
from spiral.loop.wording import block, clean, ending, money, span, tokens, told
from spiral.ports import Journal
from spiral.surfaces.cli.report_html import page_of
from spiral.surfaces.cli.report_markdown import markdown
from spiral.surfaces.cli.run_view import lines, summary
from spiral.surfaces.cli.since import since
from spiral.tables import HydrateSettings, Table
from spiral.work import Event, EventKind, Task, TaskState, Usage

MORNING = datetime(2026, 3, 2, 7, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    """A night that no test here adds to."""
    repo = tmp_path_factory.mktemp("shop")
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    recorded = night(repo)
    yield recorded
    recorded.journal.close()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened: Journal = load("journal", "sqlite:", tmp_path / "journal.db")
    yield opened
    opened.close()


def test_a_pass_is_told_whole(made: Night) -> None:
    story = find_pass(made.journal, "4")
    assert (story.id, story.run, story.number) == (f"{made.second}-0001", made.second, 4)
    assert (story.task, story.title, story.agent, story.mode) == (
        "TASK-2", "Retry failed webhooks", "claude", "implement",
    )  # fmt: skip
    assert (story.outcome, story.reason, story.next) == ("rework", "codex: no jitter", "retry")
    assert [(one.check.name, one.passed) for one in story.checks] == [("lint", True), ("tests", True)]
    assert [(one.agent, one.outcome, one.findings) for one in story.opinions] == [("codex", "rework", ("no jitter",))]
    assert story.usage.cost == pytest.approx(0.47)
    assert (story.usage.estimated, story.usage.tokens) == (True, 255_700)
    assert (story.sha, story.base, story.promise) == (made.shas[4], made.shas[3], "done TASK-2")
    assert (story.policy, story.briefing > 1_000, story.seconds > 500, story.overhead) == (
        "balanced",
        True,
        True,
        0.142,
    )
    assert find_pass(made.journal, "2").repeats == made.ids[1]


def test_a_pass_is_found_by_number_id_beginning_and_as_the_last(made: Night) -> None:
    for name in ("13", made.ids[13], "last", f"{made.second}-001"):
        assert find_pass(made.journal, name).number == 13
    with pytest.raises(NotFoundError, match=r"there is no pass '99'; the last one is 13 \(`spiral logs` shows them\)"):
        find_pass(made.journal, "99")
    with pytest.raises(NotFoundError, match=r"'r-2026' may mean .*; give its number or more of its id"):
        find_pass(made.journal, "r-2026")
    with pytest.raises(NotFoundError, match="there is no pass 'x'"):
        find_pass(made.journal, "x")


def test_runs_tell_who_worked_and_how_they_ended(made: Night) -> None:
    first, second = runs(made.journal)
    assert (first.id, first.policy, first.reason, first.code, first.checker) == (made.first, "poor", "passes", 1, "")
    assert (second.reason, second.detail) == ("decide", "TASK-3: Which currency do refunds have?")
    assert second == last_run(made.journal) == find_run(made.journal, "r-20260301-23") == find_run(made.journal, "last")
    with pytest.raises(NotFoundError, match="there is no run 'r-9'; the last ones are r-"):
        find_run(made.journal, "r-9")
    with pytest.raises(NotFoundError, match=r"may mean .*; give more of the id"):
        find_run(made.journal, "r-")


def test_a_run_that_goes_on_has_not_ended(journal: Journal) -> None:
    kinds: tuple[EventKind, ...] = ("run.started", "run.ended", "run.resumed")
    for place, kind in enumerate(kinds):
        journal.record([Event(id=kind, at=EVENING + timedelta(minutes=place), run="r1", kind=kind)])
    run = last_run(journal)
    assert run is not None
    assert (run.ended, run.resumed, run.began) == (None, 1, EVENING)


def test_what_stands_now(made: Night) -> None:
    seen = standing(made.journal, MORNING, TaskList())
    assert (seen.current, seen.step, seen.passes) == (None, "pass.ended", 10)
    assert seen.progress == Progress(done=4, open=1, parked=2)
    assert [(wait.task, wait.cure) for wait in seen.waiting] == [
        ("TASK-3", 'spiral decide TASK-3 "…"'),
        ("TASK-4", "spiral tasks retry TASK-4"),
    ]
    assert seen.paused == {}
    assert (seen.check and seen.check.passed, seen.checked) == (True, 13)
    listed = TaskList(tasks=tuple(Task(id=f"TASK-{n}", title="x") for n in range(1, 21)))
    assert standing(made.journal, MORNING, listed).progress == Progress(done=4, open=14, parked=2)


def test_a_pass_under_way_is_told_with_its_step(repo: Path) -> None:
    made = night(repo)
    made.begin("r-x", policy="rich", agent="codex", checker="")
    made.start("r-x", "TASK-7", policy="rich", agent="codex")
    made.journal.record(notes={"limit/claude": (MORNING + timedelta(hours=1)).isoformat()})
    seen = standing(made.journal, MORNING, TaskList())
    assert (seen.current and seen.current.number, seen.step) == (14, "pass.hydrated")
    assert seen.paused == {"claude": MORNING + timedelta(hours=1)}
    shown = "\n".join(lines(seen, MORNING, alive=True))
    assert "pass 14: the agent is at work" in shown
    assert "claude is rate-limited until" in shown
    assert "`spiral resume` goes on" in "\n".join(lines(seen, MORNING, alive=False))
    assert summary(seen, MORNING, alive=True).startswith("pass 14: the agent is at work")
    made.journal.close()


def test_the_page_of_a_run(made: Night) -> None:
    page = report(made.journal, MORNING, TaskList())
    assert [(one.task, one.proof.number, len(one.passes)) for one in page.finished] == [
        ("TASK-2", 5, 2), ("TASK-5", 11, 2), ("TASK-7", 12, 1), ("TASK-6", 13, 1),
    ]  # fmt: skip
    assert [(one.task, len(one.passes), one.status) for one in page.troubles] == [("TASK-4", 3, "blocked")]
    assert [(one.task, one.check, one.fixed) for one in page.regressions] == [("TASK-1", "tests", "3")]
    assert [one.ref for one in page.rescues] == ["refs/spiral/rescue/x"]
    assert (page.memories, page.repeats) == (("m3", "m4"), ())
    assert [share.name for share in page.agents] == ["claude", "codex", "opencode"]
    assert page.spent.cost == pytest.approx(3.61)
    both = report(made.journal, MORNING, TaskList(), since=EVENING)
    assert [one.number for one in both.repeats] == [2]
    assert [(one.task, one.held) for one in both.finished][:1] == [("TASK-1", False)]
    late = report(made.journal, MORNING, TaskList(), since=NIGHT + timedelta(minutes=100))
    assert [one.number for one in late.passes] == [11, 12, 13]


def test_policies_are_compared_without_what_says_nothing_about_them(made: Night) -> None:
    rows = by_policy(runs(made.journal), passes(made.journal, kinds=OUTLINE))
    assert [(row.policy, row.passes, row.passed, row.finished, row.repeats) for row in rows] == [
        ("balanced", 9, 4, 4, 0),
        ("poor", 3, 1, 1, 1),
    ]
    assert rows[0].briefing > rows[1].briefing > 900


def test_a_briefing_is_made_again_byte_for_byte(made: Night) -> None:
    for number in (1, 8, 13):
        found = replay(made.journal, find_pass(made.journal, str(number)), HydrateSettings(policy="rich"))
        assert found.identical
        assert found.made.text == made.briefings[number]
    other = replay(made.journal, find_pass(made.journal, "8"), HydrateSettings(), "poor")
    assert (other.asked, other.identical, other.made.tokens < other.sent.tokens) == ("poor", False, True)
    tuned = HydrateSettings(sections=Table(memories=0))
    assert replay(made.journal, find_pass(made.journal, "8"), tuned).identical


def test_expenses_are_shared_out(made: Night) -> None:
    expenses = made.journal.expenses()
    assert [(one.name, one.passes) for one in shares(expenses, "role")] == [("maker", 13), ("checker", 5)]
    assert [one.name for one in shares(expenses, "run")] == [made.first, made.second]
    assert shares(expenses, "task")[0].name == "TASK-2"
    assert sum(one.usage.cost for one in shares(expenses, "day")) == pytest.approx(4.87)


@pytest.mark.parametrize(
    ("said", "want"),
    [
        (money(Usage(cost=1234.5)), "$1,234.50"),
        (money(Usage(cost=0.1, estimated=True, unknown=True)), "at least $0.10 est."),
        (money(Usage(input=5, unknown=True)), "unknown"),
        (money(Usage(cost=float("inf"))), "unknown"),
        (span(59.6), "60 s"),
        (span(7_260), "2 h 01"),
        (tokens(999), "999"),
        (tokens(1_250_000), "1.2M"),
        (clean("a\x1b[31m\nb\u202e", 0), "a [31m b"),
        (block("a\x1b\r\nb\ud800"), "a�\nb�"),
        (ending("budget"), "the budget was used up"),
        (ending("novel", "since 2030"), "novel (since 2030)"),
        (bar(1, 2, 4), "██"),
        (bar(0.0001, 2, 4), "▏"),
        (bar(0, 2), ""),
    ],
)
def test_words_for_numbers(said: str, want: str) -> None:
    assert said == want


def test_since_when() -> None:
    assert since("12h", MORNING) == MORNING - timedelta(hours=12)
    assert since("2026-03-01T20:00+00:00", MORNING) == datetime(2026, 3, 1, 20, tzinfo=UTC)
    assert since("", MORNING) is None
    with pytest.raises(UsageError, match="cannot tell since when 'soon' is; write 12h"):
        since("soon", MORNING)


NAMES = (
    "number", "mode", "step", "agent", "base", "title", "tokens", "policy", "sections", "attempt", "verdict",
    "memories", "outcome", "reason", "next", "usage", "seconds", "sha", "effort", "budget", "checks", "opinions",
    "answer", "promise", "until", "check", "pass", "ref", "why", "share", "what", "cost", "repeats", "counted",
    "memory", "question", "findings", "files", "rescued", "name", "passed", "exit_code",
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
datas = st.dictionaries(st.sampled_from(NAMES), json_values, max_size=8)
KINDS: tuple[EventKind, ...] = get_args(EventKind)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["", "p1", "p2"]), datas), max_size=14))
def test_nothing_that_another_version_wrote_makes_a_view_fail(
    tmp_path: Path, events: list[tuple[EventKind, str, dict[str, object]]]
) -> None:
    path = tmp_path / f"{abs(hash(str(events)))}.db"
    journal: Journal = load("journal", "sqlite:", path)
    journal.record([Event(id="first", at=EVENING, run="r1", kind="run.started")], states={"T": TaskState()})
    for place, (kind, name, data) in enumerate(events):
        at = EVENING + timedelta(minutes=place)
        journal.record([Event(id=f"e{place}", at=at, run="r1", kind=kind, pass_id=name, task=name, data=data)])
    page = report(journal, MORNING, TaskList(), since=EVENING - timedelta(days=1))
    assert "<body>" in page_of(page, "shop", {})
    assert markdown(page, "shop", {}).startswith("# shop")
    assert isinstance(timeline(page.passes), list)
    seen = standing(journal, MORNING, TaskList())
    assert lines(seen, MORNING, alive=True)
    assert all(told(event).isprintable() for event in journal.events())
    assert all(row.passes for row in by_policy(runs(journal), passes(journal)))
    journal.close()
    path.unlink()


def test_every_field_of_a_story_has_an_empty_value() -> None:
    from spiral.loop.story import PassStory, pass_of

    bare = pass_of([Event(id="x", at=EVENING, run="r", kind="pass.ended", pass_id="p")])
    assert bare == PassStory(id="p", run="r", began=EVENING, ended=EVENING)
    assert {item.name for item in fields(bare)} >= {"outcome", "promise", "sha", "repeats"}
