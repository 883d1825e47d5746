"""A real HTTP server on this machine that speaks OpenAI's `/embeddings`, and can be told to misbehave."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

DIMENSIONS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What to say to one request instead of the vectors."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    """Say nothing until the server closes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]

    @property
    def texts(self) -> list[str]:
        texts = self.body["input"]
        assert isinstance(texts, list)
        return texts


class StubOpenAi:
    """The server: `script` is what to say first, one answer a request; after that it gives vectors."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.asked: list[Asked] = []
        self.closing = Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.asked.append(Asked(path=self.path, headers=dict(self.headers), body=body))
                answer = stub.script.pop(0) if stub.script else Answer(body=vectors(stub.asked[-1]))
                if answer.hang:
                    stub.closing.wait(30)
                    return
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"


class Waits:
    """Instead of `time.sleep`: only notes how long somebody wanted to wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def vectors(asked: Asked) -> bytes:
    """Vectors from the hash of each text, not of unit length, last text first: a client must go by the index."""
    length = asked.body.get("dimensions", DIMENSIONS)
    assert isinstance(length, int)
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text, length)}
        for index, text in enumerate(asked.texts)
    ]
    return json.dumps({"object": "list", "data": data[::-1], "model": asked.body["model"]}).encode()


def vector(text: str, length: int = DIMENSIONS) -> list[float]:
    digest = hashlib.shake_256(text.encode()).digest(length * 2)
    return [value / 1_000 for value in struct.unpack(f"<{length}h", digest)]


@contextmanager
def stub_openai() -> Iterator[StubOpenAi]:
    """A running stub on a free port of this machine."""
    stub = StubOpenAi()
    thread = Thread(target=stub.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.closing.set()
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()
