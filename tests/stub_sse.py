"""A real HTTP server on this machine that answers with server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Stub:
    """The server; a subclass says what to answer. `asked` holds path and body of every POST, in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                stub.asked.append((self.path, body))
                self.say(*stub.answer(self.path, body))

            def do_GET(self) -> None:
                self.say(404, "application/json", b"{}")

            def do_HEAD(self) -> None:
                self.say(200, "application/json", b"")

            def say(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str, body: Mapping[str, Any]) -> tuple[int, str, bytes]:
        """Status, content type and body of the answer to a request."""
        raise NotImplementedError


def sse(kind: str, **data: object) -> bytes:
    """One event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


@contextmanager
def running(stub: Stub) -> Iterator[Stub]:
    """The stub, on a free port of this machine."""
    thread = Thread(target=stub.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()
