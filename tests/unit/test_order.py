"""Which task comes next, what waits, and how it is drawn."""

from __future__ import annotations

import random

from spiral.loop.graph import dot, mermaid, text
from spiral.loop.order import cycles, levels, ready, waiting
from spiral.work import Status, Task, TaskState


def task(name: str, *depends: str, priority: int = 2, status: Status = "open") -> Task:
    return Task(id=name, title=f"Do {name}", depends=depends, priority=priority, status=status)


def test_ready_is_what_is_open_with_its_dependencies_done_by_priority_then_by_place() -> None:
    tasks = [
        task("a", status="done"),
        task("b", "a"),
        task("c", "b"),
        task("d", "a", priority=1),
        task("e"),
        task("f", status="blocked"),
        task("g", "f"),
    ]
    assert [one.id for one in ready(tasks, {})] == ["d", "b", "e"]
    assert [(wait.task.id, wait.needs) for wait in waiting(tasks, {})] == [("c", ("b",)), ("g", ("f",))]


def test_the_journal_counts_and_not_the_file() -> None:
    tasks = [task("a", status="done"), task("b", "a")]
    assert [one.id for one in ready(tasks, {"a": TaskState(status="open")})] == ["a"]
    assert [one.id for one in ready([task("a"), task("b", "a")], {"a": TaskState(status="done")})] == ["b"]


def test_a_task_that_was_split_is_done_when_all_its_parts_are() -> None:
    tasks = [task("a", status="skipped"), task("b", status="done"), task("c"), task("d", "a")]
    states = {"a": TaskState(status="skipped", reason="split into b, c")}
    assert [one.id for one in ready(tasks, states)] == ["c"]
    assert waiting(tasks, states)[0].why == "needs c"
    states |= {"c": TaskState(status="skipped", reason="split into e"), "e": TaskState(status="done")}
    assert [one.id for one in ready([*tasks, task("e")], states)] == ["d"]


def test_a_task_that_a_person_skipped_holds_others_up_and_the_cure_is_told() -> None:
    tasks = [task("a", status="skipped"), task("b", "a"), task("c", "x"), task("d", "e"), task("e")]
    states = {
        "a": TaskState(status="skipped", reason="not now"),
        "e": TaskState(status="decide", reason="red or blue?"),
    }
    assert {wait.task.id: wait.why for wait in waiting(tasks, states)} == {
        "b": "needs a, which is skipped (not now); `spiral tasks retry a` opens it again",
        "c": "needs x, which is not in the list; add it, or remove the dependency",
        "d": 'needs e, which is decide (red or blue?); `spiral decide e "…"` answers it',
    }


def test_a_circle_is_found_once_and_named() -> None:
    tasks = [task("a"), task("b", "d"), task("c", "b"), task("d", "c"), task("e", "e"), task("f", "b")]
    assert cycles(tasks) == [("b", "d", "c"), ("e",)]
    assert waiting(tasks, {})[0].why == "in a circle: b → d → c → b; remove one of these dependencies"
    assert [[one.id for one in row] for row in levels(tasks)] == [["a"], ["b", "c", "d", "e", "f"]]


def test_a_long_chain_is_no_trouble() -> None:
    tasks = [task(str(n), *([str(n - 1)] if n else [])) for n in range(5_000)]
    random.Random(1).shuffle(tasks)
    assert cycles(tasks) == []
    assert [one.id for one in ready(tasks, {})] == ["0"]
    assert [row[0].id for row in levels(tasks)] == [str(n) for n in range(5_000)]


def test_only_the_first_of_two_with_one_id_is_offered() -> None:
    assert ready([task("a", priority=3), task("a", priority=1)], {}) == [task("a", priority=3)]


def test_the_graph_is_drawn_in_three_ways() -> None:
    tasks = [task("a", status="done"), Task(id="b", title='Say "hi"', depends=("a", "x"))]
    assert text(tasks, {}) == '  1  ● a  Do a\n  2  ○ b  Say "hi"  ← a, x'
    assert mermaid(tasks, {}).splitlines()[:4] == [
        "flowchart TD",
        '  t0["a: Do a"]:::done',
        '  t1["b: Say #quot;hi#quot;"]:::open',
        "  t0 --> t1",
    ]
    assert '  "b" [label="b\\nSay \\"hi\\"", fillcolor="#ffffff"];\n  "a" -> "b";\n}' in dot(tasks, {})
    assert "circle: a → a" in text([task("a", "a")], {})
    assert text([], {}) == ""
