"""The memories of other programs come in as drafts, each once, with what their program knew of them."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiral.errors import UsageError
from spiral.memory.foreign import Foreign, read_foreign, recognise
from spiral.memory.foreign_markdown import passages
from spiral.model import Draft

NOW = datetime(2026, 8, 1, tzinfo=UTC)
WRITTEN = datetime(2026, 7, 1, 12, tzinfo=UTC)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (WRITTEN.timestamp(), WRITTEN.timestamp()))
    return path


def texts(path: Path) -> list[str]:
    return [foreign.draft.text for foreign in read_foreign(path, NOW)]


MEM0 = {
    "id": "9f1c",
    "memory": "Ann prefers tabs",
    "hash": "abc",
    "metadata": {"team": "core", "weight": 2},
    "created_at": "2026-03-01T10:00:00-07:00",
    "updated_at": "2026-04-01T10:00:00Z",
    "user_id": "ann",
    "agent_id": "coder",
    "categories": ["style", "style", "people"],
    "expiration_date": "2027-01-01",
}


def test_a_memory_of_mem0_keeps_what_mem0_knew_of_it(tmp_path: Path) -> None:
    path = put(tmp_path / "export.json", json.dumps({"results": [MEM0]}))
    assert recognise(path) == "mem0"
    assert read_foreign(path, NOW) == (
        Foreign(
            draft=Draft(
                text="Ann prefers tabs",
                tags=("style", "people"),
                authority="inferred",
                source="file:export.json",
                expires=datetime(2027, 1, 1, tzinfo=UTC),
                learned=datetime(2026, 3, 1, 17, tzinfo=UTC),
                metadata={
                    "team": "core",
                    "weight": "2",
                    "mem0_id": "9f1c",
                    "mem0_hash": "abc",
                    "mem0_updated_at": "2026-04-01T10:00:00Z",
                    "from": "mem0",
                },
            ),
            levels={"user": "ann", "agent": "coder"},
        ),
    )


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([{"memory": "one"}, {"text": "two"}]),
        json.dumps({"memories": [{"memory": "one"}, {"data": "two"}]}, indent=2),
        '{"memory": "one"}\n\n{"memory": "two", "deleted": false}\n{"memory": "gone", "deleted": true}\n',
        json.dumps([{"id": 1, "payload": {"data": "one"}}, {"memory": "two"}, {"memory": "x", "event": "DELETE"}]),
    ],
)
def test_every_shape_of_export_is_read_and_deleted_ones_are_left_out(tmp_path: Path, content: str) -> None:
    assert texts(put(tmp_path / "memories.jsonl", content)) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"x\.json is empty"),
        ('[\n{"memory": "a"},\n{"memory" "b"}]', r"x\.json:3 is not JSON"),
        ('{"memory": "a"}\n{"memory": ', r"x\.json:2 is not JSON"),
        ('{"memory": "a"}\n{"id": 4}', r"x\.json:2 has no text; give it a field 'memory'"),
        ('[{"memory": "a"}, 7]', r"memory 2 in .*x\.json is 7, not an object"),
        ('"text"', r"x\.json holds 'text', not a list"),
        ('[{"memory": "a", "created_at": "soon"}]', r"memory 1 in .*x\.json has created_at 'soon'"),
        ("[" * 100_000, r"x\.json"),
    ],
)
def test_a_bad_export_is_refused_with_its_line_and_the_cure(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        read_foreign(put(tmp_path / "x.json", content), NOW)
    assert "\n" not in str(raised.value)


def test_a_date_in_the_future_is_not_believed(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", json.dumps([{"memory": "a", "created_at": "2099-01-01"}]))
    assert read_foreign(path, NOW)[0].draft.learned == NOW


def test_our_own_export_is_recognised_whatever_its_name(tmp_path: Path) -> None:
    assert recognise(put(tmp_path / "all.txt", '{"spiral": "export", "format": 1}\n{"type": "memory"}\n')) == "spiral"


def test_what_is_missing_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is nothing at"):
        recognise(tmp_path / "absent.md")
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(UsageError, match="is not text"):
        recognise(tmp_path / "picture.md")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there is no Markdown file"):
        read_foreign(tmp_path / "empty", NOW)


def test_bytes_that_are_not_utf_8_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"- caf\xe9 opens at nine\n")
    assert texts(tmp_path / "notes.md") == ["caf\ufffd opens at nine"]


INDEX = """# Memory

- [Retries](retries.md) — payments retry three times
- [Gone](gone.md) — the staging host is stage-2
- Ann reviews all migrations
"""
TOPIC = """---
name: retries
description: Payments: retry three times
metadata:
  type: feedback
---

Payments retry three times, two seconds apart.

**Why:** the bank answers slowly.
"""


def test_a_folder_of_claude_code_gives_each_topic_once(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-ann-app" / "memory"
    put(folder / "MEMORY.md", INDEX)
    put(folder / "retries.md", TOPIC)
    put(folder / "debugging.md", "## Flaky tests\n\n- test_auth needs Redis\n- rerun with `-p no:xdist`\n")
    for path in (folder, folder / "MEMORY.md", folder.parent):
        assert recognise(path) == "claude-code"
        assert texts(path) == [
            "[Gone](gone.md) — the staging host is stage-2",
            "Ann reviews all migrations",
            "test_auth needs Redis",
            "rerun with `-p no:xdist`",
            "Payments: retry three times\n\nPayments retry three times, two seconds apart.\n\n"
            "**Why:** the bank answers slowly.",
        ]
    topic = read_foreign(folder, NOW)[-1].draft
    assert (topic.key, topic.kind, topic.tags) == ("claude-code/retries", "procedural", ("feedback",))
    assert (topic.authority, topic.learned, topic.source) == ("observed", WRITTEN, "file:retries.md")
    assert read_foreign(folder, NOW)[2].draft.tags == ("debugging", "flaky-tests")


def test_a_long_topic_is_taken_apart(tmp_path: Path) -> None:
    body = "".join(f"- rule {number}: {'word ' * 20}\n" for number in range(40))
    put(tmp_path / "rules.md", f"---\nname: House rules\ndescription: all\ntype: project\n---\n{body}")
    found = read_foreign(tmp_path, NOW)
    assert len(found) == 40
    assert found[0].draft.tags == ("project", "house-rules")
    assert found[0].draft.key == ""


def test_a_file_that_a_link_takes_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside.md", "- secret")
    put(tmp_path / "notes" / "a.md", "- inside")
    (tmp_path / "notes" / "b.md").symlink_to(outside)
    assert texts(tmp_path / "notes") == ["inside"]


DOCUMENT = """---
title: Notes
---
# Notes

A paragraph
over two lines.

## Build & test
- Run `make check` before
  committing.
- Ports:
  - api 8080
  - web 3000

Conventions:
- four spaces

  and no tabs

1. tag the release
2. wait for CI

```sh
make deploy  # <!-- kept -->
```

<!-- hidden
- over lines -->

Hosts
-----
| name | port |
|------|------|
| api  | 8080 |

> said by Ann
> on Monday

***

<!-- spiral:generated -->
- ours, not to be read again
"""


def test_markdown_gives_a_draft_for_each_thing_it_says(tmp_path: Path) -> None:
    found = read_foreign(put(tmp_path / "notes.md", DOCUMENT), NOW)
    assert [(each.draft.text, each.draft.tags, each.draft.kind) for each in found] == [
        ("A paragraph over two lines.", ("notes",), "semantic"),
        ("Run `make check` before committing.", ("notes", "build-test"), "semantic"),
        ("Ports:\n  - api 8080\n  - web 3000", ("notes", "build-test"), "semantic"),
        ("Conventions: four spaces\nand no tabs", ("notes", "build-test"), "semantic"),
        (
            "1. tag the release\n2. wait for CI\n```sh\nmake deploy  # <!-- kept -->\n```",
            ("notes", "build-test"),
            "procedural",
        ),
        ("name: api; port: 8080", ("notes", "hosts"), "semantic"),
        ("said by Ann on Monday", ("notes", "hosts"), "semantic"),
    ]


def test_a_long_bullet_is_split_among_its_children_and_each_keeps_the_parent() -> None:
    nested = "".join(f"  - child {number} {'word ' * 30}\n" for number in range(5))
    found = passages(f"- Retry policy:\n{nested}")
    assert len(found) == 5
    assert all(passage.text.startswith("Retry policy: child ") for passage in found)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["# H", "- b", "  - n", "1. s", "```", "<!--", "-->", "| a | b |", "|--|--|", "---", "text:", "", "> q"]
        )
        | st.text(max_size=6),
        max_size=15,
    ).map("\n".join)
)
def test_any_markdown_can_be_read(text: str) -> None:
    assert all(passage.text.strip() for passage in passages(text))
