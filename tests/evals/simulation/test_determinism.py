"""Every simulator of the suite, once as it is and once without the processor's wide instructions.

Both runs are processes of their own. Where they agree, the data depend neither on the processor
nor on the order of a dictionary or set. Where they also agree with the stored digests, they do not
depend on the version of Python either. After a change to a simulator, run this file as a script:
it stores the digests anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals import assets

TASKS = sorted(path.parent for path in (assets() / "tasks" / "biaa").glob("*/simulate.py"))
DIGESTS = Path(__file__).parents[2] / "data" / "synthetic_digests.json"
SEED = 7
Runs = tuple[Path, Path]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=TASKS, ids=[task.name for task in TASKS])
def task(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def usual(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("usual")
    assert simulate(task, folder, {**os.environ, "PYTHONHASHSEED": "0"}).wait(timeout=250) == 0
    return folder


@pytest.fixture(scope="module")
def runs(task: Path, usual: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("narrow")
    wide = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    environment = {"NPY_DISABLE_CPU_FEATURES": " ".join(wide), "PYTHONHASHSEED": "1"}
    assert simulate(task, folder, {**os.environ, **environment}).wait(timeout=250) == 0
    return usual, folder


def test_wide_instructions_change_no_pixel_and_no_number(runs: Runs) -> None:
    wide, narrow = (files(run) for run in runs)
    assert wide
    assert [*wide] == [*narrow]
    changed = [name for name in wide if not np.array_equal(read(wide[name]), read(narrow[name]))]
    assert not changed


def test_the_same_seed_gives_the_same_bytes(runs: Runs) -> None:
    wide, narrow = (files(run) for run in runs)
    assert not [name for name in wide if wide[name].read_bytes() != narrow[name].read_bytes()]


def test_any_supported_python_makes_the_stored_arrays(task: Path, usual: Path) -> None:
    assert digests(usual) == json.loads(DIGESTS.read_text("utf-8"))[task.name]


def simulate(task: Path, out: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    what = {"script": str(task / "simulate.py"), "out": str(out), "options": {"seed": SEED}}
    command = [sys.executable, "-m", "evals.data.simulate_one"]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps(what).encode())
    return process


def digests(run: Path) -> dict[str, str]:
    """One short digest for each file: of its values, type and shape, not of its bytes."""
    told = {}
    for name, path in files(run).items():
        values = read(path)
        content = f"{values.dtype.str} {values.shape} ".encode() + values.tobytes()
        told[name] = hashlib.sha256(content).hexdigest()[:16]
    return told


def files(run: Path) -> dict[str, Path]:
    return {
        path.relative_to(run).as_posix(): path for path in sorted(run.rglob("*")) if path.is_file()
    }


def read(path: Path) -> np.ndarray:
    """Decode an image; anything else stays bytes."""
    if path.suffix in (".tif", ".tiff", ".lsm"):
        return tifffile.imread(path)
    if path.suffix == ".png":
        return np.asarray(Image.open(path))
    return np.frombuffer(path.read_bytes(), dtype=np.uint8)


def store() -> None:
    """Write the digests of all simulators."""
    told = {}
    for task in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            assert simulate(task, Path(folder), dict(os.environ)).wait() == 0
            told[task.name] = digests(Path(folder))
    DIGESTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store()
