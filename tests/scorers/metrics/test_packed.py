import numpy as np
import pytest

from scorers.metrics.packed import PackedMask


@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7), (2, 3, 8, 8), (1, 1, 1)])
def test_a_packed_mask_comes_back_as_it_was(shape: tuple[int, ...]) -> None:
    mask = np.random.default_rng(0).random(shape) < 0.4
    packed = PackedMask.of_array(mask)
    assert np.array_equal(packed.array(), mask)
    assert np.array_equal(packed.holds(np.arange(mask.size)), mask.reshape(-1))
    assert packed.size == mask.sum()


def test_it_takes_a_bit_a_voxel() -> None:
    assert PackedMask.nothing((10, 64, 64)).bits.nbytes == 10 * 64 * 64 / 8


def test_the_overlap_counts_voxels_that_both_have() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.random((3, 9, 11)) < 0.5, rng.random((3, 9, 11)) < 0.5
    found = PackedMask.of_array(one).overlap(PackedMask.of_array(other))
    assert found == (one & other).sum()


def test_masks_of_different_shapes_do_not_overlap() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        PackedMask.nothing((2, 3, 4)).overlap(PackedMask.nothing((2, 4, 3)))


def test_too_few_planes_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        PackedMask.of(iter([np.zeros((3, 4), bool)]), (2, 3, 4))
