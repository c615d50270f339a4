from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evals.telemetry import listing as module
from evals.telemetry.listing import listing

if TYPE_CHECKING:
    import pytest


def write(path: Path, text: str, when: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (when, when))


def test_files_are_listed_in_order_of_their_times(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "12345", 200)
    write(tmp_path / "deep" / "a.txt", "123", 100)
    assert listing(str(tmp_path), 10) == {
        "files": [["deep/a.txt", 3, 100.0], ["b.txt", 5, 200.0]],
        "total": 2,
        "bytes": 8,
        "complete": True,
    }


def test_links_are_neither_followed_nor_listed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "secret.txt", "1", 100)
    output = tmp_path / "output"
    output.mkdir()
    (output / "folder").symlink_to(tmp_path / "elsewhere")
    (output / "file").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (output / "loop").symlink_to(output)
    assert listing(str(output), 10)["total"] == 0


def test_of_many_files_some_spread_over_time_are_named(tmp_path: Path) -> None:
    for index in range(50):
        write(tmp_path / f"{index:02}.txt", "1", 100 + index)
    found = listing(str(tmp_path), 5)
    assert [name for name, _, _ in found["files"]] == [
        "00.txt",
        "12.txt",
        "24.txt",
        "36.txt",
        "49.txt",
    ]
    assert (found["total"], found["bytes"]) == (50, 50)


def test_a_tree_without_end_is_cut_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SEEN", 20)
    for index in range(30):
        write(tmp_path / f"{index}.txt", "1", 100)
    found = listing(str(tmp_path), 5)
    assert (found["total"], found["complete"]) == (20, False)


def test_names_that_are_no_text_are_told_as_text(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("1", encoding="utf-8")
    [[name, _, _]] = listing(str(tmp_path), 5)["files"]
    assert name == "\\xff.txt"


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert listing(str(tmp_path / "none"), 5)["total"] == 0


def test_it_runs_as_a_program_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "123", 100)
    program = Path(module.__file__).read_text(encoding="utf-8")
    command = [sys.executable, "-I", "-c", program, str(tmp_path), "5"]
    told = subprocess.run(command, capture_output=True, check=True, text=True)
    assert json.loads(told.stdout)["files"] == [["a.txt", 3, 100.0]]
