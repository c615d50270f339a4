"""From values to an 8-bit picture: contrast, label colours, channel colours, size."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.harness.viewing.bounds import MAX_PNG_BYTES, MAX_SIDE, SMALL_SIDE
from evals.harness.viewing.opening import ViewError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

STATISTICS_PIXELS = 1_000_000
BRIGHT = 128  # colour images that reach it are shown as they are, darker ones stretched
HUES = {
    "green": (0.0, 1.0, 0.3),
    "magenta": (1.0, 0.0, 0.8),
    "cyan": (0.0, 0.8, 1.0),
    "yellow": (1.0, 0.85, 0.0),
}


def paint(channels: list[NDArray[Any]], contrast: str) -> tuple[Pixels, str, bool]:
    """Turn a plane, a colour image or several channels into colours.

    Returns
    -------
    tuple
        RGB of shape (rows, columns, 3), in words how values became colours, and whether they are
        labels, which must not be blended when the picture is resized.
    """
    first = channels[0]
    if first.dtype.kind not in "biuf":
        raise ViewError(f"values of type {first.dtype} cannot be shown")
    grey = len(channels) == 1 and first.ndim == 2
    if contrast == "labels" and not (grey and first.dtype.kind in "biu"):
        raise ViewError("contrast labels needs one channel of whole numbers")
    if contrast == "labels" or (contrast == "auto" and grey and looks_like_labels(first)):
        count = int(np.count_nonzero(np.unique(first)))
        picked = shrink(first, labels=True)
        return colour_labels(picked), f"label colours, {count} labels in view", True
    if first.ndim == 3 and not _is_grey(first):
        return (*_paint_colours(first, contrast), False)
    if first.ndim == 3:
        channels = [first[..., 0]]
    return (*_paint_channels(channels, contrast), False)


def _is_grey(image: NDArray[Any]) -> bool:
    """Say whether all colours of an image hold the same: a grey image saved in colour."""
    return all(np.array_equal(image[..., 0], image[..., other]) for other in (1, 2))


def _paint_colours(image: NDArray[Any], contrast: str) -> tuple[Pixels, str]:
    reduced = shrink(image, labels=False)
    limits = display_range(reduced, contrast)
    if contrast == "auto" and image.dtype == np.uint8 and limits[1] >= BRIGHT:
        limits = (0.0, 255.0)  # colours mean something to who made them
    words = f"colours of the file from {limits[0]:.6g} to {limits[1]:.6g}"
    return np.rint(stretch(reduced, limits) * 255).astype(np.uint8), words


def _paint_channels(channels: list[NDArray[Any]], contrast: str) -> tuple[Pixels, str]:
    several = len(channels) > 1
    hues = list(HUES.items()) if several else [("grey", (1.0, 1.0, 1.0))]
    total = np.zeros((1, 1, 3), np.float32)
    words = []
    for number, (channel, (name, hue)) in enumerate(zip(channels, hues, strict=False)):
        reduced = shrink(channel, labels=False)
        low, high = display_range(reduced, contrast)
        total = total + stretch(reduced, (low, high))[..., None] * np.asarray(hue, np.float32)
        what = f"channel {number} in {name}" if several else name
        words.append(f"{what} from {low:.6g} to {high:.6g}")
    return np.rint(np.clip(total, 0, 1) * 255).astype(np.uint8), ", ".join(words)


def looks_like_labels(image: NDArray[Any]) -> bool:
    """Say whether a grey image has the flat regions of a label image."""
    if image.dtype == bool:
        return True
    if image.dtype.kind not in "iu" or image.shape[1] < 2:
        return False
    left, right = image[:, :-1], image[:, 1:]
    lit = (left != 0) | (right != 0)
    pairs = int(np.count_nonzero(lit))
    return pairs > 0 and int(np.count_nonzero((left == right) & lit)) >= 0.8 * pairs


def colour_labels(labels: NDArray[Any]) -> Pixels:
    """Give each label a colour of its own; 0 is black, and a single label is white."""
    values, inverse = np.unique(labels, return_inverse=True)
    # Steps of the golden ratio put labels that follow each other far apart on the colour wheel.
    hue = (values.astype(np.float64) * 0.61803398875) % 1.0
    wheel = np.stack([hue, (hue + 1 / 3) % 1.0, (hue + 2 / 3) % 1.0], axis=1)
    colours = 0.3 + 0.7 * np.clip(np.abs(wheel * 6 - 3) - 1, 0, 1)
    if np.count_nonzero(values) == 1:
        colours[:] = 1.0
    colours[values == 0] = 0.0
    painted = np.rint(colours * 255).astype(np.uint8)
    return np.asarray(painted[inverse.reshape(labels.shape)])


def shrink(image: NDArray[Any], labels: bool) -> NDArray[Any]:
    """Reduce a large view by a whole factor: by block means, labels by picking."""
    factor = max(image.shape[:2]) // (2 * MAX_SIDE)
    if factor < 2 or min(image.shape[:2]) < factor:
        return image
    if labels:
        return image[::factor, ::factor]
    height, width = (side // factor for side in image.shape[:2])
    blocks = image[: height * factor, : width * factor]
    blocks = blocks.reshape(height, factor, width, factor, *image.shape[2:])
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def display_range(image: NDArray[Any], contrast: str) -> tuple[float, float]:
    """Return the values that become black and white."""
    step = max(1, math.isqrt(image.size // STATISTICS_PIXELS))
    sample = image[::step, ::step]
    finite = sample[np.isfinite(sample)]
    if finite.size == 0:
        raise ViewError("there is no finite value in this view")
    lowest, highest = float(finite.min()), float(finite.max())
    if contrast == "full":
        return lowest, highest
    wanted = "0.5%,99.8%" if contrast == "auto" else contrast
    pair = re.fullmatch(r"\s*([-+.\de]+)\s*(%?)\s*,\s*([-+.\de]+)\s*(%?)\s*", wanted)
    if pair is None or pair[2] != pair[4]:
        raise ViewError(f"contrast {contrast!r}: write auto, full, labels, low,high or 1%,99%")
    low, high = _number(pair[1], contrast), _number(pair[3], contrast)
    if not low < high or (pair[2] and not 0 <= low < high <= 100):
        raise ViewError(f"contrast {contrast!r}: the numbers must rise, percentages from 0 to 100")
    if not pair[2]:
        return low, high
    dark, bright = (float(value) for value in np.percentile(finite, [low, high]))
    return (dark, bright) if dark < bright else (lowest, highest)


def _number(text: str, contrast: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ViewError(f"contrast {contrast!r}: {text!r} is not a number") from error


def stretch(image: NDArray[Any], limits: tuple[float, float]) -> NDArray[np.float32]:
    """Map values between the limits to 0..1; what is not a number becomes 0."""
    low, high = limits
    values = np.nan_to_num(image.astype(np.float32), nan=low)
    return np.asarray(np.clip((values - np.float32(low)) / np.float32(high - low or 1), 0, 1))


def encode(picture: Pixels, labels: bool) -> tuple[bytes, float]:
    """Fit the picture into the size of a view.

    Returns
    -------
    tuple
        The PNG, below the byte limit, and how many of its pixels one pixel of `picture` takes.
    """
    from PIL import Image

    side = max(picture.shape[:2])
    scale = float(SMALL_SIDE // side) if 2 * side <= SMALL_SIDE else min(1.0, MAX_SIDE / side)
    image = Image.fromarray(np.ascontiguousarray(picture))
    kind = Image.Resampling.NEAREST if labels or scale > 1 else Image.Resampling.BOX
    while True:
        buffer = io.BytesIO()
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image.resize(size, kind).save(buffer, "PNG")
        if buffer.tell() <= MAX_PNG_BYTES:
            return buffer.getvalue(), scale
        scale *= 0.8
