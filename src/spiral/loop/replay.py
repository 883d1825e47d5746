"""A pass's briefing made again from its inputs, under its own policy or another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spiral.errors import NotFoundError, StoreError
from spiral.loop.codec import load, noun
from spiral.loop.hydrate import Briefing, Inputs, Section, hydrate
from spiral.loop.lenient import Json, table, tables, text, whole
from spiral.loop.story import PassStory
from spiral.ports import Journal
from spiral.tables import NONE, HydrateSettings
from spiral.work import EventKind

HYDRATED: EventKind = "pass.hydrated"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """What a pass was sent, and what its inputs give."""

    sent: Briefing
    made: Briefing
    asked: str = ""
    """The other policy that was asked for; empty for its own."""

    @property
    def identical(self) -> bool:
        """Whether both are equal byte for byte."""
        return self.sent.text == self.made.text


def replay(journal: Journal, story: PassStory, settings: HydrateSettings, policy: str = "") -> Replay:
    """Make the briefing again from the inputs that were kept, never from the text that was sent.

    The settings of that time are those that the pass recorded; where an older one did not, those of now, with the
    policy and the memory switch that the journal tells.
    """
    data = hydrated(journal, story)
    inputs = load(Inputs, kept(journal, text(data, "inputs"), f"the inputs of pass {story.number}"))
    body = kept(journal, text(data, "briefing"), f"the briefing of pass {story.number}")
    sections = tuple(section_of(entry) for entry in tables(data, "sections"))
    sent = Briefing(text=body, tokens=whole(data, "tokens"), policy=text(data, "policy"), sections=sections)
    tried = list(settings_of(journal, story, data, settings))
    if policy:
        return Replay(sent=sent, made=hydrate(inputs, replace(tried[0], policy=policy)), asked=policy)  # type: ignore[arg-type]
    made = [hydrate(inputs, one) for one in tried]
    return Replay(sent=sent, made=next((one for one in made if one.text == body), made[0]))


def hydrated(journal: Journal, story: PassStory) -> Json:
    """How the briefing came about."""
    found = journal.events(pass_id=story.id, kinds=(HYDRATED,), limit=1)
    if not found:
        raise NotFoundError(f"pass {story.number} has no briefing: it ended, or is, before that step")
    return found[0].data


def kept(journal: Journal, name: str, what: str) -> str:
    """A text that the journal keeps."""
    try:
        return journal.kept(name)
    except NotFoundError:
        raise NotFoundError(f"the journal no longer keeps {what}, so it cannot be made again") from None


def settings_of(journal: Journal, story: PassStory, data: Json, now: HydrateSettings) -> Iterator[HydrateSettings]:
    """The settings that the pass may have had, the likeliest first."""
    recorded = table(data, "settings")
    if recorded:
        try:
            yield noun(HydrateSettings, recorded)
            return
        except (TypeError, ValueError) as fault:
            raise StoreError(f"the settings of pass {story.number} cannot be read: {fault}") from fault
    begun = journal.events(run=story.run, kinds=("run.started", "run.resumed"), limit=1)
    memory = not begun or begun[0].data.get("memory") is not False
    policy = story.policy or now.policy
    yield replace(now, policy=policy, memory=memory)  # type: ignore[arg-type]
    if now.sections:
        yield replace(now, policy=policy, memory=memory, sections=NONE)  # type: ignore[arg-type]


def section_of(data: Json) -> Section:
    """A line of the manifest."""
    return Section(
        name=text(data, "name"), source=text(data, "source"), tokens=whole(data, "tokens"),
        left_out=whole(data, "left_out"),
    )  # fmt: skip
