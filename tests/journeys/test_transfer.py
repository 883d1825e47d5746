"""Out of one memory and into another, all or nothing, with one line for what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from spiral import Memory, Message
from spiral.errors import UsageError

HEAD = '{"spiral": "export", "format": 1}'
GOOD = (
    '{"type":"memory","memory":{"id":"mgood1","scope":{"app":"shop"},"learned":"2026-01-01","text":"Tea is served."}}'
)


def export(memory: Memory, file: Path, **scope: str) -> Path:
    file.write_text("\n".join(memory.export(**scope)) + "\n")
    return file


def other(tmp_path: Path, app: str = "other") -> Memory:
    flags = {"memory.root": str(tmp_path / "elsewhere"), "embedder.model": "none", "memory.app": app}
    return Memory.open(tmp_path, flags=flags)


def test_an_export_of_one_app_is_found_in_the_app_that_imports_it(words: Memory, tmp_path: Path) -> None:
    words.remember("Tea is served at four.", key="tea")
    words.ingest([Message(role="user", text="We deploy on Fridays.")], session="one", learn=False)
    file = export(words, tmp_path / "all.jsonl")
    with other(tmp_path) as memory:
        assert memory.import_(file) == {"memories": 1, "changes": 0, "episodes": 1}
        assert set(memory.import_(file).values()) == {0}
        assert [item.text for item in memory.list()] == ["Tea is served at four."]
        assert len(memory.recall("deploy Fridays")) == 1


def test_the_scope_that_is_named_is_the_scope_it_gets(words: Memory, tmp_path: Path) -> None:
    words.remember("Tea is served at four.")
    words.remember("Coffee is served at six.", app="second")
    file = export(words, tmp_path / "all.jsonl", app="*")
    with other(tmp_path) as memory:
        assert memory.import_(file) == {"memories": 2, "changes": 0, "episodes": 0, "of other apps": 2}
        assert (memory.list(), len(memory.list(app="shop"))) == ([], 1)
    with other(tmp_path / "third") as memory:
        assert memory.import_(file, app="other", user="ada") == {"memories": 2, "changes": 0, "episodes": 0}
        assert (len(memory.list(user="ada")), memory.list()) == (2, [])


def test_an_import_that_cannot_go_where_it_was_asked_to_says_so(words: Memory, tmp_path: Path) -> None:
    words.remember("Tea is served at four.")
    file = export(words, tmp_path / "all.jsonl")
    assert set(words.import_(file).values()) == {0}
    with pytest.raises(UsageError, match=r"1 of it in another scope than app=copy, where it stays"):
        words.import_(file, app="copy")


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([HEAD, GOOD, '{"type":"memory"'], "all.jsonl:3 is not a line"),
        ([HEAD, GOOD, '{"type":"memory","memory":{"id":["m1"]}}'], "all.jsonl:3: id must be text"),
        (
            [HEAD, GOOD, '{"type":"episode","episode":{"id":"e1234","at":"2026-01-01","scope":{"team":"x"}}}'],
            "all.jsonl:3",
        ),
        ([HEAD, GOOD, '{"type":"planet","planet":{"id":"p1234"}}'], "all.jsonl:3 is not a line"),
        ([HEAD, GOOD, '{"type":"change","change":{"id":"","verb":"forget","at":"2026-01-01"}}'], "all.jsonl:3"),
        (
            [HEAD, GOOD, '{"type":"change","change":{"id":"x/../../p","verb":"forget","at":"2026-01-01"}}'],
            "all.jsonl:3",
        ),
        ([HEAD, GOOD, "", "[" * 100_000], "all.jsonl:4 is not a line"),
        ([HEAD, GOOD, "7"], "all.jsonl:3 is not a line"),
        (['{"spiral": "export", "format": "9"}', GOOD], "format '9'"),
        (['{"spiral": "export"}', GOOD], "format None"),
        (['{"spiral": "export", "format": 9}', GOOD], "newer Spiral"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_imported(
    words: Memory, repo: Path, tmp_path: Path, lines: list[str], fault: str
) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text("\n".join(lines))
    with pytest.raises(UsageError, match=fault.replace("[", r"\[")):
        words.import_(file)
    assert words.counts().memories == 0
    assert list((repo / ".agent/memory/memories").rglob("*.md")) == []


@pytest.mark.parametrize("before", ["\ufeff", "\n\n", "\n\ufeff"])
def test_a_mark_or_blank_lines_before_an_export_do_not_matter(words: Memory, tmp_path: Path, before: str) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text(before + HEAD + "\r\n" + GOOD + "\r\n")
    assert words.import_(file)["memories"] == 1


@pytest.mark.parametrize("inner", ["", "MEMORY.md", "memories", "episodes", ".."])
def test_the_own_folder_is_not_taken_in_again(words: Memory, repo: Path, inner: str) -> None:
    words.remember("Tea is served at four.")
    words.ingest([Message(role="user", text="We deploy on Fridays.")], session="one", learn=False)
    words.close()
    with pytest.raises(UsageError, match="Spiral's own"):
        words.import_(repo / ".agent/memory" / inner)
    assert words.counts().memories == 1


def test_our_own_files_are_left_out_wherever_they_lie(words: Memory, repo: Path, tmp_path: Path) -> None:
    kept = words.remember("Tea is served at four.")
    path = repo / ".agent/memory" / words.store.folder.path_of(kept.memory)
    copy = tmp_path / "notes/copy.md"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    with pytest.raises(UsageError, match="a memory of Spiral's own"):
        words.import_(copy)
    (tmp_path / "notes/mine.md").write_text("- Coffee is served at six.\n")
    assert words.import_(tmp_path / "notes")["memories"] == 1
    (repo / "README.md").write_text("- Cake is served at five.\n")
    assert words.import_(repo)["memories"] == 1


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [("session", "ghp_" + "a1B2" * 9, "holds a secret"), ("learned", "9999-12-31T23:59:59Z", "must leave room")],
)
def test_a_line_that_cannot_be_kept_leaves_nothing_of_those_before_it(
    words: Memory, tmp_path: Path, name: str, value: str, fault: str
) -> None:
    words.ingest("Tea is hot.", session="one", learn=False)
    for number in range(3):
        words.remember(f"Tea {number} is served at {number + 2}.")
    lines = list(words.export())
    last = json.loads(lines[-2])
    last["memory"][name] = value
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join([*lines[:-2], lines[-1], json.dumps(last)]))
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    with Memory.open(other, flags={"embedder.model": "none"}) as memory:
        with pytest.raises(UsageError, match=fault):
            memory.import_(file)
        assert (memory.counts().memories, memory.counts().episodes) == (0, 0)


def test_a_pipe_is_refused_instead_of_waited_for(spiral: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "neither a file nor a folder" in spiral("memory", "import", str(tmp_path / "pipe"), code=64).stderr


def test_an_export_that_cannot_be_written_is_one_line(spiral: Run) -> None:
    spiral("remember", "Tea is served at four.")
    assert "cannot write to '/nonexist/x'" in spiral("memory", "export", "-o", "/nonexist/x", code=64).stderr


@pytest.mark.parametrize("verb", [["memory", "list"], ["memory", "export"], ["--help"]])
def test_output_that_finds_no_room_is_one_line(spiral: Run, repo: Path, verb: list[str]) -> None:
    spiral("remember", "Tea is served at four.")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "spiral.surfaces.cli.main", *verb]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=repo, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (74, 1), done.stderr
    assert "No space left on device" in done.stderr


def test_a_folder_that_is_gone_is_one_line(spiral: Run, tmp_path: Path) -> None:
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    gone = tmp_path / "gone"
    gone.mkdir()
    command = [sys.executable, "-c", code, "-m", "spiral.surfaces.cli.main", "status"]
    done = subprocess.run(command, cwd=gone, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (
        64,
        "spiral: the current folder is gone; change to one that exists, or name one with -C\n",
    )


def test_what_is_too_long_among_foreign_memories_is_told_before_any_is_kept(words: Memory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([{"memory": "Ada prefers tea"}, {"memory": "x" * 200_001}]))
    with pytest.raises(UsageError, match="nothing was imported"):
        words.import_(file)
    assert words.counts().memories == 0
