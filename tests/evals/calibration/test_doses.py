from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from evals.calibration.doses import DOSES, WHOLE, Pick


@pytest.mark.parametrize("n", [1, 3, 40, 1000])
def test_what_is_hit_at_a_dose_is_hit_at_every_higher_one(n: int) -> None:
    hits = [Pick(3, 7, dose).hits(n) for dose in (*DOSES, WHOLE)]
    assert all((low <= high).all() for low, high in pairwise(hits))
    assert hits[-1].all()


def test_a_dose_hits_its_share_and_at_least_one() -> None:
    assert [int(Pick(0, 1, dose).hits(200).sum()) for dose in DOSES] == [10, 20, 40]
    assert int(Pick(0, 1, 0.05).hits(4).sum()) == 1
    assert Pick(0, 1, 0.05).hits(0).shape == (0,)


def test_seed_and_kind_decide_what_is_hit() -> None:
    one, same = Pick(0, 1, 0.2).hits(100), Pick(0, 1, 0.2).hits(100)
    assert (one == same).all()
    assert (one != Pick(1, 1, 0.2).hits(100)).any()
    assert (one != Pick(0, 2, 0.2).hits(100)).any()


def test_items_in_groups_are_chosen_among_all_of_them() -> None:
    parts = Pick(0, 1, 0.1).hits_in([30, 0, 70])
    assert [len(part) for part in parts] == [30, 0, 70]
    assert sum(int(part.sum()) for part in parts) == 10


def test_exchanged_items_are_pairs_of_unlike_values() -> None:
    values = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    source = Pick(0, 1, 0.2).exchange(values)
    assert (source[source] == np.arange(60)).all()
    moved = source != np.arange(60)
    assert 10 <= moved.sum() <= 12
    assert (values[source][moved] != values[moved]).all()


def test_exchanging_more_changes_what_exchanging_less_changed() -> None:
    values = np.random.default_rng(0).random(100)
    change = [np.square(values - values[Pick(5, 1, dose).exchange(values)]) for dose in DOSES]
    assert all((low <= high + 1e-12).all() for low, high in pairwise(change))


def test_equal_values_are_left_alone() -> None:
    assert (Pick(0, 1, 1.0).exchange(np.zeros(9)) == np.arange(9)).all()
