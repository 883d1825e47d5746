"""Finds the secrets in request headers and on command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spiral.memory.redact_named import mixed, placeholder
from spiral.memory.redact_tokens import Span

_AUTHORIZATION = re.compile(
    r"authorization[\"'\\]{0,3}[ \t]{0,4}[:=,][ \t]{0,4}[rbf]?[\"'`\\]{0,3}"
    r"(?P<scheme>(?:bearer|basic|token|digest|apikey|bot|negotiate|key)[ \t]{1,4})?"
    r"(?P<value>[A-Za-z0-9._~+/=:$-]{6,8000}+)(?![(\[])",
    re.IGNORECASE,
)
_BEARER = re.compile(r"[Bb]earer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,8000}+)")
_COOKIE = re.compile(
    r"[Cc]ookie(?:[\"'\\]{1,3}[ \t]{0,4}[:,]|[ \t]{0,4}:)[ \t]{0,4}[\"'`\\]{0,3}"
    r"([^\s\"'`\\=;]{1,80}=[^\n\"'`\\]{1,8000}+)"
)
_COOKIE_VALUE = re.compile(r"=([^;\s]{8,})")
_COMMANDS = (
    ("curl", r"curl\b[^\n|;]{0,300}?[ \t](?:-u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,80}:(?P<value>[^\s\"']{1,200})"),
    ("mysql", r"mysql(?:dump|admin)?\b[^\n|;]{0,200}?[ \t]-p(?P<value>[^\s\"'-][^\s\"']{2,200})"),
    ("sshpass", r"sshpass[ \t]+-p[ \t]{0,2}[\"']?(?P<value>[^\s\"']{1,200})"),
    ("redis-cli", r"redis-cli\b[^\n|;]{0,200}?[ \t]-a[ \t]+[\"']?(?P<value>[^\s\"']{1,200})"),
    (
        " login ",
        r"(?:docker|podman|helm)[a-z ]{0,12} login\b[^\n|;]{0,200}?[ \t]-p[ \t]+[\"']?(?P<value>[^\s\"']{1,200})",
    ),
    ("login ", r"login[ \t\n]+[\w.@+-]{1,80}[ \t\n]+password[ \t\n]+(?P<value>\S{1,200})"),
)


def header_spans(text: str) -> Iterator[Span]:
    """Where a header or a command line carries a secret."""
    yield from _authorization(text)
    if "ookie" in text:
        for found in _COOKIE.finditer(text):
            if any(not placeholder(value[1]) for value in _COOKIE_VALUE.finditer(found[1])):
                yield Span(found.start(1), found.start(1) + len(found[1].rstrip()), "cookie")
    for needle, pattern in _COMMANDS:
        if needle in text:
            for found in re.finditer(pattern, text):
                if not placeholder(found["value"]):
                    yield Span(*found.span("value"), "password")


def _authorization(text: str) -> Iterator[Span]:
    if "uthorization" in text or "UTHORIZATION" in text:
        for found in _AUTHORIZATION.finditer(text):
            if _credential(found["value"], known=bool(found["scheme"])):
                yield Span(*found.span("value"), "authorization")
    if "earer" in text:
        for found in _BEARER.finditer(text):
            if mixed(found[1]):
                yield Span(*found.span(1), "authorization")


def _credential(value: str, *, known: bool) -> bool:
    if placeholder(value) or value.startswith("$"):
        return False
    return mixed(value) or (known and not value.rstrip(".:").isalpha()) or (known and len(value) >= 24)
