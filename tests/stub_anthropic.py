"""A real HTTP server on this machine that speaks Anthropic's Messages API, as far as Claude Code needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stub_sse import Stub, sse

MODEL = "claude-opus-4-8"
USAGE = {"input_tokens": 1_000, "output_tokens": 100, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


class StubAnthropic(Stub):
    """First a call of the Bash tool with the command, then the final message; small helper requests get a word."""

    def __init__(self, *, command: str, final: str) -> None:
        self.command = command
        self.final = final
        super().__init__()

    def answer(self, path: str, body: Mapping[str, Any]) -> tuple[int, str, bytes]:
        """What to say to a request."""
        if not path.startswith("/v1/messages"):
            return 404, "application/json", b"{}"
        if "count_tokens" in path:
            return 200, "application/json", b'{"input_tokens": 10}'
        message = {**self._message(body), "usage": USAGE}
        if not body.get("stream"):
            return 200, "application/json", json.dumps(message).encode()
        return 200, "text/event-stream", b"".join(_events(message))

    def _message(self, body: Mapping[str, Any]) -> dict[str, Any]:
        number = len(self.asked)
        start = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", MODEL)}
        if not any(tool.get("name") == "Bash" for tool in body.get("tools", ())):
            return {**start, "content": [{"type": "text", "text": "a word"}], "stop_reason": "end_turn"}
        if "tool_result" in json.dumps(body["messages"]):
            return {**start, "content": [{"type": "text", "text": self.final}], "stop_reason": "end_turn"}
        given = {"command": self.command, "description": "do it"}
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": given}
        return {**start, "content": [{"type": "text", "text": "I do it."}, call], "stop_reason": "tool_use"}


def _events(message: Mapping[str, Any]) -> Iterator[bytes]:
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield sse("message_start", message=start)
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield sse("content_block_start", index=index, content_block=empty)
        yield sse("content_block_delta", index=index, delta=delta)
        yield sse("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield sse("message_delta", delta=ending, usage={"output_tokens": message["usage"]["output_tokens"]})
    yield sse("message_stop")
