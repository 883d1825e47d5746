"""Where the memory of a folder lives, on real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from spiral.errors import ConfigError
from spiral.place import Folders, Place, app_name, digest, find, repository, safe_name

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ("git", *IDENTITY, *arguments),
        cwd=folder,
        check=True,
        capture_output=True,
        env={**environment, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


def made(folder: Path, *arguments: str) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *arguments)
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder without symbolic links above it."""
    return tmp_path.resolve()


@pytest.fixture
def folders(home: Path) -> Folders:
    return Folders(data=home / "data", cache=home / "cache", config_file=home / "config" / "spiral" / "config.toml")


def in_repository(checkout: Path) -> Place:
    return Place(
        root=checkout / ".agent" / "memory",
        index=checkout / ".git" / "spiral" / "index",
        repository=checkout,
        git_dir=checkout / ".git",
        worktree_git_dir=checkout / ".git",
        project=checkout,
    )


def test_every_folder_of_a_checkout_has_the_same_place(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    deep = shop / "src" / "deep"
    deep.mkdir(parents=True)
    (deep / "file.py").touch()
    for start in (shop, deep, deep / "file.py", deep / "not-there-yet", shop / ".git", shop / ".git" / "hooks"):
        assert find(start, folders=folders) == in_repository(shop)


def test_a_linked_worktree_shares_the_memory_of_the_main_checkout(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    git(shop, "worktree", "add", "-q", str(home / "elsewhere" / "blue"))
    (home / "elsewhere" / "blue" / "src").mkdir()
    own = shop / ".git" / "worktrees" / "blue"
    expected = Place(
        root=shop / ".agent" / "memory",
        index=shop / ".git" / "spiral" / "index",
        repository=shop,
        git_dir=shop / ".git",
        worktree_git_dir=own,
        project=shop,
    )
    for start in (home / "elsewhere" / "blue", home / "elsewhere" / "blue" / "src", own):
        assert find(start, folders=folders) == expected


def test_a_worktree_with_settings_of_its_own_still_finds_the_main_checkout(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    git(shop, "worktree", "add", "-q", str(home / "blue"))
    git(home / "blue", "config", "extensions.worktreeConfig", "true")
    git(home / "blue", "config", "--worktree", "core.bare", "false")
    assert find(home / "blue", folders=folders).root == shop / ".agent" / "memory"


def test_a_submodule_is_its_own_repository_and_so_are_its_worktrees(home: Path, folders: Folders) -> None:
    library, shop = made(home / "library"), made(home / "shop")
    git(shop, "submodule", "add", "-q", str(library), "vendor/library")
    submodule, common = shop / "vendor" / "library", shop / ".git" / "modules" / "vendor" / "library"
    git(submodule, "worktree", "add", "-q", str(home / "blue"))
    expected = Place(
        root=submodule / ".agent" / "memory",
        index=common / "spiral" / "index",
        repository=submodule,
        git_dir=common,
        worktree_git_dir=common,
        project=submodule,
    )
    assert find(submodule, folders=folders) == expected
    linked = find(home / "blue", folders=folders)
    assert (linked.root, linked.index, linked.project) == (expected.root, expected.index, expected.project)
    assert linked.worktree_git_dir == common / "worktrees" / "blue"
    assert find(shop / "vendor", folders=folders) == in_repository(shop)


@pytest.mark.parametrize("name", ["shop.git", "shop/.bare", "shop/.git"])
def test_worktrees_of_a_bare_repository_share_the_memory_in_its_git_dir(
    home: Path, folders: Folders, name: str
) -> None:
    bare = home / name
    made(home / "origin")
    git(home, "clone", "-q", "--bare", str(home / "origin"), str(bare))
    for worktree in ("blue", "green"):
        git(bare, "worktree", "add", "-q", str(home / worktree))
        place = find(home / worktree, folders=folders)
        assert (place.root, place.index) == (bare / "spiral" / "memory", bare / "spiral" / "index")
        assert (place.repository, place.git_dir, place.project) == (None, bare, home / worktree)
        assert app_name(home / worktree, repository(home / worktree)) == "shop"
    assert find(bare, folders=folders).root == bare / "spiral" / "memory"


def test_a_bare_repository_behind_a_git_file_has_one_memory(home: Path, folders: Folders) -> None:
    made(home / "origin")
    git(home, "clone", "-q", "--bare", str(home / "origin"), str(home / "shop" / ".bare"))
    (home / "shop" / ".git").write_text("gitdir: ./.bare\n")
    git(home / "shop", "worktree", "add", "-q", "blue")
    roots = {find(start, folders=folders).root for start in (home / "shop", home / "shop" / "blue")}
    assert roots == {home / "shop" / ".bare" / "spiral" / "memory"}


def test_a_git_dir_kept_apart_serves_its_checkout_and_refuses_to_guess_for_worktrees(
    home: Path, folders: Folders
) -> None:
    shop = made(home / "shop", "--separate-git-dir", str(home / "apart"))
    git(shop, "worktree", "add", "-q", str(home / "blue"))
    place = find(shop, folders=folders)
    assert (place.root, place.git_dir) == (shop / ".agent" / "memory", home / "apart")
    with pytest.raises(ConfigError, match=r"main checkout of '.*apart'; run `git config core.worktree"):
        find(home / "blue", folders=folders)
    assert find(home / "blue", folders=folders, root=home / "mount").root == home / "mount"

    git(shop, "config", "core.worktree", str(shop))
    assert find(home / "blue", folders=folders).root == find(shop, folders=folders).root == place.root


def test_git_reads_the_same_quoted_worktree_as_we_do(home: Path, folders: Folders) -> None:
    odd = made(home / 'a "shop" #1; with \\ marks', "--separate-git-dir", str(home / "apart"))
    git(odd, "config", "core.worktree", str(odd))
    git(odd, "worktree", "add", "-q", str(home / "blue"))
    assert find(home / "blue", folders=folders).repository == odd


def test_neither_git_variables_nor_the_current_folder_change_the_place(
    home: Path, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, other = made(home / "shop"), made(home / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.chdir(other)
    assert find(shop, folders=folders) == in_repository(shop)


def test_a_symbolic_link_into_a_checkout_leads_to_the_checkout(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    (shop / "src").mkdir()
    (home / "link").symlink_to(shop / "src")
    assert find(home / "link", folders=folders) == in_repository(shop)


def test_outside_git_the_application_names_the_place(home: Path, folders: Folders) -> None:
    start = home / "notes"
    start.mkdir()
    (start / ".git").mkdir()  # empty, so that git does not take it for a repository either
    expected = Place(
        root=home / "data" / "spiral" / "notes" / "memory",
        index=home / "data" / "spiral" / "notes" / "index",
        repository=None,
        git_dir=None,
        worktree_git_dir=None,
        project=start,
    )
    assert find(start, folders=folders) == expected
    assert find(start, folders=folders, app="bot").root == home / "data" / "spiral" / "bot" / "memory"


def test_a_root_from_the_settings_gets_an_index_that_is_its_own(home: Path, folders: Folders) -> None:
    shop, mount = made(home / "shop"), home / "mount"
    mount.mkdir()
    (home / "alias").symlink_to(mount)
    inside, outside = find(shop, folders=folders, root=mount), find(home, folders=folders, root=mount)
    assert (inside.root, inside.index) == (mount, shop / ".git" / "spiral" / f"index-{digest(mount)}")
    assert (outside.root, outside.index) == (mount, home / "cache" / "spiral" / digest(mount) / "index")
    assert find(shop, folders=folders, root=home / "alias").index == inside.index
    assert find(shop, folders=folders, root=home / "other").index != inside.index
    for start in (shop, home):
        assert find(start, folders=folders, root=mount, index=home / "index").index == home / "index"
        assert find(start, folders=folders, index=home / "index").index == home / "index"


def test_without_a_home_only_what_needs_one_fails(home: Path) -> None:
    shop = made(home / "shop")
    assert find(shop, folders=Folders()) == in_repository(shop)
    with pytest.raises(ConfigError, match=r"neither HOME nor XDG_DATA_HOME is set to an absolute path; .*memory.root"):
        find(home, folders=Folders())
    with pytest.raises(ConfigError, match=r"neither HOME nor XDG_CACHE_HOME .*memory.index"):
        find(home, folders=Folders(), root=home / "mount")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"does not begin with 'gitdir: ' but with ''; restore or remove it"),
        (b"\x00\xff\xfe", r"does not begin with 'gitdir: '"),
        (
            b"gitdir: ../gone/.git/worktrees/blue\n",
            r"names '.*/gone/.*', which is no git dir; run `git worktree repair`",
        ),
    ],
)
def test_a_broken_git_file_is_named_with_its_cure(home: Path, folders: Folders, content: bytes, message: str) -> None:
    (home / "blue").mkdir()
    (home / "blue" / ".git").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        find(home / "blue", folders=folders)


def test_a_worktree_whose_repository_is_gone_is_named_with_its_cure(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    git(shop, "worktree", "add", "-q", str(home / "blue"))
    (shop / ".git" / "worktrees" / "blue" / "commondir").write_text("../../gone\n")
    with pytest.raises(ConfigError, match=r"commondir' names '.*gone', which is no git dir; run `git worktree repair`"):
        find(home / "blue", folders=folders)


def test_a_checkout_that_moved_away_from_its_submodule_is_named(home: Path, folders: Folders) -> None:
    shop = made(home / "shop", "--separate-git-dir", str(home / "apart"))
    git(shop, "config", "core.worktree", str(home / "gone"))
    with pytest.raises(ConfigError, match=r"core.worktree in '.*config' names '.*gone', which is no folder"):
        find(shop, folders=folders)


def test_a_loop_of_links_is_an_error_with_a_cure(home: Path, folders: Folders) -> None:
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    with pytest.raises(ConfigError, match="start in a folder that exists"):
        find(home / "a", folders=folders)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_git_dir_is_an_error_with_a_cure(home: Path, folders: Folders) -> None:
    shop = made(home / "shop")
    (shop / ".git").chmod(0)
    try:
        with pytest.raises(ConfigError, match="check its permissions"):
            find(shop, folders=folders)
    finally:
        (shop / ".git").chmod(0o700)


def test_names_that_are_no_folder_names_are_altered_and_stay_apart() -> None:
    assert safe_name("my-app_2.0") == "my-app_2.0"
    awkward = ["a/b", "a:b", "../../etc", ".", "..", "", "Ä", "é", " a", "a\nb", "x" * 300, "x" * 301]
    names = [safe_name(app) for app in awkward]
    assert len(set(names)) == len(awkward)
    assert all(len(name) < 80 and name not in {"", ".", ".."} and "/" not in name for name in names)
    assert safe_name("a/b") == safe_name("a/b")


def test_any_folder_gives_an_application_name_that_a_scope_takes(home: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(home) + b"/new\nline \xff"))
    odd.mkdir()
    assert app_name(odd, repository(odd)) == "new-line ?"
    assert app_name(Path("/"), None) == "root"
