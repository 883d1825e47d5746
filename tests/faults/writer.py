"""A process that writes and reads memories and says on standard output what was acknowledged."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from spiral import Memory, Message


def main(folder: str, name: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    with Memory.open(Path(folder), flags={"embedder.model": "none"}) as memory:
        number = 0
        while time.monotonic() < until:
            text = f"Writer {name} made statement{name}x{number} about topic {number % 7}."
            match number % 4:
                case 0 | 1:
                    print(memory.remember(text).id, text, sep="\t", flush=True)
                case 2:
                    kept = memory.ingest([Message(role="assistant", text=text)], session=f"s{name}", learn=False)
                    print(kept.episodes[0].id, text, sep="\t", flush=True)
                case _:
                    kept_fact = memory.remember(text, key=f"fact/{name}")
                    print(kept_fact.id, text, sep="\t", flush=True)
                    found = memory.recall(f"statement{name}x{number}")
                    assert found.hits and found.hits[0].text == text, (text, found)
            number += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
