"""Every simulator of the suite, once as it is and once without the processor's wide instructions.

Both runs are processes of their own. Where they agree, the data depend neither on the processor
nor on the order of a dictionary or set.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals import assets

TASKS = sorted(path.parent for path in (assets() / "tasks" / "biaa").glob("*/simulate.py"))
Runs = tuple[Path, Path]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=TASKS, ids=[task.name for task in TASKS])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("runs")
    wide = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    settings = {"wide": {}, "narrow": {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)}}
    started = []
    for name, extra in settings.items():
        (folder / name).mkdir()
        what = {
            "script": str(request.param / "simulate.py"),
            "out": str(folder / name),
            "options": {"seed": 7},
        }
        command = [sys.executable, "-m", "evals.data.simulate_one", json.dumps(what)]
        environment = {**os.environ, **extra, "PYTHONHASHSEED": str(len(started))}
        started.append(subprocess.Popen(command, env=environment))
    assert [process.wait(timeout=250) for process in started] == [0, 0]
    return folder / "wide", folder / "narrow"


def test_wide_instructions_change_no_pixel_and_no_number(runs: Runs) -> None:
    wide, narrow = (files(run) for run in runs)
    assert wide
    assert [*wide] == [*narrow]
    changed = [name for name in wide if not np.array_equal(read(wide[name]), read(narrow[name]))]
    assert not changed


def test_the_same_seed_gives_the_same_bytes(runs: Runs) -> None:
    wide, narrow = (files(run) for run in runs)
    assert not [name for name in wide if wide[name].read_bytes() != narrow[name].read_bytes()]


def files(run: Path) -> dict[str, Path]:
    return {
        path.relative_to(run).as_posix(): path for path in sorted(run.rglob("*")) if path.is_file()
    }


def read(path: Path) -> np.ndarray:
    """Decode an image; anything else stays bytes."""
    if path.suffix in (".tif", ".tiff"):
        return tifffile.imread(path)
    if path.suffix == ".png":
        return np.asarray(Image.open(path))
    return np.frombuffer(path.read_bytes(), dtype=np.uint8)
