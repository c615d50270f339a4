import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage
from skimage.morphology import skeletonize

from scorers.metrics.thinning import thin

CORNERS = np.ones((3, 3, 3), bool)


def _thinned(mask: np.ndarray, *, keep_ends: bool) -> np.ndarray:
    places = thin(iter(mask), mask.shape, keep_ends=keep_ends)
    assert (np.diff(places) > 0).all()
    result = np.zeros(mask.shape, bool)
    result.reshape(-1)[places] = True
    return result


def _network(seed: int, shape: tuple[int, int, int]) -> np.ndarray:
    """Smooth tubes of several widths that cross."""
    rng = np.random.default_rng(seed)
    mask = np.zeros(shape, bool)
    for _ in range(8):
        steps = rng.normal(0, 0.25, (60, 3)) + rng.normal(0, 0.6, 3)
        path = np.round(np.cumsum(steps, axis=0) + rng.uniform(0, shape)).astype(int)
        path = path[((path >= 0) & (path < shape)).all(axis=1)]
        line = np.zeros(shape, bool)
        line[tuple(path.T)] = True
        reach = int(rng.integers(0, 4))
        mask |= ndimage.binary_dilation(line, CORNERS, iterations=reach) if reach else line
    return mask


@settings(max_examples=150, deadline=None)
@given(arrays(bool, array_shapes(min_dims=3, max_dims=3, max_side=9)))
def test_any_mask_is_thinned_to_the_very_voxels_of_scikit_image(mask: np.ndarray) -> None:
    assert np.array_equal(_thinned(mask, keep_ends=False), skeletonize(mask))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.floats(0.05, 0.98), array_shapes(min_dims=3, max_dims=3, max_side=16)
)
def test_noise_of_any_density_is_thinned_to_the_very_voxels_of_scikit_image(
    seed: int, density: float, shape: tuple[int, int, int]
) -> None:
    mask = np.random.default_rng(seed).random(shape) < density
    assert np.array_equal(_thinned(mask, keep_ends=False), skeletonize(mask))


@pytest.mark.parametrize("seed", range(6))
def test_networks_are_thinned_to_the_very_voxels_of_scikit_image(seed: int) -> None:
    mask = _network(seed, (40, 50, 60))
    assert np.array_equal(_thinned(mask, keep_ends=False), skeletonize(mask))


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 7, 9), (2, 9, 9), (12, 12, 12), (9, 4, 30)])
def test_solid_blocks_are_thinned_to_the_very_voxels_of_scikit_image(
    shape: tuple[int, int, int],
) -> None:
    mask = np.ones(shape, bool)
    assert np.array_equal(_thinned(mask, keep_ends=False), skeletonize(mask))


def test_empty_space_around_changes_nothing_of_a_skeleton() -> None:
    mask = _network(1, (24, 24, 24))
    whole = np.pad(mask, ((5, 9), (11, 3), (2, 17)))
    assert np.array_equal(skeletonize(whole)[5:-9, 11:-3, 2:-17], skeletonize(mask))
    assert np.array_equal(
        _thinned(whole, keep_ends=False)[5:-9, 11:-3, 2:-17], _thinned(mask, keep_ends=False)
    )


def test_pieces_do_not_change_each_other() -> None:
    one, other = _network(2, (20, 20, 20)), _network(3, (20, 20, 20))
    both = np.concatenate([np.pad(one, ((0, 1), (0, 0), (0, 0))), other])
    together = _thinned(both, keep_ends=False)
    assert np.array_equal(together[:20], _thinned(one, keep_ends=False))
    assert np.array_equal(together[21:], _thinned(other, keep_ends=False))


def test_a_single_plane_is_thinned_from_four_sides_only() -> None:
    sheet = np.ones((1, 5, 20), bool)
    assert _thinned(sheet, keep_ends=False).sum() == skeletonize(sheet).sum()
    # The same sheet with an empty plane beside it is a body that can be thinned from above.
    body = np.pad(sheet, ((0, 1), (0, 0), (0, 0)))
    assert np.array_equal(_thinned(body, keep_ends=False), skeletonize(body))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_tube_along_an_axis_keeps_its_centre_line_at_any_width(width: int, axis: int) -> None:
    tube = np.moveaxis(np.pad(np.ones((40, width, width), bool), 2), 0, axis)
    line = _thinned(tube, keep_ends=True)
    assert 40 - width <= line.sum() <= 40
    assert ndimage.label(line, CORNERS)[1] == 1


def test_scikit_image_loses_such_a_tube() -> None:
    assert not skeletonize(np.pad(np.ones((40, 2, 2), bool), 2)).any()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 0.6))
def test_lines_that_keep_their_ends_have_a_part_in_each_piece(seed: int, density: float) -> None:
    mask = np.random.default_rng(seed).random((7, 8, 9)) < density
    line = _thinned(mask, keep_ends=True)
    assert not (line & ~mask).any()
    assert ndimage.label(line, CORNERS)[1] == ndimage.label(mask, CORNERS)[1]


def test_nothing_is_thinned_to_nothing() -> None:
    assert len(thin(iter(np.zeros((3, 4, 5), bool)), (3, 4, 5), keep_ends=True)) == 0
