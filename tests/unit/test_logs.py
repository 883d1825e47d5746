"""What the logger tells, and where."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

import spiral
from spiral.config import LogSettings
from spiral.errors import ConfigError
from spiral.logs import configure


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    logger = logging.getLogger("spiral")
    before = (logger.handlers[:], logger.level, logger.propagate)
    yield
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        handler.close()
    logger.handlers[:], logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


def test_a_line_has_time_level_place_message_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings())
    logging.getLogger("spiral.memory.recall").warning("behind by %d", 3, extra={"file": "a b"})
    logging.getLogger("spiral.memory.recall").info("not told")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"\d\d:\d\d:\d\d WARNING memory\.recall: behind by 3 file='a b'\n", err)


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    configure(LogSettings())
    logging.getLogger("spiral").error("red")
    assert "\x1b[31mERROR\x1b[0m spiral: red" in terminal.getvalue()
    configure(LogSettings(file=tmp_path / "log"))
    logging.getLogger("spiral").error("plain")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR spiral: plain\n", (tmp_path / "log").read_text())


def test_json_is_one_object_a_line_with_the_extra_fields(tmp_path: Path) -> None:
    configure(LogSettings(format="json", level="debug", file=tmp_path / "log"))
    logger = logging.getLogger("spiral.loop")
    logger.debug("two\nlines: %s", "ä", extra={"pass_id": 7, "where": tmp_path, "level": "mine"})
    try:
        raise ValueError("no")
    except ValueError:
        logger.exception("failed")
    first, second = (json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines())
    assert datetime.fromisoformat(first.pop("ts")).utcoffset() is not None
    assert first == {
        "level": "debug",
        "logger": "spiral.loop",
        "message": "two\nlines: ä",
        "pass_id": 7,
        "where": str(tmp_path),
        "level_": "mine",
    }
    assert (second["level"], second["message"]) == ("error", "failed")
    assert second["exception"].endswith("ValueError: no")


def test_a_second_call_replaces_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings(file=tmp_path / "first"))
    configure(LogSettings(level="error"))
    logging.getLogger("spiral").warning("not told")
    logging.getLogger("spiral").error("told once")
    assert capsys.readouterr().err.count("told once") == 1
    assert (tmp_path / "first").read_text() == ""
    assert len(logging.getLogger("spiral").handlers) == 1


def test_a_file_that_cannot_be_written_is_told_and_changes_nothing(tmp_path: Path) -> None:
    configure(LogSettings(file=tmp_path / "log"))
    with pytest.raises(ConfigError, match=r"cannot write the log to '.*gone/log': No such file .*; set log.file"):
        configure(LogSettings(file=tmp_path / "gone" / "log"))
    logging.getLogger("spiral").error("still told")
    assert "still told" in (tmp_path / "log").read_text()


def test_importing_configures_nothing() -> None:
    code = "import logging, spiral.logs; print(logging.getLogger('spiral').handlers, logging.getLogger().handlers)"
    source = str(Path(spiral.__file__).parents[1])
    fresh = subprocess.run(
        (sys.executable, "-S", "-c", code), capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert fresh.stdout == "[] []\n"
