"""Pictures by command, and what is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repositories import shop
from spiral.loop.checkout import Checkout
from spiral.loop.checks import Means
from spiral.loop.screenshot import command_of, find_chromium, take
from spiral.work import Task

PNG = r"printf '\211PNG\r\n\032\n...' > $SPIRAL_SCREENSHOT"


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    repo = shop(tmp_path / "shop")
    with Checkout(repo, tmp_path / "cache" / "checkout") as checkout:
        checkout.at(repo.head())
        yield checkout


@pytest.fixture
def means(tmp_path: Path) -> Means:
    return Means(history=tmp_path / "history", env=os.environ, timeout=30.0)


def task(screenshot: str) -> Task:
    return Task(id="UI/7", title="a page", screenshot=screenshot)


def test_a_command_draws_in_the_checkout_and_the_picture_is_stored(
    checkout: Checkout, means: Means, tmp_path: Path
) -> None:
    result, stored = take(task(f"cat file1.txt; {PNG}"), "r-1-0007", checkout, tmp_path / "agent", means)
    assert (result.passed, result.output, result.check.name, result.sha) == (True, "1\n", "screenshot", checkout.sha)
    assert stored == "screenshots/UI-7-r-1-0007.png"
    assert (tmp_path / "agent" / stored).read_bytes().startswith(b"\x89PNG")
    assert (means.history / result.log).read_text() == "1\n"


@pytest.mark.parametrize(
    ("command", "code", "why"),
    [
        ("true", 1, "no picture was written"),
        ("echo text > $SPIRAL_SCREENSHOT", 1, "neither PNG nor JPEG: b'text"),
        (f"{PNG}; exit 3", 3, ""),
        ("ln -s /etc/passwd $SPIRAL_SCREENSHOT", 1, "no picture was written"),
    ],
)
def test_what_is_no_picture_is_a_failed_check(
    checkout: Checkout, means: Means, tmp_path: Path, command: str, code: int, why: str
) -> None:
    result, stored = take(task(command), "p1", checkout, tmp_path / "agent", means)
    assert (result.passed, result.exit_code, stored) == (False, code, "")
    assert why in result.output


def test_without_a_browser_a_page_is_a_failed_check_that_says_so(
    checkout: Checkout, means: Means, tmp_path: Path
) -> None:
    bare = replace(means, env={"PATH": "/nowhere", "HOME": str(tmp_path)})
    assert find_chromium(bare.env) == ""
    assert "no headless browser: install chromium" in command_of("page.html", tmp_path, "/profile", bare.env)


def test_the_browser_is_found_on_the_path_or_where_playwright_keeps_it(tmp_path: Path) -> None:
    kept = tmp_path / "home/.cache/ms-playwright/chromium-1187/chrome-linux/chrome"
    kept.parent.mkdir(parents=True)
    kept.touch(0o755)
    env = {"PATH": "/nowhere", "HOME": str(tmp_path / "home")}
    assert find_chromium(env) == str(kept)
    (tmp_path / "chromium").touch(0o755)
    assert find_chromium(env | {"PATH": str(tmp_path)}) == str(tmp_path / "chromium")


def test_a_page_of_the_checkout_and_a_url_are_told_from_a_command(tmp_path: Path) -> None:
    (tmp_path / "chromium").touch(0o755)
    env = {"PATH": str(tmp_path)}
    assert command_of("site/my page.html", tmp_path, "/p", env) == "site/my page.html"
    assert command_of("site/page.html#top", Path("/co"), "/p", env).endswith(" 'file:///co/site/page.html#top'")
    assert command_of("http://localhost:1/?a=b&c", Path("/co"), "/p", env).endswith(" 'http://localhost:1/?a=b&c'")
    assert command_of("make shot", Path("/co"), "/p", env) == "make shot"
