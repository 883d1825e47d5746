"""The task files, as they are found and as they are left."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiral.errors import NotFoundError, StoreError, StoreLockedError, UsageError
from spiral.loop.json_text import changed, inserted, parse
from spiral.loop.task_changes import add, add_all, split
from spiral.loop.task_files import alone, table_of
from spiral.loop.task_restore import restore, snapshot
from spiral.loop.tasks import load, restated, write_status
from spiral.work import STATUSES, Check, Status, Task, TaskState

RALPH = """[
    {
        "id": 1, "title": "Sign in", "category": "auth",
        "specFilePath": ".agent/tasks/TASK-1.json", "passes": true
    },
    {"id": 2, "title": "Sign out", "category": "auth", "specFilePath": "specs/out.md", "passes": false, "owner": "ann"}
]"""
LISTED = """{
  "project": "shop",
  "tasks": [
    { "id": "TASK-001", "title": "Store tokens", "priority": "high", "status": "completed" },
    { "id": "TASK-002", "title": "Send mail", "priority": "P2", "status": "in-progress", "w": 1.0, "tag": "\\u00e9" },
    { "id": "TASK-003", "title": "Accept tokens", "status": "pending" }
  ]
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".agent"
    (made / "tasks").mkdir(parents=True)
    return made


def put(folder: Path, path: str, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def table(folder: Path) -> str:
    return (folder / "tasks.json").read_text()


def test_a_list_with_passes_is_read_with_the_files_it_names(folder: Path) -> None:
    put(folder, "tasks.json", RALPH)
    put(folder, "tasks/TASK-1.json", {"description": "By password.", "notes": "see auth.py", "dependencies": [2]})
    (folder.parent / "specs").mkdir()
    (folder.parent / "specs/out.md").write_text("# Out")
    found = load(folder)
    assert found.faults == ()
    assert found.tasks == (
        Task(id="1", title="Sign in", description="By password.\n\nNotes: see auth.py", priority=2, depends=("2",),
             category="auth", status="done"),
        Task(id="2", title="Sign out", priority=2, category="auth", spec="specs/out.md"),
    )  # fmt: skip


def test_a_table_with_statuses_is_read_with_the_file_of_each_task(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    details = {
        "description": "Tokens.",
        "acceptance_criteria": ["expires", {"description": "is used once", "passes": False}],
        "steps": [{"step": 1, "description": "write a test"}, "make it pass"],
        "depends_on": ["TASK-001"],
        "files": ["a.py", {"path": "b.py"}],
        "checks": ["pytest -q", {"name": "types", "command": "mypy", "timeout": 30}],
        "mode": "test",
        "screenshot": "shoot",
        "status": "done",
    }
    put(folder, "tasks/TASK-003.json", details)
    found = load(folder)
    assert [(task.id, task.priority, task.status) for task in found.tasks] == [
        ("TASK-001", 1, "done"), ("TASK-002", 2, "open"), ("TASK-003", 2, "open"),
    ]  # fmt: skip
    assert found.get("TASK-003") == Task(
        id="TASK-003",
        title="Accept tokens",
        description="Tokens.",
        priority=2,
        depends=("TASK-001",),
        files=("a.py", "b.py"),
        acceptance=("expires", "is used once"),
        steps=("write a test", "make it pass"),
        checks=(Check(name="pytest -q", command="pytest -q"), Check(name="types", command="mypy", timeout=30.0)),
        mode="test",
        screenshot="shoot",
    )


def test_an_entry_that_cannot_be_read_is_a_fault_and_the_rest_are_there(folder: Path) -> None:
    entries: list[object] = [{"id": "A", "title": "fine"}, 7, {"title": "no id"}, {"id": "B"}, {"id": "C"}, {"id": "D"}]
    put(folder, "tasks.json", {"tasks": [*entries, {"id": "E", "title": "last", "status": "odd", "priority": "huge"}]})
    put(folder, "tasks/TASK-B.json", "{")
    put(folder, "tasks/TASK-C.json", {"checks": [{"name": "tests"}]})
    (folder / "tasks/TASK-D.json").write_bytes(b"\xff\xfe")
    found = load(folder)
    assert [(task.id, task.status, task.priority) for task in found.tasks] == [("A", "open", 2), ("E", "open", 2)]
    assert [fault.partition(":")[0] for fault in found.faults] == [
        "entry 2 of tasks.json", "entry 3 of tasks.json", "B", "C", "D", "E", "E",
    ]  # fmt: skip
    assert "check 'tests' has no command; give it one" in found.faults[3]
    assert "status 'odd' is unknown" in found.faults[6]


@pytest.mark.parametrize("text", ["", "{", '{"jobs": []}', "[1, 2", "3", "[" * 100_000])
def test_a_broken_table_is_one_fault_and_is_never_written_over(folder: Path, text: str) -> None:
    put(folder, "tasks.json", text)
    assert [load(folder).tasks, len(load(folder).faults)] == [(), 1]
    with pytest.raises(StoreError, match=r"tasks\.json"):
        add(folder, Task(id="", title="x"))
    assert table(folder) == text


def test_there_may_be_no_files_at_all(tmp_path: Path) -> None:
    assert load(tmp_path / "none").tasks == ()


def test_a_file_outside_the_project_is_not_read(folder: Path) -> None:
    put(folder, "../../secret.json", {"description": "secret"})
    put(folder, "tasks.json", [{"id": "x", "title": "t", "specFilePath": "../secret.json", "passes": False}])
    assert load(folder).tasks[0].description == ""


def test_a_person_names_a_task_by_its_number_or_in_small_letters(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    found = load(folder)
    assert [found.find(name).id for name in ("2", "task-002", "TASK-002")] == ["TASK-002"] * 3
    with pytest.raises(NotFoundError, match=r"there is no task 'TASK-04'; did you mean 'TASK-00"):
        found.find("TASK-04")


def test_the_journal_has_the_last_word_about_a_status(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    known = {"TASK-001": TaskState(status="blocked", reason="no key")}
    assert {name: state.status for name, state in load(folder).states(known).items()} == {
        "TASK-001": "blocked", "TASK-002": "open", "TASK-003": "open",
    }  # fmt: skip


def test_a_status_is_written_in_the_words_of_the_table_and_nothing_else_changes(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    assert write_status(folder, "TASK-002", "done")
    assert table(folder) == LISTED.replace('"in-progress"', '"completed"')
    assert write_status(folder, "TASK-002", "open")
    assert table(folder) == LISTED.replace('"in-progress"', '"pending"')


def test_what_says_the_same_already_is_not_written(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    before = (folder / "tasks.json").stat().st_ino
    assert not write_status(folder, "TASK-002", "open")
    assert not write_status(folder, "TASK-001", "done", "because")
    assert (folder / "tasks.json").stat().st_ino == before


def test_a_reason_stands_beside_the_status_and_goes_with_it(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    write_status(folder, "TASK-003", "blocked", 'no "key"')
    line = '{ "id": "TASK-003", "title": "Accept tokens", "status": "blocked", "statusReason": "no \\"key\\"" }'
    assert line in table(folder)
    assert load(folder).reasons == {"TASK-003": 'no "key"'}
    write_status(folder, "TASK-003", "open")
    assert table(folder) == LISTED.replace('"pending"', '"open"')


def test_a_table_of_passes_tells_done_from_not_done_alone(folder: Path) -> None:
    put(folder, "tasks.json", RALPH)
    assert not write_status(folder, "2", "blocked", "no key")
    assert write_status(folder, "1", "blocked", "no key")
    assert write_status(folder, "2", "done")
    assert table(folder) == RALPH.replace("true", "TRUE").replace("false", "true").replace("TRUE", "false")


def test_a_task_that_is_not_there_has_no_status(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    with pytest.raises(NotFoundError, match="there is no task 'TASK-009'"):
        write_status(folder, "TASK-009", "done")


KEYS = st.sampled_from(["note", "owner", "é", 'a"b', "estimate", "sub tasks"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(["todo", "Pending", "in_progress", "DONE", "completed", "blocked", "cancelled", "huh", ""])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Tables in either shape, with unknown fields, in any layout."""
    passing = draw(st.booleans())
    entries = []
    for number in range(draw(st.integers(1, 5))):
        entry = draw(st.dictionaries(KEYS, VALUES, max_size=4)) | {"id": number, "title": draw(st.text())}
        if draw(st.booleans()):
            entry |= {"passes": draw(st.booleans())} if passing else {"status": draw(WORDS)}
        entries.append({key: entry[key] for key in draw(st.permutations(list(entry)))})
    value: object = entries if draw(st.booleans()) else {"v": 1.50, "tasks": entries, "z": []}
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    return draw(st.sampled_from(["", "\ufeff", "\n "])) + text + draw(st.sampled_from(["", "\n", "\r\n"]))


def without_status(text: str) -> list[dict[str, object]]:
    hidden = ("status", "passes", "statusReason")
    return [{key: item for key, item in entry.fields.items() if key not in hidden} for entry in table_of(text).entries]


@settings(max_examples=60)
@given(tables(), st.sampled_from(STATUSES), st.text(max_size=10))
def test_writing_a_status_changes_nothing_but_the_status(text: str, status: Status, reason: str) -> None:
    found = table_of(text)
    entry = found.entries[-1]
    piece = restated(found, entry, status, reason)
    after = text[: entry.start] + piece + text[entry.end :]
    again = table_of(after)
    assert without_status(after) == without_status(text)
    assert [one.fields for one in again.entries[:-1]] == [one.fields for one in found.entries[:-1]]
    assert [list(one.fields) for one in again.entries[:-1]] == [list(one.fields) for one in found.entries[:-1]]
    assert restated(again, again.entries[-1], status, reason) == piece
    told = again.entries[-1].fields
    if found.passing:
        assert (told.get("passes") is True) == (status == "done")
    else:
        assert load_one(told) == status


def load_one(fields: object) -> str:
    from spiral.loop.task_words import fields_of, status_of

    assert isinstance(fields, dict)
    return status_of(fields_of(fields))


@settings(max_examples=60)
@given(tables(), st.integers(0, 6), st.dictionaries(KEYS, VALUES, max_size=3))
def test_an_element_is_put_in_and_the_others_stay(text: str, place: int, value: dict[str, object]) -> None:
    found = table_of(text)
    before = [entry.fields for entry in found.entries]
    after = [entry.fields for entry in table_of(inserted(text, found.array, place, [value])).entries]
    assert after == [*before[:place], value, *before[place:]]


@given(
    st.dictionaries(st.text(), VALUES), st.lists(st.tuples(st.text(), st.none() | VALUES)), st.sampled_from([None, 2])
)
def test_members_are_set_and_taken_out_like_in_a_dictionary(
    table: dict[str, object], changes: list[tuple[str, object]], indent: int | None
) -> None:
    text = json.dumps(table, indent=indent)
    wanted = dict(table)
    raw: dict[str, str | None] = {}
    for key, value in changes:
        raw[key] = None if value is None else json.dumps(value)
    for key, piece in raw.items():
        if piece is None:
            wanted.pop(key, None)
        else:
            wanted[key] = json.loads(piece)
    assert parse(changed(text, raw)) == wanted


def test_a_task_is_added_to_nothing(folder: Path) -> None:
    task = Task(id="", title="Store tokens", priority=1, checks=(Check(name="t", command="pytest", timeout=9.0),))
    made = add(folder, task)
    assert (made.id, load(folder).tasks) == ("TASK-001", (made,))
    assert json.loads(table(folder)) == {
        "tasks": [{"id": "TASK-001", "title": "Store tokens", "priority": "high", "status": "open"}]
    }
    assert table(folder).startswith('{\n  "tasks": [\n    {\n      "id"')


@pytest.mark.parametrize(
    ("ids", "fresh"),
    [
        (["TASK-001", "TASK-009"], "TASK-010"),
        (["US-3"], "US-4"),
        ([7], "8"),
        (["login", "auth"], "TASK-001"),
        (["a1", "b07"], "b08"),
        (["TASK-999"], "TASK-1000"),
    ],
)
def test_the_next_id_follows_those_there(folder: Path, ids: list[object], fresh: str) -> None:
    put(folder, "tasks.json", {"tasks": [{"id": name, "title": "t", "priority": 3, "status": "todo"} for name in ids]})
    made = add(folder, Task(id="", title="More", priority=1))
    assert made.id == fresh
    last = json.loads(table(folder))["tasks"][-1]
    assert last == {"id": 8 if ids == [7] else fresh, "title": "More", "priority": 1, "status": "todo"}


def test_an_id_whose_file_is_there_is_not_given_again(folder: Path) -> None:
    put(folder, "tasks/TASK-004.json", {"description": "left by a crash"})
    assert add(folder, Task(id="", title="More")).id == "TASK-005"


def test_a_task_is_added_to_a_list_of_passes_in_its_own_manner(folder: Path) -> None:
    put(folder, "tasks.json", RALPH)
    made = add(folder, Task(id="", title="Stay signed in", priority=0, category="auth"))
    line = (
        '{"id": 3, "title": "Stay signed in", "category": "auth", '
        '"specFilePath": ".agent/tasks/TASK-3.json", "passes": false}'
    )
    assert table(folder) == RALPH[:-2] + ",\n    " + line + "\n]"
    assert load(folder).get("3") == made


def test_tasks_that_come_together_depend_on_each_other_by_their_new_ids(folder: Path) -> None:
    first, second = add_all(folder, [Task(id="a", title="One"), Task(id="b", title="Two", depends=("a",))])
    assert second.depends == (first.id,) == ("TASK-001",)


def test_many_add_at_once_and_none_is_lost(folder: Path) -> None:
    threads = [threading.Thread(target=add, args=(folder, Task(id="", title=f"t{n}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = load(folder)
    assert sorted(task.title for task in found.tasks) == [f"t{n}" for n in range(8)]
    assert len({task.id for task in found.tasks}) == 8


def test_who_does_not_get_a_turn_is_told(folder: Path) -> None:
    with alone(folder), pytest.raises(StoreLockedError, match="another process"), alone(folder, 0.01):
        pass


@pytest.mark.parametrize("shape", ["status", "passes"])
def test_a_split_puts_parts_in_the_place_of_a_task(folder: Path, shape: str) -> None:
    kind: dict[str, object] = {"status": "todo"} if shape == "status" else {"passes": False}
    entries = [{"id": f"T-{n}", "title": f"t{n}", "priority": 1, **kind} for n in (1, 2, 3)]
    put(folder, "tasks.json", json.dumps(entries, indent=2))
    put(folder, "tasks/TASK-T-2.json", {"dependencies": ["T-1"], "checks": ["make"], "acceptanceCriteria": ["works"]})
    put(folder, "tasks/TASK-T-3.json", '{"mine": 1.0,  "dependencies": ["T-2"]}')
    made = split(folder, "T-2", [Task(id="a", title="A"), Task(id="b", title="B", acceptance=("b works",))])
    found = load(folder)
    assert [task.id for task in found.tasks] == ["T-1", "T-2", "T-4", "T-5", "T-3"]
    assert found.tasks[2:4] == made
    assert made == (
        Task(id="T-4", title="A", priority=1, depends=("T-1",)),
        Task(id="T-5", title="B", priority=1, depends=("T-1", "T-4"), acceptance=("b works", "works"),
             checks=(Check(name="make", command="make"),)),
    )  # fmt: skip
    assert (found.tasks[1].status, found.reasons) == ("skipped", {"T-2": "split into T-4, T-5"})
    assert (folder / "tasks/TASK-T-3.json").read_text() == '{"mine": 1.0,  "dependencies": ["T-4", "T-5"]}'
    with pytest.raises(UsageError, match="already"):
        split(folder, "T-2", made)
    write_status(folder, "T-2", "open", "")
    assert (load(folder).tasks[1].status, load(folder).reasons) == ("open", {})


def test_dependencies_in_the_table_follow_a_split_too(folder: Path) -> None:
    put(folder, "tasks.json", [{"id": 1, "title": "a", "passes": False}, {"id": 2, "title": "b", "dependsOn": [1]}])
    split(folder, "1", [Task(id="x", title="X"), Task(id="y", title="Y")])
    assert json.loads(table(folder))[-1] == {"id": 2, "title": "b", "dependsOn": [3, 4]}


def test_one_part_is_no_split(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    with pytest.raises(UsageError, match="at least two"):
        split(folder, "TASK-003", [Task(id="x", title="X")])


def test_what_an_agent_did_to_statuses_is_a_request_and_its_notes_survive(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    put(folder, "tasks/TASK-003.json", {"checks": ["make"], "dependencies": ["TASK-001"], "steps": ["a"]})
    before = snapshot(folder)
    edited = LISTED.replace('"status": "pending"', '"status": "done", "notes": "easy"')
    put(folder, "tasks.json", edited.replace('"Send mail"', '"Send the mail"').replace('"in-progress"', '"blocked"'))
    put(folder, "tasks/TASK-003.json", {"checks": [], "steps": ["a", "b"], "notes": "done!", "status": "done"})
    back = restore(folder, before)
    assert (back.requested, back.altered) == (
        {"TASK-003": "done", "TASK-002": "blocked"},
        {"TASK-003": ("checks", "depends")},
    )
    assert table(folder) == LISTED.replace('"pending"', '"pending", "notes": "easy"').replace(
        "Send mail", "Send the mail"
    )
    assert json.loads((folder / "tasks/TASK-003.json").read_text()) == {
        "checks": ["make"], "dependencies": ["TASK-001"], "steps": ["a", "b"], "notes": "done!",
    }  # fmt: skip
    again = restore(folder, before)
    assert (again.requested, again.files) == ({}, [])


def test_what_an_agent_deleted_is_there_again_and_what_it_added_is_open(folder: Path) -> None:
    put(folder, "tasks.json", LISTED)
    put(folder, "tasks/TASK-001.json", {"checks": ["make"]})
    before = snapshot(folder)
    kept = '{ "id": "TASK-002", "title": "Send mail", "status": "in-progress" }'
    put(folder, "tasks.json", '{"tasks": [\n  ' + kept + ',\n  { "id": "NEW", "title": "Mine", "status": "done" }\n]}')
    put(folder, "tasks/TASK-NEW.json", {"checks": ["true"], "status": "done"})
    (folder / "tasks/TASK-001.json").unlink()
    back = restore(folder, before)
    assert back.requested == {"TASK-001": "deleted", "TASK-003": "deleted", "NEW": "done"}
    assert back.added == ["NEW"]
    found = load(folder)
    assert [(task.id, task.status) for task in found.tasks] == [
        ("TASK-001", "done"), ("TASK-002", "open"), ("TASK-003", "open"), ("NEW", "open"),
    ]  # fmt: skip
    assert [len(task.checks) for task in found.tasks] == [1, 0, 0, 1]


@pytest.mark.parametrize("damage", ["{", "[]", None, "\u00ff", '{"tasks": {}}'])
def test_a_table_that_an_agent_destroyed_is_put_back(folder: Path, damage: str | None) -> None:
    put(folder, "tasks.json", LISTED)
    before = snapshot(folder)
    (folder / "tasks.json").unlink()
    if damage is not None:
        (folder / "tasks.json").write_bytes(damage.encode("latin-1"))
    restore(folder, before)
    assert table(folder) == LISTED


def test_a_file_that_an_agent_gives_a_known_task_decides_nothing(folder: Path) -> None:
    entry = {"id": "A", "title": "t", "checks": ["make"], "passes": False}
    put(folder, "tasks.json", [entry])
    before = snapshot(folder)
    put(folder, "tasks/TASK-A.json", {"checks": ["true"], "passes": True, "description": "what it is about"})
    restore(folder, before)
    found = load(folder).tasks[0]
    assert (found.checks[0].command, found.status, found.description) == ("make", "open", "what it is about")


@settings(max_examples=40)
@given(tables(), tables())
def test_after_a_restore_every_task_has_the_status_that_it_had(before: str, after: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / ".agent"
        folder.mkdir()
        (folder / "tasks.json").write_bytes(before.encode())
        was = {task.id: replace(task, title="", description="") for task in load(folder).tasks}
        kept = snapshot(folder)
        (folder / "tasks.json").write_bytes(after.encode())
        restore(folder, kept)
        now = {task.id: replace(task, title="", description="") for task in load(folder).tasks}
        assert {name: task.status for name, task in now.items() if name in was} == {
            name: task.status for name, task in was.items()
        }
        assert all(task.status == "open" for name, task in now.items() if name not in was)
