"""How a Python project is set up and checked, from the files in its top folder."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PIECES = r"\s*(?:&&|\|\||;|\|)\s*"
"""What stands between the commands of one line."""
EXTRAS = ("dev", "develop", "test", "tests", "testing", "lint")
REQUIRED = ("requirements.txt", "requirements/base.txt", "requirements/dev.txt", "requirements/test.txt")
SIGNS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "requirements",
    "Pipfile",
    "tox.ini",
    "noxfile.py",
)
TOOLS: Mapping[str, tuple[str, ...]] = {
    "pytest": ("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"),
    "ruff": ("ruff.toml", ".ruff.toml"),
    "flake8": (".flake8",),
    "black": (),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "pyright": ("pyrightconfig.json",),
}
"""Files by which a tool is known to be in use, beside its table in pyproject.toml or setup.cfg."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """Set-up and checks."""

    setup: str
    checks: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """What the project's files say."""

    top: Path
    project: Mapping[str, object]
    """pyproject.toml."""
    needs: str
    """Every text that names requirements, in one."""
    tests: tuple[Path, ...]

    def uses(self, tool: str) -> bool:
        """Whether the project is set up for a tool."""
        if tool in table(self.project, "tool") or any((self.top / name).exists() for name in TOOLS[tool]):
            return True
        return bool(re.search(rf"^\[(tool:)?{tool}\]", text(self.top / "setup.cfg") + text(self.top / "tox.ini"), re.M))

    def names(self, tool: str) -> bool:
        """Whether the requirements bring a tool."""
        return bool(re.search(rf"(?<![\w-]){tool}(?![\w-])", self.needs))


def python_tools(top: Path) -> Tools | None:
    """The set-up and the checks; None when the folder is no Python project."""
    tests = tuple(path for folder in ("tests", "test", ".") for path in found_tests(top, folder))
    if not any((top / name).exists() for name in SIGNS) and not tests and not any(top.glob("*.py")):
        return None
    files = Files(top=top, project=parsed(top / "pyproject.toml"), needs=requirements(top), tests=tests)
    if only_tox(files):
        tool = "tox" if (top / "tox.ini").exists() else "nox"
        return Tools(setup=venv([tool]), checks=(f".venv/bin/{tool} -q",), notes=())
    wanted = tools(files)
    managed = manager(files)
    if managed is not None:
        setup, run = managed
        missing = [tool for tool in wanted if not files.names(tool)]
        notes = tuple(f"{tool} is set up but not among the requirements; add it there" for tool in missing)
        return Tools(setup=setup, checks=checks(files, wanted, run), notes=(*notes, *untested(files, wanted)))
    install = packages(files, wanted)
    setup = venv(install) if install else ""
    run = ".venv/bin/" if install else ""
    return Tools(setup=setup, checks=checks(files, wanted, run), notes=untested(files, wanted))


def tools(files: Files) -> tuple[str, ...]:
    """The tools whose checks are to be run: those that are set up, and pytest where tests are written for it."""
    used = [tool for tool in TOOLS if files.uses(tool)]
    own = any("import pytest" in text(path) or "from pytest" in text(path) for path in files.tests)
    plain = files.tests and all("unittest" in text(path) for path in files.tests)
    if "pytest" not in used and (files.names("pytest") or own or (files.tests and not plain)):
        used.insert(0, "pytest")
    return tuple(used)


def checks(files: Files, wanted: Sequence[str], run: str) -> tuple[str, ...]:
    """The command of each tool; `run` is what comes before a program's name."""
    folder = "src" if (files.top / "src").is_dir() else "."
    typed = "mypy" if table(table(files.project, "tool"), "mypy").get("files") else f"mypy {folder}"
    lines = {
        "pytest": f"{run}python -m pytest -q" if run else "python3 -m pytest -q",
        "ruff": f"{run}ruff check .",
        "flake8": f"{run}flake8 --extend-exclude .venv .",
        "black": f"{run}black -q --check .",
        "mypy": f"{run}{typed}",
        "pyright": f"{run}pyright",
    }
    found = [lines[tool] for tool in wanted]
    if "pytest" not in wanted and files.tests:
        where = next((name for name in ("tests", "test") if (files.top / name).is_dir()), ".")
        found.insert(0, f"{f'{run}python' if run else 'python3'} -m unittest discover -s {where}")
    return tuple(found)


def manager(files: Files) -> tuple[str, str] | None:
    """(set-up, what runs a program) of uv, Poetry or Pipenv; None for a plain venv."""
    own = table(files.project, "tool")
    if (files.top / "uv.lock").exists() or "uv" in own:
        extras = any(name in EXTRAS for name in table(table(files.project, "project"), "optional-dependencies"))
        locked = " --locked" if (files.top / "uv.lock").exists() else ""
        return f"uv sync -q{locked}{' --all-extras' if extras else ''}", "uv run -q "
    if (files.top / "poetry.lock").exists() or "poetry" in own:
        return "poetry install -q --no-interaction", "poetry run "
    if (files.top / "Pipfile").exists():
        return f"pipenv {'sync' if (files.top / 'Pipfile.lock').exists() else 'install'} --dev", "pipenv run "
    return None


def packages(files: Files, wanted: Sequence[str]) -> list[str]:
    """What pip is to install: the project with its extras, its requirement files, and tools that neither brings."""
    found: list[str] = []
    extras = [name for name in table(table(files.project, "project"), "optional-dependencies") if name in EXTRAS]
    groups = [name for name in table(files.project, "dependency-groups") if name in EXTRAS]
    built = "project" in files.project or "build-system" in files.project
    if built or (files.top / "setup.py").exists() or "[metadata]" in text(files.top / "setup.cfg"):
        found.append(f"-e '.[{','.join(extras)}]'" if extras else "-e .")
    found += [f"--group {name}" for name in groups]
    found += [f"-r {name}" for name in requirement_files(files.top)]
    # The names of extras that are not installed do not count.
    return [*found, *(tool for tool in wanted if not files.names(tool))]


def venv(install: Sequence[str]) -> str:
    """A virtual environment in the checkout with these in it."""
    # Dependency groups need a pip that is newer than what many systems put into a new environment.
    newer = ".venv/bin/pip install -q -U pip && " if any(word.startswith("--group") for word in install) else ""
    return f"python3 -m venv .venv && {newer}.venv/bin/pip install -q {' '.join(install)}"


def untested(files: Files, wanted: Sequence[str]) -> tuple[str, ...]:
    """A word about tests that are not there yet."""
    if "pytest" in wanted and not files.tests:
        return ("no test was found: `pytest` stays red until there is one",)
    return () if files.tests or wanted else ("no test and no linter was found; add a check by hand",)


def only_tox(files: Files) -> bool:
    """Whether tox or nox is the one thing that says how to test."""
    if not any((files.top / name).exists() for name in ("tox.ini", "noxfile.py")):
        return False
    return not files.uses("pytest") and not files.names("pytest")


def requirements(top: Path) -> str:
    """All that the project's files say about what it needs, as one text."""
    project = parsed(top / "pyproject.toml")
    own = table(project, "project")
    chosen = {name: value for name, value in table(own, "optional-dependencies").items() if name in EXTRAS}
    groups = {name: value for name, value in table(project, "dependency-groups").items() if name in EXTRAS}
    poetry = table(table(project, "tool"), "poetry")
    uv = table(table(project, "tool"), "uv").get("dev-dependencies", "")
    parts = [own.get("dependencies", ""), chosen, groups, list(poetry.items()), uv]
    files = [text(top / name) for name in (*requirement_files(top), "Pipfile", "setup.cfg", "setup.py")]
    # A heading of setup.cfg names a tool that is set up, not one that is required.
    return re.sub(r"^\[.*\]", "", "\n".join([*map(str, parts), *files]), flags=re.MULTILINE)


def requirement_files(top: Path) -> list[str]:
    """The requirement files by name, those for development too."""
    beside = sorted(path.name for path in top.glob("*requirements*.txt") if path.name != "requirements.txt")
    fit = [name for name in beside if any(word in name for word in ("dev", "test", "lint"))]
    return [name for name in (*REQUIRED, *fit) if (top / name).is_file()]


def found_tests(top: Path, folder: str) -> list[Path]:
    """Files of tests; a few are enough to know by."""
    found = (top / folder).glob("*.py") if folder == "." else (top / folder).rglob("*.py")
    return [path for path in found if re.fullmatch(r"(test_.*|.*_test)\.py", path.name)][:50]


def parsed(path: Path) -> Mapping[str, object]:
    """A TOML file; empty when there is none that can be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def table(whole: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A table inside; empty when there is none."""
    value = whole.get(name)
    return value if isinstance(value, dict) else {}


def text(path: Path) -> str:
    """A file's text; empty when it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
