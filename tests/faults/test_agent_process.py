"""Agents whose programs misbehave: nothing hangs, nothing is lost, nothing is left running."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_programs import CLAUDE, PROMISE, agents, never, order, printing, quiet, script
from spiral.backends.agents.group import Group, end_orphan, started
from spiral.backends.agents.process import CommandAgent
from spiral.work import Answer, Order

START = "open('pid', 'w').write(str(os.getpid()))\n"
LAST = f"print(json.dumps({{'type': 'result', 'subtype': 'success', 'result': {PROMISE!r}}}), flush=True)"


def made(tmp_path: Path, body: str, stream: str = "claude", **act: Any) -> CommandAgent:
    script(tmp_path / "work/agent.py", START + body)
    row = {"command": ["./agent.py"], "stream": stream, **act.pop("row", {})}
    agent = agents(agents={"mine": row}, **act)["mine"]
    agent._grace = 0.5
    return agent


def ran(tmp_path: Path, body: str, *, stop: Callable[[], bool] = never, **bounds: Any) -> Answer:
    return made(tmp_path, body, bounds.pop("stream", "claude")).act(order(tmp_path / "work", **bounds), quiet, stop)


def pid_in(file: Path) -> int:
    return int(file.read_text())


def alive(pid: int) -> bool:
    return bool(started(pid))


def test_a_line_of_ten_megabytes_is_kept_raw_and_what_follows_is_read(tmp_path: Path) -> None:
    answer = ran(tmp_path, f"print('{{\"type\": \"x' + 'y' * 10_000_000 + '\"}}'); {LAST}")
    assert (answer.end, answer.text) == ("finished", PROMISE)
    assert (tmp_path / "work/history/stream.jsonl").stat().st_size > 10_000_000


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\xff\xfe\x00 no text",
        b'{"type": "assistant", "message": {"content": [{"ty',
        b'{"type": "assistant", "message": [], "error": 7}',
        b'{"type": "result", "total_cost_usd": NaN, "usage": {"input_tokens": "many"}, "num_turns": -3}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{}\n\n[]\nnull\n7",
        b'{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1e300}}',
    ],
    ids=lambda rubbish: rubbish[:30].decode("ascii", "replace"),
)
def test_nonsense_in_the_stream_is_kept_as_it_came_and_is_never_fatal(tmp_path: Path, rubbish: bytes) -> None:
    answer = ran(tmp_path, f"sys.stdout.buffer.write({rubbish!r} + b'\\n'); sys.stdout.flush(); {LAST}")
    assert (answer.end, answer.text) == ("finished", PROMISE)
    assert answer.usage.cost == 0
    assert (tmp_path / "work/history/stream.jsonl").read_bytes().startswith(rubbish + b"\n")


def test_a_stream_that_ends_in_the_middle_of_a_line_is_read_to_its_end(tmp_path: Path) -> None:
    answer = ran(tmp_path, "print('first'); print('second', end='')", stream="text")
    assert (answer.end, answer.text) == ("finished", "first\nsecond")


def test_a_program_that_ignores_the_request_to_end_is_ended(tmp_path: Path) -> None:
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); open('deaf', 'w').close(); time.sleep(600)"
    answer = ran(tmp_path, body, stop=(tmp_path / "work/deaf").exists)
    assert (answer.end, answer.exit_code) == ("stopped", -9)


@pytest.mark.parametrize("own", ["", ", start_new_session=True"])
def test_children_that_an_agent_leaves_behind_are_ended(tmp_path: Path, own: str) -> None:
    body = f"open('child', 'w').write(str(subprocess.Popen(['sleep', '600']{own}).pid)); {LAST}"
    answer = ran(tmp_path, body)
    assert (answer.end, answer.text) == ("finished", PROMISE)
    assert answer.seconds < 10
    assert not alive(pid_in(tmp_path / "work/child"))


def test_children_of_an_agent_that_is_stopped_are_ended(tmp_path: Path) -> None:
    child = tmp_path / "work/child"
    body = (
        "one = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "open('new', 'w').write(str(one.pid)); os.rename('new', 'child'); one.wait()"
    )
    assert ran(tmp_path, body, stop=child.exists).end == "stopped"
    assert not alive(pid_in(child))
    assert not alive(pid_in(tmp_path / "work/pid"))


def test_a_huge_prompt_to_a_program_that_never_reads_blocks_nobody(tmp_path: Path) -> None:
    assert ran(tmp_path, LAST, prompt="x" * 5_000_000).end == "finished"
    begun = tmp_path / "work/begun"
    asleep = "open('begun', 'w').close(); time.sleep(600)"
    assert ran(tmp_path, asleep, prompt="x" * 5_000_000, stop=begun.exists).end == "stopped"


def test_a_program_that_writes_forever_is_ended_in_time_and_stop_is_still_asked(tmp_path: Path) -> None:
    body = "line = 'y' * 1000\nwhile True: print(line)"
    assert ran(tmp_path, body, seconds=1.0, stream="text").end == "timeout"
    assert ran(tmp_path, body, stop=lambda: True, stream="text").end == "stopped"


def test_a_program_that_writes_forever_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spiral.backends.agents.pipes.MOST_KEPT", 100_000)
    answer = ran(tmp_path, "for _ in range(1000): print('y' * 1000)\nprint('the end')", stream="text")
    assert (answer.end, answer.text[-7:]) == ("finished", "the end")
    assert answer.detail == "of stream.jsonl only the first 100000 bytes are kept"
    assert (tmp_path / "work/history/stream.jsonl").stat().st_size == 100_000


def test_a_program_that_says_nothing_is_ended_for_its_silence(tmp_path: Path) -> None:
    answer = ran(tmp_path, "time.sleep(600)", silence=0.5)
    assert (answer.end, answer.detail) == ("silent", "no word for 0.5 seconds")


def test_words_on_standard_error_are_no_silence(tmp_path: Path) -> None:
    body = f"for _ in range(8): sys.stderr.write('.'); sys.stderr.flush(); time.sleep(0.2)\n{LAST}"
    assert ran(tmp_path, body, silence=0.9).end == "finished"


def test_a_program_that_does_not_exit_after_its_last_word_has_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spiral.backends.agents.process.LINGER", 0.3)
    answer = ran(tmp_path, f"{LAST}; time.sleep(600)")
    assert (answer.end, answer.text) == ("finished", PROMISE)


def message(number: int, tokens: int) -> dict[str, object]:
    usage = {"input_tokens": tokens, "output_tokens": 0}
    said = {"id": f"m{number}", "model": "claude-opus-4-8", "content": [{"type": "text", "text": "x"}], "usage": usage}
    return {"type": "assistant", "message": said}


@pytest.mark.parametrize(
    ("bounds", "end", "detail"),
    [
        ({"turns": 2}, "turns", "more than 2 turns"),
        ({"cost": 12.0}, "budget", "$15.00 of $12.00 are spent"),
        ({"tokens": 2_500_000}, "budget", "3000000 of 2500000 tokens are spent"),
    ],
)
def test_turns_cost_and_tokens_are_bounded_while_it_works(
    tmp_path: Path, bounds: dict[str, Any], end: str, detail: str
) -> None:
    body = f"{printing([message(number, 1_000_000) for number in range(3)])}\ntime.sleep(600)"
    answer = ran(tmp_path, body, **bounds)
    assert (answer.end, answer.detail) == (end, detail)
    assert answer.usage.cost == 15.0
    assert answer.usage.estimated


def test_a_program_that_is_missing_or_not_executable_is_named(tmp_path: Path) -> None:
    table = {
        "gone": {"command": ["./gone.py"]},
        "nowhere": {"command": ["no-such-agent"]},
        "plain": {"command": ["./a"]},
    }
    opened = agents(agents=table)
    work = order(tmp_path / "work")
    (tmp_path / "work/a").write_text("no program")
    details = {name: opened[name].act(work, quiet, never) for name in table}
    assert {answer.end for answer in details.values()} == {"missing"}
    assert details["nowhere"].detail == "'no-such-agent' is not in PATH; install it, or set act.agents.nowhere.command"
    assert details["gone"].detail.startswith("there is no program ")
    assert "is not executable; run: chmod +x" in details["plain"].detail


def test_a_program_that_cannot_be_run_after_all_is_missing(tmp_path: Path) -> None:
    agent = made(tmp_path, "")
    (tmp_path / "work/agent.py").write_text("#!/no/such/interpreter\n")
    assert agent.act(order(tmp_path / "work"), quiet, never).end == "missing"


def test_a_folder_that_is_gone_is_an_answer(tmp_path: Path) -> None:
    agent = agents(agents={"mine": {"command": ["cat"]}})["mine"]
    asked = Order(prompt="", folder=str(tmp_path / "gone"), history=str(tmp_path / "history"))
    answer = agent.act(asked, quiet, never)
    assert answer.end == "failed"
    assert "it could not be started" in answer.detail


def test_a_limit_in_tool_output_alone_is_no_limit_even_when_it_fails(tmp_path: Path) -> None:
    shown = "Claude AI usage limit reached|1731960000\nPlease run /login"
    result = {"content": [{"type": "tool_result", "tool_use_id": "t-1", "content": shown}]}
    events = [*CLAUDE[:3], {"type": "user", "message": result}]
    answer = ran(tmp_path, f"{printing(events)}\nsys.exit(1)")
    assert (answer.end, answer.detail, answer.resets) == ("failed", "it exited with code 1", None)


def test_what_was_running_is_written_down_before_it_runs(tmp_path: Path) -> None:
    body = "noted = json.load(open('history/command.json')); print(noted['pid'] == os.getpid() == os.getpgid(0))"
    answer = ran(tmp_path, body, stream="text")
    assert answer.text == "True"
    noted = json.loads((tmp_path / "work/history/command.json").read_text())
    assert noted["argv"] == ["./agent.py"]
    assert noted["folder"] == str(tmp_path / "work")
    assert "PATH" in noted["env"]


def test_a_runner_that_dies_before_it_wrote_that_down_leaves_nothing(tmp_path: Path) -> None:
    script(tmp_path / "work/agent.py", START)
    code = (
        "import os, spiral.backends.agents.launch as launch\n"
        "from pathlib import Path\n"
        "launch._write = lambda *_: os._exit(9)\n"
        "launch.launch(['./agent.py'], shown=[], env={}, name='', "
        f"folder={str(tmp_path / 'work')!r}, history=Path('/'))"
    )
    done = subprocess.run([sys.executable, "-c", code])
    assert done.returncode == 9
    assert not (tmp_path / "work/pid").exists()


def orphan(tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """An agent as a killed runner leaves it, and what was written down of it."""
    file = tmp_path / "command.json"
    code = (
        "import sys\nfrom pathlib import Path\nfrom spiral.backends.agents.launch import launch\n"
        "launch(['sleep', '600'], shown=[], env={'PATH': '/usr/bin:/bin'}, name='', "
        f"folder='/', history=Path({str(tmp_path)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    return stranger, file


def test_an_orphan_is_ended_once_and_a_stranger_with_its_number_is_not(tmp_path: Path) -> None:
    first, file = orphan(tmp_path)
    # The kernel tells a process's start in hundredths of a second; nobody who takes a number over starts as early.
    time.sleep(0.05)
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        noted = json.loads(file.read_text())
        assert alive(noted["pid"])
        assert end_orphan(file)
        assert not alive(noted["pid"])
        assert not end_orphan(file)
        file.write_text(json.dumps(noted | {"pid": stranger.pid, "group": stranger.pid}))
        assert not end_orphan(file)
        assert alive(stranger.pid)
    finally:
        for child in (first, stranger):
            child.kill()
            child.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1, "group": 1, "started": "", "mark": ""}'])
def test_a_damaged_note_of_an_orphan_ends_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "command.json").write_text(text)
    assert not end_orphan(tmp_path / "command.json")
    assert not end_orphan(tmp_path / "none.json")


def test_a_group_that_is_gone_ends_at_once(tmp_path: Path) -> None:
    before = time.monotonic()
    assert not Group(id=-1, mark="nobody").end()
    assert time.monotonic() - before < 2


SHOW = "print('\\n'.join(sorted(os.environ)))"


def test_only_the_variables_on_the_list_reach_an_agent(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "XDG_DATA_HOME": "/x",
        "TZ": "UTC",
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "AWS_SECRET_ACCESS_KEY": "k",
        "SPIRAL_EMBEDDER_API_KEY": "k",
        "GIT_DIR": "/elsewhere",
        "GIT_AUTHOR_NAME": "x",
        "SSH_AUTH_SOCK": "/s",
        "HTTPS_PROXY": "p",
        "MINE": "1",
        "ROW": "1",
    }
    script(tmp_path / "work/agent.py", SHOW)
    row = {"command": ["./agent.py"], "env": ["ROW"], "set": {"SET": "1"}}
    agent = agents(environ=environ, agents={"mine": row}, env=("MINE",))["mine"]
    answer = agent.act(order(tmp_path / "work", env={"ORDERED": "1"}), quiet, never)
    seen = {name for name in answer.text.split() if not name.startswith(("GIT_CONFIG_", "PWD", "SHLVL", "_", "OLDPWD"))}
    assert seen == {
        *("PATH", "HOME", "LC_ALL", "XDG_DATA_HOME", "TZ", "HTTPS_PROXY", "MINE", "ROW", "SET", "ORDERED"),
        "AGENT_OF_SPIRAL",
    }
    assert "k" not in (tmp_path / "work/history/command.json").read_text().split('"')
    trusted = agents(environ=environ, agents={"mine": row}, push=True)["mine"]
    assert "SSH_AUTH_SOCK" in trusted.act(order(tmp_path / "work"), quiet, never).text.split()


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository that `work` has as its origin, with one commit to push."""
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    git(tmp_path / "work", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git(tmp_path / "work", "remote", "add", "origin", str(bare))
    return bare


@pytest.mark.parametrize(
    "setting",
    [
        (),
        ("remote.origin.pushurl", "{bare}"),
        ("url.{bare}.pushInsteadOf", "short:"),
        ("url.file://{folder}.pushInsteadOf", "{folder}"),
    ],
    ids=["plain", "push address", "short name", "rewritten"],
)
def test_a_push_is_refused_whatever_its_options_unless_it_is_allowed(
    tmp_path: Path, remote: Path, setting: tuple[str, ...]
) -> None:
    if setting:
        git(tmp_path / "work", "config", *(word.format(bare=remote, folder=tmp_path) for word in setting))
    body = "sys.exit(subprocess.call(['git', 'push', '--no-verify', 'origin', 'HEAD:main']))"
    refused = made(tmp_path, body, "text").act(order(tmp_path / "work"), quiet, never)
    assert refused.exit_code != 0
    assert "spiral-push-is-off" in (tmp_path / "work/history/stderr.txt").read_text()
    assert git(remote, "branch", "--list") == ""
    allowed = made(tmp_path, body, "text", push=True).act(order(tmp_path / "work"), quiet, never)
    assert (allowed.exit_code, git(remote, "branch", "--list")) == (0, "main")


def test_fetching_and_pushes_of_the_projects_tests_on_this_machine_still_work(tmp_path: Path, remote: Path) -> None:
    git(tmp_path / "work", "push", "-q", "origin", "HEAD:main")
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    body = f"sys.exit(subprocess.call('git fetch origin && git push {other} HEAD:main', shell=True))"
    assert made(tmp_path, body, "text").act(order(tmp_path / "work"), quiet, never).exit_code == 0
    for address in ("https://example.invalid/x.git", "git@example.invalid:x.git", "me@example.invalid:x"):
        body = f"sys.exit(subprocess.call(['git', 'push', '{address}', 'HEAD:main']))"
        made(tmp_path, body, "text").act(order(tmp_path / "work"), quiet, never)
        assert "spiral-push-is-off" in (tmp_path / "work/history/stderr.txt").read_text()
        (tmp_path / "work/history/stderr.txt").unlink()


def test_a_sandbox_that_is_not_installed_is_named(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    agent = agents(environ={"PATH": str(bare)}, agents={"mine": {"command": ["mine"]}}, sandbox="bwrap")["mine"]
    answer = agent.act(order(tmp_path / "work"), quiet, never)
    assert (answer.end, "install bubblewrap" in answer.detail) == ("sandbox", True)


def test_a_sandbox_of_ones_own_wraps_the_command(tmp_path: Path) -> None:
    script(tmp_path / "box", "print('boxed', sys.argv[1]); sys.stdout.flush(); os.execv(sys.argv[2], sys.argv[2:])")
    agent = made(tmp_path, "print('ran')", "text", sandbox=f"{tmp_path / 'box'} {{folder}} {{command}}")
    answer = agent.act(order(tmp_path / "work"), quiet, never)
    assert (answer.end, answer.text) == ("finished", f"boxed {tmp_path / 'work'}\nran")


def boxes() -> bool:
    """Whether bwrap is here and may make namespaces."""
    probe = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]
    return bool(shutil.which("bwrap")) and subprocess.run(probe, capture_output=True).returncode == 0


@pytest.mark.skipif(not boxes(), reason="bwrap is not installed, or may not make namespaces here")
def test_in_bwrap_an_agent_writes_to_its_worktree_and_git_and_to_nothing_of_the_runners(
    tmp_path: Path, remote: Path
) -> None:
    (tmp_path / "work/.git/spiral").mkdir()
    (tmp_path / "home/.mine").mkdir(parents=True)
    body = """
for path in sys.argv[1:]:
    try: open(path, 'w').close(); print('wrote', os.path.basename(path))
    except OSError as fault: print(fault.strerror, os.path.basename(path))
"""
    paths = [
        "{folder}/one",
        "{folder}/.git/two",
        "{folder}/.git/spiral/three",
        "{folder}/history/four",
        "{folder}/../five",
    ]
    homes = [str(tmp_path / "home/.mine/six"), str(tmp_path / "home/seven")]
    script(tmp_path / "work/agent.py", body)
    row = {"command": ["./agent.py", *paths, *homes], "homes": [".mine"], "sandbox_set": {"IN_BOX": "1"}}
    agent = agents(agents={"mine": row}, sandbox="bwrap", git_dir=str(tmp_path / "work/.git"))["mine"]
    answer = agent.act(order(tmp_path / "work"), quiet, never)
    # What lies outside is the sandbox's own empty /tmp when the tests run there.
    assert answer.text.splitlines()[:4] == [
        *("wrote one", "wrote two", "Read-only file system three", "Read-only file system four"),
    ]
    assert "wrote six" in answer.text
    assert not (tmp_path / "five").exists()
    assert not (tmp_path / "home/seven").exists()
    assert (tmp_path / "home/.mine/six").exists()
