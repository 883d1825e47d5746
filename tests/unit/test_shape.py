"""The layout and the promises that hold for all of it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import spiral
from spiral import errors

ROOT = Path(__file__).parents[2]


def test_the_errors_are_those_drawn() -> None:
    drawn = {
        name
        for line in (errors.__doc__ or "").splitlines()
        for name in line.replace("─", " ").split()
        if name.endswith("Error")
    }
    classes = {
        name for name, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, errors.SpiralError)
    }
    assert drawn == classes


def test_the_public_names_are_sorted_and_there() -> None:
    assert sorted(spiral.__all__) == spiral.__all__
    assert all(getattr(spiral, name) for name in spiral.__all__)


def test_importing_spiral_pulls_in_nothing_and_says_nothing() -> None:
    heavy = "('numpy', 'sqlite3', 'yaml', 'click', 'logging')"
    code = f"import sys; import spiral; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_files_stay_small() -> None:
    long = {path.name for path in (ROOT / "src").rglob("*.py") if len(path.read_text().splitlines()) > 400}
    assert long == set()


def test_the_layers_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports"))], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150
