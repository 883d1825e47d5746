"""The rules for what tools showed: what failed and then worked, what cured an error, which checks passed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spiral.memory.sentences import examined, sentences
from spiral.model import Draft, Episode, Evidence

AHEAD = 12
"""How many runs after a failure may hold its cure."""

_PROMPT = re.compile(r"^[ \t]{0,8}(?:\$|❯|➜|%)[ \t]+(?P<command>\S.{0,400})$", re.MULTILINE)
_HEADER = re.compile(
    r"^(?:command|ran|running|cmd|executing)\s*:?\s+`?(?P<command>[^`\n]{2,400})`?$", re.IGNORECASE | re.MULTILINE
)
_SHELL = re.compile(r"^```(?:bash|sh|shell|console|zsh)\n(?:\$ )?(?P<command>[^\n`]{2,400})\n```", re.MULTILINE)
_EXIT = re.compile(
    r"^[\W_]{0,4}(?:error: |process |command |the command |bash: |script |program )?(?:finished with |failed with |"
    r"returned |completed with )?(?:exit(?:ed)?[ _-]?(?:with |code|status|non-zero )*|return ?code|"
    r"non-zero exit (?:code|status)|rc)[\"'>)]*\s*[:=]?\s*(?P<code>-?\d{1,3})\b[^\w\n]{0,12}$",
    re.IGNORECASE | re.MULTILINE,
)
_ERROR = re.compile(
    r"^.{0,200}(?:\b\w{0,60}(?:Error|Exception)\b(?::|$)|\berror\b\s?[:\[]|\bERR!|command not found|No such file|"
    r"cannot |can't |Permission denied|is not a |fatal:|FAILED|failed\b|not found|Cannot |missing|denied).{0,300}$",
    re.MULTILINE | re.IGNORECASE,
)
_PASSED = re.compile(
    r"^.{0,120}(?:\b\d{1,6} (?:tests? )?(?:passed|passing)\b|\bno issues found\b|\ball checks passed\b|"
    r"\btest result: ok\b|\bOK \(\d+ tests?|\b\d+ examples?, 0 failures\b|\bbuild succe(?:eded|ssful)\b|\b0 errors\b|"
    r"\ball \d+ tests pass).{0,120}$",
    re.MULTILINE | re.IGNORECASE,
)
_MASKED = re.compile(r"[|;]")
_SOME_FAILED = re.compile(r"\b[1-9]\d* (?:tests? )?(?:failed|failures?|errors?)\b", re.IGNORECASE)
_WRAPPER = re.compile(
    r"^(?:cd \S{1,200} (?:&&|;) |[A-Z_][A-Z0-9_]{0,40}=\S{0,200} |sudo |npx |uvx |uv run |poetry run |pipenv run |"
    r"bundle exec |pnpm exec |time |env |python3? -m |node_modules/\.bin/|\./)"
)
_FAMILIES = {
    name: family
    for family, names in {
        "node": "npm pnpm yarn bun npx", "pip": "pip pip3 uv pipx", "python": "python python3 py",
        "compose": "docker docker-compose podman podman-compose", "test": "pytest tox nox",
        "make": "make gmake just", "cargo": "cargo rustc", "gradle": "gradle gradlew mvn mvnw",
    }.items()
    for name in names.split()
}  # fmt: skip
_LOOKS = """
ls cat cd grep rg find echo head tail sed awk which pwd wc tree stat file man history ps env printenv true test
curl wget less more jq gh diff sort
"""
_LOOKING = frozenset(_LOOKS.split())
_LOOKING_GIT = re.compile(r"^git (?:status|log|diff|show|branch|blame|fetch)\b")
_CURE = re.compile(
    r"\b(?:the fix|fix(?:ed)?\b.{0,40}\bby|root cause|caused by|because|the (?:issue|problem|cause|culprit|"
    r"reason) (?:is|was)|solution|needs? to|has to|should be|missing|instead of|turns out)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """One command that a tool ran, as far as the episode tells."""

    command: str
    code: int | None
    output: str
    episode: Episode
    place: int
    """The episode's place in the session."""

    @property
    def failed(self) -> bool:
        """Whether it is known to have failed; an error in the output counts only where no exit code is given."""
        return self.code != 0 if self.code is not None else bool(_ERROR.search(self.output))


def distill_commands(heard: Sequence[Episode]) -> tuple[list[Draft], frozenset[str]]:
    """What the runs of a session teach, and the assistant's sentences that were used for it.

    A page from the web may show a transcript of its own; it proves nothing.
    """
    runs = [
        ran
        for place, episode in enumerate(heard)
        if episode.role == "tool" and not episode.source.startswith("web")
        for ran in _runs(episode, place, heard)
    ]
    drafts: list[Draft] = []
    used: set[str] = set()
    settled = 0
    for position, ran in enumerate(runs):
        if position < settled or not ran.failed or not ran.command or _only_looks(ran.command):
            continue
        for later in range(position + 1, min(len(runs), position + 1 + AHEAD)):
            draft, cure = _lesson(ran, runs[position + 1 : later], runs[later], heard)
            if draft is not None:
                drafts.append(draft)
                used.add(cure)
            if draft is not None or _again(ran, runs[later]):
                settled = later if draft is not None else settled
                break
    return [*drafts, *_checks(runs)], frozenset(used - {""})


def _lesson(bad: Ran, between: Sequence[Ran], good: Ran, heard: Sequence[Episode]) -> tuple[Draft | None, str]:
    """What a failure and a later success teach together: another command, or a cure for the same one."""
    if good.code != 0:
        return None, ""
    error = _error(bad)
    if _again(bad, good):
        return _cured(bad, between, good, heard) if error else (None, "")
    if not _akin(bad.command, good.command):
        return None, ""
    reason = f": {error}" if error else ""
    code = f"exit {bad.code}{reason}" if bad.code is not None else error
    text = f"`{bad.command}` failed ({code}); `{good.command}` worked."
    return _draft(text, "command", [_quote(bad, error), _check(good)], good.episode, kind="procedural"), ""


def _cured(bad: Ran, between: Sequence[Ran], good: Ran, heard: Sequence[Episode]) -> tuple[Draft | None, str]:
    """The same command failed and then worked: the cure is a command run between, or what the assistant said it was."""
    said = [
        (sentence, episode)
        for episode in heard[bad.place + 1 : good.place]
        if episode.role == "assistant"
        for sentence in sentences(episode.text)
        if _CURE.search(sentence) and not sentence.endswith("?") and len(sentence) <= 300
    ]
    error = _error(bad)
    quotes = [_quote(bad, error), _check(good)]
    if said:
        sentence, episode = said[-1]
        text = f'`{bad.command}` failed with "{error}". {" ".join(sentence.split())} Then it worked.'
        quotes.append(Evidence(kind="quote", text=sentence, source=episode.id, at=episode.at))
        return _draft(text, "fix", quotes, good.episode, kind="episodic", inferred=True), sentence
    cures = [ran.command for ran in between if ran.code == 0 and ran.command and not _only_looks(ran.command)]
    if len(cures) != 1:
        return None, ""
    text = f'`{bad.command}` failed with "{error}"; after `{cures[0]}` it worked.'
    return _draft(text, "fix", quotes, good.episode, kind="procedural"), ""


def _checks(runs: Sequence[Ran]) -> Iterator[Draft]:
    """The last result of each check that passed: exit code 0 and a line that says what passed."""
    last: dict[str, Ran] = {ran.command: ran for ran in runs if ran.command}
    for command, ran in last.items():
        line = _passed(ran)
        # What ends in `| tail` or `|| true` exits with 0 whatever failed before.
        masked = bool(_MASKED.search(_bare(command)))
        if ran.code != 0 or not line or _only_looks(command) or _SOME_FAILED.search(ran.output if masked else line):
            continue
        kind: Literal["quote", "check"] = "quote" if masked else "check"
        slug = re.sub(r"[^a-z0-9]+", "-", command.lower()).strip("-")
        yield Draft(
            text=f"`{command}` passed: {line}",
            kind="episodic",
            key=f"check/{slug}" if len(slug) <= 60 else "",
            authority="observed" if masked else "verified",
            evidence=(Evidence(kind=kind, text=line, source=ran.episode.id, at=ran.episode.at),),
            source=ran.episode.source or "tool",
            session=ran.episode.session,
            rule="check",
        )


def _runs(episode: Episode, place: int, heard: Sequence[Episode]) -> Iterator[Ran]:
    """The commands of one tool episode: from its metadata, or from a transcript in its text."""
    text = examined(episode.text)
    command = episode.metadata.get("command") or episode.metadata.get("cmd") or ""
    given = episode.metadata.get("exit_code", episode.metadata.get("exit", episode.metadata.get("returncode", "")))
    code = int(given) if re.fullmatch(r"-?\d{1,6}", str(given)) else None
    prompts = [] if command else list(_PROMPT.finditer(text))
    if not prompts:
        header = _HEADER.search(text[:2_000])
        command = command or (header["command"].strip() if header else _announced(place, heard))
        yield Ran(
            command=_short(command),
            code=_code(text) if code is None else code,
            output=text,
            episode=episode,
            place=place,
        )
        return
    for prompt, following in zip(prompts, [*prompts[1:], None], strict=True):
        output = text[prompt.end() : following.start() if following else len(text)]
        shown = _code(output) if code is None or following else code
        yield Ran(command=_short(prompt["command"]), code=shown, output=output, episode=episode, place=place)


def _short(command: str) -> str:
    """The command on one line; "" for a script, which nobody would run again from a memory."""
    command = " ".join(command.split())
    return command if len(command) <= 200 else ""


def _announced(place: int, heard: Sequence[Episode]) -> str:
    """The command that the assistant announced right before, where it announced exactly one."""
    before = heard[place - 1] if place else None
    if before is None or before.role != "assistant":
        return ""
    shown = _SHELL.findall(examined(before.text))
    return before.metadata.get("command", "") or (str(shown[0]) if len(shown) == 1 else "")


def _code(output: str) -> int | None:
    """The exit code that a transcript shows on a line of its own, near its start or its end."""
    near = output if len(output) <= 1_500 else f"{output[:500]}\n{output[-1_000:]}"
    codes = [int(match["code"]) for match in _EXIT.finditer(near)]
    return codes[-1] if codes else None


def _error(ran: Ran) -> str:
    """The line that tells what went wrong: the last that names an error, which in a traceback is the cause."""
    lines = [match[0].strip() for match in _ERROR.finditer(ran.output) if not _EXIT.match(match[0].strip())]
    typed = [line for line in lines if re.search(r"\w(?:Error|Exception)\b", line)]
    line = (typed or lines or [""])[-1]
    return line if len(line) <= 160 else line[:159] + "…"


def _quote(ran: Ran, error: str) -> Evidence:
    return Evidence(kind="quote", text=error.removesuffix("…") or ran.command, source=ran.episode.id, at=ran.episode.at)


def _check(ran: Ran) -> Evidence:
    """The line that shows the success: what passed, or else the last line of the output."""
    last = next((line for line in reversed(ran.output.split("\n")) if line.strip() and not _EXIT.match(line)), "")
    text = _passed(ran) or last.strip()[:160] or ran.command
    return Evidence(kind="check", text=text, source=ran.episode.id, at=ran.episode.at)


def _passed(ran: Ran) -> str:
    return next((match[0].strip(" =") for match in _PASSED.finditer(ran.output)), "")


def _draft(
    text: str, rule: str, evidence: list[Evidence], episode: Episode, *, kind: str, inferred: bool = False
) -> Draft:
    return Draft(
        text=text,
        kind="procedural" if kind == "procedural" else "episodic",
        authority="inferred" if inferred else "observed",
        evidence=tuple(evidence),
        source=episode.source or "tool",
        session=episode.session,
        rule=rule,
    )


def _again(one: Ran, other: Ran) -> bool:
    return bool(one.command) and one.command == other.command


def _only_looks(command: str) -> bool:
    bare = _bare(command)
    return bare.split(" ")[0] in _LOOKING or bool(_LOOKING_GIT.match(bare))


def _bare(command: str) -> str:
    """The command without what only prepares it: `cd x &&`, settings, wrappers."""
    while (match := _WRAPPER.match(command)) is not None:
        command = command[match.end() :]
    return command.strip()


def _akin(bad: str, good: str) -> bool:
    """Whether two different commands were meant to do the same: one program or its kin, and a word in common."""
    one, other = _bare(bad).split(), _bare(good).split()
    if not one or not other or _only_looks(good):
        return False
    if _FAMILIES.get(one[0], one[0]) != _FAMILIES.get(other[0], other[0]):
        return False
    here, there = set(one[1:]) - {"-v", "-q"}, set(other[1:]) - {"-v", "-q"}
    if one == other or not (here | there):
        return True
    return len(here & there) / max(1, min(len(here), len(there))) >= 0.5
