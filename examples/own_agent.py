"""A loop with an agent of your own: any function that gets an order and says what it did. Run it in a git repository
that has `.agent/tasks.json`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from spiral import Order, Runner


def my_agent(order: Order, tell: Callable[[str], None]) -> str:
    """Work in `order.folder` on what `order.prompt` says. A real one would ask a model here."""
    tell("writing hello.txt")
    Path(order.folder, "hello.txt").write_text("hello\n")
    subprocess.run(["git", "add", "hello.txt"], cwd=order.folder, check=True)
    subprocess.run(["git", "commit", "-qm", "feat: say hello"], cwd=order.folder, check=True)
    return "I wrote hello.txt.\nLearned: greetings live in hello.txt.\n<promise>COMPLETE</promise>"


if __name__ == "__main__":
    flags = {"act.agent": "mine", "verify.checker": "none"}
    with Runner.open(".", agents={"mine": my_agent}, flags=flags) as runner:
        ended = runner.run(passes=5, tell=print)
        print(f"{ended.reason}: {ended.detail}")
