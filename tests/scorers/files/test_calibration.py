from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile

from scorers.errors import SubmissionFault
from scorers.files.calibration import compression_of, pixel_size
from scorers.files.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.files.tree import SubmittedFile, Tree

LIMITS = Limits()
IMAGE = np.zeros((32, 32), np.uint8)


@pytest.fixture
def written(submission: Path, tree_of: Callable[[Path], Tree]) -> Callable[..., SubmittedFile]:
    """Write a TIFF and list it."""

    def write(name: str = "a.tif", **how: Any) -> SubmittedFile:
        tifffile.imwrite(submission / name, IMAGE, **how)
        return tree_of(submission).files[0]

    return write


def test_a_pixel_size_in_micrometres_is_read_without_a_spacing_of_planes(
    written: Callable[..., SubmittedFile],
) -> None:
    file = written(imagej=True, resolution=(4.0, 4.0), metadata={"unit": "um"})
    assert pixel_size(file, LIMITS) == pytest.approx(0.25)


def test_a_pixel_size_in_ome_xml_is_read_in_its_unit(
    written: Callable[..., SubmittedFile],
) -> None:
    told = {"PhysicalSizeX": 72.0, "PhysicalSizeXUnit": "nm"}
    assert pixel_size(written("a.ome.tif", metadata=told), LIMITS) == pytest.approx(0.072)


def test_a_resolution_per_centimetre_is_a_pixel_size(
    written: Callable[..., SubmittedFile],
) -> None:
    file = written(resolution=(20_000, 20_000), resolutionunit="CENTIMETER")
    assert pixel_size(file, LIMITS) == pytest.approx(0.5)


@pytest.mark.parametrize("how", [
    {}, {"resolution": (72, 72), "resolutionunit": "INCH"},
    {"imagej": True, "resolution": (4.0, 4.0), "metadata": {"unit": "furlong"}},
])  # fmt: skip
def test_what_means_nothing_is_no_pixel_size(
    written: Callable[..., SubmittedFile], how: dict[str, Any]
) -> None:
    assert pixel_size(written(**how), LIMITS) is None


def test_the_compression_is_the_number_of_the_tag(written: Callable[..., SubmittedFile]) -> None:
    assert compression_of(written(compression="zlib"), LIMITS) == 8


@pytest.mark.parametrize("read", [pixel_size, compression_of])
def test_what_is_no_tiff_is_the_submissions_fault(
    submission: Path, tree_of: Callable[[Path], Tree], read: Callable[..., object]
) -> None:
    (submission / "a.tif").write_bytes(b"II*\x00\x08\x00\x00\x00\xff\xff")
    with pytest.raises(SubmissionFault):
        read(tree_of(submission).files[0], LIMITS)
