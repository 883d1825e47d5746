"""A simulated coding agent: no model, a program that acts on the text of its briefing alone, and fails as agents do.

For each task of the demo it knows several ways, of which the tempting ones fail the checks. A fresh context picks one
by chance: from the seed, the number of the pass and the task. What the briefing tells of earlier attempts keeps it from
taking a way that has failed, and a fact from an earlier task makes it think of the right one; with the probability
1 - heed it ignores both. It says that it is done whether it is or not, and now and then forgets to commit.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from spiral.demo.shop import Job, Way, shop

FORGETS = 0.2
"""How often it leaves its work uncommitted."""
KNOWN = 400.0
"""The weight of a way whose fact is known."""
INPUT, OUTPUT, CACHED = 3e-6, 15e-6, 0.3e-6
"""Simulated prices: dollars for a token of the briefing, of the answer, and of the briefing read again each turn."""
THINKS = 2_000
"""Tokens of the answer that stand for what an agent thinks before it acts; simulated too."""
TASK = re.compile(r"^This is pass (\d+), attempt \d+ at task (\S+)\.$", re.MULTILINE)
EARLIER = re.compile(r"\bpass \d+\b[^:\n]*: (passed|failed|rework|rejected|nothing|error)\b", re.IGNORECASE)
TRIED = "Simulated agent. It tried {name}."
"""How its final message begins; later briefings carry it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """What it is going to do."""

    job: Job
    way: Way
    heeded: bool
    commits: bool


def decide(briefing: str, seed: int, heed: float) -> Deed | None:
    """What it does when told this; None when it is no task that it knows. The same text gives the same deed."""
    asked = TASK.search(briefing)
    job = next((job for job in shop().jobs if asked and job.id == asked[2]), None)
    if asked is None or job is None:
        return None
    chance = random.Random(f"{seed}/{asked[1]}/{job.id}")  # noqa: S311 - to be the same each time, not secret
    heeded, commits = chance.random() < heed, chance.random() >= FORGETS
    told = briefing if heeded else ""
    bad = failed(told, job)
    ways = [way for way in job.ways if way.name not in bad] or list(job.ways)
    weights = [KNOWN if way.fact and way.fact in told else way.weight for way in ways]
    return Deed(job=job, way=chance.choices(ways, weights)[0], heeded=heeded, commits=commits)


def failed(briefing: str, job: Job) -> set[str]:
    """The ways that a briefing says were tried at a task and did not work."""
    parts = EARLIER.split(briefing)
    told = [said for outcome, said in zip(parts[1::2], parts[2::2], strict=True) if outcome.lower() != "passed"]
    return {way.name for way in job.ways if any(TRIED.format(name=way.name) in part for part in told)}


def message(deed: Deed) -> str:
    """Its last words, as sure of itself as agents are."""
    job, way = deed.job, deed.way
    lines = [f"{TRIED.format(name=way.name)} {job.file} does what the task asks for."]
    if way.works:
        lines.append(f"Learned: {job.learned}")
    return "\n".join([*lines, f"<promise>{job.id}:DONE</promise>"])


def work(deed: Deed) -> list[tuple[str, dict[str, str], str]]:
    """Do it, in the current folder; (tool, what it was given, what came back) of each call."""
    job, way = deed.job, deed.way
    if not way.code:
        return []
    body = f'"""{job.title}, by {way.name}. Written by a simulated agent."""\n\n{way.code.strip()}\n'
    Path(job.file).write_text(body, "utf-8")
    calls = [("Write", {"file_path": job.file, "content": body}, f"{job.file} was written")]
    if deed.commits:
        subject = f"feat: {job.title[:1].lower()}{job.title[1:]}"
        name = ["-c", "user.name=Simulated agent", "-c", "user.email=simulated@localhost"]
        command = ["git", *name, "commit", "-q", "-m", subject, "--", job.file]
        subprocess.run(["git", "add", "--", job.file], check=True, capture_output=True)
        # The same again is nothing to commit, which is no fault.
        subprocess.run(command, check=False, capture_output=True)
        calls.append(("Bash", {"command": f"git add {job.file} && git commit -m '{subject}'"}, subject))
    return calls


def size(text: str) -> int:
    """About how many tokens a text has."""
    return (len(text) + 3) // 4


def tell(event: dict[str, object]) -> None:
    """One line of the stream."""
    sys.stdout.write(json.dumps(event) + "\n")


def narrate(briefing: str, calls: list[tuple[str, dict[str, str], str]], said: str) -> None:
    """The stream of Claude Code, with usage, and a cost at simulated prices."""
    model = "simulated (no model)"
    tell({"type": "system", "subtype": "init", "session_id": "simulated", "model": model, "tools": ["Write", "Bash"]})
    for number, (tool, given, back) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        tell({"type": "assistant", "message": {"id": f"m{number}", "model": model, "content": [use]}})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": back}
        tell({"type": "user", "message": {"role": "user", "content": [result]}})
    text = {"type": "text", "text": said}
    tell({"type": "assistant", "message": {"id": "last", "model": model, "content": [text]}})
    read, wrote = size(briefing), THINKS + size(said) + sum(size(json.dumps(given)) for _, given, _ in calls)
    usage = {"input_tokens": read, "output_tokens": wrote, "cache_read_input_tokens": read * len(calls)}
    cost = read * INPUT + wrote * OUTPUT + read * len(calls) * CACHED
    tell(
        {
            "type": "result", "subtype": "success", "is_error": False, "num_turns": len(calls) + 1, "result": said,
            "total_cost_usd": round(cost, 6), "usage": usage, "session_id": "simulated",
        }
    )  # fmt: skip


def main() -> None:
    """One pass: the briefing comes on standard input."""
    given = argparse.ArgumentParser(prog="spiral.demo.agent", description="A simulated coding agent; no model.")
    given.add_argument("--seed", type=int, default=1, help="What its chances begin from.")
    given.add_argument("--heed", type=float, default=0.9, help="How likely it is to act on what it is told, 0 to 1.")
    asked = given.parse_args()
    briefing = sys.stdin.read()
    deed = decide(briefing, asked.seed, asked.heed)
    if deed is None:
        narrate(briefing, [], "<promise>BLOCKED:a simulated agent knows the tasks of the demo alone</promise>")
        return
    narrate(briefing, work(deed), message(deed))


if __name__ == "__main__":
    main()
