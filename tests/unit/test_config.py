"""What holds where, and who said so."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest
from click.testing import CliRunner

import spiral
from spiral.config import EmbedderSettings, MemorySettings, Settings, read, rows
from spiral.errors import ConfigError
from spiral.place import Folders
from spiral.sources import variable
from spiral.surfaces.cli.config import command

DOCS = Path(__file__).parents[2] / "docs" / "settings.md"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A home, a repository `shop` in it, and the environment of its user."""

    home: Path
    environ: Mapping[str, str]

    @property
    def shop(self) -> Path:
        return self.home / "shop"

    @property
    def user_file(self) -> Path:
        return self.home / ".config" / "spiral" / "config.toml"

    @property
    def project_file(self) -> Path:
        return self.shop / "spiral.toml"

    def read(self, *, start: Path | None = None, flags: Mapping[str, object] | None = None, **environ: str) -> Settings:
        return read(start or self.shop, flags or {}, {**self.environ, **environ})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path.resolve() / "ada"
    (home / ".config" / "spiral").mkdir(parents=True)
    git(home, "init", "-q", "shop")
    return Machine(home=home, environ={"HOME": str(home), "PATH": "/bin"})


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(("git", *identity, *arguments), cwd=folder, check=True, capture_output=True, env=environment)


def test_with_nothing_set_everything_is_the_default(machine: Machine) -> None:
    settings = machine.read()
    assert settings == Settings(
        memory=MemorySettings(app="shop", owner=pwd.getpwuid(os.getuid()).pw_name),
        folders=Folders(
            data=machine.home / ".local" / "share", cache=machine.home / ".cache", config_file=machine.user_file
        ),
        origins=settings.origins,
    )
    assert {row.origin for row in rows(settings)} == {"default"}


def test_each_source_overrules_the_one_before_it(machine: Machine) -> None:
    seen = []

    def look(flags: Mapping[str, object] | None = None, **environ: str) -> None:
        settings = read(machine.shop, flags or {}, {**machine.environ, **environ})
        seen.append((settings.memory.budget, settings.origins["memory.budget"]))

    look()
    machine.user_file.write_text("[memory]\nbudget = 1\norg = 'acme'\n")
    look()
    machine.project_file.write_text("[memory]\nbudget = 2\n")
    look()
    look(SPIRAL_MEMORY_BUDGET="3")
    look({"memory.budget": 4}, SPIRAL_MEMORY_BUDGET="3")
    look({"memory.budget": None}, SPIRAL_MEMORY_BUDGET="3")
    assert seen == [
        (2000, "default"),
        (1, str(machine.user_file)),
        (2, str(machine.project_file)),
        (3, "SPIRAL_MEMORY_BUDGET"),
        (4, "flag --budget"),
        (3, "SPIRAL_MEMORY_BUDGET"),
    ]
    assert machine.read().memory.org == "acme"


def test_the_project_file_is_found_from_every_folder_and_none_below_it_counts(machine: Machine) -> None:
    deep = machine.shop / "examples" / "toy"
    deep.mkdir(parents=True)
    machine.project_file.write_text('[memory]\napp = "till"\n')
    (deep / "spiral.toml").write_text('[memory]\napp = "toy"\n')
    assert machine.read(start=deep).memory.app == "till"


def test_outside_git_the_folder_itself_may_hold_the_file(machine: Machine) -> None:
    below = machine.home / "notes" / "below"
    below.mkdir(parents=True)
    (below.parent / "spiral.toml").write_text('[memory]\norg = "acme"\n')
    assert machine.read(start=below.parent).memory.org == "acme"
    assert machine.read(start=below).memory.org == ""
    assert machine.read(start=below).memory.app == "below"


def test_a_worktree_reads_its_own_file_or_else_that_of_the_main_checkout(machine: Machine) -> None:
    git(machine.shop, "commit", "-q", "--allow-empty", "-m", "first")
    git(machine.shop, "worktree", "add", "-q", "../blue")
    blue = machine.home / "blue"
    machine.project_file.write_text('[memory]\norg = "main"\nroot = "kept"\n')
    assert machine.read(start=blue).memory.org == "main"
    (blue / "spiral.toml").write_text('[memory]\norg = "blue"\nroot = "kept"\n')
    settings = machine.read(start=blue)
    assert (settings.memory.org, settings.origins["memory.org"]) == ("blue", str(blue / "spiral.toml"))
    assert settings.memory.app == "shop"
    assert settings.memory.root == machine.read().memory.root == machine.shop / "kept"


def test_paths_start_from_their_file_and_a_tilde_is_the_home(machine: Machine) -> None:
    machine.user_file.write_text('[log]\nfile = "spiral.log"\n[memory]\nindex = "~/index"\n')
    machine.project_file.write_text('[memory]\nroot = "../mount/./memory"\n')
    settings = machine.read()
    assert settings.log.file == machine.user_file.parent / "spiral.log"
    assert settings.memory.index == machine.home / "index"
    assert settings.memory.root == machine.home / "mount" / "memory"
    assert machine.read(SPIRAL_MEMORY_ROOT="here").memory.root == machine.shop / "here"
    assert machine.read(SPIRAL_MEMORY_ROOT="").memory.root is None
    assert machine.read(flags={"memory.root": Path("/mnt/memory")}).memory.root == Path("/mnt/memory")
    superuser = pwd.getpwuid(0)
    assert machine.read(SPIRAL_MEMORY_ROOT=f"~{superuser.pw_name}/m").memory.root == (
        Path(superuser.pw_dir).resolve() / "m"
    )


def test_the_users_folders_follow_the_environment(machine: Machine) -> None:
    assert machine.read(XDG_DATA_HOME="/d", XDG_CACHE_HOME="/c", XDG_CONFIG_HOME="/f").folders == Folders(
        data=Path("/d"), cache=Path("/c"), config_file=Path("/f/spiral/config.toml")
    )
    assert machine.read(XDG_DATA_HOME="relative").folders.data == machine.home / ".local" / "share"
    assert read(machine.shop, environ={}).folders == Folders()


@pytest.mark.parametrize(("words", "value"), [("true 1 yes on TRUE On", True), ("false 0 no off OFF", False)])
def test_truth_is_spelled_in_many_ways_in_the_environment(machine: Machine, words: str, value: bool) -> None:
    assert {machine.read(SPIRAL_EMBEDDER_BACKGROUND=word).embedder.background for word in words.split()} == {value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[memory]\n\nrooot = "x"\n', ":3: unknown setting 'memory.rooot'; did you mean 'root'?"),
        ('# hm\n[memry]\nroot = "x"\n', ":2: unknown table 'memry'; did you mean 'memory'?"),
        ("[zzz]\n", ":1: unknown table 'zzz'; choose one of memory, embedder, discover,"),
        ('root = "x"\n', ":1: 'root' stands outside of its table; write it under [memory]"),
        ("memory = 3\n", ":1: memory must be a table, not 3; write [memory] on a line of its own"),
        ("[[memory]]\n", ":1: memory must be a table, not [{}]; write [memory] on a line of its own"),
        ("[memory]\nbudget = '9'\n", ":2: memory.budget must be a whole number of at least 1, not '9'"),
        ("[memory]\nbudget = 0\n", ":2: memory.budget must be a whole number of at least 1, not 0"),
        ("memory.budget = true\n", ":1: memory.budget must be a whole number of at least 1, not True"),
        ("memory = { budget = 1.5 }\n", ":1: memory.budget must be a whole number of at least 1, not 1.5"),
        ("[memory]\norg = 5\n", ":2: memory.org must be text on one line, in quotes, not 5"),
        ('[memory]\nroot = "a\\u0000b"\n', ":2: memory.root must be text on one line, in quotes, not 'a\\x00b'"),
        ("[memory]\nroot = '~nobody-of-that-name/x'\n", ":2: memory.root must be a path that can be followed"),
        ("[memory]\n'visibility' = 'all'\n", ":2: memory.visibility must be one of private, team, org, not 'all'"),
        ("[act]\nargs = 'x'\n", ":2: act.args must be a list of texts, not 'x'"),
        ("[act]\ntimeout = 'x'\n", ":2: act.timeout must be a number, not 'x'"),
        ("[act]\ntimeout = nan\n", ":2: act.timeout must be a number, not nan"),
        ("[act]\nagents = 3\n", ":2: act.agents must be a table, not 3"),
        ("[embedder]\nbackground = 'yes'\n", ":2: embedder.background must be true or false, not 'yes'"),
        ("[memory\n", ": not TOML: Expected ']' at the end of a table declaration (at line 1, column 8)"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_line_value_and_cure(machine: Machine, text: str, message: str) -> None:
    machine.project_file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(f"{machine.project_file}{message}")):
        machine.read()


def test_a_file_that_cannot_be_read_is_told(machine: Machine) -> None:
    machine.project_file.mkdir()
    with pytest.raises(ConfigError, match=r"cannot read the settings in '.*spiral.toml': Is a directory"):
        machine.read()
    machine.user_file.write_bytes(b"[memory]\norg = '\xff'\n")
    with pytest.raises(ConfigError, match=r"config.toml: not UTF-8 at byte 16; save it as UTF-8"):
        machine.read()


def test_an_empty_file_and_one_with_a_byte_order_mark_are_fine(machine: Machine) -> None:
    machine.user_file.write_bytes(b"")
    machine.project_file.write_bytes(b"\xef\xbb\xbf[memory]\norg = 'acme'\n")
    assert machine.read().memory.org == "acme"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "SPIRAL_MEMORY_ROOTS",
            "x",
            "unknown environment variable 'SPIRAL_MEMORY_ROOTS'; did you mean 'SPIRAL_MEMORY_ROOT'",
        ),
        (
            "SPIRAL_MEMORY_BUDGET",
            "lots",
            "SPIRAL_MEMORY_BUDGET: memory.budget must be a whole number of at least 1, not",
        ),
        (
            "SPIRAL_MEMORY_BUDGET",
            "",
            "SPIRAL_MEMORY_BUDGET: memory.budget must be a whole number of at least 1, not ''",
        ),
        ("SPIRAL_EMBEDDER_BACKGROUND", "perhaps", "embedder.background must be true or false, not 'perhaps'"),
        (
            "SPIRAL_LOG_LEVEL",
            "loud",
            "SPIRAL_LOG_LEVEL: log.level must be one of debug, info, warning, error, not 'loud'",
        ),
    ],
)
def test_a_mistake_in_the_environment_is_told(machine: Machine, name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        read(machine.shop, environ={**machine.environ, name: value})


def test_a_mistake_in_a_flag_is_told(machine: Machine) -> None:
    with pytest.raises(ConfigError, match=r"flag --bugdet: unknown setting 'memory.bugdet'; did you mean 'budget'\?"):
        machine.read(flags={"memory.bugdet": 3})
    with pytest.raises(ConfigError, match=r"flag --budget: memory.budget must be a whole number .*, not 'x'"):
        machine.read(flags={"memory.budget": "x"})


def test_a_tilde_without_a_home_is_told(machine: Machine) -> None:
    with pytest.raises(ConfigError, match=r"memory.root must be a path without ~ while HOME is not set, not '~/x'"):
        read(machine.shop, environ={"SPIRAL_MEMORY_ROOT": "~/x"})


def test_a_current_folder_that_is_gone_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = machine.home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="the current folder is gone; change to one that exists"):
        read(environ=machine.environ)


def test_a_key_comes_from_the_environment_or_the_users_file(machine: Machine) -> None:
    machine.user_file.write_text('[embedder]\napi_key = "of-the-file"\n')
    keys = [
        machine.read().embedder.api_key,
        machine.read(OPENAI_API_KEY="common").embedder.api_key,
        machine.read(OPENAI_API_KEY="common", SPIRAL_EMBEDDER_API_KEY="ours").embedder.api_key,
    ]
    assert keys == ["of-the-file", "common", "ours"]


def test_a_key_is_refused_where_others_would_see_it(machine: Machine) -> None:
    with pytest.raises(ConfigError, match=r"a secret in a flag .*; set SPIRAL_EMBEDDER_API_KEY") as refused:
        machine.read(flags={"embedder.api_key": "sk-1234"})
    assert "sk-1234" not in str(refused.value)
    machine.project_file.write_text('[embedder]\napi_key = "sk-1234"\n')
    with pytest.raises(ConfigError, match=r"spiral.toml:2: embedder.api_key is a secret, .* move it to") as refused:
        machine.read()
    assert "sk-1234" not in str(refused.value)


def test_a_key_is_never_shown(machine: Machine) -> None:
    settings = machine.read(OPENAI_API_KEY="sk-1234")
    assert settings.embedder.api_key == "sk-1234"
    assert "sk-1234" not in f"{settings!r} {rows(settings)!r}"
    assert [row.value for row in rows(settings) if row.name == "embedder.api_key"] == ["set"]
    with pytest.raises(ConfigError) as refused:
        machine.read(SPIRAL_EMBEDDER_API_KEY="sk-1234\n")
    assert "sk-1234" not in str(refused.value)


def test_a_key_is_withheld_from_a_server_that_the_project_chose(machine: Machine) -> None:
    machine.project_file.write_text('[embedder]\nbase_url = "https://example.org/v1"\n')
    settings = machine.read(OPENAI_API_KEY="sk-1234")
    assert (settings.embedder.base_url, settings.embedder.api_key) == ("https://example.org/v1", "")
    assert settings.origins["embedder.api_key"] == f"withheld, because {machine.project_file} chose embedder.base_url"
    chosen = machine.read(OPENAI_API_KEY="sk-1234", SPIRAL_EMBEDDER_BASE_URL="https://example.org/v1")
    assert chosen.embedder.api_key == "sk-1234"
    machine.project_file.write_text(f'[embedder]\nbase_url = "{EmbedderSettings().base_url}"\n')
    assert machine.read(OPENAI_API_KEY="sk-1234").embedder.api_key == "sk-1234"


def test_settings_cannot_be_altered(machine: Machine) -> None:
    settings = machine.read()
    with pytest.raises(AttributeError):
        settings.memory.budget = 1  # type: ignore[misc]  # what is tested
    with pytest.raises(TypeError):
        settings.origins["memory.budget"] = "me"  # type: ignore[index]  # what is tested


def test_the_choices_are_those_of_the_model() -> None:
    from spiral.model import VISIBILITIES

    (visibility,) = (item for item in fields(MemorySettings) if item.name == "visibility")
    assert visibility.metadata["choices"] == VISIBILITIES


def test_importing_the_settings_loads_nothing_that_is_slow() -> None:
    slow = ("tomllib", "difflib", "logging", "hashlib", "subprocess", "click", "spiral.model")
    code = f"import sys, spiral.config; print([name for name in {slow!r} if name in sys.modules])"
    source = str(Path(spiral.__file__).parents[1])
    fresh = subprocess.run(
        (sys.executable, "-S", "-c", code), capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert (fresh.stdout, fresh.stderr) == ("[]\n", "")


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the command line hands to a verb."""

    start: Path
    flags: Mapping[str, object] = field(default_factory=dict)


@pytest.fixture
def clean(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The process's own environment is the machine's."""
    for name in [name for name in os.environ if name.startswith(("SPIRAL_", "XDG_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


def shown(machine: Machine, *arguments: str, **flags: object) -> str:
    context = Context(start=machine.shop, flags=flags)
    return CliRunner().invoke(command, arguments, obj=context, catch_exceptions=False).output


def test_the_verb_shows_each_value_where_it_came_from_and_what_it_is_for(clean: Machine) -> None:
    clean.project_file.write_text('[memory]\norg = "acme"\n')
    lines = shown(clean).splitlines()
    assert len(lines) == len(rows(Settings()))
    (org,) = (line for line in lines if line.startswith("memory.org "))
    assert re.split(r"\s{2,}", org) == ["memory.org", '"acme"', str(clean.project_file), "Organisation. Empty: none."]
    assert len({line.index(row.help) for line, row in zip(lines, rows(Settings()), strict=True)}) == 1


def test_the_verb_shows_one_setting_or_one_table_as_json(clean: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234")
    assert json.loads(shown(clean, "--json", "memory.budget", **{"memory.budget": "7"})) == [
        {
            "name": "memory.budget",
            "value": 7,
            "origin": "flag --budget",
            "help": "Most tokens that one recall may serve.",
        }
    ]
    embedder = shown(clean, "--json", "embedder")
    assert [row["name"] for row in json.loads(embedder)] == [
        f"embedder.{item.name}" for item in fields(EmbedderSettings)
    ]
    assert "sk-1234" not in embedder


def test_the_verb_names_what_was_meant(clean: Machine) -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'memory.rot'; did you mean 'memory.root'\?"):
        shown(clean, "memory.rot")


def tables() -> str:
    """The tables of docs/settings.md."""
    parts = []
    for table in dict.fromkeys(row.name.partition(".")[0] for row in rows(Settings())):
        kind = type(getattr(Settings(), table))
        parts += [f"### `[{table}]`", "", str(kind.__doc__), "", "| key | default | what it is for |", "|---|---|---|"]
        for row in rows(Settings()):
            if row.name.startswith(f"{table}."):
                default = "not set" if row.value == "not set" else f"`{json.dumps(row.value)}`"
                parts.append(f"| `{row.name.partition('.')[2]}` | {default} | {row.help} |")
        parts.append("")
    return "\n".join(parts)


def test_the_page_tells_what_the_code_says() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert tables() in page
    assert {row.name.partition(".")[0] for row in rows(Settings())} == set(re.findall(r"^### `\[(\w+)\]`$", page, re.M))


def test_no_two_settings_share_a_variable() -> None:
    names = [row.name for row in rows(Settings())]
    assert len({variable(name) for name in names}) == len(names)
