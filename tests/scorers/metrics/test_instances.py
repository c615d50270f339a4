import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment
from skimage.metrics import adapted_rand_error

from scorers.metrics.instances import (
    adapted_rand,
    average_precision,
    dice,
    foreground_iou,
    match,
    panoptic_quality,
)
from scorers.metrics.overlap import overlap

LABELS = arrays(np.int16, (6, 7), elements=st.integers(0, 5))


def _boxes(seed: int, shape: tuple[int, ...], count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = np.zeros(shape, np.uint16)
    for label in range(1, count + 1):
        start = [int(rng.integers(0, length - 4)) for length in shape]
        labels[tuple(slice(s, s + int(rng.integers(4, 10))) for s in start)] = label
    return labels


def _disturbed(reference: np.ndarray) -> np.ndarray:
    prediction = np.roll(reference, 1, axis=-1)
    prediction[prediction % 7 == 0] = 0
    prediction[(reference % 6 == 0) & (prediction > 0)] = 99
    return prediction


def _assigned(prediction: np.ndarray, reference: np.ndarray, threshold: float) -> tuple[int, float]:
    """Return matches and their sum of IoU by the optimal assignment on the full matrix."""
    ious = [
        [
            np.count_nonzero((prediction == i) & (reference == j))
            / np.count_nonzero((prediction == i) | (reference == j))
            for j in np.unique(reference[reference > 0])
        ]
        for i in np.unique(prediction[prediction > 0])
    ]
    matrix = np.array(ious)
    if not matrix.size:
        return 0, 0.0
    rows, columns = linear_sum_assignment(np.where(matrix >= threshold, -matrix, 0))
    taken = matrix[rows, columns]
    taken = taken[taken >= threshold]
    return len(taken), float(taken.sum())


def test_worked_by_hand() -> None:
    # Object 1 has IoU 3/4, object 2 is missed, prediction 9 is false.
    reference = np.array([[1, 1, 1, 0, 0], [1, 0, 2, 2, 0]])
    prediction = np.array([[5, 5, 5, 0, 0], [0, 0, 0, 0, 9]])
    table = overlap(prediction, reference)
    matching = match(table)

    assert (matching.hits, matching.misses, matching.false_hits) == (1, 1, 1)
    assert dice(table) == 2 * 3 / (4 + 6)
    assert foreground_iou(table) == 3 / 7
    assert average_precision(matching) == 1 / 3
    assert average_precision(match(table, 0.75)) == 1 / 3
    assert panoptic_quality(matching, empty=0.0) == 0.75 / 2


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.75, 1.0])
@settings(max_examples=80, deadline=None)
@given(prediction=LABELS, reference=LABELS)
def test_matching_equals_the_optimal_assignment(
    threshold: float, prediction: np.ndarray, reference: np.ndarray
) -> None:
    # Labels that follow the reference, so that overlaps are large.
    prediction = np.where(prediction % 2, reference, prediction)
    matching = match(overlap(prediction, reference), threshold)

    hits, total = _assigned(prediction, reference, threshold)

    assert matching.hits == hits
    assert matching.iou.sum() == pytest.approx(total)


@pytest.mark.parametrize("swap", [False, True], ids=["split", "merge"])
def test_of_two_exact_halves_one_matches(swap: bool) -> None:
    halves, whole = np.array([1, 1, 2, 2]), np.array([1, 1, 1, 1])
    sides = (whole, halves) if swap else (halves, whole)
    matching = match(overlap(*sides))

    assert matching.hits == 1
    assert matching.iou.tolist() == [0.5]
    assert matching.misses + matching.false_hits == 1


def test_a_threshold_where_matches_are_not_unique_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 0\.5"):
        match(overlap(np.ones(3), np.ones(3)), 0.4)


def test_nothing_against_nothing_is_right_only_where_it_is_said_to_be() -> None:
    table = overlap(np.zeros(3), np.zeros(3))

    assert average_precision(match(table)) == 1.0
    assert panoptic_quality(match(table), empty=0.0) == 0.0
    assert panoptic_quality(match(table), empty=1.0) == 1.0
    assert dice(table) == foreground_iou(table) == 0.0


@pytest.mark.parametrize("reverse", [False, True])
def test_something_against_nothing_is_wrong(reverse: bool) -> None:
    sides = [np.ones(3), np.zeros(3)]
    table = overlap(*(sides[::-1] if reverse else sides))

    assert average_precision(match(table)) == panoptic_quality(match(table), empty=1.0) == 0.0
    assert adapted_rand(table) == 0.0


@pytest.mark.parametrize(
    ("seed", "shape", "count", "hits", "false_hits", "misses", "quality"),
    [
        (0, (60, 70), 25, 18, 2, 7, 0.6251056118743143),
        (1, (20, 40, 50), 30, 21, 2, 9, 0.6518025732594329),
    ],
    ids=["image", "volume"],
)
def test_panoptic_quality_equals_that_of_panoptica(
    seed: int,
    shape: tuple[int, ...],
    count: int,
    hits: int,
    false_hits: int,
    misses: int,
    quality: float,
) -> None:
    # The values are panoptica 2.1.7's (naive matching at 0.5); it asks for an older NumPy.
    reference = _boxes(seed, shape, count)
    matching = match(overlap(_disturbed(reference), reference))

    assert (matching.hits, matching.false_hits, matching.misses) == (hits, false_hits, misses)
    assert panoptic_quality(matching, empty=1.0) == pytest.approx(quality, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_adapted_rand_equals_that_of_scikit_image(seed: int) -> None:
    reference = _boxes(seed, (20, 40, 50), 30)
    prediction = _disturbed(reference)

    error, _, _ = adapted_rand_error(reference, prediction)

    assert adapted_rand(overlap(prediction, reference)) == pytest.approx(1 - error, abs=1e-12)


def test_removing_a_right_object_lowers_panoptic_quality() -> None:
    reference = _boxes(2, (60, 70), 12)
    before = panoptic_quality(match(overlap(reference, reference)), empty=1.0)
    for label in np.unique(reference[reference > 0]):
        without = np.where(reference == label, 0, reference)
        assert panoptic_quality(match(overlap(without, reference)), empty=1.0) < before
