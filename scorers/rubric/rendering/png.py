"""The end of all drawing: an image becomes a bounded PNG without metadata."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_SHRINK = 0.9
_LEAST_SIDE = 16


def clean(image: Image) -> Image:
    """Return an image as RGB on white, with its pixels alone: no texts, profiles or EXIF."""
    from PIL import Image as Pillow

    with_alpha = image.mode in {"RGBA", "LA", "PA", "La", "RGBa"} or "transparency" in image.info
    ground = Pillow.new("RGB", image.size, "white")
    if with_alpha:
        coloured = image.convert("RGBA")
        ground.paste(coloured, mask=coloured.getchannel("A"))
    else:
        ground.paste(image.convert("RGB"))
    return ground


def bounded_png(image: Image, side: int, most_bytes: int) -> tuple[bytes, tuple[int, int]]:
    """Return a PNG and its width and height, shrunk until it fits.

    Parameters
    ----------
    image
        Any mode that converts to RGB.
    side
        The longer side at most, in pixels; nothing is enlarged.
    most_bytes
        Size of the PNG at most.
    """
    from PIL import Image as Pillow

    picture = clean(image)
    if max(picture.size) > side:
        picture.thumbnail((side, side), Pillow.Resampling.LANCZOS, reducing_gap=3)
    while True:
        stream = io.BytesIO()
        picture.save(stream, "PNG", compress_level=6)
        if stream.tell() <= most_bytes:
            return stream.getvalue(), picture.size
        # Of noise a PNG is as large as its area; of all else a little more is taken off.
        share = min(_SHRINK, 0.97 * math.sqrt(most_bytes / stream.tell()))
        smaller = max(1, round(max(picture.size) * share))
        if smaller < _LEAST_SIDE:
            raise ValueError(f"no picture fits into {most_bytes} bytes")
        picture.thumbnail((smaller, smaller), Pillow.Resampling.LANCZOS)
