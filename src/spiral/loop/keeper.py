"""Keeps `.agent/` whole: what an agent deletes there is put back, and what it may not alter is restored.

A private index and ref of git's hold the folder as it was before the pass, whether or not the project commits it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from spiral.loop.git import Repo

REF = "refs/spiral/kept"
OURS = (".agent", ":(exclude).agent/history", ":(exclude).agent/screenshots")
GUARDED = (".agent/memory/", ".agent/PROMPT.md", ".agent/VISION.md", ".agent/STEERING.md")
"""What an agent may read and not alter."""
GROWING = (".agent/memory/episodes/", ".agent/logs/")
"""Files that may grow while an agent runs."""


def private(repo: Repo) -> Repo:
    """The repository through the private index."""
    return replace(repo, index=str(repo.git_dir / "spiral" / "kept.index"))


def keep(repo: Repo, project: Path) -> None:
    """Remember `.agent/` as it is. A second call with nothing changed changes nothing."""
    if not (project / ".agent").is_dir():
        return
    mine = private(repo)
    (repo.git_dir / "spiral").mkdir(parents=True, exist_ok=True)
    mine.git("add", "-A", "-f", "--", *OURS)
    tree = mine.git("write-tree").strip()
    before = repo.sha(REF)
    if not before or repo.tree_of(before) != tree:
        repo.update_ref(REF, repo.write_commit(tree, (), "The .agent/ folder before a pass"))


def put_back(repo: Repo, project: Path, aside: Path) -> tuple[str, ...]:
    """Restore what was deleted or wrongly altered since `keep`; the paths. What is replaced is laid aside first."""
    if not repo.sha(REF):
        return ()
    mine = private(repo)
    (project / ".agent").mkdir(exist_ok=True)
    listed = mine.git("diff-files", "--name-status", "--no-renames", "-z", "--", *OURS).split("\0")
    wrong: list[str] = []
    for status, path in zip(listed[0::2], listed[1::2], strict=False):
        if status == "D":
            wrong.append(path)
        elif path.startswith(GUARDED) and not (path.startswith(GROWING) and grew(mine, project, path)):
            lay_aside(project / path, aside / path)
            wrong.append(path)
    if wrong:
        names = "\0".join(wrong).encode("utf-8", "surrogateescape")
        mine.git("checkout-index", "-f", "-z", "--stdin", stdin=names)
    return tuple(wrong)


def grew(mine: Repo, project: Path, path: str) -> bool:
    """Whether a file still begins as it was."""
    was = mine.git("cat-file", "blob", f":{path}").encode("utf-8", "surrogateescape")
    try:
        return (project / path).read_bytes().startswith(was)
    except OSError:
        return False


def lay_aside(source: Path, target: Path) -> None:
    """Keep a copy, so that nothing anybody wrote is lost."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())
