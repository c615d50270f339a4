"""Cells of several compartments."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.cells import Cells, match_cells
from scorers.metrics.instances import match, panoptic_quality
from scorers.metrics.overlap import overlap

NUCLEI = np.zeros((20, 40), np.uint8)
NUCLEI[4:8, 2:6], NUCLEI[4:8, 14:18], NUCLEI[4:8, 26:30] = 1, 2, 3
BODIES = np.zeros_like(NUCLEI)
BODIES[2:10, :10], BODIES[2:10, 10:20], BODIES[2:10, 22:32] = 1, 2, 3


def cells(nuclei: np.ndarray, bodies: np.ndarray, *, known=(NUCLEI, BODIES)) -> Cells:
    return match_cells([overlap(nuclei, known[0]), overlap(bodies, known[1])])


def quality(found: Cells) -> float:
    return panoptic_quality(found.matching, empty=1.0)


def relabelled(labels: np.ndarray, *order: int) -> np.ndarray:
    return np.array([0, *order], np.uint8)[labels]


def test_the_same_masks_are_the_same_cells() -> None:
    found = cells(NUCLEI, BODIES)
    assert quality(found) == 1.0
    assert found.linked.tolist() == [True] * 3


def test_other_ids_do_not_matter_as_long_as_both_compartments_share_them() -> None:
    found = cells(relabelled(NUCLEI, 30, 10, 20), relabelled(BODIES, 30, 10, 20))
    assert quality(found) == 1.0
    assert found.prediction_ids[found.matching.prediction].tolist() == [10, 20, 30]


def test_ids_shuffled_in_one_compartment_leave_no_cell_although_all_outlines_are_right() -> None:
    found = cells(NUCLEI, relabelled(BODIES, 2, 3, 1))
    assert quality(found) == 0.0
    assert found.outlined.all()
    assert found.wrong_links.all()


def test_ids_swapped_between_two_cells_leave_the_third() -> None:
    found = cells(NUCLEI, relabelled(BODIES, 2, 1, 3))
    assert quality(found) == pytest.approx(1 / 3)
    assert found.wrong_links.tolist() == [True, True, False]


def test_a_cell_is_as_good_as_its_worse_compartment() -> None:
    ring = np.where(NUCLEI > 0, 0, BODIES)
    assert quality(cells(NUCLEI, ring)) == pytest.approx(1 - 16 / 80)


def test_a_cell_without_one_of_its_compartments_is_not_found() -> None:
    found = cells(np.where(NUCLEI == 2, 0, NUCLEI), BODIES)
    assert quality(found) == pytest.approx(2 / 3)
    assert (found.matching.misses, found.matching.false_hits) == (1, 1)
    assert found.wrong_links.tolist() == [False] * 3


def test_a_compartment_that_neither_cell_has_does_not_count() -> None:
    enucleate = np.where(NUCLEI == 3, 0, NUCLEI)
    known = (enucleate, BODIES)
    assert quality(cells(enucleate, BODIES, known=known)) == 1.0
    assert quality(cells(NUCLEI, BODIES, known=known)) == pytest.approx(2 / 3)


def test_nothing_on_either_side_is_right_and_on_one_side_wrong() -> None:
    empty = np.zeros_like(NUCLEI)
    assert quality(cells(empty, empty, known=(empty, empty))) == 1.0
    assert quality(cells(empty, empty)) == 0.0
    assert quality(cells(NUCLEI, BODIES, known=(empty, empty))) == 0.0


def test_equal_compartments_give_the_panoptic_quality_of_one() -> None:
    shifted = np.roll(BODIES, 2, axis=1)
    table = overlap(shifted, BODIES)
    both = match_cells([table, table])
    assert quality(both) == panoptic_quality(match(table), empty=1.0)


def test_taking_an_object_away_never_raises_the_quality() -> None:
    nuclei, bodies = np.roll(NUCLEI, 1, axis=0), np.roll(BODIES, 1, axis=1)
    whole = quality(cells(nuclei, bodies))
    assert 0 < whole < 1
    for label in (1, 2, 3):
        without = np.where(nuclei == label, 0, nuclei), np.where(bodies == label, 0, bodies)
        assert quality(cells(without[0], bodies)) < whole
        assert quality(cells(nuclei, without[1])) < whole
        assert quality(cells(*without)) < whole


def test_a_threshold_below_a_half_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold must be"):
        match_cells([overlap(NUCLEI, NUCLEI)], 0.4)
