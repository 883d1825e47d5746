"""A conversation that never grows: each turn sees the last turns verbatim and of all the rest only what matters."""

from __future__ import annotations

from collections.abc import Callable

from spiral import Memory, Message


def converse(memory: Memory, ask: Callable[[str], str], said: str, *, session: str, budget: int = 600) -> str:
    """One turn within `budget` tokens of context, whether it is the second or the two-thousandth."""
    context = memory.brief(said, session=session, recent=4, budget=budget)
    answer = ask(f"{context}\n\nuser: {said}")
    memory.ingest([Message(role="user", text=said), Message(role="assistant", text=answer)], session=session)
    return answer


if __name__ == "__main__":
    with Memory.open() as memory:
        while said := input("> "):
            print(
                converse(memory, lambda prompt: f"(your model answers {len(prompt)} characters)", said, session="chat")
            )
