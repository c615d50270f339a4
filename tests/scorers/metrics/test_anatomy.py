import numpy as np

from scorers.metrics.anatomy import Anatomy, anatomy
from scorers.metrics.instances import match
from scorers.metrics.overlap import overlap


def _anatomy(prediction: list[int], reference: list[int]) -> Anatomy:
    table = overlap(np.array(prediction), np.array(reference))
    return anatomy(table, match(table))


def test_a_found_object_is_a_hit_on_both_sides_with_its_iou() -> None:
    found = _anatomy([4, 4, 4, 0], [1, 1, 1, 1])

    assert found.reference.kind.tolist() == found.prediction.kind.tolist() == ["hit"]
    assert found.reference.partner.tolist() == [0]
    assert found.reference.iou.tolist() == [0.75]


def test_an_object_that_nothing_touches_is_a_miss_or_a_false_hit() -> None:
    found = _anatomy([0, 0, 2], [1, 1, 0])

    assert found.reference.kind.tolist() == ["miss"]
    assert found.prediction.kind.tolist() == ["false hit"]
    assert found.reference.partner.tolist() == found.prediction.partner.tolist() == [-1]


def test_an_object_in_three_parts_is_split() -> None:
    found = _anatomy([1, 1, 2, 2, 3, 3], [9] * 6)

    assert found.reference.kind.tolist() == ["split"]
    assert found.prediction.kind.tolist() == ["split"] * 3
    assert (found.n_splits, found.n_merges) == (1, 0)


def test_the_lesser_part_of_a_split_hit_is_told_as_split() -> None:
    found = _anatomy([1, 1, 1, 1, 2, 2], [9] * 6)

    assert found.reference.kind.tolist() == ["hit"]
    assert found.prediction.kind.tolist() == ["hit", "split"]
    assert found.n_splits == 1


def test_a_speck_inside_a_hit_is_a_false_hit_and_no_split() -> None:
    found = _anatomy([1] * 19 + [2], [9] * 20)

    assert found.prediction.kind.tolist() == ["hit", "false hit"]
    assert found.n_splits == 0


def test_one_object_over_three_is_a_merge() -> None:
    found = _anatomy([9] * 6, [1, 1, 2, 2, 3, 3])

    assert found.reference.kind.tolist() == ["merge"] * 3
    assert found.prediction.kind.tolist() == ["merge"]
    assert (found.n_splits, found.n_merges) == (0, 1)
    assert found.reference.iou.tolist() == [2 / 6] * 3


def test_a_shifted_object_is_a_miss_that_names_what_it_shares_most_with() -> None:
    found = _anatomy([0, 5, 5, 5, 5], [1, 1, 0, 0, 0])

    assert found.reference.kind.tolist() == ["miss"]
    assert found.prediction.kind.tolist() == ["false hit"]
    assert found.reference.partner.tolist() == [0]
    assert found.reference.iou.tolist() == [1 / 5]


def test_no_objects_on_one_side_leave_the_other_alone() -> None:
    assert _anatomy([0, 0], [1, 2]).reference.kind.tolist() == ["miss", "miss"]
    assert _anatomy([1, 2], [0, 0]).prediction.kind.tolist() == ["false hit", "false hit"]
