from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio

from evals.workspace.watchdog import Disk, Watched, is_crowded, measure_folder, output_excess

if TYPE_CHECKING:
    from pathlib import Path

GIB = 2**30
LIMIT = 100 * 10**6
WATCHED = Watched(agent="a", grader="g", process_limit=100)
FIRST = Disk(taken=0, free=50 * GIB)


def test_an_output_over_its_limit_is_a_limit_with_both_figures() -> None:
    excess = output_excess(Disk(100_000_001, 50 * GIB), FIRST, LIMIT)
    assert excess is not None
    assert (excess.type, excess.kind) == ("custom", "output")
    assert (excess.value, excess.limit) == (100_000_001, 100_000_000)


def test_an_output_at_its_limit_is_none() -> None:
    assert output_excess(Disk(100_000_000, 50 * GIB), FIRST, LIMIT) is None


def test_space_taken_by_deleted_files_is_a_limit_once_the_disk_is_nearly_full() -> None:
    excess = output_excess(Disk(taken=0, free=GIB // 2), FIRST, LIMIT)
    assert excess is not None
    assert "nearly full" in str(excess)


def test_a_disk_that_was_full_before_is_not_the_agents_doing() -> None:
    full = Disk(taken=0, free=GIB // 2)
    assert output_excess(full, full, LIMIT) is None


def test_a_container_as_good_as_full_of_processes_is_crowded() -> None:
    assert is_crowded(96, WATCHED)
    assert not is_crowded(50, WATCHED)


def test_processes_that_could_not_be_counted_are_no_crowd() -> None:
    assert not is_crowded(None, WATCHED)


def taken(folder: Path) -> int:
    disk = anyio.run(measure_folder, folder)
    assert disk is not None
    assert disk.free > 0
    return disk.taken


def test_a_folder_is_measured_as_the_disk_sees_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    before = taken(tmp_path)
    (tmp_path / "deep" / "a").write_bytes(b"1" * 3_000_000)
    grown = taken(tmp_path) - before
    assert 3_000_000 <= grown < 3_100_000


def test_a_file_with_two_names_counts_once_and_a_link_is_not_followed(tmp_path: Path) -> None:
    output, elsewhere = tmp_path / "output", tmp_path / "elsewhere"
    output.mkdir()
    elsewhere.mkdir()
    (elsewhere / "large").write_bytes(b"1" * 5_000_000)
    (output / "a").write_bytes(b"1" * 3_000_000)
    before = taken(output)
    os.link(output / "a", output / "b")
    (output / "c").symlink_to(elsewhere)
    assert taken(output) - before < 100_000


def test_a_folder_that_is_gone_cannot_be_measured(tmp_path: Path) -> None:
    assert anyio.run(measure_folder, tmp_path / "gone") is None
