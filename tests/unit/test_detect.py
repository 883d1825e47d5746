"""What a project is made with, told from small real trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiral.loop.detect import Stack, detect, programs, together

VENV = "python3 -m venv .venv && .venv/bin/pip install -q "


def tree(top: Path, files: dict[str, str]) -> tuple[Stack, ...]:
    """What is found in a folder with these files."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return detect(top)


def only(stacks: tuple[Stack, ...], name: str) -> Stack:
    """The one stack that is there."""
    assert [stack.name for stack in stacks] == [name]
    return stacks[0]


def test_an_empty_folder_is_nothing(tmp_path: Path) -> None:
    assert detect(tmp_path) == ()


@pytest.mark.parametrize(
    ("files", "setup", "checks"),
    [
        (
            {
                "pyproject.toml": '[project]\nname = "a"\n[project.optional-dependencies]\n'
                'dev = ["pytest>=8", "ruff", "mypy"]\n[tool.ruff]\n'
                '[tool.mypy]\nfiles = ["src"]\n[tool.pytest.ini_options]\n',
                "tests/test_a.py": "def test_a(): pass\n",
            },
            f"{VENV}-e '.[dev]'",
            (".venv/bin/python -m pytest -q", ".venv/bin/ruff check .", ".venv/bin/mypy"),
        ),
        (
            {"requirements.txt": "flask\n", "requirements-dev.txt": "pytest\n", "app.py": "", "test_app.py": "x = 1\n"},
            f"{VENV}-r requirements.txt -r requirements-dev.txt",
            (".venv/bin/python -m pytest -q",),
        ),
        (
            {
                "setup.cfg": "[metadata]\nname = a\n[flake8]\n[mypy]\n",
                "setup.py": "",
                "tests/test_a.py": "import pytest\n",
            },
            f"{VENV}-e . pytest flake8 mypy",
            (".venv/bin/python -m pytest -q", ".venv/bin/flake8 --extend-exclude .venv .", ".venv/bin/mypy ."),
        ),
        (
            {"pyproject.toml": '[project]\nname = "a"\n[dependency-groups]\ndev = ["pytest"]\n', "tests/test_a.py": ""},
            "python3 -m venv .venv && .venv/bin/pip install -q -U pip && .venv/bin/pip install -q -e . --group dev",
            (".venv/bin/python -m pytest -q",),
        ),
        (
            {
                "uv.lock": "",
                "pyproject.toml": '[project]\nname="a"\n[dependency-groups]\ndev=["pytest","ruff"]\n[tool.ruff]\n',
                "tests/test_a.py": "",
            },
            "uv sync -q --locked",
            ("uv run -q python -m pytest -q", "uv run -q ruff check ."),
        ),
        (
            {
                "poetry.lock": "",
                "pyproject.toml": "[tool.poetry.group.dev.dependencies]\npytest = '*'\n",
                "tests/test_a.py": "",
            },
            "poetry install -q --no-interaction",
            ("poetry run python -m pytest -q",),
        ),
        ({"tox.ini": "[tox]\n", "setup.py": ""}, f"{VENV}tox", (".venv/bin/tox -q",)),
        (
            {"shop.py": "", "tests/test_shop.py": "import unittest\n"},
            "",
            ("python3 -m unittest discover -s tests",),
        ),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\n", "src/a/__init__.py": "", "tests/test_a.py": ""},
            f"{VENV}pytest",
            (".venv/bin/python -m pytest -q",),
        ),
    ],
)
def test_python(tmp_path: Path, files: dict[str, str], setup: str, checks: tuple[str, ...]) -> None:
    found = only(tree(tmp_path, files), "Python")
    assert (found.setup, found.checks) == (setup, checks)


def test_python_without_a_test_says_so(tmp_path: Path) -> None:
    found = only(tree(tmp_path, {"pyproject.toml": "[tool.pytest.ini_options]\n"}), "Python")
    assert found.notes == ("no test was found: `pytest` stays red until there is one",)
    (tmp_path / "pyproject.toml").write_text("not = [toml")
    assert only(detect(tmp_path), "Python").notes == ("no test and no linter was found; add a check by hand",)


SCRIPTS = {"test": "vitest", "lint": "eslint .", "type-check": "tsc --noEmit", "build": "vite build", "dev": "vite"}


@pytest.mark.parametrize(
    ("lock", "setup", "checks"),
    [
        ("package-lock.json", "npm ci", ("npm test", "npm run -s lint", "npm run -s type-check", "npm run -s build")),
        (
            "pnpm-lock.yaml",
            "pnpm install --frozen-lockfile",
            ("pnpm test", "pnpm run lint", "pnpm run type-check", "pnpm run build"),
        ),
        (
            "yarn.lock",
            "yarn install --frozen-lockfile",
            ("yarn test", "yarn -s lint", "yarn -s type-check", "yarn -s build"),
        ),
        ("README.md", "npm install", ("npm test", "npm run -s lint", "npm run -s type-check", "npm run -s build")),
    ],
)
def test_node(tmp_path: Path, lock: str, setup: str, checks: tuple[str, ...]) -> None:
    table = {"scripts": SCRIPTS, "devDependencies": {"vitest": "3"}}
    found = only(tree(tmp_path, {"package.json": json.dumps(table), lock: ""}), "Node")
    assert (found.setup, found.checks, found.notes) == (setup, checks, ())


def test_node_with_nothing_to_install_and_the_test_of_npm_init(tmp_path: Path) -> None:
    table = {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}
    found = only(tree(tmp_path, {"package.json": json.dumps(table)}), "Node")
    assert (found.setup, found.checks) == ("", ())
    assert "no test, lint, typecheck or build script" in found.notes[0]


def test_typescript_without_a_script_is_type_checked(tmp_path: Path) -> None:
    table = {"devDependencies": {"typescript": "5"}}
    assert only(tree(tmp_path, {"package.json": json.dumps(table), "tsconfig.json": "{}"}), "Node").checks == (
        "npx tsc --noEmit",
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Cargo.toml": "", "rustfmt.toml": ""}, Stack(name="Rust", checks=("cargo test -q", "cargo fmt --check"))),
        ({"go.mod": ""}, Stack(name="Go", checks=("go vet ./...", "go test ./..."))),
        ({"build.gradle.kts": "", "gradlew": ""}, Stack(name="Java", checks=("./gradlew -q test",))),
        ({"pom.xml": ""}, Stack(name="Java", checks=("mvn -q test",))),
        (
            {"Gemfile": "", "spec/a_spec.rb": "", ".rubocop.yml": ""},
            Stack(name="Ruby", setup="bundle install --quiet", checks=("bundle exec rspec", "bundle exec rubocop")),
        ),
        ({"a.sln": ""}, Stack(name=".NET", setup="dotnet restore", checks=("dotnet test --no-restore",))),
        (
            {"composer.json": "{}", "phpunit.xml.dist": ""},
            Stack(name="PHP", setup="composer install --no-interaction --quiet", checks=("vendor/bin/phpunit",)),
        ),
        (
            {"Makefile": "CC := gcc\n.PHONY: test\nall: a\ntest lint: a\n\t./a\n"},
            Stack(name="Make", checks=("make test", "make lint")),
        ),
        ({"Makefile": "check:\n\t./a\ntest:\n\t./a\n"}, Stack(name="Make", checks=("make check",))),
    ],
)
def test_other_stacks(tmp_path: Path, files: dict[str, str], expected: Stack) -> None:
    assert tree(tmp_path, files) == (expected,)


def test_several_stacks_come_together_and_make_counts_only_alone(tmp_path: Path) -> None:
    files = {
        "package.json": json.dumps({"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}),
        "requirements.txt": "pytest\n",
        "tests/test_a.py": "",
        "Makefile": "test:\n\tpytest\n",
    }
    stacks = tree(tmp_path, files)
    assert [stack.name for stack in stacks] == ["Python", "Node", "Make"]
    whole = together(stacks)
    assert whole.setup == f"{VENV}-r requirements.txt && npm install"
    assert whole.checks == (".venv/bin/python -m pytest -q", "npm test")
    assert whole.notes == ("the Makefile has make test; take that instead if it checks more",)
    assert programs([whole.setup, *whole.checks]) == ("python3", "npm")
