"""Blocks looked for in another mosaic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from skimage.feature import match_template
from skimage.registration import phase_cross_correlation

from scorers.metrics.placement import (
    block_starts,
    common_shift,
    has_structure,
    place,
    windows,
)

BLOCK, REACH = 32, 8


def scene(seed: int = 0, size: int = 128) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(size, size))
    return 100 + 50 * ndimage.gaussian_filter(noise, 2, mode="wrap")


def looked_for(known: np.ndarray, own: np.ndarray):
    lefts = np.array([16, 48, 80])
    blocks = windows(known, 40, lefts, BLOCK)
    return blocks, windows(own, 40 - REACH, lefts - REACH, BLOCK + 2 * REACH)


def test_blocks_cover_a_length_from_end_to_end() -> None:
    starts = block_starts(104, 32, 32)
    assert starts.tolist() == [0, 24, 48, 72]
    assert block_starts(20, 32, 32).tolist() == [0]


def test_windows_are_zero_beyond_the_image_and_where_it_is_not_finite() -> None:
    image = np.arange(1.0, 10).reshape(3, 3)
    image[1, 1] = np.nan
    cut = windows(image, -1, np.array([-1, 1]), 3)
    assert cut[0].tolist() == [[0, 0, 0], [0, 1, 2], [0, 4, 0]]
    assert cut[1].tolist() == [[0, 0, 0], [2, 3, 0], [0, 6, 0]]
    assert not windows(None, 0, np.array([0]), 3).any()
    assert not windows(image, 9, np.array([0]), 3).any()


def test_the_surface_is_that_of_scikit_image() -> None:
    from scorers.metrics.placement import _likeness

    blocks, around = looked_for(scene(), scene(1))
    for index, surface in enumerate(_likeness(blocks, around)):
        expected = match_template(around[index].astype(float), blocks[index].astype(float))
        assert surface == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("shift", [(0, 0), (3, -2), (-5, 7), (1.5, 0.25)])
def test_a_shifted_scene_is_found_where_phase_correlation_finds_it(shift) -> None:
    own = ndimage.shift(scene(), shift, order=3, mode="grid-wrap")
    found = place(*looked_for(scene(), own))
    assert found.inside.all()
    assert found.likeness.min() > 0.95
    assert found.shift == pytest.approx(np.tile(shift, (3, 1)), abs=0.15)
    expected, *_ = phase_cross_correlation(own, scene(), upsample_factor=20)
    assert found.shift.mean(axis=0) == pytest.approx(expected, abs=0.15)


def test_gain_offset_and_size_of_values_do_not_matter() -> None:
    blocks, around = looked_for(scene(), scene())
    for changed in (3 * around + 50, around * 1e30, around * 1e-30):
        found = place(blocks, changed.astype(np.float32))
        assert found.shift == pytest.approx(np.zeros((3, 2)), abs=0.1)
        assert found.likeness.min() > 0.99


def test_nothing_is_found_where_nothing_varies() -> None:
    blocks, around = looked_for(scene(), np.full((128, 128), 7.0))
    assert place(blocks, around).likeness.tolist() == [0, 0, 0]
    assert place(np.ones_like(blocks), blocks_around(scene())).likeness.tolist() == [0, 0, 0]


def blocks_around(own: np.ndarray) -> np.ndarray:
    return looked_for(own, own)[1]


def test_noise_and_gradients_are_no_structure_but_blurred_objects_are() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(100, 5, (32, 32))
    gradient = np.add.outer(np.arange(32.0), np.arange(32.0)) + rng.normal(0, 1, (32, 32))
    objects = 100 * ndimage.gaussian_filter(rng.normal(size=(32, 32)), 2)
    blocks = np.stack([noise, gradient, objects, np.full((32, 32), 9.0)]).astype(np.float32)
    assert has_structure(blocks).tolist() == [False, False, True, False]


def test_the_origin_is_the_shift_that_most_blocks_share() -> None:
    shifts = np.array([[3.1, -2.0], [2.9, -2.2], [3.0, -1.9], [0.0, 0.0], [7.0, 7.0]])
    assert common_shift(shifts, 8).tolist() == [3.0, -2.0]
    assert common_shift(shifts, 8, least=4).tolist() == [0.0, 0.0]
    assert common_shift(np.zeros((0, 2)), 8).tolist() == [0.0, 0.0]


def test_of_origins_shared_alike_the_nearest_to_zero_counts() -> None:
    assert common_shift(np.array([[6.0, 0.0], [-1.0, 0.0]]), 8).tolist() == [-1.0, 0.0]
