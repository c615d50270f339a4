"""Numbers as colours side by side, and velocities as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import FALSE_HIT, MISS, SPLIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.pictures.canvas import Colour, Image

_RAMP = np.array([(0, 0, 0), (40, 60, 120), FALSE_HIT, SPLIT, (255, 255, 255)], np.float64)
_GAP = (90, 90, 90)
_LABEL = 16
_GROUND = (20, 20, 20)


def heat(values: NDArray[Any], top: float) -> Image:
    """Return values as RGB bytes, from black for 0 over blue and yellow to white for `top`.

    What is not finite is grey.
    """
    finite = np.isfinite(values)
    share = np.clip(np.where(finite, values, 0) / max(top, 1e-12), 0, 1) * (len(_RAMP) - 1)
    steps = np.arange(len(_RAMP))
    colour = np.stack([np.interp(share, steps, _RAMP[:, c]) for c in range(3)], axis=-1)
    colour[~finite] = _GAP
    return np.asarray(np.round(colour), np.uint8)


def difference(values: NDArray[Any], top: float) -> Image:
    """Return values as RGB bytes: black for 0, vermillion above, blue below, full at `top`."""
    finite = np.isfinite(values)
    share = np.clip(np.where(finite, values, 0) / max(top, 1e-12), -1, 1)[..., None]
    above, below = np.array(MISS, np.float64), np.array(FALSE_HIT, np.float64)
    colour = np.where(share > 0, share * above, -share * below)
    colour[~finite] = _GAP
    return np.asarray(np.round(colour), np.uint8)


def panels(images: Sequence[tuple[str, Image]], side: int) -> Image:
    """Return images of one shape one below the other, each under its title, `side` wide."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    height = max(min(side // len(images) - _LABEL, side // 2), 24)
    picture = Pillow.new("RGB", (side, (height + _LABEL) * len(images)), _GROUND)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=11)
    for index, (title, image) in enumerate(images):
        top = index * (height + _LABEL)
        pen.text((4, top + 1), title, fill=(235, 235, 235), font=font)
        part = Pillow.fromarray(image).resize((side, height), Pillow.Resampling.NEAREST)
        picture.paste(part, (0, top + _LABEL))
    return np.asarray(picture)


def arrows(
    ground: Image, fields: Sequence[tuple[NDArray[Any], NDArray[Any], Colour]], spacing: int
) -> Image:
    """Return an image with arrows over it, one a `spacing` pixels, the longest that long.

    Parameters
    ----------
    ground
        RGB bytes (rows, columns, 3).
    fields
        Components x and y of that many rows and columns, and a colour; all share one scale, that
        of the first. What is not finite is left out.
    spacing
        In pixels.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    picture = Pillow.fromarray(ground)
    pen = ImageDraw.Draw(picture)
    places = np.s_[spacing // 2 :: spacing, spacing // 2 :: spacing]
    y, x = (grid[places].ravel() for grid in np.mgrid[: ground.shape[0], : ground.shape[1]])
    first = np.hypot(fields[0][0][places], fields[0][1][places])
    longest = float(np.percentile(first[np.isfinite(first)], 98)) if np.isfinite(first).any() else 0
    scale = spacing / max(longest, 1e-9)
    for vx, vy, colour in fields:
        across, down = vx[places].ravel(), vy[places].ravel()
        known = np.isfinite(across) & np.isfinite(down)
        # An arrow many times too long says no more than one three times too long.
        ends = np.clip(np.stack([across, down], axis=1)[known] * scale, -3 * spacing, 3 * spacing)
        starts = np.stack([x, y], axis=1)[known]
        for (x0, y0), (dx, dy) in zip(starts.tolist(), ends.tolist(), strict=True):
            pen.line((x0, y0, x0 + dx, y0 + dy), fill=colour, width=2)
            pen.ellipse((x0 + dx - 2, y0 + dy - 2, x0 + dx + 2, y0 + dy + 2), fill=colour)
    return np.asarray(picture)
