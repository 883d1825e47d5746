"""An agent that does what a script says, one step a call, and speaks the stream of Claude Code.

Called as `scripted.py SCRIPT`: a JSON list of steps beside a counter file. A step may have `write` (path → text),
`append`, `delete`, `shell` (a command), `commit` (a message), `say` (the final message), `raw` (lines printed as they
are), `cost`, `tokens`, `tools`, `sleep`, `exit`, `hang`, `for` (only a prompt that holds this text gets the step).
The prompt that each call got is kept in `prompts/`.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import time
from pathlib import Path


def step_for(script: Path, prompt: str) -> dict[str, object]:
    """The next step that is meant for this prompt; each is given once, the last one again and again."""
    with (script.parent / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        steps = json.loads(script.read_text())
        used_file = script.parent / "used.json"
        used = json.loads(used_file.read_text()) if used_file.exists() else []
        prompts = script.parent / "prompts"
        prompts.mkdir(exist_ok=True)
        number = len(list(prompts.iterdir())) + 1
        (prompts / f"{number:04d}.md").write_text(prompt)
        fitting = [at for at, step in enumerate(steps) if str(step.get("for", "")) in prompt]
        fresh = [at for at in fitting if at not in used]
        if not fitting:
            return {"say": "There is nothing for me to do."}
        chosen = fresh[0] if fresh else fitting[-1]
        used_file.write_text(json.dumps([*used, chosen]))
        return dict(steps[chosen])


def tell(event: dict[str, object]) -> None:
    """One line of the stream."""
    print(json.dumps(event), flush=True)


def main() -> None:
    """Do one step."""
    prompt = sys.stdin.read()
    step = step_for(Path(sys.argv[1]), prompt)
    tell({"type": "system", "subtype": "init", "session_id": "s-1", "model": "scripted-1", "tools": ["Bash"]})
    calls = 0
    for path, text in dict(step.get("write", {})).items():  # type: ignore[call-overload]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
        calls += 1
    for path in list(step.get("delete", [])):  # type: ignore[call-overload]
        Path(path).unlink(missing_ok=True)
    if "shell" in step:
        subprocess.run(["sh", "-c", str(step["shell"])], check=False, capture_output=True)
        calls += 1
    if "commit" in step:
        subprocess.run(["git", "add", "-A"], check=True, capture_output=True)
        subprocess.run(["git", "commit", "-q", "-m", str(step["commit"])], check=False, capture_output=True)
        calls += 1
    for number in range(int(str(step.get("tools", calls)))):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "true"}}
        tell({"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": [use]}})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": str(step.get("output", "ok"))}
        tell({"type": "user", "message": {"role": "user", "content": [result]}})
    for line in list(step.get("raw", [])):  # type: ignore[call-overload]
        print(line, flush=True)
    time.sleep(float(str(step.get("sleep", 0))))
    if step.get("hang"):
        time.sleep(3600)
    said = str(step.get("say", ""))
    usage = {"input_tokens": int(str(step.get("tokens", 100))), "output_tokens": 10}
    content = [{"type": "text", "text": said}]
    tell({"type": "assistant", "message": {"id": "mz", "role": "assistant", "content": content, "usage": usage}})
    tell(
        {
            "type": "result", "subtype": "success", "is_error": False, "num_turns": calls + 1, "result": said,
            "total_cost_usd": float(str(step.get("cost", 0.01))), "usage": usage, "session_id": "s-1",
        }
    )  # fmt: skip
    sys.exit(int(str(step.get("exit", 0))))


if __name__ == "__main__":
    main()
