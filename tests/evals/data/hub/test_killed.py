"""Pulls that are killed in the middle."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from evals.edition import open_edition
from evals.errors import EvalsError

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]
PULL = ("pull", "biaa", "--revision", "v1.0")
PROGRAM = "from evals.cli import app; app(['data', 'pull', 'biaa', '--revision', 'v1.0'])"

pytestmark = pytest.mark.slow


@pytest.fixture
def start(hub: Any, tmp_path: Path) -> Callable[[], subprocess.Popen[bytes]]:
    """Give the starter of a pull in a process of its own."""

    def run() -> subprocess.Popen[bytes]:
        own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM], env=os.environ | own, stdout=quiet, stderr=quiet
        )

    return run


def unpacked(root: Path) -> int:
    """Return the count of files that lie in the folders aside."""
    # Unlike a glob, a walk bears with folders that are moved away meanwhile.
    return sum(len(names) for _, _, names in os.walk(root / ".pulling" / "stage"))


def test_ctrl_c_keeps_what_has_arrived_and_says_so(
    data: Data, hub: Any, root: Path, start: Callable[..., Any]
) -> None:
    hub.pause_s = 0.2
    process = start()
    deadline = time.monotonic() + 60
    while sum(hub.served.values()) < 100_000 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert list((root / ".pulling").rglob("*.part"))
    hub.pause_s = 0.0
    data(*PULL)
    assert "3 of 3" in data("verify", "biaa")


def no_half(root: Path, counts: dict[str, int]) -> None:
    """Assert that what the edition shows of a task is all of it."""
    if not (root / "manifest.json").is_file():
        return
    for task, count in counts.items():
        try:
            (capsule,) = open_edition("v1.0", tasks=task)
        except EvalsError:
            assert not (root / task).exists()
            continue
        assert sum(1 for _ in capsule.input_dir.rglob("*.bin")) == count


@pytest.mark.parametrize("seed", range(5))
def test_a_pull_killed_while_it_fetches_is_completed_by_the_next(
    data: Data, hub: Any, root: Path, start: Callable[..., Any], seed: int
) -> None:
    content = hub.release(files=60)
    hub.publish("v1.0", content)
    sizes = {path: len(packed) for path, packed in content.items() if path != "README.md"}
    limit = random.Random(seed).randrange(sum(sizes.values()))
    process = start()
    hub.on_bytes = lambda served: process.kill() if served >= limit else None
    assert process.wait(60) == -signal.SIGKILL
    hub.on_bytes = None
    no_half(root, dict.fromkeys(("dots", "lines", "planes"), 60))
    kept = sum(path.stat().st_size for path in (root / ".pulling").rglob("*") if path.is_file())
    needed = {
        path: size for path, size in sizes.items() if not (root / path.split("/")[0]).exists()
    }
    hub.served.clear()
    data(*PULL)
    assert "3 of 3" in data("verify", "biaa")
    assert sum(hub.served.values()) == sum(needed.values()) - kept


@pytest.mark.parametrize("seed", range(5))
def test_a_pull_killed_while_it_unpacks_is_completed_by_the_next(
    data: Data, hub: Any, root: Path, start: Callable[..., Any], seed: int
) -> None:
    hub.publish("v1.0", hub.release(files=800))
    limit = random.Random(seed).randrange(1, 2000)
    process = start()
    deadline = time.monotonic() + 60
    highest = 0
    while process.poll() is None and time.monotonic() < deadline:
        highest = max(highest, unpacked(root))
        if highest >= limit or (highest and not unpacked(root)):
            process.kill()
            break
        time.sleep(0.002)
    assert process.wait(60) == -signal.SIGKILL
    assert highest
    no_half(root, dict.fromkeys(("dots", "lines", "planes"), 800))
    data(*PULL)
    assert "3 of 3" in data("verify", "biaa")
