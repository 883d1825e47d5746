"""What a sign is: one way in which a text gives itself away as an instruction to an agent."""

from __future__ import annotations

import re
from dataclasses import dataclass

NAMED = (
    r"(?:a\.?i\.?(?: (?:coding )?(?:agents?|assistants?|models?|reviewers?|bots?|pair programmers?))?|llms?(?: \w+)?"
    r"|language models?|claude|chatgpt|gpt-?\d*|copilot|codex|gemini|coding agents?|autonomous agents?)"
)
NAMED_NEEDLES = "ai|a.i|llm|language model|claude|gpt|copilot|codex|gemini|coding agent|autonomous agent"
AGENT = rf"(?:{NAMED}|assistants?|agents?|models?|bots?)"
AGENT_NEEDLES = "ai|a.i|llm|claude|gpt|copilot|codex|gemini|assistant|agent|model|bot"


@dataclass(frozen=True, slots=True)
class Sign:
    """One way in which a text gives itself away. Weights that stand close together add up; 1 is enough."""

    weight: float
    reason: str
    needles: tuple[str, ...]
    """A text without any of these cannot match: asked first, because it is cheap."""
    pattern: re.Pattern[str]


def sign(weight: float, reason: str, needles: str, pattern: str) -> Sign:
    """A sign whose needles are written with bars between them."""
    return Sign(weight, reason, tuple(needles.split("|")), re.compile(pattern, re.MULTILINE))
