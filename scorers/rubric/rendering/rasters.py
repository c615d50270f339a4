"""PNG, JPEG, GIF, WEBP and BMP: the first frame, brought to eight bits."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_PIXELS = 120_000_000
_DPI = range(1, 20_000)


def draw_raster(content: bytes, kind: str, side: int) -> tuple[Image, dict[str, Any]]:
    """Decode an image and return it with its facts.

    Parameters
    ----------
    content
        The file.
    kind
        Format as Pillow names it; no other is tried.
    side
        A JPEG that is much larger is decoded at a fraction of its size.
    """
    from PIL import Image as Pillow

    # The size is judged here, with a reason.
    Pillow.MAX_IMAGE_PIXELS = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image: Image = Pillow.open(io.BytesIO(content), formats=[kind])
        width, height = image.size
        if width * height > _MOST_PIXELS:
            raise ValueError(f"has {width} × {height} pixels, more than {_MOST_PIXELS}")
        if kind == "JPEG":
            image.draft("RGB", (side, side))
        image.load()
        facts = {
            "format": kind,
            "vector": False,
            "width": float(width),
            "height": float(height),
            "dpi": _dpi(image.info.get("dpi")),
            "pages": int(getattr(image, "n_frames", 1)),
        }
    return (_stretched(image) if image.mode.startswith(("I", "F")) else image), facts


def _dpi(told: Any) -> float | None:
    try:
        dpi = round(float(told[0]), 1)
    except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError):
        return None
    return dpi if math.isfinite(dpi) and int(dpi) in _DPI else None


def _stretched(image: Image) -> Image:
    import numpy as np
    from PIL import Image as Pillow

    from scorers.pictures.canvas import stretch

    return Pillow.fromarray(stretch(np.asarray(image), 1, 99))
