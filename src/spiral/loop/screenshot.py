"""A picture of what a task made, taken in the clean checkout."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from spiral.loop.checkout import Checkout
from spiral.loop.checks import LOGS, Means
from spiral.work import Check, CheckResult, Task

NAME = "screenshot"
FOLDER = "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
INSTALLED = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/chrome-linux*/headless_shell")
"""Where Playwright puts its browsers."""
SIZE = "1280,800"
KINDS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"))
PAGE = re.compile(r"(?:https?|file)://\S+|\S+\.html?(?:[?#]\S*)?", re.IGNORECASE)


def find_chromium(env: Mapping[str, str]) -> str:
    """The headless browser that is there, on the path or from Playwright; empty when there is none."""
    for name in BROWSERS:
        if found := shutil.which(name, path=env.get("PATH", "")):
            return found
    named, cache = env.get("PLAYWRIGHT_BROWSERS_PATH", ""), env.get("XDG_CACHE_HOME", "")
    folder = Path(named or (f"{cache}/ms-playwright" if cache else f"{env.get('HOME', '')}/.cache/ms-playwright"))
    return next((str(path) for pattern in INSTALLED for path in sorted(folder.glob(pattern), reverse=True)), "")


def take(task: Task, pass_id: str, checkout: Checkout, agent: Path, means: Means) -> tuple[CheckResult, str]:
    """Take the picture that a task asks for: what came of it, and the picture's path relative to the `agent` folder.

    The task names a command that writes to $SPIRAL_SCREENSHOT, or a page of the checkout or a URL, which a headless
    Chromium draws. The checkout is where the checks were run. A retry takes it again and replaces it.
    """
    raw, log = means.history / "screenshot.png", means.history / LOGS / f"90-{NAME}.txt"
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="spiral-browser-") as profile:
        command = command_of(task.screenshot, checkout.path, profile, means.env)
        means.tell(f"{NAME}: {task.screenshot}")
        shell = checkout.shell(means.seen() | {"SPIRAL_SCREENSHOT": str(raw)}, means.timeout, means.stop)
        ran = shell.run(command, log)
    kind, fault = _judged(raw)
    passed = ran.passed and not fault
    stored = ""
    if passed:
        stored = f"{FOLDER}/{_safe(task.id)}-{_safe(pass_id)}.{kind}"
        (agent / FOLDER).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(raw, agent / stored)
    raw.unlink(missing_ok=True)
    result = CheckResult(
        check=Check(name=NAME, command=task.screenshot), sha=checkout.sha, passed=passed,
        exit_code=ran.code or (0 if passed else 1), output=ran.tail + (f"[{fault}]\n" if fault else ""),
        seconds=ran.seconds, log=f"{LOGS}/{log.name}",
    )  # fmt: skip
    return result, stored


def command_of(wanted: str, folder: Path, profile: str, env: Mapping[str, str]) -> str:
    """What to run: the command as it stands, or the browser for a page."""
    page = wanted.strip()
    if not PAGE.fullmatch(page):
        return wanted
    browser = find_chromium(env)
    if not browser:
        return "echo 'no headless browser: install chromium, or let the task name a command' >&2; exit 127"
    url = page if "://" in page else (folder / page).as_uri().replace("%23", "#").replace("%3F", "?")
    flags = (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
        f"--user-data-dir={profile}", f"--window-size={SIZE}",
    )  # fmt: skip
    return f'{shlex.join([browser, *flags])} --screenshot="$SPIRAL_SCREENSHOT" {shlex.quote(url)}'


def _judged(raw: Path) -> tuple[str, str]:
    """The kind of the picture, or what is wrong with it."""
    if raw.is_symlink() or not raw.is_file():
        return "", "no picture was written to $SPIRAL_SCREENSHOT"
    with raw.open("rb") as file:
        start = file.read(16)
    kind = next((kind for mark, kind in KINDS if start.startswith(mark)), "")
    return kind, "" if kind else f"what was written to $SPIRAL_SCREENSHOT is neither PNG nor JPEG: {start!r}"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "x"
