"""The local model keeps to itself: it writes nothing into the home folder and looks nothing up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EMBED = """
import time
from spiral.backends.minilm import MiniLm
model = MiniLm()
model.embed(["one"])
model.embed(["one", "two"])
time.sleep(1)
"""


def test_the_local_model_leaves_no_trace_in_the_home_folder(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", EMBED], env=home, check=True, timeout=60)
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*")] == []
