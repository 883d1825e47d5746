"""What an agent left in the repository, brought onto the branch or kept beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from spiral.errors import GitError, UsageError
from spiral.loop.git import BASE, Repo, stem_of, with_trailers
from spiral.loop.stale import unlock

LEFT = (".agent/history", ".agent/logs", ".agent/memory", ".agent/tasks*")
"""What the runner itself writes and commits."""
SWEPT, RESTORED = "Spiral-Swept", "Spiral-Restored"
"""Trailers of the runner's own commit, so that a retry tells the same."""
OPERATIONS = (
    ("rebase-merge", ("rebase", "--quit")),
    ("rebase-apply/applying", ("am", "--quit")),
    ("rebase-apply", ("rebase", "--quit")),
    ("CHERRY_PICK_HEAD", ("cherry-pick", "--quit")),
    ("REVERT_HEAD", ("revert", "--quit")),
    ("sequencer", ("cherry-pick", "--quit")),
    ("MERGE_HEAD", ("merge", "--quit")),
    ("BISECT_LOG", ("bisect", "reset", "HEAD")),
)
"""What in a git dir tells that something is under way, and how to end it with all files left as they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """How things stood before the agent began."""

    base: str
    """HEAD; empty when there was no commit."""
    branch: str
    original: str = ""
    """A tree with the protected paths as they were, committed or not. Empty: as in the base."""
    branches: tuple[str, ...] = ()
    """The branches that were there: none of them is taken for the agent's work."""
    protected: tuple[str, ...] = ()
    """Paths, with `*`, that no agent may change."""
    left: tuple[str, ...] = LEFT
    """Paths, with `*`, that are neither committed nor reset here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """What became of the agent's work; the fields of an `Attempt`."""

    base: str
    head: str
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    swept: bool = False
    rescued: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    amended: str = ""
    """The agent's last commit as it was before it got our trailers."""


def begin(repo: Repo, protected: Sequence[str] = (), left: Sequence[str] = LEFT) -> Start:
    """How things stand now, with the base kept by a ref of ours; a retry keeps the same.

    UsageError when no branch is checked out.
    """
    base, branch = repo.head(), repo.branch()
    if not branch:
        raise UsageError(f"no branch is checked out in {str(repo.top)!r}; `git switch -c NAME` makes one")
    if base:
        repo.update_ref(BASE + branch, base)
    return Start(
        base=base,
        branch=branch,
        original=repo.snapshot(paths=protected, ignored=True) if protected else "",
        branches=repo.branches(),
        protected=tuple(protected),
        left=tuple(left),
    )


def settle_work(
    repo: Repo, start: Start, *, message: str, trailers: Sequence[tuple[str, str]], rescue_name: str
) -> Settled:
    """Bring what an agent made onto its branch; to be called when its process has ended.

    Afterwards the branch is checked out, nothing is under way, the base is part of it, protected paths are as they were
    and all but the left paths is committed. What does not fit there is under `refs/spiral/rescue/`; no file and no
    commit of the agent's is lost on the way. One winner: refs move only from where they were seen. A retry goes on
    where the last call ended; once settled, it changes nothing.
    """
    unlock(repo, start.branch)
    _mend_index(repo)
    _end_operations(repo, start, rescue_name)
    _return_to_branch(repo, start, rescue_name)
    restored = _restore(repo, start, rescue_name)
    _sweep(repo, start, message, trailers)
    amended = _sign(repo, start, trailers)
    return replace(_found(repo, start, rescue_name, restored), amended=amended)


def put_back(repo: Repo, branch: str, head: str, *, rescue_name: str) -> tuple[str, ...]:
    """Put the branch back where it was, when one who may only read has moved it; the rescue of what it made there.

    One winner: the branch moves only from where it was seen. A retry changes nothing.
    """
    ref = f"refs/heads/{branch}"
    moved = repo.sha(ref)
    if moved == head:
        return ()
    kept = repo.rescue(rescue_name, moved, staying=head) if moved else ""
    repo.update_ref(ref, head, moved)
    return (kept,) if kept else ()


def _mend_index(repo: Repo) -> None:
    """Put an index that cannot be read aside; HEAD and the files make a new one."""
    try:
        repo.git("ls-files", "-z", "--", ":(top,literal).git")
    except GitError:
        index = repo.own_dir() / "index"
        if not index.exists():
            raise
        index.replace(index.with_name("index.damaged"))
        repo.git("reset", "-q")


def _end_operations(repo: Repo, start: Start, rescue_name: str) -> None:
    """End a merge, rebase, cherry-pick, revert, series of patches or bisection that is under way."""
    own = repo.own_dir()
    if not any((own / name).exists() for name, _ in OPERATIONS):
        return
    repo.rescue(rescue_name, staying=repo.head(), exclude=start.left)
    for name, command in OPERATIONS:
        if (own / name).exists():
            # What is left half-done may be too damaged even to quit; the reset clears most of it too.
            with suppress(GitError):
                repo.git(*command)
    repo.reset_to(repo.head(), exclude=start.left)


def _return_to_branch(repo: Repo, start: Start, rescue_name: str) -> None:
    """Check the branch out again, with the base in it, and with commits that were made elsewhere on top of it."""
    here, now, tip = repo.branch(), repo.head(), repo.sha(f"refs/heads/{start.branch}")
    sound = repo.is_ancestor(start.base, now)
    if sound and here == start.branch:
        return
    if sound and (now == tip or (_is_new_work(repo, start, here, now) and repo.is_ancestor(tip, now))):
        repo.attach(start.branch, now, tip)
        return
    target = tip if tip and repo.is_ancestor(start.base, tip) else start.base
    if tip:
        repo.rescue(rescue_name, tip, staying=target)
    repo.rescue(rescue_name, staying=target, exclude=start.left)
    repo.reset_to(target, branch=start.branch, exclude=start.left)


def _is_new_work(repo: Repo, start: Start, here: str, now: str) -> bool:
    """Whether HEAD, on top of the base, holds only what the agent itself committed."""
    made = repo.commits(start.base, now)
    return bool(made) and here not in start.branches and not repo.holders(made[0], without=(here, start.branch))


def _restore(repo: Repo, start: Start, rescue_name: str) -> tuple[str, ...]:
    """Make the files at the protected paths as they were; those that were not."""
    if not start.protected:
        return ()
    original = start.original or repo.tree_of(start.base)
    now = repo.snapshot(paths=start.protected, ignored=True)
    altered = repo.changed(original, now, paths=start.protected) if now != original else ()
    if not altered:
        return ()
    there = set(repo.git("ls-tree", "-r", "-z", "--name-only", original).split("\0"))
    if not start.original:
        # Who does not know what was there before must not remove what the base never had.
        altered = tuple(name for name in altered if name in there)
    if not altered:
        return ()
    head = repo.head()
    if now != repo.tree_of(head):
        repo.rescue(rescue_name, repo.write_commit(now, (head,) if head else (), f"rescue: {rescue_name}\n"))
    back = [name for name in altered if name in there]
    if back:
        literal = [f":(top,literal){name}" for name in back]
        repo.git("restore", f"--source={original}", "--worktree", "--", *literal)
    for name in set(altered) - there:
        (repo.top / name).unlink(missing_ok=True)
    return altered


def _sweep(repo: Repo, start: Start, message: str, trailers: Sequence[tuple[str, str]]) -> None:
    """Commit what is uncommitted, with the protected paths as in the base."""
    committed = repo.changed(start.base, repo.head(), paths=start.protected) if start.protected else ()
    ours = (*trailers, (SWEPT, "yes"), *((RESTORED, name) for name in committed))
    repo.commit_pinned(message, start.base, start.protected, exclude=start.left, trailers=ours)


def _sign(repo: Repo, start: Start, trailers: Sequence[tuple[str, str]]) -> str:
    """Add the trailers to the agent's last commit when nobody else has it yet; its SHA as it was, or empty."""
    head = repo.head()
    if not trailers or head == start.base:
        return ""
    header, _, message = repo.git("cat-file", "commit", head).partition("\n\n")
    signed = with_trailers(message, trailers)
    first = f"{trailers[0][0]}: "
    if any(line.startswith(first) for line in message.splitlines()) or "\ngpgsig" in header:
        return ""
    if repo.holders(head, without=(start.branch,)):
        return ""
    repo.update_ref("HEAD", repo.amend(head, signed), head)
    return head


def _found(repo: Repo, start: Start, rescue_name: str, restored: Sequence[str]) -> Settled:
    """What a look at the repository tells."""
    head = repo.head()
    commits = repo.commits(start.base, head)
    said = _trailers(repo, start.base, head) if commits else []
    stem = stem_of(rescue_name)
    refs = repo.git("for-each-ref", "--format=%(refname)", stem, f"{stem}-*").split()
    back = {line.partition(": ")[2] for line in said if line.startswith(f"{RESTORED}: ")}
    return Settled(
        base=start.base,
        head=head,
        commits=commits,
        files=repo.changed(start.base, head, exclude=(".agent",)),
        swept=f"{SWEPT}: yes" in said,
        rescued=tuple(refs),
        restored=tuple(sorted({*restored, *back})),
    )


def _trailers(repo: Repo, base: str, head: str) -> list[str]:
    return repo.git("log", "--format=%(trailers:unfold)", head, *([f"^{base}"] if base else [])).splitlines()
