"""Secrets are taken out before anything is kept, and ordinary text is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiral.bench.guard import Example, secrets
from spiral.memory.redact import redact

EXAMPLES = secrets()
KEY = "PRIV" + "ATE KEY"
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
GITHUB = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("example", [example for example in EXAMPLES if not example.caught], ids=lambda each: each.id)
def test_ordinary_text_is_left_alone(example: Example) -> None:
    assert redact(example.text) == (example.text, ())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.id)
def test_doing_it_again_changes_nothing(example: Example) -> None:
    clean, _ = redact(example.text)
    assert redact(clean) == (clean, ())


@pytest.mark.parametrize(
    ("text", "clean", "what"),
    [
        (f"export GITHUB_TOKEN={GITHUB}", "export GITHUB_TOKEN=[redacted:github-token]", "github-token"),
        (f'{{"log": "first\\n{GITHUB}"}}', '{"log": "first\\n[redacted:github-token]"}', "github-token"),
        ('{"password": "hunter22", "n": 1}', '{"password": "[redacted:password]", "n": 1}', "password"),
        ("  password: tr0ub4dor\n  port: 1", "  password: [redacted:password]\n  port: 1", "password"),
        ("DB_PASS=a#1&b\nHOST=x", "DB_PASS=[redacted:password]\nHOST=x", "password"),
        ("postgres://app:changeme@db/x", "postgres://app:[redacted:url-password]@db/x", "url-password"),
        ("<password>s3cret99</password>", "<password>[redacted:password]</password>", "password"),
        ("The password is Tr0ub4dor.", "The password is [redacted:password].", "password"),
        ("Server=x;Password=abc123!;User=y", "Server=x;Password=[redacted:password];User=y", "password"),
        ('key = "x" # api_key = "abc12345"', 'key = "x" # api_key = "[redacted:secret]"', "secret"),
    ],
)
def test_the_name_stays_and_the_value_goes(text: str, clean: str, what: str) -> None:
    assert redact(text) == (clean, (what,))


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN {KEY}-----\n{LINE}\n{LINE}\n-----END {KEY}-----",
        f"-----BEGIN {KEY}-----\\n{LINE}\\n{LINE}\\n-----END {KEY}-----",
        f"-----BEGIN RSA {KEY}-----\nProc-Type: 4,ENCRYPTED\n\n{LINE}\n-----END RSA {KEY}-----",
        f"-----BEGIN OPENSSH {KEY}-----\n{LINE}\n{LINE}",
        f"{LINE}\n{LINE}\nab==\n-----END EC {KEY}-----",
    ],
)
def test_a_key_block_goes_as_a_whole_even_when_it_was_cut_off(text: str) -> None:
    assert redact(f"before:\n{text}") == ("before:\n[redacted:private-key]", ("private-key",))


def test_what_follows_a_key_that_was_cut_off_is_kept() -> None:
    clean, _ = redact(f"-----BEGIN {KEY}-----\n{LINE}\n{LINE}\n\nThen the build went on as usual.")
    assert clean == "[redacted:private-key]\n\nThen the build went on as usual."


def test_all_kinds_are_named_once_and_in_order() -> None:
    text = f"token {GITHUB}, again {GITHUB}, and postgres://a:b@c and password=hunter22"
    assert redact(text)[1] == ("github-token", "password", "url-password")


def test_a_long_unquoted_secret_goes_to_its_end() -> None:
    assert redact("API_KEY=" + "a1B2" * 400) == ("API_KEY=[redacted:secret]", ("secret",))


def test_a_letter_whose_small_form_is_longer_shifts_nothing() -> None:
    assert redact("\u0130\u0130\u0130 password=hunter22 end") == (
        "\u0130\u0130\u0130 password=[redacted:password] end",
        ("password",),
    )


PIECES = st.sampled_from(
    [
        *(example.text for example in EXAMPLES),
        "password", "=", ": ", '"', "'", "\\n", "\n", " ", "token", "://u:", "@h", "[redacted:", "]", "Bearer ", "eyJ",
        GITHUB, LINE, f"-----BEGIN {KEY}-----", f"-----END {KEY}-----", "a1B2c3D4e5F6g7H8", "--secret ", "&", ";", "-",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_it_is_idempotent_whatever_stands_beside_what(text: str) -> None:
    clean, _ = redact(text)
    assert redact(clean) == (clean, ())


SIZE = 100_000
HOSTILE = (
    "a", "eyJ", "eyJ-", "sk-", "gh" + "p_", f"-----BEGIN {KEY}-----", f"-----END {KEY}-----", "A1b2", "password=",
    'password="', "password=$", "password='x\n", "://a:", "://a:b@", "Bearer ", "Cookie: a=b", "authorization: ",
    "curl ", "mysql -u ", "login x password ", "aaa1Q~", "12345678:AA", "1", "--token ", "-", "[redacted:password]",
    "password=[redacted:password]", "\\n", "\n", "#", "password is a1b2c3 ", "password" + " " * 19,
    "-" * 119 + "token=",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_hostile_text_takes_no_longer_than_its_length_allows(piece: str) -> None:
    started = time.perf_counter()
    redact(piece * (SIZE // len(piece)))
    assert time.perf_counter() - started < 2


def test_megabytes_take_less_than_seconds() -> None:
    line = "2026-01-01T00:00:00 INFO worker=7 handled request id=9f1c2d3e key=cache/item tokens=120 in 12 ms\n"
    text = line * (2_000_000 // len(line)) + f"password=hunter22\n{GITHUB}\n"
    started = time.perf_counter()
    clean, what = redact(text)
    assert time.perf_counter() - started < 2
    assert what == ("github-token", "password")
    assert clean.endswith("password=[redacted:password]\n[redacted:github-token]\n")
