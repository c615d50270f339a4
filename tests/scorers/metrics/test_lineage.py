"""Lineage tables and forests."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.lineage import Forest, parse_lineage, without_chains


def rows(text: str) -> list[list[int]]:
    table = parse_lineage(text)
    return np.stack([table.track, table.start, table.end, table.parent], axis=1).tolist()


def test_blanks_commas_and_decimals_are_read() -> None:
    assert rows("2 0 5 1\n1, 0, 4, 0\n3\t1.9 2.2 0 extra") == [
        [1, 0, 4, 0],
        [2, 0, 5, 1],
        [3, 1, 2, 0],
    ]


@pytest.mark.parametrize(
    "line", ["", "track start end parent", "1 0 4", "0 0 4 0", "-1 0 4 0", "1 5 4 0", "1 nan 4 0"]
)
def test_a_row_that_means_nothing_is_skipped(line: str) -> None:
    assert rows(f"{line}\n7 0 4 0") == [[7, 0, 4, 0]]


def test_the_later_of_two_rows_for_a_track_counts() -> None:
    assert rows("1 0 4 0\n1 0 9 0") == [[1, 0, 9, 0]]


def test_infinite_numbers_are_left_out_and_counted() -> None:
    table = parse_lineage("1 0 inf 0\n2 0 4 0")
    assert table.track.tolist() == [2]
    assert table.infinite_rows == 1


def test_numbers_beyond_all_bounds_do_not_overflow() -> None:
    assert rows("1e300 0 1e300 0")[0][0] == 2**62


def test_a_parent_that_ends_too_late_is_none() -> None:
    table = parse_lineage("1 0 4 0\n2 4 9 1\n3 5 9 1\n4 5 9 77")
    assert table.parent_rows().tolist() == [-1, -1, 0, -1]


def test_an_empty_table_has_no_rows() -> None:
    table = parse_lineage("")
    assert table.rows(np.array([1, 2])).tolist() == [-1, -1]
    assert len(table.parent_rows()) == 0


#      0       5
#     / \
#    1   2
#   / \
#  3   4
PARENT = np.array([-1, 0, 0, 1, 1, -1])


def test_relatives_are_ancestors_and_descendants() -> None:
    node, relative = Forest(PARENT).relatives()
    found = {n: set(relative[node == n].tolist()) for n in range(6)}
    assert found == {
        0: {0, 1, 2, 3, 4},
        1: {0, 1, 3, 4},
        2: {0, 2},
        3: {0, 1, 3},
        4: {0, 1, 4},
        5: {5},
    }


def test_sums_over_relatives_equal_those_over_enumerated_ones() -> None:
    rng = np.random.default_rng(4)
    parent = np.array([int(rng.integers(-1, i)) for i in range(200)])
    value = rng.integers(0, 9, 200)
    forest = Forest(parent)
    node, relative = forest.relatives()
    expected = np.bincount(node, weights=value[relative])
    assert forest.sums_over_relatives(value).tolist() == expected.tolist()


def test_only_children_are_merged_into_their_parents() -> None:
    #  0 - 1 - 2 < (3, 4 - 5)
    group, parent = without_chains(np.array([-1, 0, 1, 2, 2, 4]))
    assert group.tolist() == [0, 0, 0, 1, 2, 2]
    assert parent.tolist() == [-1, 0, 0]


def test_a_very_deep_chain_is_no_trouble() -> None:
    group, parent = without_chains(np.arange(-1, 50_000))
    assert set(group.tolist()) == {0}
    assert parent.tolist() == [-1]
