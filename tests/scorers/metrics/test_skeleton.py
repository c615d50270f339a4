import numpy as np
import pytest
from scipy import ndimage
from skimage.morphology import skeletonize

from scorers.metrics.packed import PackedMask
from scorers.metrics.skeleton import LineAgreement, agree, centre_line, harmonic_mean, skeleton


def _packed(mask: np.ndarray) -> PackedMask:
    return PackedMask.of_array(mask)


def _lines(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    smooth = ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), 2)
    return np.abs(smooth - 0.5) < 0.012


@pytest.mark.parametrize("seed", range(4))
def test_the_skeleton_of_an_image_is_scikit_images_own_wherever_it_lies(seed: int) -> None:
    whole = np.zeros((90, 80), bool)
    whole[20:70, 31:75] = _lines(seed, (50, 44))
    assert np.array_equal(skeleton(_packed(whole)), np.flatnonzero(skeletonize(whole)))


@pytest.mark.parametrize("seed", range(4))
def test_the_skeleton_of_a_volume_is_scikit_images_own_wherever_it_lies(seed: int) -> None:
    whole = np.zeros((30, 40, 35), bool)
    whole[6:26, 10:38, 3:30] = _lines(seed, (20, 28, 27))
    assert np.array_equal(skeleton(_packed(whole)), np.flatnonzero(skeletonize(whole)))


def test_a_mask_of_four_axes_has_no_skeleton() -> None:
    with pytest.raises(ValueError, match="expected 2 or 3 axes"):
        skeleton(PackedMask.nothing((2, 2, 2, 2)))


def test_cldice_of_hand_worked_lines() -> None:
    reference = np.zeros((5, 12), bool)
    reference[2, 1:11] = True
    prediction = np.zeros((5, 12), bool)
    prediction[2, 1:7] = True
    prediction[0, 8:10] = True

    lines = agree(_packed(prediction), _packed(reference), centre_line)

    assert (lines.precision, lines.sensitivity) == (6 / 8, 6 / 10)
    assert lines.cl_dice == pytest.approx(2 * 0.75 * 0.6 / 1.35)


def test_lines_of_equal_masks_agree_wholly() -> None:
    mask = _packed(_lines(1, (20, 30, 30)))
    assert agree(mask, mask, centre_line).cl_dice == 1.0


def test_an_empty_line_gives_zero_as_published() -> None:
    some, none = np.arange(3), np.zeros(0, np.intp)
    lines = LineAgreement(none, some, np.zeros(0, bool), np.ones(3, bool))
    assert (lines.precision, lines.sensitivity, lines.cl_dice) == (0.0, 0.0, 0.0)


def test_a_filled_image_has_full_sensitivity_and_next_to_none_bounded_by_length() -> None:
    reference = np.zeros((60, 60), bool)
    reference[30, 5:55] = True

    lines = agree(_packed(np.ones((60, 60), bool)), _packed(reference), centre_line)

    assert lines.sensitivity == 1.0
    assert lines.bounded_sensitivity <= 2 / 50


def test_the_strict_line_of_a_wide_diagonal_has_its_whole_length() -> None:
    steps = np.arange(50)
    diagonal = np.zeros((60, 60), bool)
    diagonal[steps + 2, steps + 2] = diagonal[steps + 2, steps + 3] = True
    assert len(skeleton(_packed(diagonal))) < 30
    assert len(centre_line(_packed(diagonal))) >= 48


@pytest.mark.parametrize(
    ("one", "other", "mean"), [(0, 0, 0), (1, 0, 0), (1, 1, 1), (0.5, 1, 2 / 3)]
)
def test_the_harmonic_mean_of_zeros_is_zero(one: float, other: float, mean: float) -> None:
    assert harmonic_mean(one, other) == pytest.approx(mean)
