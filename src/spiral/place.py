"""Where things live: the same answer from every folder and every worktree of a repository."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spiral.errors import ConfigError

TRUE = ("true", "yes", "on", "1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Folders:
    """The user's own folders; None where neither the XDG variable nor HOME is set."""

    data: Path | None = None
    cache: Path | None = None
    config_file: Path | None = None
    """The user's settings, whether or not the file is there."""


class Repository(NamedTuple):
    """A git repository as seen from one folder, read from git's own files without running git."""

    checkout: Path | None
    """The main checkout; None when the repository is bare, or does not say where its checkout is."""
    git_dir: Path
    """Shared by all worktrees."""
    worktree_git_dir: Path
    """This worktree's own; the shared one in the main checkout."""
    top: Path
    """The top folder of this worktree; the git dir itself when started in there."""
    bare: bool

    @property
    def name(self) -> str:
        """What people call it: the folder of its main checkout, or of a bare repository without `.git`."""
        if self.checkout is not None:
            return self.checkout.name
        return self.git_dir.parent.name if self.git_dir.name.startswith(".") else self.git_dir.name.removesuffix(".git")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the memory of one application lives. Naming a place creates nothing."""

    root: Path
    """The memory's files."""
    index: Path
    """What is derived from the files and can be rebuilt."""
    repository: Path | None
    """The main checkout."""
    git_dir: Path | None
    """Shared by all worktrees."""
    worktree_git_dir: Path | None
    """This worktree's own; the shared one in the main checkout."""
    project: Path
    """The folder of spiral.toml and .agent/."""


def find(start: Path, *, folders: Folders, app: str = "", root: Path | None = None, index: Path | None = None) -> Place:
    """The place that serves `start`; `app`, `root` and `index` are as the settings say, empty for automatic."""
    home = repository(start)
    if home is None:
        here = folder_of(start)
        if root is not None:
            index = index or _known(folders.cache, "cache", "memory.index") / "spiral" / digest(root) / "index"
        else:
            data = _known(folders.data, "data", "memory.root") / "spiral" / safe_name(app or app_name(here, None))
            root, index = data / "memory", index or data / "index"
        return Place(root=root, index=index, repository=None, git_dir=None, worktree_git_dir=None, project=here)
    return Place(
        root=root or _memory_of(home),
        index=index or home.git_dir / "spiral" / (f"index-{digest(root)}" if root else "index"),
        repository=home.checkout,
        git_dir=home.git_dir,
        worktree_git_dir=home.worktree_git_dir,
        project=home.checkout or home.top,
    )


def repository(start: Path) -> Repository | None:
    """The repository that holds `start`, a submodule being its own; None outside git."""
    here = folder_of(start)
    try:
        for folder in (here, *here.parents):
            own = _git_dir_of(folder)
            if own is not None:
                return _opened(folder, own)
    except OSError as error:
        raise ConfigError(
            f"cannot read {str(error.filename or here)!r} to learn which repository holds {str(here)!r}: "
            f"{error.strerror}; check its permissions, or start outside of it"
        ) from error
    return None


def folder_of(start: Path) -> Path:
    """`start` without symbolic links; the folder that holds it when it is a file."""
    try:
        here = start.resolve()
        return here.parent if here.is_file() else here
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"cannot start at {str(start)!r}: {error}; start in a folder that exists") from error


def app_name(start: Path, home: Repository | None) -> str:
    """The application's name when the settings give none: the repository's, or the folder's outside git."""
    name = home.name if home is not None else folder_of(start).name
    clean = name.encode("utf-8", "replace").decode()
    return "".join(char if char.isprintable() else "-" for char in clean)[:200] or "root"


def safe_name(app: str) -> str:
    """The application's name as one folder's name; a name that had to be altered stays unique by its hash."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", app)[:60].strip("-.")
    return slug if slug and slug == app else f"{slug or 'app'}-{digest(app)}"


def digest(thing: Path | str) -> str:
    """Twelve hexadecimal digits that stand for a path (its symbolic links followed) or a name."""
    # Loading it costs as much as the rest of this module, and most repositories never need it.
    import hashlib

    text = str(thing.resolve()) if isinstance(thing, Path) else thing
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _known(folder: Path | None, what: str, setting: str) -> Path:
    if folder is None:
        raise ConfigError(
            f"outside git the memory needs the user's {what} folder, and neither HOME nor "
            f"XDG_{what.upper()}_HOME is set to an absolute path; set one of them, or {setting}"
        )
    return folder


def _memory_of(home: Repository) -> Path:
    if home.checkout is not None:
        return home.checkout / ".agent" / "memory"
    if home.bare:
        return home.git_dir / "spiral" / "memory"
    raise ConfigError(
        f"cannot tell which folder is the main checkout of {str(home.git_dir)!r}; run "
        "`git config core.worktree <its full path>` in the main checkout, or set memory.root"
    )


def _git_dir_of(folder: Path) -> Path | None:
    """The git dir that makes `folder` a worktree or a git dir itself."""
    entry = folder / ".git"
    if entry.is_file():
        return _linked(entry)
    if _is_git_dir(entry):
        return entry.resolve()
    return folder if _is_git_dir(folder) else None


def _is_git_dir(folder: Path) -> bool:
    """By the signs that git itself goes by; a folder that may not be looked into raises PermissionError."""
    try:
        (folder / "HEAD").lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (folder / "commondir").is_file() or ((folder / "objects").is_dir() and (folder / "refs").is_dir())


def _linked(entry: Path) -> Path:
    """The git dir that a `.git` file names."""
    line = _text(entry)
    if not line.startswith("gitdir: "):
        raise ConfigError(f"{str(entry)!r} does not begin with 'gitdir: ' but with {line[:40]!r}; restore or remove it")
    target = (entry.parent / line.removeprefix("gitdir: ")).resolve()
    if not _is_git_dir(target):
        raise ConfigError(
            f"{str(entry)!r} names {str(target)!r}, which is no git dir; run `git worktree repair` in the "
            "main checkout (or `git submodule update --init` for a submodule)"
        )
    return target


def _opened(folder: Path, own: Path) -> Repository:
    shared = own / "commondir"
    common = (own / _text(shared)).resolve() if shared.is_file() else own
    if not _is_git_dir(common):
        raise ConfigError(
            f"{str(shared)!r} names {str(common)!r}, which is no git dir; "
            "run `git worktree repair` in the main checkout"
        )
    core = _core(common)
    bare = core.get("bare", "false").lower() in TRUE
    inside = folder == own
    checkout = None if bare else _checkout(common, core, None if inside or own != common else folder)
    return Repository(
        checkout=checkout,
        git_dir=common,
        worktree_git_dir=own,
        top=(checkout or own) if inside else folder,
        bare=bare,
    )


def _checkout(common: Path, core: dict[str, str], found: Path | None) -> Path | None:
    """The main checkout, from what all worktrees share wherever possible, so that all of them agree."""
    if "worktree" in core:
        named = (common / core["worktree"]).resolve()
        if not named.is_dir():
            raise ConfigError(
                f"core.worktree in {str(common / 'config')!r} names {str(named)!r}, which is no folder; "
                "correct it with `git config core.worktree <the checkout's full path>`"
            )
        return named
    return common.parent if common.name == ".git" else found


def _core(common: Path) -> dict[str, str]:
    """The [core] section of the main worktree; included files are not followed."""
    values: dict[str, str] = {}
    for name in ("config", "config.worktree"):
        try:
            text = os.fsdecode((common / name).read_bytes())
        except FileNotFoundError:
            continue
        section = ""
        for line in text.split("\n"):
            rest = line.strip()
            if header := re.match(r"\[([^]]*)\]\s*", rest):
                section, rest = header[1].strip().lower(), rest[header.end() :]
            if section == "core" and (pair := re.match(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$", rest)):
                values[pair[1].lower()] = "true" if pair[2] is None else _unquoted(pair[2])
    return values


def _unquoted(value: str) -> str:
    """A value as git reads it: quotes and escapes resolved, a comment cut off."""
    plain, quoted, escaped = "", False, False
    for char in value:
        if escaped:
            plain, escaped = plain + {"n": "\n", "t": "\t"}.get(char, char), False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            plain += char
    return plain.strip()


def _text(file: Path) -> str:
    """The one line of a file of git's, which may hold any bytes."""
    return os.fsdecode(file.read_bytes()).rstrip("\r\n")
