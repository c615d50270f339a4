import io

import numpy as np
import pytest
from PIL import Image

from scorers.files.limits import Limits
from scorers.pictures.canvas import (
    as_picture,
    encoded,
    fitted,
    resampled,
    resized,
    stretch,
    with_legend,
)

NOISE = np.random.default_rng(0).integers(0, 256, (600, 500, 3)).astype(np.uint8)


def test_contrast_is_stretched_over_the_whole_range() -> None:
    image = np.linspace(1000, 3000, 10_000).reshape(100, 100)

    grey = stretch(image, 0, 100)

    assert grey.shape == (100, 100, 3)
    assert (grey.min(), grey.max()) == (0, 255)


@pytest.mark.parametrize("value", [7.0, np.nan])
def test_an_image_without_contrast_is_black(value: float) -> None:
    assert stretch(np.full((4, 5), value)).max() == 0


def test_colour_in_bytes_stays_as_it_is() -> None:
    np.testing.assert_array_equal(stretch(NOISE), NOISE)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2000, 1000), (400, 200)),
        ((100, 150), (200, 300)),
        ((3, 2), (12, 8)),
        ((1, 5000), (1, 400)),
    ],
)
def test_the_longer_side_fits_and_pixels_are_enlarged_by_whole_steps(
    shape: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert fitted(shape, 400) == expected


def test_labels_are_never_mixed_by_resampling() -> None:
    labels = np.array([[1, 5], [9, 1]])

    assert set(np.unique(resampled(labels, (7, 9))).tolist()) == {1, 5, 9}
    assert resized(NOISE, (30, 25)).shape == (30, 25, 3)


def test_noise_becomes_a_jpeg_below_the_bound() -> None:
    data, media_type = encoded(NOISE, 40_000)

    assert (media_type, len(data) <= 40_000) == ("image/jpeg", True)
    assert Image.open(io.BytesIO(data)).format == "JPEG"


def test_flat_graphics_stay_sharp_as_png() -> None:
    data, media_type = encoded(np.zeros((300, 300, 3), np.uint8), 40_000)

    assert media_type == "image/png"
    assert np.asarray(Image.open(io.BytesIO(data))).shape == (300, 300, 3)


def test_a_bound_below_any_picture_is_told() -> None:
    with pytest.raises(ValueError, match="no picture fits into 50 bytes"):
        encoded(NOISE, 50)


def test_a_picture_is_bound_by_its_role() -> None:
    limits = Limits(thumbnail_bytes=9_000, overlay_bytes=30_000)

    small = as_picture("a", "b", NOISE, limits, "thumbnail")
    large = as_picture("a", "b", NOISE, limits)

    assert len(small.data) <= 9_000 < len(large.data) <= 30_000


def test_the_legend_goes_below_and_breaks_into_lines() -> None:
    image = np.zeros((20, 120, 3), np.uint8)
    entries = {f"{number} entries": (255, 0, 0) for number in range(5)}

    drawn = with_legend(image, entries)

    assert drawn.shape[1] == 120
    assert drawn.shape[0] > 20 + 3 * 15
    assert (drawn == (255, 0, 0)).all(axis=-1).any()
