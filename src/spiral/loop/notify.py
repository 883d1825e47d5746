"""Tells a person, once, that a run needs them or is over."""

from __future__ import annotations

import hashlib
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import datetime

from spiral.ports import Journal
from spiral.tables import NotifySettings

WAIT = 10.0


def notify(
    settings: NotifySettings,
    journal: Journal,
    what: str,
    facts: Mapping[str, object],
    *,
    env: Mapping[str, str],
    now: datetime,
) -> str:
    """Send the notice unless the same was sent before; what went wrong in one line, or empty.

    A notice is told by its content, so the same one is sent once however often the loop comes by; it is noted after it
    was sent, so a crash in between sends it again rather than never.
    """
    if what not in settings.on or not (settings.webhook or settings.command):
        return ""
    body = json.dumps({"event": what, **facts}, ensure_ascii=False, sort_keys=True, default=str)
    name = "notified/" + hashlib.sha256(body.encode()).hexdigest()[:20]
    if journal.note(name):
        return ""
    faults = [fault for fault in (post(settings.webhook, body), call(settings.command, body, env)) if fault]
    if not faults:
        journal.record(notes={name: now.isoformat()})
    return "; ".join(faults)


def post(url: str, body: str) -> str:
    """Send it to a webhook."""
    if not url:
        return ""
    if not url.startswith(("http://", "https://")):
        return f"notify.webhook must be an http or https URL, not {url!r}"
    request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"})  # noqa: S310 - checked
    try:
        with urllib.request.urlopen(request, timeout=WAIT):  # noqa: S310 - checked above
            return ""
    except (urllib.error.URLError, OSError, ValueError) as fault:
        return f"the webhook did not take the notice: {fault}"


def call(command: str, body: str, env: Mapping[str, str]) -> str:
    """Hand it to a command on standard input."""
    if not command:
        return ""
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            input=body,
            text=True,
            capture_output=True,
            timeout=WAIT * 3,
            env=dict(env),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"notify.command failed: {fault}"
    return "" if done.returncode == 0 else f"notify.command ended with {done.returncode}: {done.stderr.strip()[:200]}"
