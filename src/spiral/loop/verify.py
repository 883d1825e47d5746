"""What the runner finds when it looks for itself: checks on the committed tree, then a checker other than the maker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from spiral.loop import checker, screenshot
from spiral.loop.budget import Budget
from spiral.loop.checkout import Checkout, checkout_folder
from spiral.loop.checks import Means, run_checks
from spiral.loop.context import Loop, Pass, Run
from spiral.loop.gather import read
from spiral.loop.history import pass_folder
from spiral.loop.plan import planned
from spiral.loop.planting import plant
from spiral.loop.signature import same_approach, same_failure, signature, sketch
from spiral.loop.sweep import put_back
from spiral.work import UNUSED, Attempt, Check, CheckResult, Effort, Expense, Opinion, Order, Task, Verdict

FATAL = (*UNUSED, "stopped")
DIFF = 60_000
UNPROVED = "nothing can verify it: give the task checks, set verify.checks, or name a checker"


def verify(
    loop: Loop, run: Run, under: Pass, attempt: Attempt, tried: tuple[Effort, ...], left: Callable[[], Budget]
) -> tuple[Verdict, list[Expense]]:
    """The verdict on an attempt, and what it cost. Nothing the agent says makes a task done: green checks on its
    commit do, and a checker that agrees."""
    early = without_checks(under, attempt)
    if early is not None:
        return early, []
    with checkout(loop) as tree:
        results = checked(loop, under, tree, attempt.head)
        red = [result for result in results if not result.passed]
        if red:
            return failed(loop, attempt, results, tried), []
        verdict = Verdict(outcome="passed", sha=attempt.head, checks=results, reason=said(results))
        if not run.checker:
            return believed(under, attempt, verdict), []
        return judged(loop, run, under, attempt, tried, verdict, tree, left())


def without_checks(under: Pass, attempt: Attempt) -> Verdict | None:
    """The verdict where checks have nothing to say: the agent's process failed, asked for help, or did nothing."""
    answer, promise = attempt.answer, attempt.promise
    if answer.end in FATAL:
        return Verdict(outcome="error", sha=attempt.head, reason=answer.detail or answer.end)
    if promise is not None and promise.kind in ("blocked", "decide"):
        return Verdict(outcome="nothing", sha=attempt.head, reason=promise.text)
    if attempt.files:
        return None
    if answer.end == "failed":
        return Verdict(outcome="error", sha=attempt.head, reason=answer.detail or "the agent's process failed")
    if promise is None or not answer.tools or not under.task.checks:
        why = "changed nothing" + ("" if answer.tools else ", not one tool was called")
        return Verdict(outcome="nothing", sha=attempt.head, reason=why, signature="nothing")
    return None


def checks_of(loop: Loop, task: Task) -> tuple[Check, ...]:
    """The task's own checks, then the project's."""
    own = {check.command for check in task.checks}
    return (
        *task.checks,
        *(Check(name=line[:60], command=line) for line in loop.settings.verify.checks if line not in own),
    )


def checkout(loop: Loop) -> Checkout:
    """The clean checkout that checks and checkers work in."""
    return Checkout(loop.repo, checkout_folder(loop.repo.git_dir, loop.settings.folders.cache))


def means(loop: Loop, folder: Path) -> Means:
    """How checks are run in this project."""
    settings = loop.settings.verify
    return Means(
        history=folder, env=loop.env, timeout=settings.timeout, setup=settings.setup, inputs=settings.inputs,
        get=loop.journal.note, put=lambda name, value: loop.journal.record(notes={name: value}), tell=loop.tell,
        stop=lambda: loop.asked() == "now",
    )  # fmt: skip


def checked(loop: Loop, under: Pass, tree: Checkout, sha: str) -> tuple[CheckResult, ...]:
    """The results of every check on a commit, and of the screenshot if the task wants one."""
    folder = pass_folder(loop.folder, under.run, under.id)
    results = run_checks(checks_of(loop, under.task), sha, tree, means(loop, folder))
    if under.task.screenshot and all(result.passed for result in results):
        shot, _ = screenshot.take(under.task, under.id, tree, loop.folder, means(loop, folder))
        results = (*results, shot)
    return results


def said(results: Sequence[CheckResult]) -> str:
    """Green checks in one line."""
    return f"{len(results)} checks green" if results else "no check says otherwise"


def failed(loop: Loop, attempt: Attempt, results: tuple[CheckResult, ...], tried: tuple[Effort, ...]) -> Verdict:
    """A red verdict, with what it has in common with earlier ones."""
    red = [result for result in results if not result.passed]
    names = ", ".join(result.check.name for result in red)
    mark = signature(results)
    mine = sketch(loop.repo.diff(attempt.base, attempt.head, limit=DIFF, exclude=(".agent",))) if attempt.files else ()
    this = Effort(id="", number=0, agent="", outcome="failed", reason="", signature=mark, sketch=mine)
    again = next(
        (
            one
            for one in reversed(tried)
            if one.outcome == "failed" and (same_approach(this, one) or same_failure(this, one))
        ),
        None,
    )
    return Verdict(
        outcome="failed", sha=attempt.head, checks=results, signature=mark, repeats=again.id if again else "",
        reason=f"{names} failed" + (f", as in pass {again.number}" if again else ""),
    )  # fmt: skip


def believed(under: Pass, attempt: Attempt, verdict: Verdict) -> Verdict:
    """Green checks, and nobody else to ask: enough if they are the task's own, or the agent says it is done and the
    project's are green. With no check at all nothing is known, so nothing is done."""
    if not verdict.checks:
        return replace(
            verdict, outcome="failed", signature="no checks", reason=UNPROVED,
        )  # fmt: skip
    if under.task.checks or attempt.promise is not None:
        return verdict
    return replace(
        verdict, outcome="nothing", reason="the checks are green, but the agent does not say that it is done"
    )


def judged(
    loop: Loop,
    run: Run,
    under: Pass,
    attempt: Attempt,
    tried: tuple[Effort, ...],
    verdict: Verdict,
    tree: Checkout,
    budget: Budget,
) -> tuple[Verdict, list[Expense]]:
    """Ask the checker. It sees the specification, the diff and the results, not the maker's reasoning."""
    if not under.task.checks and attempt.promise is None:
        return believed(under, attempt, verdict), []
    folder = pass_folder(loop.folder, under.run, under.id) / "checker"
    loop.tell(f"checker: {run.checker}")
    diff = loop.repo.diff(under.state.base or attempt.base, attempt.head, limit=DIFF, exclude=(".agent",))
    case = checker.Case(
        task=under.task,
        spec=read(loop.place.project / under.task.spec) if under.task.spec else "",
        diff=diff,
        results=verdict.checks,
        earlier=tuple(
            Opinion(agent=effort.agent, outcome="rework", findings=effort.findings)
            for effort in tried
            if effort.findings
        ),
    )
    opinion, answer = checker.judge(
        case, loop.agent(run.checker), order(loop, tree, folder, budget), loop.tell, lambda: loop.asked() == "now"
    )
    # It shares the repository's refs: whatever it did to the branch is no part of its office.
    put_back(loop.repo, under.start.branch, attempt.head, rescue_name=f"{under.id}-checker")
    expense = Expense(
        id=f"{under.id}-checker", at=loop.clock(), run=under.run, pass_id=under.id, task=under.task.id,
        agent=run.checker, role="checker", model=answer.model, usage=answer.usage,
    )  # fmt: skip
    return replace(opined(verdict, opinion), opinions=(opinion,)), [expense]


def order(loop: Loop, tree: Checkout, folder: Path, budget: Budget) -> Order:
    """The checker's bounds: it works in the clean checkout, within what is left of the same budget."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = loop.settings.act
    return Order(
        prompt="", folder=str(tree.path), history=str(folder), seconds=settings.timeout, silence=settings.silence,
        turns=settings.turns, cost=budget.left("cost"), tokens=int(budget.left("tokens")),
        env={"SPIRAL_ROLE": "checker"},
    )  # fmt: skip


def opined(verdict: Verdict, opinion: Opinion) -> Verdict:
    """The verdict with the checker's word in it."""
    findings = "; ".join(opinion.findings[:3])
    if opinion.outcome == "pass":
        return replace(verdict, reason=f"{verdict.reason}, {opinion.agent} agrees")
    if opinion.outcome == "none":
        return replace(
            verdict,
            outcome="rework",
            signature="no opinion",
            reason=f"{opinion.agent} gave no verdict that could be read",
        )
    outcome: Literal["rework", "rejected"] = "rework" if opinion.outcome == "rework" else "rejected"
    return replace(
        verdict, outcome=outcome, signature=outcome, reason=f"{opinion.agent}: {findings or opinion.outcome}"
    )


def failing(loop: Loop, sha: str, tasks: Sequence[Task]) -> Iterator[tuple[Task, str]]:
    """(task, the check of its own that is red on a commit) for finished tasks."""
    if not tasks:
        return
    folder = loop.folder / "history" / "recheck" / sha[:12]
    with checkout(loop) as tree:
        for task in tasks:
            results = run_checks(task.checks, sha, tree, means(loop, folder / task.id))
            red = next((result.check.name for result in results if not result.passed), "")
            if red:
                yield task, red


def until_met(loop: Loop) -> bool:
    """Whether the command that ends the run succeeds on HEAD."""
    head = loop.repo.head()
    if not head:
        return False
    check = Check(name="until", command=loop.settings.iterate.until)
    with checkout(loop) as tree:
        results = run_checks((check,), head, tree, means(loop, loop.folder / "history" / "until"))
    return all(result.passed for result in results)


def plan_verdict(loop: Loop, under: Pass, attempt: Attempt) -> Verdict:
    """A planning pass is verified by its plan: it can be read, does not go in circles, and is written down."""
    early = attempt.answer.end in (*FATAL, "failed")
    if early:
        return Verdict(outcome="error", sha=attempt.head, reason=attempt.answer.detail or attempt.answer.end)
    if attempt.promise is not None and attempt.promise.kind in ("blocked", "decide"):
        return Verdict(outcome="nothing", sha=attempt.head, reason=attempt.promise.text)
    tasks, fault = planned(attempt.answer.text)
    if under.draft and not fault:
        return Verdict(outcome="nothing", sha=attempt.head, reason=f"a draft of {len(tasks)} tasks, not written down")
    names, fault = ((), fault) if fault else plant(loop, under, tasks)
    if fault:
        return Verdict(outcome="failed", sha=attempt.head, reason=fault, signature=fault)
    return Verdict(
        outcome="passed",
        sha=attempt.head,
        reason=f"split into {', '.join(names)}" if under.task.id else f"planned {', '.join(names)}",
    )
