"""The shapes of secrets that give themselves away without a name beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of text that is a secret."""

    start: int
    end: int
    what: str


class Shape(NamedTuple):
    """What a kind of token looks like."""

    what: str
    needles: tuple[str, ...]
    """A text without any of these holds no such token: asked first, because it is cheap."""
    source: str
    """The pattern, compiled when first needed: most texts need none. Its first group, or else the whole, is the
    secret."""


def _token(what: str, prefix: str, rest: str, *needles: str) -> Shape:
    """A token that begins with a fixed prefix, and does not begin in the middle of a word.

    The look-behind stands after the prefix, so that the search can jump from prefix to prefix. A letter that belongs
    to an escape, as in a JSON text, is not a part of a word.
    """
    start = rf"{prefix}(?:(?<![A-Za-z0-9]{prefix})|(?<=\\[nrt]{prefix}))"
    return Shape(what, needles or (prefix.replace("\\", ""),), start + rest)


def _shape(what: str, needles: str, pattern: str) -> Shape:
    return Shape(what, tuple(needles.split()), pattern)


_WORD = "[A-Za-z0-9_-]"
_MIXED = r"(?=[A-Za-z_-]{0,60}+\d)"
"""A digit comes soon: what has none is a name in kebab case."""

_PREFIXED = (
    *(_token("github-token", f"gh{kind}_", "[A-Za-z0-9]{20,}+") for kind in "pousr"),
    _token("github-token", "github_pat_", "[A-Za-z0-9_]{20,}+"),
    *(
        _token("gitlab-token", f"{kind}-", f"{_WORD}{{20,}}+")
        for kind in ("glpat", "gldt", "glrt", "glcbt", "glptt", "glft", "glimt", "glagent", "gloas", "glsoat")
    ),
    _token("slack-token", "xox[abeoprs]", r"(?:\.xox[bp])?-[A-Za-z0-9-]{10,}+", "xox"),
    _token("slack-token", r"xapp-\d-", f"{_WORD}{{10,}}+", "xapp-"),
    _token("stripe-key", "[sr]k_(?:live|test)_", "[A-Za-z0-9]{10,}+", "k_live_", "k_test_"),
    _token("stripe-key", "whsec_", "[A-Za-z0-9+/=]{16,}+"),
    _token("anthropic-key", "sk-ant-", f"{_WORD}{{16,}}+"),
    _token("openai-key", "sk-", rf"(?!ant-){_MIXED}{_WORD}{{20,}}+"),
    _token("google-key", "AIza", f"{_WORD}{{30,}}+"),
    _token("google-token", r"ya29\.", r"[A-Za-z0-9_.-]{20,}+"),
    _token("google-secret", "GOCSPX-", f"{_WORD}{{20,}}+"),
    _token("google-token", "1//0", rf"{_MIXED}{_WORD}{{30,}}+"),
    _token("npm-token", "npm_", "[A-Za-z0-9]{30,}+"),
    _token("pypi-token", "pypi-", f"{_WORD}{{40,}}+"),
    _token("huggingface-token", "hf_", "[A-Za-z0-9]{24,}+"),
    _token("twilio-key", "SK", "[0-9a-f]{32}(?![0-9A-Za-z])"),
    _token("sendgrid-key", r"SG\.", rf"{_WORD}{{16,80}}+\.{_WORD}{{16,}}+"),
    _token("digitalocean-token", "do[opr]_v1_", "[a-f0-9]{32,}+", "_v1_"),
    _token("shopify-token", "shp(?:at|ca|pa|ss)_", "[a-fA-F0-9]{24,}+", "shpat_", "shpca_", "shppa_", "shpss_"),
    _token("databricks-token", "dapi", "[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])"),
    _token("vault-token", r"hv[sbr]\.", f"{_WORD}{{20,}}+", "hvs.", "hvb.", "hvr."),
    _token("docker-token", "dckr_pat_", f"{_WORD}{{20,}}+"),
    _token("atlassian-token", "ATATT3", "[A-Za-z0-9_=-]{30,}+"),
    _token("grafana-token", "glsa_", "[A-Za-z0-9_]{24,}+"),
    _token("linear-key", "lin_api_", "[A-Za-z0-9]{24,}+"),
    _token("notion-token", "ntn_", "[A-Za-z0-9]{30,}+"),
    _token("groq-key", "gsk_", "[A-Za-z0-9]{30,}+"),
    _token("replicate-token", "r8_", "[A-Za-z0-9]{30,}+"),
    _token("perplexity-key", "pplx-", "[A-Za-z0-9]{30,}+"),
    _token("supabase-key", "sb[ps]_", "[A-Za-z0-9_]{24,}+", "sbp_", "sbs_"),
    _token("tailscale-key", "tskey-", f"{_MIXED}{_WORD}{{16,}}+"),
    _token("sentry-token", "sntry[su]_", "[A-Za-z0-9_=+/-]{24,}+", "sntry"),
    _token("mailgun-key", "key-", "[0-9a-f]{32}(?![0-9A-Za-z])"),
    _token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{20,}+"),
    _token("private-key", "LS0tLS1CRUdJTi", "(?!BDRVJU|BQVUJM)[A-Za-z0-9+/=]{40,}+"),
)

_AWS_ID = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])(?=[A-Za-z/+]*\d)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")

_OTHER = (
    # The look-behind takes in what a part may hold, or else a long run would be tried from many places.
    _shape(
        "jwt",
        "eyJ",
        r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[nrt]eyJ))"
        rf"{_WORD}{{8,}}+(?:\.eyJ{_WORD}{{4,}}+(?:\.{_WORD}*+)?|\.{_WORD}*+(?:\.{_WORD}*+){{1,3}})",
    ),
    _shape("telegram-token", ":AA", rf"\d{{8,10}}(?<!\d{{11}}):AA{_WORD}{{31,}}+"),
    _shape(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/"
        r"([A-Za-z0-9/_-]{16,}+)",
    ),
    _shape(
        "discord-webhook",
        "/webhooks/",
        rf"discord(?:app)?\.com/api/(?:v\d{{1,2}}/)?"
        rf"webhooks/(\d{{5,25}}/{_WORD}{{16,}}+)",
    ),
    _shape("teams-webhook", ".office.com/webhook", r"\.office\.com/webhookb?2?/([A-Za-z0-9@/_-]{30,}+)"),
    _shape("zapier-webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,}+)"),
    _shape(
        "discord-token",
        ".",
        rf"[MNO](?<![\w.-][MNO])(?=[A-Za-z_-]{{0,20}}\d)"
        rf"{_WORD}{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,45}}(?![\w-])",
    ),
    _shape("azure-secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,40}"),
    _shape("azure-key", "AccountKey= SharedAccessKey=", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,}+)"),
    _shape("azure-signature", "SharedAccessSignature=", r"SharedAccessSignature=([^\s;\"'<>]{16,}+)"),
    _shape(
        "signature",
        "sig= ignature=",
        r"[?&;](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)="
        r"([A-Za-z0-9%+/=_~-]{16,}+)",
    ),
)

_URL_PASSWORD = re.compile(r"://[^\s:/@\"'`<>\[\]{}]{0,200}:(?!\d{1,5}[?#])([^\s/\"'`<>]{1,256})@(?=[\w\[.${-])")
_URL_TOKEN = re.compile(rf"://({_WORD}{{20,256}})@")
_VARIABLE = re.compile(r"\$\{.*|\$\(.*|\$[A-Z][A-Z0-9_]*\Z|\$[A-Za-z_]+\Z|%[s(].*|\{.*|<.*|[xX*.•]{3,}\Z", re.DOTALL)
"""Stands for a password that somebody else knows."""


def token_spans(text: str) -> Iterator[Span]:
    """Where the text holds a token of a known shape."""
    for shape in (*_PREFIXED, *_OTHER):
        if any(needle in text for needle in shape.needles):
            pattern = re.compile(shape.source)
            group = 1 if pattern.groups else 0
            for found in pattern.finditer(text):
                yield Span(*found.span(group), shape.what)
    yield from _aws(text)
    yield from _urls(text)


def _aws(text: str) -> Iterator[Span]:
    if not any(prefix in text for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")):
        return
    for found in _AWS_ID.finditer(text):
        yield Span(*found.span(), "aws-access-key-id")
        # The two halves are handed out together: beside an id, forty such characters are the other half.
        for near in _AWS_SECRET.finditer(text, found.end(), found.end() + 160):
            if not _HEX.match(near[0]):
                yield Span(*near.span(), "aws-secret-key")


def _urls(text: str) -> Iterator[Span]:
    if "://" not in text or "@" not in text:
        return
    for found in _URL_PASSWORD.finditer(text):
        if not _VARIABLE.match(found[1]):
            yield Span(*found.span(1), "url-password")
    for found in _URL_TOKEN.finditer(text):
        if any(char.isdigit() for char in found[1]):
            yield Span(*found.span(1), "url-token")
