import numpy as np
import pytest

from scorers.metrics.timing import align_greedily, align_rows


def plainly(reference: np.ndarray, predicted: np.ndarray, tolerance: float) -> list:
    """The rule as it is written, pair by pair."""
    used: set[int] = set()
    pairs = []
    for index, time in enumerate(reference):
        free = [at for at in range(len(predicted)) if at not in used]
        if not free:
            break
        best = min(free, key=lambda at: abs(predicted[at] - time))
        if abs(predicted[best] - time) <= tolerance:
            used.add(best)
            pairs.append((index, best))
    return pairs


@pytest.mark.parametrize("seed", range(30))
def test_each_time_in_turn_takes_the_nearest_free_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Steps of a quarter give many equally near and many equal times.
    reference = np.sort(rng.integers(0, 20, rng.integers(0, 25)) / 4)
    predicted = np.sort(rng.integers(0, 20, rng.integers(0, 25)) / 4)
    one, other = align_greedily(reference, predicted, 0.51)
    assert list(zip(one.tolist(), other.tolist(), strict=True)) == plainly(
        reference, predicted, 0.51
    )


def test_a_time_whose_partner_is_gone_takes_a_neighbours() -> None:
    one, other = align_greedily(np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.5]), 0.51)
    assert (one.tolist(), other.tolist()) == ([0, 1], [0, 1])


def test_rows_go_with_the_reference_time_nearest_to_them_only() -> None:
    reference, predicted = np.array([0.0, 0.5, 1.0, 1.5]), np.array([0.1, 0.5, 1.6])
    assert align_rows(reference, predicted, 0.25).tolist() == [0, 1, -1, 2]


def test_of_rows_of_one_time_the_nearest_and_then_the_first_counts() -> None:
    predicted = np.array([0.6, 0.5, 0.5, np.nan])
    assert align_rows(np.array([0.0, 0.5]), predicted, 0.25).tolist() == [-1, 1]


def test_the_order_of_rows_does_not_count() -> None:
    reference, predicted = np.array([1.0, np.nan, 0.0]), np.array([0.0, 1.0])
    assert align_rows(reference, predicted, 0.25).tolist() == [1, -1, 0]


def test_a_single_time_may_have_a_partner() -> None:
    assert align_rows(np.array([2.0]), np.array([5.0, 2.1]), 0.25).tolist() == [1]


def test_nothing_has_no_partner() -> None:
    assert align_rows(np.array([0.0]), np.zeros(0), 1).tolist() == [-1]
    assert align_rows(np.zeros(0), np.array([0.0]), 1).tolist() == []
    assert align_greedily(np.array([0.0]), np.zeros(0), 1)[0].size == 0
