"""A git repository, as the runner reads it and commits to it without ever losing work."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from spiral.errors import GitError, UsageError
from spiral.loop.plumbing import TREES, Git, pathspec
from spiral.place import repository

RESCUE = "refs/spiral/rescue/"
BASE = "refs/spiral/base/"
"""Where a branch stood before an agent began, so that no clean-up of the agent's loses it; moved by the next pass."""
PLAIN = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
TRAILER = re.compile(r"[A-Za-z0-9-]+: \S")


@dataclass(frozen=True, kw_only=True, slots=True)
class Repo(Git):
    """One worktree of a repository and what all of them share."""

    def branches(self) -> tuple[str, ...]:
        """The local branches."""
        return tuple(self.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split())

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` holds all of `older`; nothing is held by everything."""
        if not older or not newer:
            return not older
        return self.git("merge-base", older, newer, good=(0, 1)).strip() == older

    def commits(self, base: str, head: str) -> tuple[str, ...]:
        """The commits that `head` has and `base` has not, oldest first."""
        if not head:
            return ()
        return tuple(self.git("rev-list", "--reverse", "--topo-order", head, *([f"^{base}"] if base else [])).split())

    def changed(
        self, base: str, head: str, *, paths: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The paths that differ between two commits or trees."""
        found = self.git("diff", "--name-only", "-z", *PLAIN, *self._two(base, head), *pathspec(paths, exclude))
        return tuple(name for name in found.split("\0") if name)

    def numstat(self, base: str, head: str, *, exclude: Sequence[str] = ()) -> tuple[tuple[int, int, str], ...]:
        """(lines added, lines removed, path); no lines for what is binary."""
        found = self.git("diff", "--numstat", "-z", *PLAIN, *self._two(base, head), *pathspec((), exclude))
        rows = [row.replace("-\t-\t", "0\t0\t", 1).split("\t", 2) for row in found.split("\0") if row]
        return tuple((int(added), int(removed), name) for added, removed, name in rows)

    def diff(self, base: str, head: str, *, limit: int, exclude: Sequence[str] = ()) -> str:
        """The difference as text of at most `limit` characters; where it was cut, its last line says so."""
        args = ("diff", *PLAIN, *self._two(base, head), *pathspec((), exclude))
        text = self.git(*args, limit=4 * limit + 1).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if len(text) <= limit:
            return text
        mark = f"\n[cut here: the diff is longer than {limit} characters]\n"
        return (text[: max(0, limit - len(mark))] + mark)[:limit]

    def _two(self, base: str, head: str) -> tuple[str, str]:
        return base or self.tree_of(""), head or self.tree_of("")

    def status_lines(self, *, exclude: Sequence[str] = ()) -> tuple[str, ...]:
        """What is not committed, as `git status --short` shows it, untracked files included and ignored ones not."""
        wanted = ("--porcelain", "-z", "--no-renames", "--untracked-files=all")
        return tuple(line for line in self.git("status", *wanted, *pathspec((), exclude)).split("\0") if line)

    def is_clean(self, *, exclude: Sequence[str] = ()) -> bool:
        """Whether nothing is uncommitted but under the excluded paths."""
        return not self.status_lines(exclude=exclude)

    def state_text(self, *, limit: int = 2_000) -> str:
        """Where the repository stands, for a briefing: branch, upstream, last subjects, uncommitted files."""
        wanted = ("--porcelain", "--branch", "-z", "--no-renames", "--untracked-files=no")
        found = self.git("status", *wanted, *pathspec((), (".agent",)))
        first, *rest = [line for line in found.split("\0") if line]
        rest += [
            f"?? {name}"
            for name in self.others((), (".agent",), "--exclude-standard", "--directory", "--no-empty-directory")
        ]
        lines = [f"branch: {first.removeprefix('## ')}"]
        if head := self.head():
            log = self.git("log", "-5", "--no-color", "--format=%h %<(100,trunc)%s", head)
            lines += ["last commits:", *(f"  {line.rstrip()}" for line in log.splitlines())]
        if rest:
            lines += [f"uncommitted ({len(rest)}):", *(f"  {line}" for line in rest[:20])]
        return "\n".join(lines)[:limit]

    def holders(self, sha: str, *, without: Sequence[str] = ()) -> tuple[str, ...]:
        """The refs from which a commit can be reached, but for those branches and our marks of where passes began."""
        found = self.git("for-each-ref", "--contains", sha, "--format=%(refname)").split()
        known = {f"refs/heads/{branch}" for branch in without}
        return tuple(ref for ref in found if ref not in known and not ref.startswith(BASE))

    def snapshot(
        self, *, paths: Sequence[str] = (), exclude: Sequence[str] = (), ignored: bool = False,
        pinned: tuple[str, Sequence[str]] | None = None,
    ) -> str:  # fmt: skip
        """A tree: HEAD's with the worktree's files at these paths as they are now, untracked ones included.

        With `pinned`, the paths that it names are as in its commit. Neither the index nor any file is touched.
        Repositories inside the worktree and files that cannot be read are left out.
        """
        with self._taken(paths, exclude, ignored=ignored, pinned=pinned) as (tree, _):
            return tree

    @contextmanager
    def _taken(
        self, paths: Sequence[str], exclude: Sequence[str], *, ignored: bool = False,
        pinned: tuple[str, Sequence[str]] | None = None,
    ) -> Iterator[tuple[str, Path | None]]:  # fmt: skip
        """The tree of `snapshot`, and an index that holds it, where that may take the place of the worktree's own."""
        with self._scratch() as (aside, whole):
            found = aside.git("diff-files", "--name-only", "-z", *PLAIN, *pathspec(paths, exclude)).split("\0")
            found += aside.others(paths, exclude, *(() if ignored else ("--exclude-standard",)))
            names = sorted({name for name in found if name and not name.endswith("/") and _readable(self.top / name)})
            if names:
                aside.git("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=_zeros(names))
            entries = self._entries(*pinned) if pinned and pinned[1] else b""
            if entries:
                aside.git("update-index", "-z", "--index-info", stdin=entries)
            tree = aside.git("write-tree").strip() if names or entries or not whole else self.tree_of(self.head())
            yield tree, Path(aside.index) if whole else None

    def others(self, paths: Sequence[str], exclude: Sequence[str], *kinds: str) -> list[str]:
        """Files that git does not track. It would look through excluded folders too, unless they are ignored."""
        folders = [f"--exclude=/{name}/" for name in exclude if not set(name) & set("*?[\\")]
        found = self.git("ls-files", "--others", "-z", *kinds, *folders, *pathspec(paths, exclude))
        return [name for name in found.split("\0") if name]

    def _entries(self, commit: str, paths: Sequence[str]) -> bytes:
        """What makes an index that holds HEAD hold, at these paths, what the commit holds."""
        two = self._two(commit, self.head())
        raw = self.git("diff", "--raw", "-z", "--no-abbrev", *PLAIN, *two, *pathspec(paths)).split("\0")
        rows = [(fields.lstrip(":").split(), name) for fields, name in zip(raw[::2], raw[1::2], strict=False)]
        return _zeros([f"{fields[0]} {fields[2]}\t{name}" for fields, name in rows])

    @contextmanager
    def _scratch(self) -> Iterator[tuple[Repo, bool]]:
        """The repository with an index of its own that holds HEAD, and what the real one knows of unchanged files; and
        whether the real one holds HEAD too."""
        with tempfile.TemporaryDirectory(prefix="spiral-index-") as folder:
            aside = replace(self, index=str(Path(folder, "index")))
            with suppress(OSError):
                shutil.copy2(self.own_dir() / "index", aside.index)
            tree = self.tree_of(self.head())
            try:
                whole = not aside.git("diff-index", "--cached", "--name-only", "-z", tree, limit=1)
                if not whole:
                    aside.git("read-tree", "--reset", tree)
            except GitError:
                # The real index is damaged: begin with none.
                Path(aside.index).unlink(missing_ok=True)
                aside.git("read-tree", tree)
                whole = False
            yield aside, whole

    def _adopt(self, index: Path | None, seen: int) -> bool:
        """Put an index in the place of the worktree's own, as git itself would; False when that changed meanwhile."""
        own = self.own_dir() / "index"
        lock = own.with_name("index.lock")
        try:
            handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError:
            return False
        os.close(handle)
        with suppress(OSError):
            if index is not None and own.stat().st_mtime_ns == seen:
                shutil.copyfile(index, lock)
                lock.replace(own)
                return True
        lock.unlink(missing_ok=True)
        return False

    def commit_all(self, message: str, *, exclude: Sequence[str] = (), trailers: Sequence[tuple[str, str]] = ()) -> str:
        """Commit everything that is not committed, untracked files included; the SHA, or empty when there is nothing.

        One winner: the branch moves only from the commit that was read. A retry commits what is left, which is nothing.
        """
        return self._commit(message, (), exclude, trailers=trailers)

    def commit_paths(self, message: str, paths: Sequence[str], *, trailers: Sequence[tuple[str, str]] = ()) -> str:
        """Commit these paths as they are now and nothing else, whatever is staged; otherwise as `commit_all`."""
        return self._commit(message, paths, (), trailers=trailers) if paths else ""

    def commit_pinned(
        self, message: str, commit: str, paths: Sequence[str], *, exclude: Sequence[str],
        trailers: Sequence[tuple[str, str]] = (),
    ) -> str:  # fmt: skip
        """As `commit_all`, with the paths as in the commit that is named."""
        return self._commit(message, (), exclude, trailers=trailers, pinned=(commit, paths))

    def _commit(
        self, message: str, paths: Sequence[str], exclude: Sequence[str], *, trailers: Sequence[tuple[str, str]],
        pinned: tuple[str, Sequence[str]] | None = None,
    ) -> str:  # fmt: skip
        """Commit what is found at the paths; the index follows there, and stays as it is elsewhere."""
        head, sha = self.head(), ""
        seen = self._index_time()
        left = (*exclude, *(pinned[1] if pinned else ()))
        with self._taken(paths, left, pinned=pinned) as (tree, index):
            if tree != self.tree_of(head):
                sha = self.write_commit(tree, (head,) if head else (), with_trailers(message, trailers))
                self.update_ref("HEAD", sha, head)
                TREES[sha] = tree
            if index is not None and (not sha or self._adopt(index, seen)):
                return sha
        if head or sha:
            self.git("reset", "-q", *pathspec(paths, exclude))
        return sha

    def _index_time(self) -> int:
        try:
            return (self.own_dir() / "index").stat().st_mtime_ns
        except OSError:
            return 0

    def write_commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A commit that no ref knows yet, in the user's name or, when there is none, in Spiral's."""
        known = self.git("config", "--get-regexp", r"^user\.(name|email)$", good=(0, 1)).lower()
        named = [] if "user.name " in known else ["-c", "user.name=Spiral"]
        named += [] if "user.email " in known else ["-c", "user.email=spiral@localhost"]
        above = [part for parent in parents for part in ("-p", parent)]
        return self.git(*named, "commit-tree", tree, *above, stdin=os.fsencode(message)).strip()

    def update_ref(self, ref: str, sha: str, old: str | None = None) -> None:
        """Move a ref, only from `old` if that is given; an empty `old` means that there is no such ref yet."""
        known = () if old is None else (old or "0" * len(sha),)
        self.git("update-ref", "-m", "spiral", ref, sha, *known)

    def amend(self, sha: str, message: str) -> str:
        """The same commit with another message: tree, parents, author, committer and times stay.

        Equal input gives an equal SHA, so a retry changes nothing. No ref is moved.
        """
        body = self.git("cat-file", "commit", sha).partition("\n\n")[0] + "\n\n" + message
        return self.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=os.fsencode(body)).strip()

    def rescue(self, name: str, sha: str = "", *, staying: str = "", exclude: Sequence[str] = ()) -> str:
        """Keep a commit, or without one HEAD and all that is uncommitted; the ref, or empty when nothing is at risk.

        A commit is at risk unless the one that is `staying` holds it, or a ref that is no branch: agents move branches.
        Neither the index nor any file is touched. One winner: a ref is only made, never moved, and the next number is
        taken when the name is. A retry finds its own ref and changes nothing.
        """
        tree, head = (self.tree_of(sha), sha) if sha else (self.snapshot(exclude=exclude), self.head())
        dirty = tree != self.tree_of(head)
        if not dirty and self.is_ancestor(head, staying):
            return ""
        if not dirty and (safe := [ref for ref in self.holders(head) if not ref.startswith("refs/heads/")]):
            return next((ref for ref in safe if ref.startswith(stem_of(name))), "")
        for number in range(1, 1_000):
            ref = stem_of(name) + (f"-{number}" if number > 1 else "")
            known = self.sha(ref)
            if known and self.tree_of(known) == tree and (self.sha(f"{known}^") if dirty else known) == head:
                return ref
            if not known:
                kept = self.write_commit(tree, (head,) if head else (), f"rescue: {name}\n") if dirty else head
                self.update_ref(ref, kept, "")
                if self.sha(ref) != kept or self.tree_of(ref) != tree:
                    raise GitError(f"{ref} does not hold what was to be rescued; nothing else was changed")
                return ref
        raise GitError(f"there are 999 rescues named {stem_of(name)!r}; delete some with `git update-ref -d`")

    def reset_to(self, sha: str, *, branch: str = "", exclude: Sequence[str] = ()) -> None:
        """Check out the branch (the current one when none is named) at `sha`; the excluded paths stay as they are.

        Refuses what would lose work: HEAD and the branch must be reachable from another ref or from `sha`, and what is
        uncommitted must be in a rescue. Ignored files stay. A retry does the rest of what the last one did not.
        """
        head, branch = self.head(), branch or self.branch()
        for known in {head, self.sha(f"refs/heads/{branch}")} - {""}:
            if not self.is_ancestor(known, sha) and not self.holders(known, without=(branch,)):
                raise GitError(f"will not reset {branch!r} to {sha[:12]!r}: that loses {known[:12]!r}; rescue it first")
        tree, target = self.snapshot(exclude=exclude), self.tree_of(sha)
        rescued = self.git("for-each-ref", "--format=%(tree)", RESCUE).split()
        if tree not in (self.tree_of(head), target, *rescued):
            raise GitError(f"will not reset {branch!r} to {sha[:12]!r}: there is uncommitted work; rescue it first")
        # With all that is there in the index, whatever the target lacks is removed too.
        self.git("read-tree", "--reset", tree)
        if tree != target:
            chosen = pathspec((), exclude)
            self.git("restore", f"--source={target}", "--staged", "--worktree", *chosen, good=(0, 1))
            if left := self.changed(target, self.snapshot(exclude=exclude), exclude=exclude):
                raise GitError(f"could not make {left[0]!r} as in {sha[:12]!r}; who owns the file?")
        self.attach(branch, sha)
        if sha:
            self.git("reset", "-q")

    def attach(self, branch: str, sha: str, old: str | None = None) -> None:
        """Put the branch at a commit and HEAD on the branch; files and index stay as they are."""
        if sha:
            self.update_ref(f"refs/heads/{branch}" if branch else "HEAD", sha, old)
        if branch:
            self.git("symbolic-ref", "-m", "spiral", "HEAD", f"refs/heads/{branch}")

    def switch_back(self, branch: str) -> None:
        """Check the branch out; git itself refuses when that would overwrite uncommitted work."""
        self.git("switch", "-q", "--no-guess", branch)


def repo_at(folder: Path, env: Mapping[str, str]) -> Repo:
    """The worktree that holds a folder; UsageError when there is none."""
    found = repository(folder)
    if found is None or found.bare:
        raise UsageError(f"{str(folder)!r} is in no git worktree; run `git init` there, or start elsewhere")
    return Repo(top=found.top, git_dir=found.git_dir, env=env)


def with_trailers(message: str, trailers: Sequence[tuple[str, str]]) -> str:
    """The message with those of the trailers that it lacks, as the last lines of its last paragraph."""
    body = message.strip()
    missing = [line for line in (f"{key}: {value}" for key, value in trailers) if line not in body.splitlines()]
    if not missing:
        return body + "\n"
    above, _, last = body.rpartition("\n\n")
    joined = bool(above) and all(TRAILER.match(line) for line in last.splitlines())
    return body + ("\n" if joined else "\n\n") + "\n".join(missing) + "\n"


def stem_of(name: str) -> str:
    """The ref of a rescue's name; what is no letter or digit becomes a dash."""
    return RESCUE + (re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "work")


def _readable(path: Path) -> bool:
    """Whether git can read it; what is gone is a deletion, which it can."""
    return path.is_symlink() or not path.exists() or os.access(path, os.R_OK)


def _zeros(names: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)
