"""What a project is made with, and the commands that check it, from the files in its top folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spiral.loop.detect_python import PIECES, python_tools


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """One kind of project, with the commands that suit a clean checkout of it."""

    name: str
    setup: str = ""
    """Makes a clean checkout usable; empty when nothing is needed."""
    checks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know about the choice."""


def detect(top: Path) -> tuple[Stack, ...]:
    """The stacks whose files stand in the folder; none when nothing is recognised. Reads, and changes nothing."""
    return tuple(found for look in LOOKS if (found := look(top)) is not None)


def together(stacks: Sequence[Stack]) -> Stack:
    """One stack of all: set-ups in a row, checks without doubles.

    A Makefile mostly calls what the languages' own tools do, so its targets count only where those have no check.
    """
    languages = [stack for stack in stacks if stack.name != "Make"]
    own = any(stack.checks for stack in languages)
    used = languages if own else list(stacks)
    notes = [note for stack in stacks for note in stack.notes]
    if own and len(used) < len(stacks):
        targets = next(stack.checks for stack in stacks if stack.name == "Make")
        notes.append(f"the Makefile has {', '.join(targets)}; take that instead if it checks more")
    return Stack(
        name=", ".join(stack.name for stack in stacks),
        setup=" && ".join(stack.setup for stack in used if stack.setup),
        checks=tuple(dict.fromkeys(check for stack in used for check in stack.checks)),
        notes=tuple(notes),
    )


def python(top: Path) -> Stack | None:
    """Python, with uv, Poetry, Pipenv or a plain venv."""
    found = python_tools(top)
    return None if found is None else Stack(name="Python", setup=found.setup, checks=found.checks, notes=found.notes)


def node(top: Path) -> Stack | None:
    """Node, with the package manager whose lock file is there."""
    if not (top / "package.json").is_file():
        return None
    table = json_of(top / "package.json")
    manager = manager_of(top, str(table.get("packageManager", "")))
    scripts = mapping(table.get("scripts"))
    checks = [f"{manager} test"] if "no test specified" not in str(scripts.get("test", "no test specified")) else []
    run = {"npm": "npm run -s", "yarn": "yarn -s"}.get(manager, f"{manager} run")
    for names in (("lint",), ("typecheck", "type-check", "check-types", "types"), ("build",)):
        checks += [f"{run} {name}" for name in names if name in scripts][:1]
    needs = {**mapping(table.get("dependencies")), **mapping(table.get("devDependencies"))}
    typed = any(word in check for check in checks for word in ("type", "build"))
    if "typescript" in needs and (top / "tsconfig.json").is_file() and not typed:
        checks.append("npx tsc --noEmit")
    notes = () if checks else ("package.json has no test, lint, typecheck or build script; add a check by hand",)
    wanted = needs or table.get("workspaces") or has(top, *LOCKS)
    return Stack(name="Node", setup=install(top, manager) if wanted else "", checks=tuple(checks), notes=notes)


LOCKS = {
    "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun", "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}  # fmt: skip


def manager_of(top: Path, named: str) -> str:
    """npm, pnpm, yarn or bun: as package.json says, else by the lock file."""
    word = named.partition("@")[0]
    return word if word in LOCKS.values() else next((LOCKS[name] for name in LOCKS if (top / name).exists()), "npm")


def install(top: Path, manager: str) -> str:
    """The set-up that follows the lock file exactly, where there is one."""
    if not has(top, *(name for name, of in LOCKS.items() if of == manager)):
        return f"{manager} install"
    strict = "--immutable" if (top / ".yarnrc.yml").exists() and manager == "yarn" else "--frozen-lockfile"
    return "npm ci" if manager == "npm" else f"{manager} install {strict}"


def rust(top: Path) -> Stack | None:
    """Rust, with the linters that are set up."""
    if not (top / "Cargo.toml").is_file():
        return None
    checks = ["cargo test -q"]
    checks += ["cargo clippy -q -- -D warnings"] if has(top, "clippy.toml", ".clippy.toml") else []
    checks += ["cargo fmt --check"] if has(top, "rustfmt.toml", ".rustfmt.toml") else []
    return Stack(name="Rust", checks=tuple(checks))


def go(top: Path) -> Stack | None:
    """Go."""
    if not has(top, "go.mod", "go.work"):
        return None
    lint = has(top, ".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
    return Stack(name="Go", checks=("go vet ./...", "go test ./...", *(("golangci-lint run",) if lint else ())))


def java(top: Path) -> Stack | None:
    """Java or Kotlin, with Gradle or Maven; the wrapper comes first."""
    if has(top, "build.gradle", "build.gradle.kts"):
        return Stack(name="Java", checks=(f"{'./gradlew' if has(top, 'gradlew') else 'gradle'} -q test",))
    if has(top, "pom.xml"):
        return Stack(name="Java", checks=(f"{'./mvnw' if has(top, 'mvnw') else 'mvn'} -q test",))
    return None


def ruby(top: Path) -> Stack | None:
    """Ruby, with Bundler."""
    if not has(top, "Gemfile"):
        return None
    checks = ["bundle exec rspec"] if has(top, "spec", ".rspec") else []
    if not checks and has(top, "test"):
        rails = has(top, "bin/rails")
        checks = ["bin/rails test" if rails else "bundle exec rake test"]
    checks += ["bundle exec rubocop"] if has(top, ".rubocop.yml") else []
    return Stack(name="Ruby", setup="bundle install --quiet", checks=tuple(checks))


def dotnet(top: Path) -> Stack | None:
    """.NET."""
    if not any(next(top.glob(pattern), None) for pattern in ("*.sln", "*.slnx", "*.csproj", "*.fsproj")):
        return None
    return Stack(name=".NET", setup="dotnet restore", checks=("dotnet test --no-restore",))


def php(top: Path) -> Stack | None:
    """PHP, with Composer."""
    if not has(top, "composer.json"):
        return None
    scripts = mapping(json_of(top / "composer.json").get("scripts"))
    checks = [f"composer -q {name}" for name in ("test", "lint") if name in scripts]
    if "test" not in scripts and has(top, "phpunit.xml", "phpunit.xml.dist"):
        checks.append("vendor/bin/phpunit")
    checks += ["vendor/bin/phpstan analyse -q"] if has(top, "phpstan.neon", "phpstan.neon.dist") else []
    return Stack(name="PHP", setup="composer install --no-interaction --quiet", checks=tuple(checks))


def make(top: Path) -> Stack | None:
    """Make, where it has targets that check something."""
    text = next((words(top / name) for name in ("GNUmakefile", "makefile", "Makefile") if has(top, name)), "")
    targets = {name for line in re.findall(r"^([\w. -]+):(?!=)", text, re.MULTILINE) for name in line.split()}
    # What `check` does in most projects includes the other two.
    wanted = ("check",) if "check" in targets else tuple(name for name in ("test", "lint") if name in targets)
    return Stack(name="Make", checks=tuple(f"make {name}" for name in wanted)) if wanted else None


LOOKS: Sequence[Callable[[Path], Stack | None]] = (python, node, rust, go, java, ruby, dotnet, php, make)


def has(top: Path, *names: str) -> bool:
    """Whether one of these is there."""
    return any((top / name).exists() for name in names)


def words(path: Path) -> str:
    """A file's text; empty when it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def json_of(path: Path) -> Mapping[str, object]:
    """The object in a JSON file; empty when it holds none."""
    try:
        return mapping(json.loads(words(path)))
    except ValueError:
        return {}


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def programs(commands: Sequence[str]) -> tuple[str, ...]:
    """The programs that commands need on the machine: each part's first word, unless it is a path of the project's."""
    parts = [part.split() for command in commands for part in re.split(PIECES, command)]
    return tuple(dict.fromkeys(part[0] for part in parts if part and "/" not in part[0] and "=" not in part[0]))
