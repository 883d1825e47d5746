"""A clean checkout that is kept, repaired and never shared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repositories import run, shop, write
from spiral.loop.checkout import Checkout, checkout_folder
from spiral.loop.git import Repo
from spiral.loop.process import Shell
from spiral.work import CheckResult


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return shop(tmp_path / "shop")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "checkout"


def tree(path: Path) -> dict[str, str]:
    """All files but git's own."""
    return {str(file.relative_to(path)): file.read_text() for file in path.rglob("*") if file.is_file()} | {".git": ""}


def prepared(checkout: Checkout, setup: str, *inputs: str) -> CheckResult | None:
    shell: Shell = checkout.shell(os.environ, 60.0)
    return checkout.prepare(setup, inputs, shell, checkout.first.parent / "logs" / "00-set-up.txt")


def test_the_folder_has_exactly_the_files_of_the_commit(repo: Repo, folder: Path) -> None:
    first, *_, last = repo.commits("", repo.head())
    write(repo.top, uncommitted="u\n")
    with Checkout(repo, folder) as checkout:
        assert tree(checkout.at(last)) == {f"file{n}.txt": f"{n}\n" for n in (1, 2, 3, 4)} | {".git": ""}
        write(folder, file1_dot_txt="altered\n", loose__x="x\n")
        run(folder, "rm file2.txt; git init -q inner; touch inner/y; git add loose")
        assert tree(checkout.at(last)) == {f"file{n}.txt": f"{n}\n" for n in (1, 2, 3, 4)} | {".git": ""}
        assert tree(checkout.at(first)) == {"file1.txt": "1\n", ".git": ""}
    assert (repo.branch(), repo.head(), repo.status_lines()) == ("main", last, ("?? uncommitted",))


@pytest.mark.parametrize(
    "damage",
    [
        "rm -rf {here}", "rm -rf {here}/.git", "rm -rf {own}", "echo junk > {own}/index", "echo junk > {own}/HEAD",
        "touch {own}/index.lock {own}/HEAD.lock", "git worktree lock {here}; rm -rf {here}",
        "rm -rf {here}; touch {here}", "rm -rf {here}; ln -s {top} {here}", "echo 'gitdir: {top}/.git' > {here}/.git",
        "cd {here}; git switch -q -c mine; git commit -q --allow-empty -m x",
    ],
)  # fmt: skip
def test_whatever_happened_to_the_folder_it_is_repaired(repo: Repo, folder: Path, damage: str) -> None:
    head = repo.head()
    with Checkout(repo, folder) as checkout:
        checkout.at(head)
        own = repo.git_dir / "worktrees" / "checkout"
        run(repo.top, damage.format(here=folder, own=own, top=repo.top))
        assert tree(checkout.at(head)) == {f"file{n}.txt": f"{n}\n" for n in (1, 2, 3, 4)} | {".git": ""}
        assert run(folder, "git rev-parse HEAD; git status --porcelain") == head
    assert (repo.branch(), repo.head(), repo.status_lines()) == ("main", head, ())


def test_worktrees_of_the_user_that_are_away_are_not_forgotten(repo: Repo, folder: Path, tmp_path: Path) -> None:
    run(repo.top, f"git worktree add -q {tmp_path}/usb -b usb; mv {tmp_path}/usb {tmp_path}/away")
    with Checkout(repo, folder) as checkout:
        checkout.at(repo.head())
        shutil.rmtree(folder)
        checkout.at(repo.head())
    run(repo.top, f"mv {tmp_path}/away {tmp_path}/usb")
    assert run(tmp_path / "usb", "git branch --show-current") == "usb"


def test_two_verifications_never_share_a_folder(repo: Repo, folder: Path) -> None:
    with Checkout(repo, folder) as one, Checkout(repo, folder) as two:
        assert (one.at(repo.head()), two.at(repo.head())) == (folder, folder.with_name("checkout-2"))
    with Checkout(repo, folder) as three:
        assert three.at(repo.head()) == folder


def test_the_set_up_runs_once_for_each_content_of_its_inputs(repo: Repo, folder: Path) -> None:
    write(repo.top, sub__package_dot_json="{}\n", _dot_gitignore="node_modules\n")
    one = repo.commit_all("build: a manifest")
    write(repo.top, other="o\n")
    two = repo.commit_all("feat: other")
    write(repo.top, sub__package_dot_json='{"a": 1}\n')
    three = repo.commit_all("build: another manifest")
    setup = "mkdir -p node_modules .venv; date +%N > node_modules/made; cp node_modules/made .venv/made"
    with Checkout(repo, folder) as checkout:
        checkout.at(one)
        first = prepared(checkout, setup)
        assert first is not None and (first.passed, first.cached, first.check.name) == (True, False, "set-up")
        made = (folder / "node_modules/made").read_text()
        checkout.at(two)
        second = prepared(checkout, setup)
        assert second is not None and second.cached
        assert [(folder / name / "made").read_text() for name in ("node_modules", ".venv")] == [made, made]
        checkout.at(three)
        assert not (third := prepared(checkout, setup)) or not third.cached
        assert (folder / ".venv/made").read_text() != made
        key = checkout.key
        fourth = prepared(checkout, setup, "other")
        assert fourth is not None and not fourth.cached and checkout.key != key
        assert prepared(checkout, "") is None
        assert not (folder / ".venv").exists() and checkout.key == ""


def test_what_a_set_up_made_and_another_removed_is_made_again(repo: Repo, folder: Path) -> None:
    with Checkout(repo, folder) as checkout:
        checkout.at(repo.head())
        prepared(checkout, "mkdir env; touch env/x")
        run(folder, "git clean -fdxq")
        assert (again := prepared(checkout, "mkdir env; touch env/x")) and not again.cached
        assert (folder / "env/x").exists()


def test_a_set_up_that_fails_runs_again(repo: Repo, folder: Path) -> None:
    with Checkout(repo, folder) as checkout:
        checkout.at(repo.head())
        for _ in range(2):
            failed = prepared(checkout, "touch half; echo no network; exit 3")
            assert failed is not None
            assert (failed.passed, failed.exit_code, failed.output, failed.cached) == (False, 3, "no network\n", False)
        assert failed is not None and failed.log == "logs/00-set-up.txt"


def test_the_place_is_outside_of_git_when_the_user_has_a_cache(tmp_path: Path) -> None:
    git_dir = tmp_path / ".git"
    assert ".git" not in checkout_folder(git_dir, tmp_path / "cache").parts
    assert checkout_folder(git_dir, None) == git_dir / "spiral" / "checkout"


def test_a_process_killed_at_any_instant_leaves_a_folder_that_the_next_can_use(repo: Repo, folder: Path) -> None:
    (repo.top / "many").mkdir()
    for number in range(300):
        (repo.top / "many" / f"{number}").write_text("x" * 2_000)
    shas = (repo.head(), repo.commit_all("feat: many"))
    code = (
        "import os, sys; from pathlib import Path; from spiral.loop.git import repo_at;"
        "from spiral.loop.checkout import Checkout; c = Checkout(repo_at(Path(sys.argv[1]), os.environ),"
        " Path(sys.argv[2])); print('on', flush=True)\n"
        "while True:\n for sha in sys.argv[3:]: c.at(sha)"
    )
    for turn in range(8):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(repo.top), str(folder), *shas], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert child.stdout is not None and child.stdout.readline() == "on\n"
        time.sleep(0.01 + 0.02 * turn)
        child.kill()
        child.communicate()
        with Checkout(repo, folder) as checkout:
            assert checkout.at(shas[turn % 2]) == folder
            assert len(list(folder.iterdir())) == (5 if turn % 2 == 0 else 6)
            assert run(folder, "git status --porcelain; git rev-parse HEAD") == shas[turn % 2]
