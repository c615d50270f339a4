from __future__ import annotations

from evals.workspace.watchdog import Disk, Watched, is_crowded, output_excess

GIB = 2**30
WATCHED = Watched(agent="a", grader="g", output_limit=100 * 10**6, process_limit=100)
FIRST = Disk(taken=0, free=50 * GIB)


def test_an_output_over_its_limit_is_a_limit_with_both_figures() -> None:
    excess = output_excess(Disk(100_000_001, 50 * GIB), FIRST, WATCHED)
    assert excess is not None
    assert (excess.type, excess.value, excess.limit) == ("custom", 100_000_001, 100_000_000)


def test_an_output_at_its_limit_is_none() -> None:
    assert output_excess(Disk(100_000_000, 50 * GIB), FIRST, WATCHED) is None


def test_space_taken_by_deleted_files_is_a_limit_once_the_disk_is_nearly_full() -> None:
    excess = output_excess(Disk(taken=0, free=GIB // 2), FIRST, WATCHED)
    assert excess is not None
    assert "nearly full" in str(excess)


def test_a_disk_that_was_full_before_is_not_the_agents_doing() -> None:
    full = Disk(taken=0, free=GIB // 2)
    assert output_excess(full, full, WATCHED) is None


def test_a_container_as_good_as_full_of_processes_is_crowded() -> None:
    assert is_crowded(96, WATCHED)
    assert not is_crowded(50, WATCHED)


def test_processes_that_could_not_be_counted_are_no_crowd() -> None:
    assert not is_crowded(None, WATCHED)
