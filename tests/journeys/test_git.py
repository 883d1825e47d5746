"""The repository as the runner reads it and commits to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repositories import run, shop, write
from spiral.errors import GitError, UsageError
from spiral.loop.git import Repo, repo_at, with_trailers


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return shop(tmp_path / "shop")


def test_two_commits_are_compared_without_the_agents_folder(repo: Repo) -> None:
    base = repo.head()
    write(repo.top, file1_dot_txt="one\n", new__b_dot_txt="b\n", _dot_agent__x="x\n")
    (repo.top / "äö.bin").write_bytes(b"\0\1")
    (repo.top / "file2.txt").unlink()
    head = repo.commit_all("feat: more")
    assert repo.changed(base, head, exclude=(".agent",)) == ("file1.txt", "file2.txt", "new/b.txt", "äö.bin")
    assert repo.numstat(base, head, exclude=(".agent",)) == (
        (1, 1, "file1.txt"), (0, 1, "file2.txt"), (1, 0, "new/b.txt"), (0, 0, "äö.bin"),
    )  # fmt: skip
    assert repo.commits(base, head) == (head,)
    assert (repo.is_ancestor(base, head), repo.is_ancestor(head, base)) == (True, False)
    whole = repo.diff(base, head, limit=10_000)
    assert "+one" in whole and "b/.agent/x" in whole
    assert repo.diff(base, head, limit=120).endswith("[cut here: the diff is longer than 120 characters]\n")
    assert len(repo.diff(base, head, limit=120)) == 120


def test_the_users_hooks_variables_and_signing_key_play_no_part(repo: Repo, tmp_path: Path) -> None:
    run(repo.top, "git config commit.gpgSign true; git config user.signingKey none")
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "prepare-commit-msg"):
        (repo.top / ".git/hooks" / hook).write_text("#!/bin/sh\ntouch ran-a-hook\nexit 1\n")
        (repo.top / ".git/hooks" / hook).chmod(0o755)
    lost = Repo(top=repo.top, git_dir=repo.git_dir, env=os.environ | {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/x"})
    write(repo.top, a="a\n")
    assert lost.commit_all("feat: a", trailers=(("Spiral-Pass", "p1"),)) == repo.head()
    assert run(repo.top, "git log -1 --format='%an <%ae>%n%B'") == (
        "Spiral <spiral@localhost>\nfeat: a\n\nSpiral-Pass: p1"
    )
    assert repo.is_clean() and not (repo.top / "ran-a-hook").exists()


def test_the_users_name_is_used_when_there_is_one(repo: Repo) -> None:
    run(repo.top, "git config user.name Eve; git config user.email eve@example.org")
    write(repo.top, a="a\n")
    repo.commit_all("feat: a")
    assert run(repo.top, "git log -1 --format='%an <%ae> %cn'") == "Eve <eve@example.org> Eve"


def test_committing_some_paths_leaves_what_a_person_has_staged(repo: Repo) -> None:
    write(repo.top, staged="s\n", memory__m_dot_md="m\n", loose="l\n")
    run(repo.top, "git add staged")
    assert repo.commit_paths("memory: one", ("memory", "nothing-there"))
    assert repo.status_lines() == ("A  staged", "?? loose")
    assert repo.commit_paths("memory: one", ("memory",)) == ""
    (repo.top / "memory/m.md").unlink()
    sha = repo.commit_paths("memory: none", ("memory",))
    assert repo.changed(f"{sha}^", sha) == ("memory/m.md",)
    assert repo.status_lines() == ("A  staged", "?? loose")


def test_a_commit_that_lost_its_race_changes_nothing(repo: Repo) -> None:
    head = repo.head()
    with pytest.raises(GitError, match=r"`git update-ref .*` failed in .*: fatal: .*is at"):
        repo.update_ref("HEAD", repo.commits("", head)[0], repo.commits("", head)[1])
    assert repo.head() == head


def test_a_repository_without_commits_has_an_empty_head(tmp_path: Path) -> None:
    repo = shop(tmp_path / "empty", commits=0)
    assert (repo.head(), repo.branch(), repo.commits("", ""), repo.is_clean()) == ("", "main", (), True)
    assert repo.state_text() == "branch: No commits yet on main"
    assert repo.rescue("nothing") == ""
    write(repo.top, a="a\n")
    assert repo.changed("", repo.snapshot()) == ("a",)
    assert repo.rescue("work") == "refs/spiral/rescue/work"
    first = repo.commit_all("feat: first")
    assert repo.commits("", first) == (first,)
    assert "+a" in repo.diff("", first, limit=1_000)


def test_a_rescue_keeps_what_is_uncommitted_and_touches_nothing(repo: Repo) -> None:
    write(
        repo.top, _dot_gitignore="*.log\n", file1_dot_txt="changed\n", staged="s\n", new__deep__x="x\n", a_dot_log="l"
    )
    (repo.top / "file2.txt").unlink()
    run(repo.top, "git add staged; mkdir inner; cd inner; git init -q; touch y")
    before, index = repo.status_lines(), (repo.git_dir / "index").read_bytes()
    ref = repo.rescue("pass 7/α")
    assert ref == "refs/spiral/rescue/pass-7"
    assert repo.changed("HEAD", ref) == (".gitignore", "file1.txt", "file2.txt", "new/deep/x", "staged")
    assert (repo.status_lines(), (repo.git_dir / "index").read_bytes()) == (before, index)
    assert repo.rescue("pass 7/α") == ref
    write(repo.top, file1_dot_txt="changed again\n")
    assert repo.rescue("pass 7/α") == "refs/spiral/rescue/pass-7-2"
    assert run(repo.top, f"git show {ref}:file1.txt") == "changed"


def test_a_reset_refuses_to_lose_commits_or_files(repo: Repo) -> None:
    first, *_, head = repo.commits("", repo.head())
    with pytest.raises(GitError, match=f"will not reset 'main' to .*: that loses '{head[:12]}'; rescue it first"):
        repo.reset_to(first)
    assert repo.rescue("tip", head) == "refs/spiral/rescue/tip"
    write(repo.top, loose="l\n")
    with pytest.raises(GitError, match="there is uncommitted work; rescue it first"):
        repo.reset_to(first)
    ref = repo.rescue("loose")
    repo.reset_to(first)
    assert (repo.head(), repo.status_lines()) == (first, ())
    assert sorted(path.name for path in repo.top.iterdir()) == [".git", "file1.txt"]
    assert run(repo.top, f"git show {ref}:loose") == "l"


def test_what_a_reset_excludes_stays_as_it_is(repo: Repo) -> None:
    write(repo.top, _dot_agent__memory__m_dot_md="old\n")
    base = repo.commit_all("memory: m")
    write(repo.top, _dot_agent__memory__m_dot_md="new\n", _dot_agent__memory__n_dot_md="n\n", work="w\n")
    head = repo.commit_paths("feat: work", ("work",))
    repo.rescue("tip", head)
    repo.reset_to(base, exclude=(".agent/memory",))
    assert repo.status_lines() == (" M .agent/memory/m.md", "?? .agent/memory/n.md")
    assert (repo.top / ".agent/memory/m.md").read_text() == "new\n"


def test_git_never_strays_to_the_repository_above(repo: Repo) -> None:
    inside = repo.top / "folder"
    inside.mkdir()
    with pytest.raises(GitError, match=r"failed in .*folder.*not a git repository"):
        Repo(top=inside, git_dir=repo.git_dir, env=os.environ).head()


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in no git worktree; run `git init` there"):
        repo_at(tmp_path, os.environ)


def test_git_that_takes_too_long_is_ended(repo: Repo) -> None:
    run(repo.top, "git config alias.wait '!sleep 30'")
    with pytest.raises(GitError, match=r"`git wait` failed in .*: it took longer than 0.2 s"):
        repo.git("wait", seconds=0.2)


def test_the_state_tells_branch_upstream_subjects_and_files(repo: Repo, tmp_path: Path) -> None:
    run(repo.top, f"git clone -q --bare . {tmp_path}/up.git; git remote add up {tmp_path}/up.git; git fetch -q up")
    run(repo.top, "git branch -q -u up/main")
    write(repo.top, a="a\n", _dot_agent__x="x\n")
    repo.commit_paths("feat: a", ("a",))
    write(repo.top, b="b\n")
    lines = repo.state_text().splitlines()
    assert lines[0] == "branch: main...up/main [ahead 1]"
    assert [line.split(maxsplit=1)[1] for line in lines[2:7]] == ["feat: a", *(f"feat: file {n}" for n in (4, 3, 2, 1))]
    assert lines[7:] == ["uncommitted (1):", "  ?? b"]


def test_trailers_join_the_ones_that_are_there() -> None:
    ours = (("Spiral-Pass", "p1"),)
    assert with_trailers("fix: it", ours) == "fix: it\n\nSpiral-Pass: p1\n"
    assert with_trailers("fix: it\n\nCo-Authored-By: A <a@b>\n", ours) == (
        "fix: it\n\nCo-Authored-By: A <a@b>\nSpiral-Pass: p1\n"
    )
    assert with_trailers("fix: it\n\nSpiral-Pass: p1", ours) == "fix: it\n\nSpiral-Pass: p1\n"
