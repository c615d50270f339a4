import numpy as np
import pytest

from scorers.metrics.packed import PackedMask
from scorers.metrics.resampling import cube_edge, isotropic


def _resampled(mask: np.ndarray, spacing: tuple[float, float, float]) -> np.ndarray:
    return isotropic(PackedMask.of_array(mask), spacing).array()


def test_cubes_already_stay_as_they_are() -> None:
    mask = PackedMask.nothing((3, 4, 5))
    assert isotropic(mask, (0.5, 0.5, 0.5)) is mask


def test_a_finer_plane_is_joined_to_cubes_of_the_plane_distance() -> None:
    mask = np.zeros((3, 8, 8), bool)
    mask[1, 3, 5] = True
    cubes = _resampled(mask, (2.0, 1.0, 1.0))
    assert cubes.shape == (3, 4, 4)
    assert np.argwhere(cubes).tolist() == [[1, 1, 2]]


def test_a_line_of_one_voxel_stays_whole() -> None:
    mask = np.zeros((4, 40, 40), bool)
    mask[2, np.arange(40), np.arange(40)] = True
    cubes = _resampled(mask, (2.0, 0.975, 0.975))
    assert cubes.shape == (4, 20, 20)
    assert cubes[2].diagonal().all()


def test_beyond_three_times_planes_are_repeated() -> None:
    mask = np.zeros((2, 9, 9), bool)
    mask[1] = True
    assert cube_edge((6.0, 1.0, 1.0)) == 3.0
    cubes = _resampled(mask, (6.0, 1.0, 1.0))
    assert cubes.shape == (4, 3, 3)
    assert cubes.all(axis=(1, 2)).tolist() == [False, False, True, True]


def test_the_long_side_may_lie_along_any_axis() -> None:
    mask = np.zeros((8, 4, 8), bool)
    mask[:, 2] = True
    assert np.argwhere(_resampled(mask, (1.0, 2.0, 1.0)).any(axis=(0, 2))).tolist() == [[2]]
    flat = _resampled(mask, (1.0, 6.0, 1.0))
    assert flat.shape == (3, 8, 3)


def test_a_size_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="sizes above 0"):
        isotropic(PackedMask.nothing((3, 4, 5)), (0.0, 1.0, 1.0))
