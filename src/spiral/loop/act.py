"""The agent at work in its worktree, and what it made there brought onto the branch."""

from __future__ import annotations

import json
from pathlib import Path

from spiral.loop import keeper, task_restore
from spiral.loop.budget import Budget
from spiral.loop.context import Loop, Pass
from spiral.loop.history import pass_folder
from spiral.loop.promise import promised
from spiral.loop.sweep import settle_work
from spiral.work import Answer, Attempt, Order, Task

LEFT = (".agent/history", ".agent/logs", ".agent/memory", ".agent/tasks.json", ".agent/tasks", ".agent/screenshots")
"""What the runner commits itself, or not at all."""
PROTECTED = ("spiral.toml",)
"""What no agent may change, beside what the keeper puts back."""


def act(loop: Loop, under: Pass, prompt: str, budget: Budget, *, agent: str, args: tuple[str, ...]) -> Attempt:
    """Run the agent on the prompt and settle what it did.

    Before it starts, `.agent/` is kept where it cannot reach; afterwards what it deleted or altered there is put back,
    and what it wrote into the task list is read as a request. A retry runs the agent again; `settled` alone does not.
    """
    keeper.keep(loop.repo, loop.place.project)
    tasks = json.dumps(task_restore.snapshot(loop.folder), ensure_ascii=False)
    loop.journal.record(notes={"pass/tasks": f"{under.id} {loop.journal.keep(tasks)}"})
    answer = loop.agent(agent).act(order(loop, under, prompt, budget, args), loop.tell, lambda: loop.asked() == "now")
    return settled(loop, under, answer)


def order(loop: Loop, under: Pass, prompt: str, budget: Budget, args: tuple[str, ...]) -> Order:
    """What the agent is told, and its bounds: the settings', and what is left of the budget."""
    settings = loop.settings.act
    hours = budget.left("hours")
    seconds = min(settings.timeout, hours * 3600) if loop.settings.budget.hours else settings.timeout
    history = pass_folder(loop.folder, under.run, under.id)
    history.mkdir(parents=True, exist_ok=True)
    return Order(
        prompt=prompt,
        folder=str(loop.place.project),
        history=str(history),
        args=(*settings.args, *args),
        model=settings.model,
        seconds=max(seconds, 1.0),
        silence=settings.silence,
        turns=settings.turns,
        cost=budget.left("cost"),
        tokens=int(budget.left("tokens")),
        mcp=mcp_file(loop, history),
        env={"SPIRAL_PASS": under.id, "SPIRAL_TASK": under.task.id, "SPIRAL_RUN": under.run},
    )


def mcp_file(loop: Loop, history: Path) -> str:
    """The MCP servers of the settings, as a file that agents can be handed; empty when there are none."""
    if not loop.settings.act.mcp:
        return ""
    path = history / "mcp.json"
    path.write_text(json.dumps({"mcpServers": loop.settings.act.mcp}, default=dict), "utf-8")
    return str(path)


def settled(loop: Loop, under: Pass, answer: Answer) -> Attempt:
    """What the agent made, on its branch and committed; what is the runner's, put back. A retry changes nothing."""
    aside = loop.private / "aside" / under.id
    back = keeper.put_back(loop.repo, loop.place.project, aside)
    of, _, kept = loop.journal.note("pass/tasks").partition(" ")
    if of == under.id:
        wanted = task_restore.restore(loop.folder, json.loads(loop.journal.kept(kept))).requested
        if wanted:
            loop.tell("asked for in the task list: " + ", ".join(f"{task} {status}" for task, status in wanted.items()))
    done = settle_work(
        loop.repo, under.start, message=subject(under.task), trailers=trailers(under), rescue_name=under.id
    )
    return Attempt(
        answer=answer,
        promise=promised(answer.text) if answer.end in ("finished", "turns") else None,
        base=done.base,
        head=done.head,
        commits=done.commits,
        files=done.files,
        swept=done.swept,
        rescued=done.rescued,
        restored=tuple(dict.fromkeys((*back, *done.restored))),
    )


def subject(task: Task) -> str:
    """A Conventional Commit message for work that an agent left uncommitted."""
    kind = {"refactor": "refactor", "test": "test", "review": "fix"}.get(task.mode, "feat")
    about = task.title.strip().rstrip(".") or "work of an open run"
    return f"{kind}: {about[:1].lower()}{about[1:]}"[:100]


def trailers(under: Pass) -> tuple[tuple[str, str], ...]:
    """What ties a commit to its pass."""
    task = (("Spiral-Task", under.task.id),) if under.task.id else ()
    return (("Spiral-Pass", under.id), *task)
