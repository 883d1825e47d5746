"""Runs or resumes a loop in a process of its own: `drive.py FOLDER FLAGS-AS-JSON`."""

from __future__ import annotations

import json
import sys

from spiral.runner import Runner

with Runner.open(sys.argv[1], flags=json.loads(sys.argv[2])) as runner:
    last = runner.journal.note("run/last")
    ended = runner.journal.events(run=last, kinds=("run.ended",)) if last else []
    go = runner.resume if last and not ended else runner.run
    print("ended", go(tell=lambda line: print(line, flush=True)).reason, flush=True)
