from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile

from scorers.files.images import EmptyImage, open_stack
from scorers.files.masks import flat_mask, volume_mask
from scorers.files.tree import Tree

TreeOf = Callable[[Path], Tree]


def _written(folder: Path, image: np.ndarray, tree_of: TreeOf, **how: object):
    tifffile.imwrite(folder / "a.tif", image, **how)
    return tree_of(folder).files[0]


def test_an_image_in_colour_is_as_bright_as_its_brightest_channel(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    colour = np.random.default_rng(0).integers(0, 9, (6, 7, 3)).astype(np.uint8)
    with open_stack(_written(tmp_path, colour, tree_of, photometric="rgb")) as stack:
        shape, planes = flat_mask(stack)
        assert shape == (6, 7)
        assert np.array_equal(next(planes), colour.max(axis=-1))


def test_a_stack_read_as_an_image_is_its_first_column(tmp_path: Path, tree_of: TreeOf) -> None:
    volume = np.arange(5 * 6 * 7, dtype=np.uint8).reshape(5, 6, 7)
    with open_stack(_written(tmp_path, volume, tree_of, photometric="minisblack")) as stack:
        shape, planes = flat_mask(stack)
        assert shape == (5, 6)
        assert np.array_equal(next(planes), volume[..., 0])


def test_a_volume_keeps_its_planes_and_loses_its_colours(tmp_path: Path, tree_of: TreeOf) -> None:
    colour = np.random.default_rng(0).integers(0, 9, (5, 6, 7, 3)).astype(np.uint8)
    with open_stack(_written(tmp_path, colour, tree_of, photometric="rgb")) as stack:
        shape, planes = volume_mask(stack)
        assert shape == (5, 6, 7)
        assert np.array_equal(np.stack([*planes]), colour.max(axis=-1))


def test_a_tiff_without_a_page_is_told_from_one_that_cannot_be_read(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    (tmp_path / "a.tif").write_bytes(b"II*\0broken")
    with pytest.raises(EmptyImage, match=r"a\.tif holds no image"):
        open_stack(tree_of(tmp_path).files[0])
