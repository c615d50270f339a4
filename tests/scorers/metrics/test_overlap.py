import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scorers.metrics.overlap import OverlapCounter, TooManyLabels, overlap


def test_pairs_of_labels_are_counted_by_the_pixels_they_share() -> None:
    prediction = np.array([[1, 1, 0], [2, 2, 2]])
    reference = np.array([[7, 0, 0], [7, 7, 9]])

    table = overlap(prediction, reference)

    assert table.prediction_ids.tolist() == [1, 2]
    assert table.reference_ids.tolist() == [7, 9]
    assert table.prediction_areas.tolist() == [2, 3]
    assert table.reference_areas.tolist() == [3, 1]
    pairs = zip(table.prediction, table.reference, table.shared, strict=True)
    assert [tuple(map(int, pair)) for pair in pairs] == [(0, 0, 1), (1, 0, 2), (1, 1, 1)]
    np.testing.assert_allclose(table.iou, [1 / 4, 2 / 4, 1 / 3])
    pixels = (table.prediction_pixels, table.reference_pixels, table.both_pixels)
    assert pixels == (5, 4, 4)


def test_a_negative_label_is_an_object_without_area() -> None:
    table = overlap(np.array([-3, -3, 1]), np.array([5, 5, 5]))

    assert table.prediction_ids.tolist() == [-3, 1]
    assert table.prediction_areas.tolist() == [0, 1]
    assert table.shared.tolist() == [1]
    assert table.prediction_pixels == 1


def test_floating_labels_are_truncated_but_their_foreground_is_not() -> None:
    table = overlap(np.array([0.5, 1.9, 1.0, -0.5]), np.array([1.0, 1.0, 1.0, 1.0]))

    assert table.prediction_ids.tolist() == [1]
    assert table.prediction_areas.tolist() == [2]
    assert table.prediction_pixels == 3


def test_what_is_no_number_is_one_object_without_area() -> None:
    table = overlap(np.array([np.nan, np.inf, 1e300, 2]), np.ones(4))

    assert table.prediction_ids.tolist() == [np.iinfo(np.int64).min, 2]
    assert table.prediction_areas.tolist() == [0, 1]


@pytest.mark.parametrize(
    "dtype", [bool, np.uint8, np.int16, np.uint32, np.uint64, np.float16, np.float32, np.float64]
)
def test_every_numeric_dtype_is_counted_alike(dtype: type) -> None:
    labels = np.array([[0, 1], [1, 1]])

    table = overlap(labels.astype(dtype), labels)

    assert table.shared.tolist() == [3]
    assert (table.prediction_pixels, table.both_pixels) == (3, 3)


@settings(max_examples=60, deadline=None)
@given(
    prediction=arrays(np.int32, (3, 4, 5), elements=st.integers(-2, 4)),
    reference=arrays(np.int32, (3, 4, 5), elements=st.integers(-2, 4)),
)
def test_plane_by_plane_equals_the_count_of_each_pair_at_once(
    prediction: np.ndarray, reference: np.ndarray
) -> None:
    counter = OverlapCounter()
    for planes in zip(prediction, reference, strict=True):
        counter.add(*planes)
    table = counter.result()

    whole = overlap(prediction, reference)
    assert whole.shared.tolist() == table.shared.tolist()
    for i, j, shared in zip(table.prediction, table.reference, table.shared, strict=True):
        p, g = table.prediction_ids[i], table.reference_ids[j]
        assert shared == np.count_nonzero((prediction == p) & (reference == g))
    both = (prediction > 0) & (reference > 0)
    assert table.shared.sum() == table.both_pixels == np.count_nonzero(both)
    assert table.prediction_ids.tolist() == [v for v in np.unique(prediction) if v]


def test_labels_of_any_size_do_not_widen_the_table() -> None:
    labels = np.array([2**62, 5, 2**40], np.int64)

    assert overlap(labels, labels).shared.tolist() == [1, 1, 1]


def test_nothing_at_all_gives_an_empty_table() -> None:
    table = overlap(np.zeros((0, 3)), np.zeros((0, 3)))

    assert len(table.prediction_ids) == len(table.shared) == table.both_pixels == 0


def test_planes_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shapes differ: \(2,\) and \(3,\)"):
        overlap(np.zeros(2), np.zeros(3))


def test_too_many_labels_are_refused() -> None:
    counter = OverlapCounter(max_labels=3)
    counter.add(np.arange(5), np.zeros(5))

    with pytest.raises(TooManyLabels, match="more than 3 distinct labels"):
        counter.result()
