"""Single-plane images of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.errors import SubmissionFault
from scorers.files.fields import read_field, write_field
from scorers.files.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_is_read_again(tmp_path: Path, tree_of) -> None:
    field = np.array([[0.5, -1.0], [np.nan, 1e9]])
    write_field(tmp_path / "deep" / "a.tif", field)
    (file,) = tree_of(tmp_path).files
    np.testing.assert_array_equal(read_field(file, Limits()), field)


def test_axes_of_length_one_do_not_matter_and_others_do(tmp_path: Path, tree_of) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.ones((1, 3, 1, 4), np.uint8), photometric="minisblack")
    tifffile.imwrite(tmp_path / "b.tif", np.ones((2, 3, 5), np.uint8), photometric="minisblack")
    fit, unfit = tree_of(tmp_path).files
    assert read_field(fit, Limits()).shape == (3, 4)
    with pytest.raises(SubmissionFault, match="expected two axes"):
        read_field(unfit, Limits())


def test_a_field_that_is_too_large_is_refused(tmp_path: Path, tree_of) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((64, 64), np.uint8), compression="zlib")
    (file,) = tree_of(tmp_path).files
    with pytest.raises(SubmissionFault, match="more than 64 values"):
        read_field(file, Limits(array_bytes=4096))
