"""Public sets of conversations with questions, read from files that the user has, into one shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spiral.errors import UsageError
from spiral.model import Message

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""LoCoMo's numbers; 5 asks for what is not there, and has nothing to be found."""
MARK = re.compile(r"\s*->->\s*[\d,\s]*$")
"""What BEAM puts behind a user's message."""
DIALOGUE = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a conversation."""

    id: str
    session: str
    message: Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question, and what has to be found for it."""

    id: str
    text: str
    category: str
    evidence: frozenset[str]
    """Ids of turns, or of sessions where the set counts those."""
    at: datetime | None = None
    """When it is asked."""
    marks: tuple[str, ...] = ()
    """Groups that it counts in besides its category."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """One conversation with its questions: what is asked of one is never looked for in another."""

    id: str
    dataset: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    unit: str = "turn"
    """What is counted as found: turns or sessions."""


def read(path: Path, limit: int = 0) -> list[Talk]:
    """The conversations in a file or folder of LoCoMo, LongMemEval or BEAM; with a limit the first so many."""
    talks = list(talks_in(path, limit))
    if not talks:
        raise UsageError(f"there is no LoCoMo, LongMemEval or BEAM in {str(path)!r}; name a file or a folder of one")
    return talks


def talks_in(path: Path, limit: int) -> Iterator[Talk]:
    """By what stands in the files, whatever their names."""
    if path.is_dir():
        yield from beam(path, limit)
        return
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise UsageError(f"cannot read {str(path)!r} as JSON: {fault}") from fault
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    if "conversation" in first:
        yield from (locomo(sample) for sample in content[: limit or None])
    elif "haystack_sessions" in first:
        yield from (longmemeval(sample) for sample in content[: limit or None])


def locomo(sample: Mapping[str, object]) -> Talk:
    """A LoCoMo conversation; a turn begins with who speaks, and says what a shared picture shows."""
    said = sample["conversation"]
    questions = sample["qa"]
    assert isinstance(said, dict)
    assert isinstance(questions, list)
    turns = []
    for name in sorted((name for name in said if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name[8:])):
        at = datetime.strptime(said[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in said[name]:
            shown = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            message = Message(role="user", text=f"{turn['speaker']}: {turn['text']}{shown}", at=at)
            turns.append(Turn(id=turn["dia_id"], session=name, message=message))
    known = {turn.id for turn in turns}
    asked = []
    for number, item in enumerate(questions):
        evidence = frozenset(found for text in item.get("evidence", ()) for found in DIALOGUE.findall(text)) & known
        if item["category"] in CATEGORIES and evidence:
            asked.append(
                Question(
                    id=f"{sample['sample_id']}/{number}", text=item["question"],
                    category=CATEGORIES[item["category"]], evidence=evidence,
                )
            )  # fmt: skip
    return Talk(id=str(sample["sample_id"]), dataset="locomo", turns=tuple(turns), questions=tuple(asked))


def longmemeval(sample: Mapping[str, object]) -> Talk:
    """A LongMemEval question with its haystack."""
    ids, dates, sessions = (sample[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
    answers = sample["answer_session_ids"]
    assert isinstance(ids, list)
    assert isinstance(dates, list)
    assert isinstance(sessions, list)
    assert isinstance(answers, list)
    turns = []
    # Sessions of one id may come twice in a haystack: they are counted once, as one.
    for name, date, session in zip(ids, dates, sessions, strict=True):
        at = datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
        for number, turn in enumerate(session):
            message = Message(role=turn["role"], text=turn["content"], at=at)
            turns.append(Turn(id=f"{name}/{number}", session=name, message=message))
    asked = Question(
        id=str(sample["question_id"]), text=str(sample["question"]), category=str(sample["question_type"]),
        evidence=frozenset(answers), at=moment(str(sample["question_date"])),
    )  # fmt: skip
    return Talk(id=asked.id, dataset="longmemeval", turns=tuple(turns), questions=(asked,), unit="session")


def moment(text: str) -> datetime:
    """A question's date, in the set's own form or in ISO's."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def beam(path: Path, limit: int) -> Iterator[Talk]:
    """The chats of a folder of BEAM: one chat, one size, or all of them."""
    chats = sorted(path.rglob("chat.json"), key=lambda file: (file.parent.parent.name, natural(file.parent.name)))
    for chat in chats[: limit or None]:
        try:
            batches = json.loads(chat.read_text("utf-8"))
            probes = json.loads(chat.with_name("probing_questions.json").read_text("utf-8"))
        except (OSError, ValueError) as fault:
            raise UsageError(f"cannot read {str(chat)!r}: {fault}") from fault
        yield beam_chat(f"{chat.parent.parent.name}/{chat.parent.name}", chat.parent.parent.name, batches, probes)


def beam_chat(
    name: str, size: str, batches: Sequence[Mapping[str, object]], probes: Mapping[str, Sequence[Mapping[str, object]]]
) -> Talk:
    """One chat; a batch is a session, and its date holds until a later one is given."""
    turns = []
    at: datetime | None = None
    for batch in batches:
        groups = batch["turns"]
        assert isinstance(groups, list)
        for said in (said for group in groups for said in group):
            if said.get("time_anchor"):
                at = datetime.strptime(said["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
            message = Message(role=said["role"], text=MARK.sub("", said["content"]), at=at)
            turns.append(Turn(id=str(said["id"]), session=f"batch {batch['batch_number']}", message=message))
    roles = {turn.id: turn.message.role for turn in turns}
    asked = []
    for category, items in probes.items():
        for number, item in enumerate(items):
            evidence = frozenset(numbers(item.get("source_chat_ids"))) & roles.keys()
            if category != "abstention" and evidence:
                theirs = ("assistant evidence",) if any(roles[one] == "assistant" for one in evidence) else ()
                asked.append(
                    Question(
                        id=f"{name}/{category}/{number}", text=str(item["question"]), category=category,
                        evidence=evidence, marks=theirs,
                    )
                )  # fmt: skip
    return Talk(id=name, dataset=f"beam-{size}", turns=tuple(turns), questions=tuple(asked))


def numbers(value: object) -> Iterator[str]:
    """The ids in a list, or in a table of lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | str):
        yield str(value)


def natural(name: str) -> tuple[int, str]:
    """Sorts `9` before `10`."""
    return (int(name) if name.isdigit() else 0, name)
