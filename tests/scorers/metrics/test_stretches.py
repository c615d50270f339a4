import numpy as np
from scipy import ndimage

from scorers.metrics.stretches import stretches


def test_stretches_are_the_connected_parts_longest_first() -> None:
    mask = np.random.default_rng(0).random((6, 9, 11)) < 0.08
    labels, count = ndimage.label(mask, np.ones((3, 3, 3)))
    found = stretches(np.flatnonzero(mask), mask.shape)
    sizes = np.bincount(labels.reshape(-1))[1:]
    assert found.lengths.tolist() == sorted(sizes.tolist(), reverse=True)
    assert len(found.centres) == count


def test_a_stretch_has_its_centre_in_voxels() -> None:
    mask = np.zeros((5, 20), bool)
    mask[2, 4:9] = True
    mask[4, 15] = True
    found = stretches(np.flatnonzero(mask), mask.shape)
    assert found.lengths.tolist() == [5, 1]
    assert found.centres.tolist() == [[2.0, 6.0], [4.0, 15.0]]


def test_no_voxel_is_no_stretch() -> None:
    assert stretches(np.zeros(0, np.intp), (4, 5)).centres.shape == (0, 2)


def test_noise_beyond_a_bound_is_one_stretch() -> None:
    found = stretches(np.arange(0, 100, 2), (10, 10), most=20)
    assert found.lengths.tolist() == [50]
    assert found.centres.tolist() == [[4.5, 4.0]]
