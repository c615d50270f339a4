import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage
from skimage.measure import euler_number

from scorers.metrics.packed import PackedMask
from scorers.metrics.topology import Betti, betti, euler_characteristic, pieces_at


def _betti(mask: np.ndarray) -> Betti | None:
    return betti(PackedMask.of_array(mask))


@settings(max_examples=150, deadline=None)
@given(arrays(bool, array_shapes(min_dims=3, max_dims=3, max_side=7)))
def test_they_agree_with_scikit_image_and_scipy(mask: np.ndarray) -> None:
    found = _betti(mask)
    assert found is not None
    around = np.pad(mask, 1)
    assert found.pieces == ndimage.label(mask, np.ones((3, 3, 3)))[1]
    assert found.cavities == ndimage.label(~around)[1] - 1
    assert found.euler == euler_number(around, connectivity=3)


def test_a_ring_has_a_loop_and_a_shell_a_hollow() -> None:
    ring = np.zeros((3, 5, 5), bool)
    ring[1] = True
    ring[1, 1:4, 1:4] = False
    shell = np.ones((5, 5, 5), bool)
    shell[2, 2, 2] = False
    assert _betti(ring) == Betti(1, 1, 0)
    assert _betti(shell) == Betti(1, 0, 1)


def test_voxels_that_share_a_corner_are_one_piece_also_across_planes() -> None:
    mask = np.zeros((2, 4, 4), bool)
    mask[0, 1, 1] = mask[1, 2, 2] = mask[1, 0, 3] = True
    assert _betti(mask) == Betti(2, 0, 0)


def test_the_end_of_a_row_does_not_touch_the_start_of_the_next() -> None:
    mask = np.zeros((2, 4, 6), bool)
    mask[0, 0, 5] = mask[0, 2, 0] = mask[1, 3, 5] = True
    assert _betti(mask) == Betti(3, 0, 0)


def test_nothing_has_nothing() -> None:
    assert _betti(np.zeros((2, 3, 4), bool)) == Betti(0, 0, 0)
    assert euler_characteristic(PackedMask.nothing((2, 3, 4))) == 0


def test_noise_of_too_many_runs_is_not_counted() -> None:
    mask = np.indices((4, 8, 8)).sum(axis=0) % 2 == 0
    assert betti(PackedMask.of_array(mask), most_runs=50) is None


def test_an_image_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 3 axes"):
        betti(PackedMask.nothing((3, 4)))


@settings(max_examples=100, deadline=None)
@given(arrays(bool, array_shapes(min_dims=3, max_dims=3, max_side=7)))
def test_voxels_of_one_piece_are_told_apart_from_those_of_another_as_scipy_does(
    mask: np.ndarray,
) -> None:
    known = ndimage.label(mask, np.ones((3, 3, 3)))[0].reshape(-1)
    found = pieces_at(PackedMask.of_array(mask), np.arange(mask.size))
    assert found is not None
    assert np.array_equal(found < 0, known == 0)
    pairs = np.unique(np.stack([known, found]), axis=1)
    assert pairs.shape[1] == len(np.unique(known)) == len(np.unique(found))


def test_noise_of_too_many_runs_has_no_pieces() -> None:
    mask = np.indices((4, 8, 8)).sum(axis=0) % 2 == 0
    assert pieces_at(PackedMask.of_array(mask), np.arange(3), most_runs=50) is None
