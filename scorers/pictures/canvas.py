"""What all pictures share: colours, contrast, scaling, a legend, and encoding below a size."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scorers.contract import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from scorers.files.limits import Limits

    Image = NDArray[np.uint8]

Colour = tuple[int, int, int]

# Okabe and Ito's palette, which people with colour-blindness can tell apart.
HIT: Colour = (0x00, 0x9E, 0x73)
MISS: Colour = (0xD5, 0x5E, 0x00)
FALSE_HIT: Colour = (0x56, 0xB4, 0xE9)
SPLIT: Colour = (0xF0, 0xE4, 0x42)
MERGE: Colour = (0xCC, 0x79, 0xA7)
REFERENCE: Colour = (0xFF, 0xFF, 0xFF)
COLOURS: dict[str, Colour] = {
    "hit": HIT,
    "miss": MISS,
    "false hit": FALSE_HIT,
    "split": SPLIT,
    "merge": MERGE,
    "reference": REFERENCE,
}

THUMBNAIL_SIDE = 360
OVERLAY_SIDE = 1024
_MOST_ENLARGED = 4
_QUALITIES = (90, 80, 70, 60, 45)
# Beyond it flat graphics take several times longer and become little smaller.
_PNG_EFFORT = 3


def stretch(image: NDArray[Any], low: float = 1.0, high: float = 99.8) -> Image:
    """Return an image as RGB bytes, its contrast stretched between two percentiles.

    Parameters
    ----------
    image
        (rows, columns) of any numeric dtype, or (rows, columns, 3 or 4) of bytes, which is
        returned as it is (without its fourth channel).
    low, high
        Percentiles of the finite values that become black and white.
    """
    if image.ndim == 3:
        if image.dtype == np.uint8:
            return np.ascontiguousarray(image[..., :3])
        return np.stack([stretch(image[..., c], low, high)[..., 0] for c in range(3)], axis=-1)
    values = image.astype(np.float32)
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros((*image.shape, 3), np.uint8)
    # A sample is enough for two percentiles and keeps a large plane cheap.
    bottom, top = np.percentile(values[finite][:: max(1, image.size // 100_000)], [low, high])
    span = max(float(top - bottom), 1e-12)
    scaled = np.clip((np.where(finite, values, bottom) - bottom) / span, 0, 1)
    grey = np.round(255 * scaled).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=-1)


def fitted(shape: Sequence[int], side: int) -> tuple[int, int]:
    """Return (rows, columns) scaled so that the longer is about `side`; enlarged by whole steps."""
    rows, columns = int(shape[0]), int(shape[1])
    scale = side / max(rows, columns)
    if scale >= 1:
        factor = min(int(scale), _MOST_ENLARGED)
        return rows * factor, columns * factor
    return max(1, round(rows * scale)), max(1, round(columns * scale))


def resized(image: Image, shape: tuple[int, int]) -> Image:
    """Return RGB bytes at another size: averaged when smaller, repeated when larger."""
    from PIL import Image as Pillow

    smaller = shape[0] < image.shape[0]
    how = Pillow.Resampling.BOX if smaller else Pillow.Resampling.NEAREST
    return np.asarray(Pillow.fromarray(image).resize((shape[1], shape[0]), how))


def resampled(labels: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Return labels (rows, columns) at another size, each pixel that of its nearest."""
    rows = ((np.arange(shape[0]) + 0.5) * labels.shape[0] / shape[0]).astype(int)
    columns = ((np.arange(shape[1]) + 0.5) * labels.shape[1] / shape[1]).astype(int)
    taken: NDArray[Any] = labels[rows[:, None], columns[None, :]]
    return taken


def with_legend(image: Image, entries: Mapping[str, Colour]) -> Image:
    """Return the image with a line of coloured squares and words below it, more if needed."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(size=11)
    places: list[tuple[int, int, str, Colour]] = []
    x, y = 4, 3
    for text, colour in entries.items():
        width = 13 + int(font.getlength(text)) + 10
        if x > 4 and x + width > image.shape[1]:
            x, y = 4, y + 15
        places.append((x, y, text, colour))
        x += width
    bar = Pillow.new("RGB", (image.shape[1], y + 15))
    pen = ImageDraw.Draw(bar)
    for x, y, text, colour in places:
        pen.rectangle((x, y, x + 9, y + 9), fill=colour)
        pen.text((x + 13, y - 2), text, fill=(235, 235, 235), font=font)
    return np.concatenate([image, np.asarray(bar)])


def encoded(
    image: Image, most_bytes: int
) -> tuple[bytes, Literal["image/png", "image/jpeg", "image/webp"]]:
    """Return RGB bytes as PNG if they are flat graphics, else as JPEG, shrunk until they fit."""
    from PIL import Image as Pillow

    while True:
        picture = Pillow.fromarray(image)
        if _is_graphic(image):
            stream = io.BytesIO()
            picture.save(stream, "PNG", compress_level=_PNG_EFFORT)
            if stream.tell() <= most_bytes:
                return stream.getvalue(), "image/png"
        for quality in _QUALITIES:
            stream = io.BytesIO()
            picture.save(stream, "JPEG", quality=quality, subsampling=0)
            if stream.tell() <= most_bytes:
                return stream.getvalue(), "image/jpeg"
        if max(image.shape[:2]) < 16:
            raise ValueError(f"no picture fits into {most_bytes} bytes")
        image = resized(image, fitted(image.shape, int(max(image.shape[:2]) * 0.8)))


def _is_graphic(image: Image) -> bool:
    """Return whether few colours make up the picture, which PNG keeps small and sharp."""
    sample = image.reshape(-1, 3)[:: max(1, image.size // 30_000)].astype(np.uint32)
    return len(np.unique(sample @ np.array([65536, 256, 1], np.uint32))) <= 128


def as_picture(
    name: str,
    caption: str,
    image: Image,
    limits: Limits,
    role: Literal["thumbnail", "overlay"] = "overlay",
) -> Picture:
    """Return RGB bytes as a picture of the grade, within its role's size."""
    bound = limits.thumbnail_bytes if role == "thumbnail" else limits.overlay_bytes
    data, media_type = encoded(image, bound)
    return Picture(name, caption, data, media_type, role)
