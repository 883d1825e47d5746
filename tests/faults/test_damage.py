"""Files, disks and clocks that misbehave: a clear error or a right answer, and nothing lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spiral import Memory, Message
from spiral.errors import ScopeError, StoreError, StoreVersionError, UsageError
from spiral.memory.store import Store


def only(folder: Path, pattern: str) -> Path:
    [path] = folder.rglob(pattern)
    return path


def test_a_torn_tail_costs_one_line(words: Memory, repo: Path) -> None:
    words.ingest([Message(role="user", text="The first thing was said.")], session="one", learn=False)
    segment = only(repo / ".agent/memory/episodes", "*.jsonl")
    with segment.open("a") as out:
        out.write('{"id":"e1","session":"one","te')
    words.ingest([Message(role="user", text="The second thing was said.")], session="one", learn=False)
    assert sorted(hit.text for hit in words.recall("thing said")) == [
        "The first thing was said.",
        "The second thing was said.",
    ]
    assert [item.fault for item in words.store.index.faults()] == ["line 2 is torn or mangled"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("---\nid: [\n---\ntext", "not YAML"),
        ("---\nkind: semantic\n\nno end", "no closing ---"),
        ("---\nkind: nonsense\n---\ntext", "kind must be one of"),
        ("---\nlearned: yesterday\n---\ntext", "learned must be a date"),
        ("---\nid: mabcdef\n---\n", "no text"),
        ("---\nscope: {planet: mars}\n---\ntext", "unknown scope level"),
        ("---\nvalid_from: 2026-13-45\n---\ntext", "valid_from must be|holds a value"),
        ('---\nvalid_from: "0001-01-01T00:00:00+14:00"\n---\ntext', "valid_from must be"),
        ("---\nvalid_from: 0001-01-01T00:00:00+14:00\n---\ntext", "valid_from must be|holds a value"),
        ("---\nlearned: 9999-12-31T23:59:59.999999Z\nkey: k\n---\ntext", "learned must leave room"),
        ("---\ntags: " + "[" * 3000 + "]" * 3000 + "\n---\ntext", "nested too deeply|levels"),
        ("---\nmore: &a [*a]\n---\ntext", "levels"),
        (
            "---\na: &a [1,1,1,1]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\n"
            "e: &e [*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f]\nh: [*g,*g,*g,*g]\n---\ntext",
            "values",
        ),
        ("---\nnumber: 0x" + "f" * 5000 + "\n---\ntext", "cannot be read"),
    ],
)
def test_a_mangled_file_is_told_and_kept_and_costs_no_other(
    words: Memory, repo: Path, content: str, fault: str
) -> None:
    words.remember("Deploys go out on Fridays.")
    path = repo / ".agent/memory/memories/mine.md"
    path.write_text(content)
    assert [hit.text for hit in words.recall("deploys")] == ["Deploys go out on Fridays."]
    [item] = words.store.index.faults()

    assert re.search(fault, item.fault), item.fault
    assert path.read_text() == content


def test_what_a_person_adds_to_the_front_matter_is_kept_with_text_for_names(words: Memory, repo: Path) -> None:
    (repo / ".agent/memory/memories/log.md").write_text("---\nlog:\n  2026-01-01: started\n---\nThe kettle boils.\n")
    assert [dict(hit.memory.extra) for hit in words.recall("kettle") if hit.memory] == [
        {"log": {"2026-01-01": "started"}}
    ]


def test_a_file_name_that_is_no_text_is_a_name(words: Memory, repo: Path) -> None:
    path = repo / ".agent/memory/memories" / os.fsdecode(b"ke\xff/ttl\xfe.md")
    path.parent.mkdir()
    path.write_text("The kettle boils.\n")
    assert [hit.text for hit in words.recall("kettle")] == ["The kettle boils."]
    path.write_text("---\nkind: [")
    assert [item.fault for item in words.store.index.faults()] == []
    assert len(words.recall("kettle")) == 0
    assert len(words.store.index.faults()) == 1
    path.unlink()
    words.counts()
    assert words.store.index.faults() == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id":"e0001","session":"s","at":"2026-01-01","scope":{"team":"x"},"text":"t"}', "line 1: "),
        ('{"id":"e0001","session":"s","at":"0001-01-01T00:00:00+14:00","text":"t"}', "line 1: at must be"),
        ("[" * 100_000, "line 1 is torn or mangled"),
    ],
)
def test_a_mangled_line_is_told_and_costs_no_other(words: Memory, repo: Path, line: str, fault: str) -> None:
    whole = (
        '{"id":"e002","session":"s\\ud800","at":"2026-01-01","scope":{"app":"shop"},"text":"The \\udc00 kettle boils."}'
    )
    folder = repo / ".agent/memory/episodes/2026-01"
    folder.mkdir()
    (folder / "theirs.jsonl").write_text(f"{line}\n{whole}\n")
    assert [hit.text for hit in words.recall("kettle")] == ["The ? kettle boils."]
    [item] = words.store.index.faults()
    assert item.fault.startswith(fault)


def test_a_copied_segment_counts_once_and_each_of_the_two_may_go(words: Memory) -> None:
    words.ingest([Message(role="user", text="The kettle boils.")], session="one", learn=False)
    segment = only(words.store.folder.root / "episodes", "*.jsonl")
    for copy in (segment.with_name("zz.jsonl"), segment.with_name("aa.jsonl")):
        copy.write_bytes(segment.read_bytes())
        assert len(words.recall("kettle")) == 1
        assert ["same id" in item.fault for item in words.store.index.faults()] == [True]
        copy.unlink()
        assert ([hit.text for hit in words.recall("kettle")], words.counts().episodes) == (["The kettle boils."], 1)
        assert words.store.index.faults() == []
    segment.rename(segment.with_name("renamed.jsonl"))
    assert len(words.recall("kettle")) == 1


def test_bytes_that_are_no_text_are_read_as_far_as_they_go(words: Memory, repo: Path) -> None:
    (repo / ".agent/memory/memories/raw.md").write_bytes(b"The kettle is \xff\xfe broken.\n")
    assert "kettle" in words.recall("kettle")[0].text
    words.remember("A lone surrogate \ud800 is here.")
    assert "surrogate" in words.recall("surrogate")[0].text


def test_two_files_of_one_id_count_once(words: Memory, repo: Path) -> None:
    kept = words.remember("Deploys go out on Fridays.")
    path = repo / ".agent/memory" / words.store.folder.path_of(kept.memory)
    copy = path.with_name("zz-copy.md")
    copy.write_bytes(path.read_bytes())
    assert len(words.recall("deploys")) == 1
    assert ["same id" in item.fault for item in words.store.index.faults()] == [True]
    path.unlink()
    assert len(words.recall("deploys")) == 1
    assert words.store.index.faults() == []


def test_a_damaged_index_is_told_with_its_cure(words: Memory, repo: Path) -> None:
    words.remember("Deploys go out on Fridays.")
    words.close()
    only(repo / ".git/spiral/index", "index.db").write_bytes(b"this is no database" * 500)
    with (
        pytest.raises(StoreError, match="spiral reindex"),
        Memory.open(repo, flags={"embedder.model": "none"}) as memory,
    ):
        memory.recall("deploys")


def test_a_store_of_a_newer_version_is_refused_and_left_alone(words: Memory, repo: Path) -> None:
    mark = repo / ".agent/memory/format.json"
    mark.write_text('{"format": 99}')
    with pytest.raises(StoreVersionError, match="upgrade Spiral"):
        Memory.open(repo)
    assert mark.read_text() == '{"format": 99}'


def test_a_full_disk_is_one_clear_line_and_leaves_no_half_file(repo: Path) -> None:
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from spiral import Memory\nfrom spiral.errors import StoreError\n"
        "memory = Memory.open(Path(sys.argv[1]), flags={'embedder.model': 'none'})\n"
        "memory.remember('First fact here.')\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "try:\n    memory.remember('word ' * 4000)\nexcept StoreError as fault:\n    print(fault)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(repo)], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("cannot use "), (done.stdout, done.stderr)
    assert [path.name for path in (repo / ".agent").rglob(".*.tmp")] == []
    with Memory.open(repo, flags={"embedder.model": "none"}) as memory:
        assert [item.text for item in memory.list()] == ["First fact here."]


def test_a_clock_that_jumps_back_keeps_the_order_of_a_chain(words: Memory) -> None:
    words.remember("The port is 5432.", key="db/port")
    ahead = words.store.clock
    words.store.clock = lambda: datetime.now(UTC) - timedelta(days=400)
    words.remember("The port is 6543.", key="db/port")
    words.store.clock = ahead
    assert [hit.text for hit in words.recall("port")] == ["The port is 6543."]


def test_what_expires_is_served_until_then(words: Memory) -> None:
    now = datetime.now(UTC)
    words.remember("The build is frozen.", expires=now + timedelta(hours=1))
    assert len(words.recall("frozen")) == 1
    words.store.clock = lambda: now + timedelta(hours=2)
    assert len(words.recall("frozen")) == 0


def test_a_message_of_ten_megabytes_is_kept_and_found(words: Memory) -> None:
    text = "The beginning mentions xylophones. " + "filler words here " * 600_000
    words.ingest([Message(role="tool", text=text)], session="big")
    [hit] = words.recall("xylophones", budget=300).hits
    assert hit.tokens <= 300
    assert words.episode(hit.id).text == text.strip()


def test_a_scope_that_looks_like_a_path_is_only_a_name(words: Memory, repo: Path) -> None:
    words.remember("Deploys go out on Fridays.", agent="../../etc")
    assert [hit.text for hit in words.recall("deploys", agent="../../etc")] == ["Deploys go out on Fridays."]
    words.ingest([Message(role="user", text="We like it here very much.")], session="../../../etc/passwd")
    outside = [path for path in repo.parent.rglob("*passwd*") if repo / ".agent" not in path.parents]
    assert outside == []
    with pytest.raises(ScopeError, match="one line"):
        words.remember("x", agent="a\nb")
    with pytest.raises(ScopeError, match="unknown scope level"):
        words.remember("x", planet="mars")


def test_an_empty_store_answers_with_nothing(words: Memory) -> None:
    assert words.recall("anything").hits == ()
    assert words.brief("anything", budget=100).text == ""
    assert list(words.export()) == ['{"spiral": "export", "format": 1}']
    with pytest.raises(UsageError, match="empty"):
        words.remember("   ")


def test_the_store_has_no_way_to_delete_without_a_scope() -> None:
    assert not [name for name in dir(Store) + dir(Memory) if "delete" in name or "clear" in name or "reset" in name]
