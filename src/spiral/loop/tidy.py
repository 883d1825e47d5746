"""What follows from the journal after a pass: task list, log, mirror, commits. All of it can be done again."""

from __future__ import annotations

from spiral.loop import history, tasks
from spiral.loop.context import Loop, Pass
from spiral.loop.passes import Passed
from spiral.memory.page import write_page
from spiral.work import Event

BOOKS = (".agent/memory", ".agent/tasks.json", ".agent/tasks", ".agent/logs", ".agent/screenshots")
"""What the runner commits on its own account."""
TAKING = "taking back"


def after(loop: Loop, came: Passed) -> None:
    """Bring files and repository up to what was decided about a pass.

    Everything here is derived from the journal, so a crash in between loses nothing: `catch_up` does the rest.
    """
    if came.next.turn in ("park", "split") and came.under.mode != "plan":
        take_back(loop, came.under.state.base, f"{came.under.task.id}: {came.next.reason}")
    if came.under.mode == "plan" and came.attempt.files:
        take_back(loop, came.under.start.base, "a plan, which writes no code")
    catch_up(loop, came.under.run)
    under = came.under
    about = f"pass {under.number}" + (f" at {under.task.id}" if under.task.id else "")
    commit_books(loop, f"memory: {about}", under.id)


def catch_up(loop: Loop, run: str) -> None:
    """Bring the task list, LOG.md and the mirror of the events up to the journal. A second call changes nothing."""
    agree(loop)
    ended = loop.journal.events(kinds=("pass.ended",), limit=20)
    if ended:
        history.narrate(loop.folder, [(event.pass_id, entry(event)) for event in ended])
    history.mirror(loop.folder, loop.journal, run)


def agree(loop: Loop) -> None:
    """Write the statuses that the journal knows into the task list, where it says something else."""
    states = loop.journal.states()
    for task in tasks.load(loop.folder).tasks:
        state = states.get(task.id)
        if state is not None and state.status != task.status:
            tasks.write_status(loop.folder, task.id, state.status, state.reason)


def entry(event: Event) -> str:
    """A pass as an entry of the log."""
    data = event.data
    head = (
        f"## {event.at:%Y-%m-%d %H:%M} · pass {data['number']} · {event.task or data.get('mode')} · {data['outcome']}"
    )
    usage = data.get("usage")
    cost = f"${usage['cost']:.2f}, " if isinstance(usage, dict) and usage.get("cost") else ""
    parts = [head, "", str(data.get("title") or "").strip()]
    if data.get("reason"):
        parts.append(f"{data['reason']}")
    effort = data.get("effort")
    said = str(effort.get("summary", "")) if isinstance(effort, dict) else ""
    if said:
        parts += ["", "\n".join(f"> {line}" for line in said.splitlines()[:12])]
    sha = str(data.get("sha") or "")[:10]
    parts += ["", f"{cost}{data['seconds']:.0f} s, {data['agent']}, commit {sha or 'none'}, next: {data['next']}"]
    return "\n".join(parts)


def end_orphan(loop: Loop, under: Pass) -> None:
    """End an agent that outlived its runner, so that two never work in one tree."""
    folder = history.pass_folder(loop.folder, under.run, under.id)
    for path in (folder / "command.json", folder / "checker" / "command.json"):
        if path.exists() and loop.end_orphan(path):
            loop.tell(f"ended the agent of pass {under.number}, which had outlived its runner")


def take_back(loop: Loop, base: str, why: str) -> None:
    """Undo what failed passes at a task left on the branch, by a commit of its own: nothing is rewritten or lost.

    It is noted before it begins and until it is done, so that a crash in between is made good by `finish_take_back`. A
    retry finds the tree as it was and commits nothing.
    """
    if not base or not loop.repo.changed(base, loop.repo.head(), exclude=(".agent",)):
        loop.journal.record(notes={TAKING: ""})
        return
    loop.journal.record(notes={TAKING: f"{base} {why}"})
    loop.repo.git("restore", f"--source={base}", "--staged", "--worktree", "--", ":/", ":(top,exclude).agent")
    loop.repo.commit_all(f"revert: take back unverified work on {why}"[:200], exclude=BOOKS)
    loop.journal.record(notes={TAKING: ""})


def finish_take_back(loop: Loop) -> None:
    """Finish what a crash interrupted."""
    base, _, why = loop.journal.note(TAKING).partition(" ")
    if base:
        take_back(loop, base, why)


def commit_books(loop: Loop, message: str, name: str) -> None:
    """Commit the memory, the task list and the log, by the runner alone. What git ignores stays uncommitted.

    With nothing to commit, as on a retry, nothing happens.
    """
    if not loop.settings.consolidate.commit:
        return
    write_page(loop.store)
    loop.repo.commit_paths(message, BOOKS, trailers=(("Spiral-Pass", name),))
