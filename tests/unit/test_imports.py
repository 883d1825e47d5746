"""Tasks that come from other files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiral.errors import UsageError
from spiral.loop.checklist import checklist
from spiral.loop.imports import take_in
from spiral.loop.plan import planned
from spiral.loop.tasks import load, write_status
from spiral.work import Check, Task

PRD = {
    "project": "shop",
    "branchName": "ralph/login",
    "userStories": [
        {"id": "US-001", "title": "Sign in", "description": "As a user …", "acceptanceCriteria": ["works"],
         "priority": 1, "passes": True, "notes": "see auth.py"},
        {"id": "US-002", "title": "Sign out", "priority": 2, "passes": False, "dependsOn": ["US-001"]},
        "rubbish",
    ],
}  # fmt: skip
MARKDOWN = """# Shop

Some words, and a list that is no checklist:
- not a task

## Accounts
- [x] T001 [P] Create the table
- [ ] **US-7**: Sign in (P1)
  With a password.
  - [ ] write the form
    - with a label
  - check: `pytest -q tests/test_login.py`
  - Depends on: T001
  - Files: `login.py`, form.html
  - **Acceptance criteria:** a wrong password is refused

```
- [ ] not this
```
1. [ ] Sign out
* [ ] Sign out
Words after.
  - [X] Indented, and still a task
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".agent"


def test_a_prd_of_user_stories_is_taken_in_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "prd.json").write_text(json.dumps(PRD))
    done = take_in(folder, tmp_path / "prd.json")
    assert done.faults == ("entry 3: it is no object",)
    assert done.added == load(folder).tasks
    assert done.added == (
        Task(id="US-001", title="Sign in", description="As a user …\n\nNotes: see auth.py", acceptance=("works",),
             priority=1, status="done"),
        Task(id="US-002", title="Sign out", priority=2, depends=("US-001",)),
    )  # fmt: skip
    before = (folder / "tasks.json").read_text()
    again = take_in(folder, tmp_path / "prd.json")
    assert (again.added, again.known) == ((), ("US-001", "US-002"))
    assert (folder / "tasks.json").read_text() == before


def test_a_checklist_is_read_with_its_steps_and_labels() -> None:
    assert checklist(MARKDOWN) == [
        Task(id="T001", title="Create the table", priority=2, category="Accounts", status="done"),
        Task(
            id="US-7",
            title="Sign in",
            description="With a password.",
            priority=1,
            depends=("T001",),
            files=("login.py", "form.html"),
            acceptance=("a wrong password is refused",),
            steps=("write the form", "with a label"),
            checks=(Check(name="pytest -q tests/test_login.py", command="pytest -q tests/test_login.py"),),
            category="Accounts",
        ),
        Task(id="", title="Sign out", priority=2, category="Accounts"),
        Task(id="", title="Sign out", priority=2, category="Accounts"),
        Task(id="", title="Indented, and still a task", priority=2, category="Accounts", status="done"),
    ]


def test_a_checklist_taken_in_twice_adds_nothing_even_after_renaming_and_ticking(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "project" / "docs" / "PRD.md"
    file.parent.mkdir(parents=True)
    file.write_text(MARKDOWN)
    done = take_in(folder, file)
    assert [task.id for task in done.added] == ["T001", "US-7", "US-8", "US-9", "US-10"]
    write_status(folder, "US-8", "done")
    table = (folder / "tasks.json").read_text().replace("Indented, and", "Renamed, but")
    (folder / "tasks.json").write_text(table)
    file.write_text(MARKDOWN.replace("- [ ]", "- [x]") + "- [ ] One more thing to do\n")
    again = take_in(folder, file)
    assert [task.title for task in again.added] == ["One more thing to do"]
    assert load(folder).find("US-7").status == "open"


def test_items_without_an_id_are_depended_on_by_their_title(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "list.md"
    file.write_text("- [ ] Ship it\n  - depends on: Write the docs\n- [ ] Write the docs\n")
    take_in(folder, file)
    assert [(task.id, task.depends) for task in load(folder).tasks] == [("TASK-001", ("TASK-002",)), ("TASK-002", ())]
    entries = [{"title": "Write the parser"}, {"id": "b", "title": "Use it", "dependencies": ["Write the parser"]}]
    plan, fault = planned(json.dumps({"tasks": entries}))
    assert ([(task.id, task.depends) for task in plan], fault) == ([("T1", ()), ("b", ("T1",))], "")


@pytest.mark.parametrize("name", ["tasks.json", "other.json"])
def test_either_shape_of_a_task_table_is_taken_in(folder: Path, tmp_path: Path, name: str) -> None:
    for place, content in {
        "one": {"tasks": [{"id": "TASK-1", "title": "First", "priority": "low", "status": "done"}]},
        "two": [{"id": 5, "title": "Fifth", "category": "c", "specFilePath": "tasks/TASK-5.json", "passes": False}],
    }.items():
        (tmp_path / place).mkdir()
        (tmp_path / place / name).write_text(json.dumps(content))
        take_in(folder, tmp_path / place / name)
    assert [(task.id, task.title, task.priority, task.status) for task in load(folder).tasks] == [
        ("TASK-1", "First", 3, "done"),
        ("5", "Fifth", 2, "open"),
    ]


def test_an_id_that_is_taken_is_replaced_and_dependencies_follow(folder: Path, tmp_path: Path) -> None:
    for name, title in (("a.json", "Mine"), ("b.json", "Theirs")):
        stories = [{"id": "S-1", "title": title}, {"id": "S-2", "title": f"{title} too", "dependencies": ["S-1"]}]
        (tmp_path / name).write_text(json.dumps(stories))
        take_in(folder, tmp_path / name)
    assert [(task.id, task.depends) for task in load(folder).tasks] == [
        ("S-1", ()), ("S-2", ("S-1",)), ("S-3", ()), ("S-4", ("S-3",)),
    ]  # fmt: skip
    assert take_in(folder, tmp_path / "b.json").added == ()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("prd.json", "{", "is not JSON"),
        ("prd.json", '{"a": 1}', "holds no list of tasks"),
        ("PRD.md", "# Nothing\n- plain", "has no `- \\[ \\]` items"),
    ],
)
def test_what_holds_no_tasks_is_refused_and_nothing_is_made(
    folder: Path, tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=told):
        take_in(folder, tmp_path / name)
    assert not folder.exists()
