"""The marks by which a text passes itself off as a turn of the conversation, each with its weight."""

from __future__ import annotations

from spiral.memory.guard_signs import AGENT_NEEDLES, NAMED, NAMED_NEEDLES, Sign, sign

LAID_OUT: tuple[Sign, ...] = (
    sign(0.9, "forges a chat marker", "<|im_start", r"<\|im_start\|>[ \n]{0,2}(?:system|user|assistant)\b"),
    sign(
        0.4,
        "forges a chat marker",
        "<|",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
    ),
    sign(0.5, "forges a chat marker", "inst]", r"\[/?inst\]"),
    sign(0.5, "forges a chat marker", "sys>>", r"<</?sys>>"),
    sign(
        0.9,
        "forges a system message",
        "<system|<tool|<function|</",
        r"</?(?:system-reminder|system_message|system_prompt|tool_results?|function_results?|function_calls)>",
    ),
    sign(0.8, "forges a system message", "<system>", r"<system>\s{0,4}\w+ \w+ \w+"),
    sign(0.6, "forges a system message", "{{|[system]", r"\{\{ ?system ?:|\[system\]:? \w+ \w+"),
    sign(
        0.5,
        "forges a system message",
        "system",
        r"^ ?system ?: [^\n]{0,120}\b(?:you|agent|operator|assistant)\b",
    ),
    sign(0.4, "forges a system message", "system", r"^ ?#{1,4} ?system\b"),
    sign(0.8, "forges a system prompt", "prompt", r"\bsystem prompt: ?you\b"),
    sign(0.4, "forges a system prompt", "prompt", r"\bsystem prompt: ?\w"),
    sign(0.9, "forges a turn of the conversation", "to=", r"\bassistant to=\w+"),
    sign(0.7, "forges a turn of the conversation", "human:", r"^human: [^\n]{1,400}\nassistant:"),
    sign(0.3, "forges a turn of the conversation", "user:", r"^user: [^\n]{1,400}\nassistant:"),
    sign(
        0.7,
        "addresses an AI",
        NAMED_NEEDLES,
        rf"(?:^|[.#>!\"\[@*;] ?)(?:dear |hey |hi )?{NAMED}[:,] (?=\w)|\byou, the {NAMED}\b",
    ),
    sign(
        0.5,
        "addresses an assistant",
        AGENT_NEEDLES,
        r"(?:^|[.#>!\"(\[@*;] ?|: )(?:(?:all )?agents|(?:\w+ )?bots|assistants?|agent)[:,] (?=\w)",
    ),
)
"""Looked for line by line, because it is the layout that gives them away."""
