"""How a person says since when."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from spiral.errors import UsageError
from spiral.loop.lenient import moment

AGO = re.compile(r"(\d{1,6})\s*(m|h|d|w)")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def since(words: str, now: datetime) -> datetime | None:
    """`12h`, `3d`, a date or a moment; None for nothing. A date without a zone is meant as on this machine's clock."""
    if not words:
        return None
    ago = AGO.fullmatch(words.strip())
    if ago:
        return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
    try:
        read = datetime.fromisoformat(words.strip())
    except ValueError:
        raise UsageError(
            f"cannot tell since when {words!r} is; write 12h, 3d, 2026-03-01 or 2026-03-01T22:00"
        ) from None
    return moment(words.strip()) if read.tzinfo else read.astimezone()
