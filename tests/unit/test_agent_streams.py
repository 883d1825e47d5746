"""What agents' streams and words mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spiral.backends.agents.judge import judge
from spiral.backends.agents.limits import limited, resets, signed_out
from spiral.backends.agents.prices import price_of, price_table, priced
from spiral.backends.agents.steps import Called, Fault, Said, Spent, Turned
from spiral.backends.agents.streams import PARSERS, Lines, parsed
from spiral.backends.agents.table import adapters
from spiral.backends.agents.tally import KEPT, Tally, clipped
from spiral.errors import ConfigError
from spiral.work import Usage

NOW = datetime(2026, 11, 18, 13, 30, tzinfo=timezone(timedelta(hours=1)))
BERLIN = ZoneInfo("Europe/Berlin")


def line(**event: object) -> bytes:
    return json.dumps(event).encode()


def tallied(stream: str, *lines: bytes, **settings: str) -> Tally:
    tally = Tally(prices=price_table(), **settings)
    for one in lines:
        for step in parsed(stream, one):
            tally.add(step)
    return tally


def ended(stream: str, *lines: bytes, code: int = 1, errors: str = "") -> tuple[str, str, datetime | None]:
    name = stream if stream != "text" else "aider"
    judged = judge(tallied(stream, *lines), adapters()[name], exit_code=code, errors=errors, now=NOW)
    return judged.end, judged.detail, judged.resets


@pytest.mark.parametrize(
    ("message", "moment"),
    [
        ("You've hit your limit · resets 7pm (Europe/Berlin)", datetime(2026, 11, 18, 19, tzinfo=BERLIN)),
        ("You've hit your limit · resets 9am (Europe/Berlin)", datetime(2026, 11, 19, 9, tzinfo=BERLIN)),
        ("You've hit your limit · resets 1:25pm (Europe/Berlin)", datetime(2026, 11, 18, 13, 25, tzinfo=BERLIN)),
        ("Limit reached ∙ resets 12am", datetime(2026, 11, 19, 0, tzinfo=NOW.tzinfo)),
        ("resets 12pm (UTC)", datetime(2026, 11, 19, 12, tzinfo=UTC)),
        ("weekly limit · resets Nov 20, 3pm (UTC)", datetime(2026, 11, 20, 15, tzinfo=UTC)),
        ("resets Jan 2 at 3:30am (UTC)", datetime(2027, 1, 2, 3, 30, tzinfo=UTC)),
        ("Try again at Nov 21st, 2026 8:05 PM.", datetime(2026, 11, 21, 20, 5, tzinfo=NOW.tzinfo)),
        ("try again at 3:05 PM.", datetime(2026, 11, 18, 15, 5, tzinfo=NOW.tzinfo)),
        ("resets 7pm (Middle/Earth)", datetime(2026, 11, 18, 19, tzinfo=NOW.tzinfo)),
        ("Claude AI usage limit reached|1731960000", datetime(2024, 11, 18, 20, tzinfo=UTC)),
        ("limit reached|1731960000123", datetime(2024, 11, 18, 20, tzinfo=UTC)),
        ("try again in 5m", NOW + timedelta(minutes=5)),
        ("Try again in 2 days 3 hours 5 minutes.", NOW + timedelta(days=2, hours=3, minutes=5)),
        ("Please retry in 12.5s.", NOW + timedelta(seconds=12.5)),
        ("Please try again in 300ms.", NOW + timedelta(milliseconds=300)),
        ("resets at 2026-11-19T06:00:00Z", datetime(2026, 11, 19, 6, tzinfo=UTC)),
        ("You've hit your limit", None),
        ("resets in 3 months", None),
        ("resets 99:99pm", None),
        ("it is 3 in the morning", None),
    ],
)
def test_the_end_of_a_limit_is_read_from_its_message(message: str, moment: datetime | None) -> None:
    found = resets(message, NOW)
    assert found == moment
    assert found is None or found.tzinfo is not None


@given(st.text())
def test_no_message_breaks_the_reading_of_limits(message: str) -> None:
    resets(f"resets {message}", NOW)
    limited(message)
    signed_out(message)


def test_limits_and_sign_in_are_told_by_the_line_that_says_so() -> None:
    assert limited("one\nError: 429 Too Many Requests\ntwo") == "Error: 429 Too Many Requests"
    assert signed_out("Not logged in · Please run /login") == "Not logged in · Please run /login"
    assert limited("the limit of the list is 5") == signed_out("the user is logged in") == ""


def test_a_typed_limit_event_counts_with_its_reset_time() -> None:
    event = line(
        type="rate_limit_event",
        rate_limit_info={"status": "rejected", "resetsAt": 1763500000, "rateLimitType": "five_hour"},
    )
    result = line(type="result", is_error=True, result="You've hit your limit · resets 7pm (UTC)")
    assert ended("claude", event, result) == (
        "limit",
        "You've hit your limit · resets 7pm (UTC)",
        datetime.fromtimestamp(1763500000, UTC),
    )
    warning = line(type="rate_limit_event", rate_limit_info={"status": "allowed_warning", "resetsAt": 1763500000})
    assert ended("claude", warning, line(type="result", is_error=True, result="boom")) == ("failed", "boom", None)


@pytest.mark.parametrize(
    ("stream", "events", "end"),
    [
        ("claude", [line(type="result", subtype="error_max_turns", is_error=True)], "turns"),
        ("claude", [line(type="result", subtype="error_max_budget_usd", is_error=True)], "budget"),
        ("claude", [line(type="assistant", error="authentication_failed", message={"content": "x"})], "signin"),
        ("claude", [line(type="result", is_error=True, result="Not logged in · Please run /login")], "signin"),
        ("claude", [line(type="result", is_error=True, result="Claude AI usage limit reached|1731960000")], "limit"),
        ("codex", [line(type="turn.failed", error={"message": "You've hit your usage limit."})], "limit"),
        ("codex", [line(type="turn.failed", error={"message": "unexpected status 401 Unauthorized"})], "signin"),
        ("codex", [line(type="turn.failed", error={"message": "stream closed"})], "failed"),
        ("gemini", [line(type="result", status="error", error={"message": "RESOURCE_EXHAUSTED"})], "limit"),
        ("opencode", [line(type="error", error={"name": "X", "data": {"message": "Missing API key"}})], "signin"),
    ],
)
def test_failures_are_told_apart(stream: str, events: list[bytes], end: str) -> None:
    assert ended(stream, *events)[0] == end


def test_an_excuse_counts_even_when_the_program_exits_well() -> None:
    assert ended("text", b"You've hit your usage limit. Try again in 5m", code=0)[0::2] == (
        "limit",
        NOW + timedelta(minutes=5),
    )
    praise = b"pass: a user that has hit your rate limit gets status 429\nfindings: none\n<promise>COMPLETE</promise>"
    assert ended("text", *praise.split(b"\n"), code=0)[0] == "finished"


def test_an_error_that_was_overcome_does_not_count() -> None:
    reconnecting = line(type="error", message="Reconnecting... 2/5 (rate limit reached)")
    said = line(type="item.completed", item={"id": "1", "type": "agent_message", "text": "Done. " * 100})
    assert ended("codex", reconnecting, said, code=0) == ("finished", "", None)


def test_a_limit_that_was_overcome_is_not_the_cause_of_a_later_failure() -> None:
    retry = line(type="system", subtype="api_retry", attempt=1, max_retries=10, error="rate_limit")
    went_on = line(type="assistant", message={"id": "m", "model": "m", "content": [{"type": "text", "text": "on"}]})
    assert ended("claude", retry)[:2] == ("limit", "try 1 of 10: rate_limit")
    assert ended("claude", retry, went_on, errors="segmentation fault")[:2] == ("failed", "segmentation fault")


def test_usage_of_one_message_is_the_last_that_was_told_of_it() -> None:
    lines = [
        line(
            type="assistant",
            message={"id": key, "model": "claude-sonnet-4-6", "content": [], "usage": {"output_tokens": tokens}},
        )
        for key, tokens in (("a", 1), ("a", 100_000), ("b", 100_000))
    ]
    tally = tallied("claude", *lines)
    assert tally.usage == Usage(output=200_000, turns=2, cost=3.0, estimated=True)


def test_a_subagents_words_are_neither_the_final_message_nor_a_turn() -> None:
    inner = {"id": "n", "model": "m", "content": [{"type": "text", "text": "<promise>COMPLETE</promise>"}]}
    outer = {"id": "o", "model": "m", "content": [{"type": "text", "text": "going on"}]}
    tally = tallied(
        "claude",
        line(type="assistant", message=outer),
        line(type="assistant", message=inner, parent_tool_use_id="t"),
    )
    assert (tally.text, tally.turns) == ("going on", {"o"})


def test_a_model_without_a_price_costs_an_unknown_amount() -> None:
    tally = tallied("codex", line(type="turn.completed", usage={"input_tokens": 5}), model="mystery-1")
    assert tally.usage == Usage(input=5, unknown=True)
    assert tallied("codex", line(type="turn.completed", usage={"input_tokens": 1_000_000}), assumed="gpt-5").usage == (
        Usage(input=1_000_000, cost=1.25, estimated=True)
    )


def test_prices_go_by_the_longest_name_and_the_users_come_first() -> None:
    table = price_table({"claude-opus-5": [1, 2], "house-1": [1.0, 2.0, 0.5]})
    assert price_of("claude-opus-5-20260724", table) == (1.0, 2.0, 1.0)
    assert price_of("anthropic/claude-opus-4-8[1m]", table) == (5.0, 25.0, 0.5)
    assert price_of("claude-opus-4-1-20250805", table) == (15.0, 75.0, 1.5)
    assert price_of("gpt-5-mini-2025-08-07", table) == (0.25, 2.0, 0.025)
    assert price_of("gpt-50", table) is price_of("", table) is None
    used = Usage(input=1_000_000, output=1_000_000, cache_read=1_000_000, cache_write=1_000_000)
    assert priced(used, "house-1", table).cost == pytest.approx(1 + 2 + 0.5 + 1.25)
    with pytest.raises(ConfigError, match=r"act\.prices\.x must be dollars for \[input, output, cached\], not 'free'"):
        price_table({"x": "free"})


def test_what_is_kept_for_the_memory_is_bounded() -> None:
    tally = Tally(prices={})
    for number in range(2_000):
        tally.add(Said(text=f"{number} " + "x" * 20_000))
    assert sum(len(text) for _, text in tally.messages) <= KEPT
    assert tally.messages[-1][1].startswith("1999 ")
    assert len(clipped("x" * 100_000, 1_000)) < 1_100


def test_output_without_structure_is_its_last_lines_without_colours() -> None:
    tally = tallied("text", *(f"\x1b[32mline {number}\x1b[0m\r".encode() for number in range(1_000)))
    assert tally.text.splitlines() == [f"line {number}" for number in range(800, 1_000)]
    assert len(tallied("text", *([b"y" * 15_000] * 5)).text) == 20_000


def test_lines_are_cut_from_any_chunks_and_too_long_ones_left_out() -> None:
    data = b"one\n" + b"x" * 50 + b"\ntwo\n\nend"
    for size in (1, 3, 7, 100):
        lines = Lines(longest=20)
        found = [one for at in range(0, len(data), size) for one in lines.feed(data[at : at + size])]
        assert [*found, *lines.end()] == [b"one", b"two", b"", b"end"]


@given(st.sampled_from(sorted(PARSERS)), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from("type subtype message content usage part item id error result stats state tool".split()),
        inner | st.sampled_from("assistant user result tool_use item.completed step_finish error text tool".split()),
        max_size=6,
    ),
    max_leaves=30,
))  # fmt: skip
def test_no_object_breaks_a_parser(stream: str, event: object) -> None:
    tallied(stream, json.dumps(event).encode())


def test_a_tool_is_counted_once_and_its_command_is_kept() -> None:
    tally = Tally(prices={})
    for _ in range(2):
        tally.add(Called(key="1", tool="Bash", command="make test", shell=True))
    tally.add(Turned(key="1"))
    tally.add(Spent(key="", usage=Usage(input=1)))
    tally.add(Spent(key="", usage=Usage(input=1)))
    tally.add(Fault(text="x", fatal=False))
    assert (tally.tools, tally.usage.input, tally.usage.turns) == (1, 2, 1)
