"""What agents leave behind, brought onto the branch or kept beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repositories import run, shop, write
from spiral.errors import UsageError
from spiral.loop.codec import dump
from spiral.loop.git import Repo
from spiral.loop.sweep import Settled, Start, begin, put_back, settle_work

PASS = (("Spiral-Pass", "r-1-0007"), ("Spiral-Task", "T1"))
RESCUE = "refs/spiral/rescue/r-1-0007"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return shop(tmp_path / "shop")


def settle(repo: Repo, start: Start) -> Settled:
    """Settle, and see that a second call tells the same and changes nothing."""

    def state() -> tuple[str, ...]:
        return (run(repo.top, "git for-each-ref; git status --porcelain --branch; git symbolic-ref HEAD"),)

    def once() -> Settled:
        return settle_work(repo, start, message="chore: keep the work", trailers=PASS, rescue_name="r-1-0007")

    settled = once()
    before = state()
    again = once()
    assert state() == before
    assert again.head == settled.head and again.rescued == settled.rescued and again.swept == settled.swept
    assert again.commits == settled.commits and again.files == settled.files and again.amended == ""
    assert repo.branch() == start.branch
    return settled


def show(repo: Repo, spec: str) -> str:
    return run(repo.top, f"git show {spec}")


def test_uncommitted_work_is_committed_with_trailers_but_for_the_runners_own_files(repo: Repo) -> None:
    write(repo.top, _dot_gitignore="*.log\n")
    repo.commit_all("chore: ignore")
    start = begin(repo)
    write(repo.top, file1_dot_txt="better\n", new__x="x\n", a_dot_log="l\n")
    write(repo.top, _dot_agent__tasks_dot_json="{}", _dot_agent__tasks__T1_dot_json="{}", _dot_agent__logs__L="l\n")
    run(repo.top, "git add file1.txt .agent/tasks.json")
    settled = settle(repo, start)
    assert settled == Settled(
        base=start.base, head=repo.head(), commits=(repo.head(),), files=("file1.txt", "new/x"), swept=True
    )
    assert run(repo.top, "git log -1 --format=%B") == (
        "chore: keep the work\n\nSpiral-Pass: r-1-0007\nSpiral-Task: T1\nSpiral-Swept: yes"
    )
    assert repo.status_lines() == (
        "A  .agent/tasks.json", "?? .agent/logs/L", "?? .agent/tasks/T1.json",
    )  # fmt: skip


def test_the_agents_own_commit_gets_the_trailers_and_keeps_the_rest(repo: Repo) -> None:
    start = begin(repo)
    write(repo.top, a="a\n")
    run(repo.top, "git add -A; git commit -q -m 'feat: a' -m 'Co-Authored-By: Bot <b@c>'")
    was, author = repo.head(), run(repo.top, "git log -1 --format='%an %ad %cd %T %P'")
    settled = settle(repo, start)
    assert (settled.amended, settled.swept, settled.files) == (was, False, ("a",))
    assert run(repo.top, "git log -1 --format='%an %ad %cd %T %P'") == author
    assert run(repo.top, "git log -1 --format=%B") == (
        "feat: a\n\nCo-Authored-By: Bot <b@c>\nSpiral-Pass: r-1-0007\nSpiral-Task: T1"
    )


def test_a_commit_that_was_pushed_stays_as_it_is(repo: Repo, tmp_path: Path) -> None:
    run(repo.top, f"git clone -q --bare . {tmp_path}/up.git; git remote add up {tmp_path}/up.git")
    start = begin(repo)
    write(repo.top, a="a\n")
    run(repo.top, "git add -A; git commit -q -m 'feat: a'; git push -q up main")
    was = repo.head()
    assert settle(repo, start) == Settled(base=start.base, head=was, commits=(was,), files=("a",))


def test_an_agent_that_did_nothing_leaves_everything_as_it_was(repo: Repo) -> None:
    start = begin(repo)
    assert settle(repo, start) == Settled(base=start.base, head=start.base)


def test_after_git_clean_nothing_of_the_branch_is_missing(repo: Repo) -> None:
    start = begin(repo, protected=("spiral.toml",))
    run(repo.top, "git clean -fdxq; rm -rf file*.txt")
    settled = settle(repo, start)
    assert settled.files == tuple(f"file{number}.txt" for number in (1, 2, 3, 4))
    assert repo.changed(start.base, f"{settled.head}^") == ()


def test_after_a_hard_reset_the_branch_is_back_at_its_base(repo: Repo) -> None:
    start = begin(repo)
    run(repo.top, "git reset -q --hard HEAD~3; git reflog expire --expire=now --all; git gc -q --prune=now")
    assert settle(repo, start) == Settled(base=start.base, head=start.base)
    assert repo.status_lines() == ()
    assert (repo.top / "file4.txt").read_text() == "4\n"


def test_work_on_rewritten_history_is_rescued_and_the_branch_is_back_at_its_base(repo: Repo) -> None:
    start = begin(repo)
    write(repo.top, a="a\n")
    run(repo.top, "git reset -q --hard HEAD~2; echo b > b; git add b; git commit -q -m 'feat: b'; echo c > c")
    made = repo.head()
    settled = settle(repo, start)
    assert (settled.head, settled.commits, settled.files) == (start.base, (), ())
    assert settled.rescued == (RESCUE, f"{RESCUE}-2")
    assert repo.sha(RESCUE) == made
    assert show(repo, f"{RESCUE}-2:c") == "c" and repo.sha(f"{RESCUE}-2^") == made
    assert repo.status_lines() == ()


def test_commits_on_a_new_branch_are_taken_over(repo: Repo) -> None:
    start = begin(repo)
    write(repo.top, a="a\n")
    run(repo.top, "git checkout -q -b other; git add a; git commit -q -m 'feat: a'; echo b > b")
    settled = settle(repo, start)
    assert (settled.files, settled.swept, settled.rescued) == (("a", "b"), True, ())
    assert repo.sha("other") == settled.commits[0]


def test_files_left_on_a_new_branch_or_a_detached_head_are_committed_on_the_branch(repo: Repo) -> None:
    for command in ("git checkout -q -b other", "git checkout -q --detach"):
        start = begin(repo)
        run(repo.top, f"{command}; echo '{command}' >> a")
        assert settle(repo, start).files == ("a",)


def test_commits_on_a_detached_head_are_taken_over(repo: Repo) -> None:
    start = begin(repo)
    run(repo.top, "git checkout -q --detach; echo a > a; git add a; git commit -q -m 'feat: a'")
    settled = settle(repo, start)
    assert (settled.files, len(settled.commits), settled.rescued) == (("a",), 1, ())


def test_a_branch_that_was_there_before_is_not_taken_for_the_agents_work(repo: Repo) -> None:
    run(repo.top, "git checkout -q -b develop; echo d > d; git add d; git commit -q -m 'feat: d'; git switch -q main")
    for command in ("git switch -q develop", "git checkout -q --detach develop", "git checkout -q -b mine develop"):
        start = begin(repo)
        run(repo.top, f"{command}; echo loose > loose")
        settled = settle(repo, start)
        assert (settled.head, settled.files) == (start.base, ())
        assert show(repo, f"{settled.rescued[-1]}:loose") == "loose"
        assert not (repo.top / "loose").exists() and repo.status_lines() == ()


def test_an_older_commit_that_is_checked_out_costs_nothing(repo: Repo) -> None:
    start = begin(repo)
    run(repo.top, "echo a > a; git add a; git commit -q -m 'feat: a'; git checkout -q HEAD~2")
    settled = settle(repo, start)
    assert (settled.files, settled.rescued) == (("a",), ())


def test_a_deleted_branch_is_made_again(repo: Repo) -> None:
    start = begin(repo)
    run(repo.top, "git checkout -q --detach HEAD~1; git branch -q -D main")
    assert settle(repo, start) == Settled(base=start.base, head=start.base)


@pytest.mark.parametrize("command", ["merge side", "rebase side", "cherry-pick side", "revert --no-edit side"])
def test_an_operation_that_stopped_at_a_conflict_is_rescued_and_ended(repo: Repo, command: str) -> None:
    run(repo.top, "git switch -q -c side; echo side > file1.txt; git commit -q -am 'feat: side'; git switch -q main")
    start = begin(repo)
    run(repo.top, "echo main > file1.txt; git commit -q -am 'feat: main'; echo more > more")
    run(repo.top, f"git {command}", code=None)
    assert "U" in run(repo.top, "git status --porcelain")
    settled = settle(repo, start)
    assert settled.files == ("file1.txt",)
    assert (repo.top / "file1.txt").read_text() == "main\n"
    assert any("<<<<<<<" in show(repo, f"{ref}:file1.txt") for ref in settled.rescued)
    assert any(show(repo, f"{ref}:more") == "more" for ref in settled.rescued)
    assert run(repo.top, "git status").splitlines()[-1] == "nothing to commit, working tree clean"


def test_protected_paths_are_restored_whether_committed_or_not(repo: Repo) -> None:
    write(repo.top, spiral_dot_toml="a = 1\n", _dot_agent__PROMPT_dot_md="do\n", ci__x_dot_yml="x\n")
    repo.commit_all("chore: settings")
    start = begin(repo, protected=("spiral.toml", ".agent/PROMPT.md", "ci/*"))
    write(repo.top, spiral_dot_toml="a = 2\n", work="w\n", ci__evil_dot_yml="e\n")
    run(repo.top, "git add spiral.toml work; git commit -q -m 'feat: w'; git rm -q .agent/PROMPT.md")
    settled = settle(repo, start)
    assert settled.restored == (".agent/PROMPT.md", "ci/evil.yml", "spiral.toml")
    assert settled.files == ("work",) and settled.swept
    assert repo.changed(start.base, settled.head) == ("work",)
    assert [(repo.top / name).exists() for name in (".agent/PROMPT.md", "ci/evil.yml")] == [True, False]
    assert show(repo, f"{RESCUE}:ci/evil.yml") == "e"
    assert repo.status_lines() == ()


def test_a_protected_file_that_a_person_has_not_committed_is_left_alone(repo: Repo) -> None:
    write(repo.top, _dot_gitignore="secret.toml\n")
    repo.commit_all("chore: ignore")
    write(repo.top, spiral_dot_toml="mine\n", secret_dot_toml="s\n")
    start = begin(repo, protected=("spiral.toml", "secret.toml"))
    write(repo.top, work="w\n", secret_dot_toml="altered\n")
    settled = settle(repo, start)
    assert (settled.files, settled.restored) == (("work",), ("secret.toml",))
    assert [(repo.top / name).read_text() for name in ("spiral.toml", "secret.toml")] == ["mine\n", "s\n"]
    assert repo.status_lines() == ("?? spiral.toml",)
    assert show(repo, f"{settled.rescued[0]}:secret.toml") == "altered"


def test_stale_locks_of_a_killed_git_do_not_stop_the_runner(repo: Repo) -> None:
    start = begin(repo)
    write(repo.top, a="a\n")
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (repo.git_dir / name).touch()
    assert settle(repo, start).files == ("a",)


def test_a_damaged_or_missing_index_costs_nothing(repo: Repo) -> None:
    for number, damage in enumerate((b"DIRCgarbage", None)):
        start = begin(repo)
        (repo.git_dir / "index").unlink()
        if damage:
            (repo.git_dir / "index").write_bytes(damage)
        write(repo.top, **{f"a{number}": "a\n"})
        assert settle(repo, start).files == (f"a{number}",)


def test_the_first_commit_of_all_can_be_the_agents(tmp_path: Path) -> None:
    repo = shop(tmp_path / "empty", commits=0)
    start = begin(repo, protected=("spiral.toml",))
    assert (start.base, start.branch) == ("", "main")
    write(repo.top, a="a\n")
    settled = settle(repo, start)
    assert (settled.base, settled.files, settled.swept) == ("", ("a",), True)

    other = shop(tmp_path / "other", commits=0)
    start = begin(other)
    run(other.top, "git checkout -q -b dev; echo a > a; git add a; git commit -q -m 'feat: a'")
    assert settle(other, start).files == ("a",)


def test_without_a_branch_there_is_no_beginning(repo: Repo) -> None:
    run(repo.top, "git checkout -q --detach")
    with pytest.raises(UsageError, match=r"no branch is checked out in .*; `git switch -c NAME` makes one"):
        begin(repo)


def test_a_reader_that_moved_the_branch_is_undone_and_its_commit_kept(repo: Repo) -> None:
    head = repo.head()
    run(repo.top, "echo a > a; git add a; git commit -q -m 'feat: a'")
    made = repo.head()
    assert put_back(repo, "main", head, rescue_name="checker") == ("refs/spiral/rescue/checker",)
    assert (repo.sha("main"), repo.sha("refs/spiral/rescue/checker")) == (head, made)
    assert put_back(repo, "main", head, rescue_name="checker") == ()


def test_a_runner_killed_at_any_instant_settles_the_same_work_afterwards(repo: Repo) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from spiral.loop.git import repo_at; from spiral.loop.codec import load;"
        "from spiral.loop.sweep import Start, settle_work; print('on', flush=True);"
        "settle_work(repo_at(Path(sys.argv[1]), os.environ), load(Start, sys.argv[2]), message='chore: keep',"
        " trailers=(('Spiral-Pass', 'r-1-0007'), ('Spiral-Task', 'T1')), rescue_name='r-1-0007')"
    )
    for turn in range(12):
        start = begin(repo, protected=("file1.txt",))
        run(repo.top, f"git checkout -q -b side{turn}; echo {turn} > work; git add work; git commit -q -m 'feat: w'")
        run(repo.top, f"echo evil > file1.txt; echo loose > loose{turn}")
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(repo.top), dump(start)], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert child.stdout is not None and child.stdout.readline() == "on\n"
        time.sleep(0.02 * turn)
        child.kill()
        child.communicate()
        settled = settle(repo, start)
        assert settled.files == (f"loose{turn}", "work")
        assert (repo.top / "file1.txt").read_text() == "1\n"
        assert repo.status_lines() == () and len(settled.commits) == 2
