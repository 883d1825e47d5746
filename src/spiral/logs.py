"""Logging: lines that a person can read, or one JSON object each on request."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from spiral.config import LogSettings
from spiral.errors import ConfigError

COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}
OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record carries; the rest was given as `extra`."""


class TextFormatter(logging.Formatter):
    """`14:03:59 WARNING recall: the index is behind`."""

    def __init__(self, *, colour: bool, dated: bool) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S"
        )
        self.colour = colour

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 — the name is logging's
        """The line without a traceback; fields given as `extra` follow the message."""
        level = (
            f"\x1b[{COLOURS.get(record.levelname, '0')}m{record.levelname}\x1b[0m" if self.colour else record.levelname
        )
        extra = "".join(f" {name}={value!r}" for name, value in _extra(record).items())
        return f"{record.asctime} {level} {record.name.removeprefix('spiral.')}: {record.message}{extra}"


class JsonFormatter(logging.Formatter):
    """One object a line: ts, level, logger, message, then the fields given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The object; a value that JSON does not know is given as text, a failure as `exception`."""
        known = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            known["exception"] = self.formatException(record.exc_info)
        extra = {f"{name}_" if name in known else name: value for name, value in _extra(record).items()}
        return json.dumps({**known, **extra}, ensure_ascii=False, default=str)


def configure(log: LogSettings) -> None:
    """Send what the logger `spiral` tells to where the settings say; a second call replaces the first."""
    handler = _handler(log)
    handler.setFormatter(
        JsonFormatter()
        if log.format == "json"
        else TextFormatter(colour=log.file is None and sys.stderr.isatty(), dated=log.file is not None)
    )
    logger = logging.getLogger("spiral")
    for former in logger.handlers[:]:
        logger.removeHandler(former)
        former.close()
    logger.addHandler(handler)
    logger.setLevel(log.level.upper())
    logger.propagate = False


def _handler(log: LogSettings) -> logging.Handler:
    if log.file is None:
        return logging.StreamHandler(sys.stderr)
    try:
        return logging.FileHandler(log.file, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write the log to {str(log.file)!r}: {error.strerror}; set log.file to a file in a folder "
            "that exists and may be written, or to nothing for standard error"
        ) from error


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in OWN}
