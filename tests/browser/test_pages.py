"""Pages drawn by a real headless browser."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import pytest

from repositories import run, shop, write
from spiral.loop.checkout import Checkout
from spiral.loop.checks import Means
from spiral.loop.screenshot import take
from spiral.work import Task

pytestmark = pytest.mark.browser
PAGE = (
    "<!doctype html><link rel=stylesheet href=style.css><script>"
    "document.addEventListener('DOMContentLoaded', () => document.body.className = 'drawn')</script><body></body>"
)
STYLE = "body { background: rgb(200, 0, 0) } body.drawn { background: rgb(0, 128, 0) }"


def first_pixel(picture: bytes) -> tuple[int, int, tuple[int, ...]]:
    """Width, height and the colour at the upper left of a PNG with eight bits a channel."""
    width, height, depth, colour = struct.unpack(">IIBB", picture[16:26])
    assert depth == 8
    data, at = b"", 8
    while at < len(picture):
        (size,) = struct.unpack(">I", picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"IDAT":
            data += picture[at + 8 : at + 8 + size]
        at += size + 12
    row = zlib.decompress(data)[: 1 + width * (4 if colour == 6 else 3)]
    return width, height, tuple(row[1:4])


def test_a_page_of_the_commit_is_drawn_with_its_styles_and_scripts(tmp_path: Path) -> None:
    repo = shop(tmp_path / "shop")
    write(repo.top, site__index_dot_html=PAGE, site__style_dot_css=STYLE)
    sha = repo.commit_all("feat: a page")
    write(repo.top, site__style_dot_css="body { background: black }")
    run(tmp_path, "mkdir -p home")
    with Checkout(repo, tmp_path / "cache" / "checkout") as checkout:
        checkout.at(sha)
        means = Means(history=tmp_path / "history", env=os.environ, timeout=120.0)
        task = Task(id="UI-1", title="a page", screenshot="site/index.html")
        result, stored = take(task, "r-1-0001", checkout, repo.top / ".agent", means)
    assert result.passed, result.output
    assert first_pixel((repo.top / ".agent" / stored).read_bytes()) == (1280, 800, (0, 128, 0))
