"""A briefing never exceeds its policy, and the same inputs give the same bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiral.errors import ConfigError
from spiral.loop.codec import dump, load
from spiral.loop.hydrate import POLICIES, SECTIONS, Inputs, Known, Text, hydrate, rooms
from spiral.loop.prompts import instructions
from spiral.memory.tokens import tokens
from spiral.tables import HydrateSettings, Table
from spiral.work import Check, Effort, Task, TaskState

TASK = Task(
    id="TASK-3", title="Retry webhooks", description="Retries go through the outbox.", acceptance=("three retries",),
    checks=(Check(name="tests", command="pytest -q"),), files=("outbox.py",),
)  # fmt: skip


def effort(number: int, **rest: object) -> Effort:
    made = Effort(
        id=f"p{number}", number=number, agent="coder", outcome="failed", reason="tests is red",
        summary=f"I tried way {number}.", failing=(("tests", f"E   AssertionError: {number} != 3"),),
        diff=f"+retries = {number}\n",
    )  # fmt: skip
    return replace(made, **rest)  # type: ignore[arg-type]


def inputs(**rest: object) -> Inputs:
    made = Inputs(
        pass_id="p47", number=47, mode="implement", task=TASK, state=TaskState(failures=1), left="3 of 50 passes",
        ends="when every task is done", efforts=(effort(1), effort(2)), attempt=3,
        texts={"steering": Text(source=".agent/STEERING.md", text="Hurry slowly.")},
        known=(Known(id="m1", line='<memory source="ann">The outbox is in outbox.py.</memory>'),),
    )  # fmt: skip
    return replace(made, **rest)  # type: ignore[arg-type]


def test_a_pass_is_told_what_was_tried_and_how_it_failed() -> None:
    text = hydrate(inputs(), HydrateSettings()).text
    for said in (
        "pass 47, attempt 3 at task TASK-3", "I tried way 2", "2 != 3", "+retries = 2",
        "- pass 1: failed (tests). I tried way 1.",
        "Hurry slowly.", "The outbox is in outbox.py.", "`pytest -q`", "<promise>TASK-3:DONE</promise>",
    ):  # fmt: skip
        assert said in text


def test_without_memory_it_is_told_neither_attempts_nor_memories() -> None:
    briefing = hydrate(inputs(), HydrateSettings(memory=False))
    assert "tried way" not in briefing.text
    assert briefing.served == ()
    assert "Retry webhooks" in briefing.text


def test_a_prompt_of_the_project_comes_instead_of_ours() -> None:
    own = inputs(texts={"prompt": Text(source=".agent/PROMPT.md", text="Be terse.")})
    assert hydrate(own, HydrateSettings()).text.startswith("Be terse.")
    assert hydrate(replace(own, mode="plan"), HydrateSettings()).text.startswith("You are one planning pass")


def test_inputs_survive_being_kept() -> None:
    assert load(Inputs, dump(inputs())) == inputs()


def test_a_section_can_be_given_its_own_room() -> None:
    assert rooms(HydrateSettings(sections=Table(memories=7)))["memories"] == 7
    with pytest.raises(ConfigError, match="unknown section 'memoris'; did you mean 'memories'"):
        rooms(HydrateSettings(sections=Table(memoris=7)))
    with pytest.raises(ConfigError, match=r"hydrate.sections.log must be a whole number of at least 0, not -1"):
        rooms(HydrateSettings(sections=Table(log=-1)))


words = st.text(alphabet="ab é\n`#<>/x1", max_size=3_000).map(lambda text: text * 7)


@settings(max_examples=60, deadline=None)
@given(
    policy=st.sampled_from(sorted(POLICIES)),
    texts=st.dictionaries(st.sampled_from([*SECTIONS, "prompt", "spec"]), words),
    count=st.integers(0, 60),
    said=words,
)
def test_whatever_the_history_a_briefing_stays_within_its_policy(
    policy: str, texts: dict[str, str], count: int, said: str
) -> None:
    given_inputs = inputs(
        texts={name: Text(source=name, text=text) for name, text in texts.items()},
        efforts=tuple(effort(n, summary=said, diff=said, failing=(("a", said), ("b", said))) for n in range(count)),
        known=tuple(Known(id=f"m{n}", line=said[:400]) for n in range(count)),
        task=replace(TASK, description=said),
    )
    chosen = HydrateSettings(policy=policy)  # type: ignore[arg-type]
    briefing = hydrate(given_inputs, chosen)
    assert briefing.tokens == tokens(briefing.text) <= sum(POLICIES[policy].values())
    assert hydrate(given_inputs, chosen) == briefing


def test_a_prompt_that_begins_with_ours_follows_the_mode_and_keeps_the_words_of_the_project() -> None:
    own = inputs(texts={"prompt": Text(source="p", text=instructions("implement") + "\n\nWe speak Latin.")})
    text = hydrate(replace(own, mode="test"), HydrateSettings()).text
    assert text.startswith(instructions("test") + "\n\nWe speak Latin.")


def test_what_is_planned_from_comes_whole_under_every_policy() -> None:
    prd = " ".join(f"Requirement {number} is that the shop greets." for number in range(900))
    for policy in POLICIES:
        given_inputs = inputs(mode="plan", task=Task(id="", title="Plan the work", description=prd))
        assert prd in hydrate(given_inputs, HydrateSettings(policy=policy)).text  # type: ignore[arg-type]
