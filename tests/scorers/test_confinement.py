"""Limits of memory and time on a process of its own end in an error, never in a score."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

import scorers.grading
from scorers.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_HANGS = """
import sys, time
import scorers.grading
from scorers.cli import main
scorers.grading.assess = lambda *_, **__: time.sleep(60)
sys.exit(main(sys.argv[1:], own_process=True))
"""


@pytest.fixture
def large(make_capsule: Callable[..., Path], submission: Path) -> Path:
    """A capsule whose reference has a hundred megapixels in a few kilobytes."""
    folder = make_capsule()
    for path in (folder / "evaluation" / "a.tif", submission / "a.tif"):
        tifffile.imwrite(path, np.zeros((10_000, 10_000), np.uint8), compression="zlib")
    return folder


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_memory_that_runs_out_is_an_error_and_no_score(large: Path, submission: Path) -> None:
    limit = ("--limit", f"memory_bytes={900 * 2**20}")

    run = _run("-m", "scorers", "grade", large, submission, "--json", *limit)

    assert run.returncode == 1
    assert run.stdout == ""
    assert "memory ran out (limit memory_bytes=943718400)" in run.stderr


def test_a_pair_for_which_memory_runs_out_does_not_stop_the_others(
    large: Path, submission: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    pairs = [(large, submission), (large, tmp_path / "empty")]
    lines = [json.dumps({"task_dir": str(t), "submission_dir": str(s)}) for t, s in pairs]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    limit = ("--limit", f"memory_bytes={900 * 2**20}")

    run = _run(
        "-m", "scorers", "grade", "--many", tmp_path / "pairs.jsonl", "--processes", 1, *limit
    )

    first, second = map(json.loads, run.stdout.splitlines())
    assert run.returncode == 1
    assert "memory ran out" in first["fault"]
    assert second["outcome"] == 0.0


def test_time_that_runs_out_ends_the_process_with_an_error(
    make_capsule: Callable[..., Path], submission: Path
) -> None:
    run = _run("-c", _HANGS, "grade", make_capsule(), submission, "--limit", "seconds=1")

    assert run.returncode == 1
    assert "Timeout" in run.stderr


def test_memory_that_runs_out_in_a_library_call_is_told(
    make_capsule: Callable[..., Path],
    submission: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def exhaust(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(scorers.grading, "assess", exhaust)

    assert main(["grade", str(make_capsule()), str(submission), "--json"]) == 1
    assert "memory ran out" in capsys.readouterr().err
