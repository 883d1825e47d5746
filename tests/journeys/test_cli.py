"""Each verb as a stranger would use it, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run


def test_remember_recall_and_history(spiral: Run) -> None:
    first = json.loads(spiral("remember", "Retries go through outbox.py", "--key", "payments/retries", "--json").stdout)
    assert first["outcome"] == "added"
    assert spiral("remember", "Retries go through outbox.py", "--key", "payments/retries").stdout.startswith(
        "unchanged"
    )
    spiral("remember", "Retries go through jobs/retry.py", "--key", "payments/retries")
    spiral("memory", "embed")
    found = json.loads(spiral("recall", "how do we retry?", "--json").stdout)
    assert [hit["text"] for hit in found["hits"]] == ["Retries go through jobs/retry.py"]
    assert found["degraded"] == []
    assert "superseded" in spiral("memory", "history", "payments/retries").stdout
    assert "jobs/retry.py" in spiral("memory", "list").stdout
    assert "state: superseded" in spiral("memory", "get", first["id"][:8]).stdout


def test_ingest_brief_explain_forget(spiral: Run, tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Always run the linter before committing."}]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(said))
    told = json.loads(spiral("ingest", str(file), "--session", "one", "--json").stdout)
    assert (told["episodes"], [item["outcome"] for item in told["memories"]]) == (1, ["added"])
    assert json.loads(spiral("ingest", str(file), "--session", "one", "--json").stdout)["episodes"] == 0
    assert "linter" in spiral("brief", "prepare a commit", "--budget", "300").stdout
    assert "linter" in spiral("brief", "prepare a commit", "--run", "r", "--task", "T-1").stdout
    name = told["memories"][0]["id"]
    assert "is answer 1 of" in spiral("explain", "linter before committing", name).stdout
    change = json.loads(spiral("forget", name, "--json").stdout)["change"]
    assert "forgotten" in spiral("explain", "linter", name).stdout
    spiral("forget", "--undo", change)
    assert "current" in spiral("memory", "get", name).stdout
    assert "erased" in spiral("forget", name, "--hard").stdout


def test_a_captured_episode_is_found_at_the_next_use(spiral: Run) -> None:
    spiral("ingest", "--raw", "--session", "one", stdin="The xylophone arrived today.")
    assert "xylophone" in spiral("recall", "xylophone").stdout


def test_export_import_status_reindex_doctor(spiral: Run, tmp_path: Path, repo: Path) -> None:
    spiral("remember", "Deploys go out on Fridays.")
    spiral("memory", "export", "-o", str(tmp_path / "all.jsonl"))
    assert spiral("memory", "import", str(tmp_path / "all.jsonl")).stdout.startswith("0 memories")
    status = json.loads(spiral("status", "--json").stdout)
    assert (status["memory"], status["memories"]) == (str(repo / ".agent/memory"), 1)
    inner = repo / "deep/down"
    inner.mkdir(parents=True)
    assert json.loads(spiral("status", "--json", cwd=inner).stdout)["memory"] == str(repo / ".agent/memory")
    assert "1 memories" in spiral("reindex").stdout
    assert "✓ memory    1 memories in" in spiral("doctor").stdout
    spiral("remember", "The office closes at six.")
    owing = spiral("doctor").stdout
    assert "✓ memory    2 memories in" in owing
    assert "! memory    1 texts wait for their vectors\n            → `spiral memory embed` makes them\n" in owing
    (repo / ".agent/memory/memories/bad.md").write_text("---\nkind: [")
    assert "no closing ---" in spiral("doctor", code=2).stdout


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["recall", " "], 64, "there is no question"),
        (["memory", "get", "nosuch"], 66, "there is no memory 'nosuch'"),
        (["forget"], 64, "say what to forget in one way"),
        (["remember", "x", "--valid-from", "soon"], 64, "valid_from must be a date"),
        (["memory", "import", "/no/such/file"], 64, "there is no file"),
        (["-C", "/no/such/folder", "status"], 64, "there is no folder"),
        (["fly"], 64, "No such command"),
    ],
)
def test_bad_input_gets_one_line_and_the_right_code(spiral: Run, args: list[str], code: int, line: str) -> None:
    assert line in spiral(*args, code=code).stderr


@pytest.mark.parametrize(
    "args",
    [
        ["remember", "x", "--file", "\udcff"],
        ["remember", "x", "--commit", "\udcff"],
        ["remember", "x", "--session", "\udcff"],
        ["recall", "x", "--session", "\udcff"],
        ["recall", "x", "--app", "\udcff"],
        ["forget", "\udcff"],
        ["explain", "x", "\udcff"],
        ["memory", "history", "\udcff"],
        ["ingest", "\udcff"],
        ["memory", "get", "\udcff"],
    ],
)
def test_an_argument_that_is_no_text_gets_one_line(spiral: Run, args: list[str]) -> None:
    assert "\\udcff" in spiral(*args, code=64, stdin="x").stderr


def test_an_owner_that_is_no_text_gets_one_line(spiral: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPIRAL_MEMORY_OWNER", "\udcff")
    assert spiral("recall", "x", code=64).stderr.endswith("memory.owner must be text in UTF-8, not '\\udcff'\n")


def test_a_current_folder_that_is_gone_gets_one_line(repo: Path) -> None:
    command = 'cd "$1" && mkdir gone && cd gone && rmdir ../gone && exec "$0" -m spiral.surfaces.cli.main status'
    done = subprocess.run(["sh", "-c", command, sys.executable, str(repo)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        64, "spiral: the current folder is gone; change to one that exists, or name one with -C\n",
    )  # fmt: skip


def test_output_that_cannot_be_written_gets_one_line(repo: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "spiral.surfaces.cli.main", "config"]
        done = subprocess.run(command, cwd=repo, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (74, "spiral: [Errno 28] No space left on device\n")


def test_doctor_prints_any_name_of_a_file(spiral: Run, repo: Path) -> None:
    spiral("status")
    (repo / ".agent/memory/memories/odd\udcff.md").write_text("---\nkind: [")
    assert "odd\\udcff.md: the front matter has no closing ---" in spiral("doctor", code=2).stdout


@pytest.mark.parametrize("text", ["[" * 100_000, '{"content":' * 900 + '"x"' + "}" * 900])
def test_what_is_nested_too_deeply_is_plain_text(spiral: Run, text: str) -> None:
    assert "1 new episodes" in spiral("ingest", "--session", "one", stdin=text).stdout


def test_the_page_about_the_command_line_says_what_the_help_says() -> None:
    from spiral.surfaces.cli.main import HELP, VERBS
    from spiral.surfaces.cli.manual import manual

    page = (Path(__file__).parents[2] / "docs/cli.md").read_text()
    assert page == manual(), "run: python -m spiral.surfaces.cli.manual > docs/cli.md"
    assert sorted(HELP) == sorted(verb for verbs in VERBS.values() for verb in verbs)


def test_the_demo_of_the_memory_runs(spiral: Run) -> None:
    shown = spiral("demo", "--memory-only").stdout
    assert "superseded Retries go through outbox.py" in shown


def test_the_rules_are_measured(spiral: Run) -> None:
    rows = json.loads(spiral("bench", "rules", "--json").stdout)["rows"]
    assert {row["split"] for row in rows} == {"tune", "held"}


def test_the_quickstart_runs(repo: Path) -> None:
    script = Path(__file__).parents[2] / "examples/quickstart.py"
    done = subprocess.run([sys.executable, str(script)], cwd=repo, capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("Retries go through outbox.py; never call Stripe inline.\n"), done.stderr
