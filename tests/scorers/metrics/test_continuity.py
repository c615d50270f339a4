import numpy as np
import pytest

from scorers.metrics.continuity import connectedness, continuity
from scorers.metrics.packed import PackedMask
from scorers.metrics.skeleton import centre_line

# Two filaments of 40 pixels each.
TWO = np.zeros((12, 44), bool)
TWO[3, 2:42] = TWO[8, 2:42] = True


def _continuity(prediction: np.ndarray, reference: np.ndarray = TWO):
    line = centre_line(PackedMask.of_array(reference))
    return continuity(prediction, reference, line)


def test_a_copy_is_whole() -> None:
    found = _continuity(TWO)
    assert (found.unbroken, found.separate, found.genuine, found.ratio) == (1, 1, 1, 1)
    assert found.lengths.tolist() == found.longest.tolist() == [40, 40]


def test_filaments_in_four_parts_each_count_a_quarter() -> None:
    broken = TWO.copy()
    broken[:, [11, 22, 32]] = False
    found = _continuity(broken)
    assert found.parts.tolist() == [4, 4]
    # Parts of 9, 10, 9 and 9 pixels of 40.
    assert found.ratio == found.unbroken == pytest.approx((3 * 81 + 100) / 1600)


def test_filaments_joined_into_one_count_a_half() -> None:
    joined = TWO.copy()
    joined[3:9, 20] = True
    found = _continuity(joined)
    assert found.joined.tolist() == [2]
    assert (found.unbroken, found.ratio) == (1.0, 0.5)


def test_as_many_false_pieces_as_filaments_count_a_half() -> None:
    more = TWO.copy()
    more[0, 5:9] = more[11, 5:9] = True
    found = _continuity(more)
    assert (found.false, found.ratio) == (2, 0.5)


def test_a_missed_filament_counts_as_the_number_of_pieces_does() -> None:
    assert _continuity(np.where(np.arange(12)[:, None] < 6, TWO, False)).ratio == 0.5


def test_nothing_where_nothing_is_is_whole() -> None:
    nothing = np.zeros((5, 6), bool)
    assert _continuity(nothing, nothing).ratio == 1.0


def test_something_where_nothing_is_is_false() -> None:
    assert _continuity(TWO, np.zeros_like(TWO)).ratio == 0.0


def test_removing_parts_one_by_one_never_raises_the_ratio() -> None:
    rng = np.random.default_rng(0)
    broken = TWO & (rng.random(44) < 0.8)
    ratio = _continuity(broken).ratio
    for start in range(0, 44, 4):
        broken[:, start : start + 4] = False
        less = _continuity(broken).ratio
        assert less <= ratio
        ratio = less
    assert ratio == 0.0


def _connected(prediction: list[int], reference: list[int]) -> float:
    return connectedness(np.array(prediction, np.int64), np.array(reference, np.int64))


def test_a_network_found_whole_is_connected_whatever_its_pieces_are_called() -> None:
    assert _connected([7, 7, 7, 2, 2], [0, 0, 0, 1, 1]) == 1.0


def test_a_vessel_cut_in_half_keeps_half_of_its_pairs() -> None:
    # 2 x 2² of 4² pairs are kept: recall 1/2, precision 1.
    assert _connected([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 * 0.5 / 1.5)


def test_two_vessels_joined_make_half_of_the_pairs_wrong() -> None:
    assert _connected([0, 0, 0, 0], [0, 0, 1, 1]) == pytest.approx(2 * 0.5 / 1.5)


def test_what_is_not_found_is_connected_to_nothing() -> None:
    # 3² of 4² pairs are kept, and all of them are right.
    assert _connected([0, 0, 0, -1], [0, 0, 0, 0]) == pytest.approx(2 * 9 / (16 + 9))


def test_nothing_found_is_not_connected_and_nothing_to_find_is() -> None:
    assert _connected([-1, -1], [0, 0]) == 0.0
    assert _connected([], []) == 1.0
