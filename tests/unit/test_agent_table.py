"""Agents as rows of data, and which of them are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_programs import script
from spiral.backends.agents.opening import open_agents
from spiral.backends.agents.probe import Found, installed
from spiral.backends.agents.sandbox import boxed
from spiral.backends.agents.table import adapters
from spiral.errors import ConfigError
from spiral.tables import ActSettings


def test_a_table_of_the_users_changes_a_known_agent_or_adds_one() -> None:
    own = {
        "claude": {"args": ["--effort", "high"]},
        "codex": {"command": ["cx"]},
        "mine": {"command": ["./x", "{prompt}"]},
    }
    table = adapters(own)
    assert (table["claude"].args, table["claude"].verified) == (("--effort", "high"), True)
    assert (table["codex"].command, table["codex"].verified) == (("cx",), False)
    assert (table["mine"].prompt, table["mine"].stream, table["mine"].capabilities) == ("argument", "text", ())
    assert adapters()["claude"].args == ()


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"claude": {"comand": ["x"]}}, "unknown setting 'act.agents.claude.comand'; did you mean 'command'?"),
        ({"claude": {"verified": True}}, "unknown setting 'act.agents.claude.verified'; choose one of command, stream"),
        (
            {"claud": {"stream": "text"}},
            "act.agents.claud has no command; did you mean 'claude'? (or give it a command)",
        ),
        ({"claude": "x"}, "act.agents.claude must be a table, not 'x'"),
        ({"mine": {"command": "x y"}}, "act.agents.mine.command must be a list of texts, not 'x y'"),
        ({"mine": {"command": []}}, "act.agents.mine.command must name a program"),
        (
            {"mine": {"command": ["x"], "stream": "xml"}},
            "must be one of claude, codex, gemini, opencode, text, not 'xml'",
        ),
        ({"mine": {"command": ["x"], "set": {"A": 1}}}, "act.agents.mine.set must be a table of texts"),
        ({"mine": {"command": ["x"], "limits": ["("]}}, "act.agents.mine: '(' is not a pattern"),
    ],
)
def test_a_wrong_table_is_refused_with_what_was_meant(own: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_agents("command:", ActSettings(agents=own), {})
    assert message in str(caught.value)


@pytest.mark.parametrize("sandbox", ["docker run x", "{command}", "x '{command}"])
def test_a_sandbox_that_does_not_end_in_the_command_is_refused(sandbox: str) -> None:
    with pytest.raises(ConfigError, match=r"act\.sandbox"):
        open_agents("command:", ActSettings(sandbox=sandbox), {})


def test_no_known_agent_gets_a_key_by_default() -> None:
    for adapter in adapters().values():
        assert not {name for name in adapter.env if "KEY" in name or "TOKEN" in name}
        assert not {*adapter.keys} & {*adapter.env}


def test_bwrap_keeps_the_runners_own_folder_and_the_history_read_only() -> None:
    words = boxed("bwrap", ["claude"], folder="/w", history="/w/h", git_dir="/w/.git", homes=["/home/u/.claude"])
    binds = [tuple(words[at : at + 2]) for at, word in enumerate(words) if word.endswith(("bind", "bind-try"))]
    assert binds == [
        *(("--ro-bind", "/"), ("--bind-try", "/home/u/.claude"), ("--bind-try", "/w"), ("--bind-try", "/w/.git")),
        *(("--ro-bind-try", "/w/.git/spiral"), ("--ro-bind-try", "/w/h")),
    ]
    assert words[-2:] == ["--", "claude"]


def test_a_command_of_ones_own_is_not_started_to_ask_for_its_version(tmp_path: Path) -> None:
    for name in ("mine.py", "wrapped.py", "told.py"):
        script(tmp_path / name, f"open({str(tmp_path / 'started')!r}, 'a').write({name!r}); print('1.2')")
    own = {
        "mine": {"command": [str(tmp_path / "mine.py")]},
        "claude": {"command": [str(tmp_path / "wrapped.py"), "--print"]},
        "told": {"command": [str(tmp_path / "told.py")], "version": ["-V"]},
    }
    found = {one.name: one.version for one in installed(adapters(own), {"PATH": "", "HOME": str(tmp_path)})}
    assert found == {"claude": "", "mine": "", "told": "1.2"}
    assert (tmp_path / "started").read_text() == "told.py"


def test_what_is_installed_is_found_with_its_version_and_a_guess_at_its_sign_in(tmp_path: Path) -> None:
    for name, body in {
        "claude": "print('2.1.197 (Claude Code)')",
        "codex": "print('codex-cli 0.169.0')",
        "gemini": "sys.exit(1)",
        "amp": "print(os.environ.get('AMP_API_KEY', '0.0'))",
    }.items():
        script(tmp_path / "bin" / name, body)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/auth.json").write_text("{}")
    environ = {"PATH": f"{tmp_path / 'bin'}", "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k", "AMP_API_KEY": "9.9"}
    found = {one.name: one for one in installed(adapters(), environ, allowed=("AMP_API_KEY",))}
    assert list(found) == ["claude", "codex", "gemini", "amp"]
    assert found["codex"] == Found(
        name="codex",
        path=str(tmp_path / "bin/codex"),
        version="0.169.0",
        verified=True,
        signed_in=True,
        how="~/.codex/auth.json",
        capabilities=("model", "mcp", "usage"),
    )
    assert (found["claude"].version, found["claude"].signed_in) == ("2.1.197", False)
    assert found["claude"].how == "$ANTHROPIC_API_KEY is set but kept from agents; add it to act.env to bill that key"
    assert (found["gemini"].version, found["gemini"].verified, found["gemini"].signed_in) == ("", False, False)
    assert (found["amp"].version, found["amp"].signed_in, found["amp"].how) == ("0.0", True, "$AMP_API_KEY")
