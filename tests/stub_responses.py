"""A real HTTP server on this machine that speaks OpenAI's Responses API, as far as Codex needs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stub_sse import Stub, sse

USAGE = {
    "input_tokens": 1_000,
    "input_tokens_details": {"cached_tokens": 400},
    "output_tokens": 100,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 1_100,
}


class StubResponses(Stub):
    """First a call of the shell tool with the command, then the final message."""

    def __init__(self, *, command: str, final: str) -> None:
        self.command = command
        self.final = final
        super().__init__()

    def answer(self, path: str, body: Mapping[str, Any]) -> tuple[int, str, bytes]:
        """What to say to a request."""
        if not path.endswith("/responses"):
            return 404, "application/json", b"{}"
        number = len(self.asked)
        item = self._item(body, number)
        whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": USAGE}
        events = [
            sse("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None}),
            sse("response.output_item.added", output_index=0, item=item),
            sse("response.output_item.done", output_index=0, item=item),
            sse("response.completed", response=whole),
        ]
        return 200, "text/event-stream", b"".join(events)

    def _item(self, body: Mapping[str, Any], number: int) -> dict[str, Any]:
        if any(item.get("type") == "function_call_output" for item in body.get("input", ())):
            content = [{"type": "output_text", "text": self.final, "annotations": []}]
            return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
        names = [tool.get("name") for tool in body.get("tools", ())]
        forms: dict[str, dict[str, object]] = {
            "exec_command": {"cmd": self.command},
            "shell_command": {"command": self.command},
            "shell": {"command": ["bash", "-lc", self.command]},
        }
        name = next(name for name in forms if name in names)
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": json.dumps(forms[name]),
        }
