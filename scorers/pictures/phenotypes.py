"""Classes of cells: over a few frames of a movie, and their shares over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import fitted, resized, stretch, with_legend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from scorers.pictures.canvas import Colour, Image

# Okabe and Ito's blue, orange and reddish purple, then grey for cells without a class.
PALETTE: tuple[Colour, ...] = ((0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0xCC, 0x79, 0xA7))
NO_CLASS: Colour = (150, 150, 150)
_MOST_MARKS = 4_000
_GAP = 6
# Pixels of a frame that are shown along each axis.
_MOST_SHOWN = 512


@dataclass(frozen=True)
class Cells:
    """Places (columns x and y in pixels, shape (n, 2)) and classes (-1 for none) of one frame."""

    place: NDArray[np.float64]
    kind: NDArray[np.int64]


@dataclass(frozen=True)
class Panel:
    """One frame: its image (rows, columns) or None, its title, and both sides' cells."""

    image: NDArray[Any] | None
    title: str
    reference: Cells
    predicted: Cells


def draw_frames(
    panels: Sequence[Panel], extent: tuple[int, int], names: Sequence[str], side: int
) -> Image:
    """Return RGB bytes: up to four frames, a dot a reference cell and a ring a submitted one.

    Of large frames the middle is shown, so that single cells can be seen.

    Parameters
    ----------
    panels
        Frames to show, two in a row.
    extent
        Rows and columns of a frame.
    names
        Of the classes.
    side
        Width of the picture in pixels, about.
    """
    size = min(extent[0], _MOST_SHOWN), min(extent[1], _MOST_SHOWN)
    shape = fitted(size, (side - _GAP) // 2)
    drawn = [_panel(_middle(panel, extent, size), size, shape) for panel in panels]
    if len(drawn) % 2:
        drawn.append(np.zeros_like(drawn[0]))
    gap = np.full((shape[0], _GAP, 3), 255, np.uint8)
    rows = [
        np.concatenate([one, gap, other], axis=1)
        for one, other in zip(drawn[::2], drawn[1::2], strict=True)
    ]
    across = np.full((_GAP, rows[0].shape[1], 3), 255, np.uint8)
    parts = [part for row in rows for part in (row, across)][:-1]
    legend: dict[str, Colour] = dict(zip(names, PALETTE, strict=True)) | {
        "no class": NO_CLASS,
        "dot: reference, ring: submitted": (255, 255, 255),
    }
    return with_legend(np.concatenate(parts), legend)


def _middle(panel: Panel, extent: tuple[int, int], size: tuple[int, int]) -> Panel:
    """Return the middle of a frame."""
    top, left = (extent[0] - size[0]) // 2, (extent[1] - size[1]) // 2
    image = panel.image
    if image is not None and image.shape == extent:
        image = image[top : top + size[0], left : left + size[1]]
    sides = []
    for cells in (panel.reference, panel.predicted):
        place = cells.place - (left, top)
        inside = ((place >= -1) & (place <= (size[1], size[0]))).all(axis=1)
        sides.append(Cells(place[inside], cells.kind[inside]))
    return Panel(image, panel.title, *sides)


def _panel(panel: Panel, extent: tuple[int, int], shape: tuple[int, int]) -> Image:
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    if panel.image is None or panel.image.shape != extent:
        picture = Pillow.new("RGB", (shape[1], shape[0]))
    else:
        picture = Pillow.fromarray(resized(stretch(panel.image) // 3 * 2, shape))
    pen = ImageDraw.Draw(picture)
    scale = shape[0] / extent[0]
    for cells, radius, filled in ((panel.reference, 2.5, True), (panel.predicted, 6.0, False)):
        centres = ((cells.place + 0.5) * scale)[:_MOST_MARKS].tolist()
        kinds = cells.kind[:_MOST_MARKS].tolist()
        for (x, y), kind in zip(centres, kinds, strict=True):
            box = (x - radius, y - radius, x + radius, y + radius)
            colour = PALETTE[kind] if kind >= 0 else NO_CLASS
            if filled:
                pen.ellipse(box, fill=colour)
            else:
                pen.ellipse(box, outline=colour, width=2)
    font = ImageFont.load_default(size=13)
    pen.rectangle((0, 0, 10 + font.getlength(panel.title), 18), fill=(0, 0, 0))
    pen.text((5, 2), panel.title, fill=(255, 255, 255), font=font)
    return np.asarray(picture)


def draw_shares(
    frames: NDArray[np.float64],
    shares: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    names: Sequence[str],
    side: int,
) -> Image:
    """Return RGB bytes: for each of several tables the stacked shares of the classes over time.

    Parameters
    ----------
    frames
        All frames to show, ascending, shape (f,).
    shares
        By title, frames and the shares of the classes there, shapes (g,) and (g, k). A frame
        without an entry stays black.
    names
        Of the classes.
    side
        Width of the picture in pixels, about.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    width = (side - _GAP * (len(shares) - 1)) // len(shares)
    height = int(width * 0.7)
    column = np.arange(width) * len(frames) // width
    levels = (np.arange(height)[::-1] + 0.5) / height
    font = ImageFont.load_default(size=12)
    panels: list[Image] = []
    colours = np.array(PALETTE, np.uint8)
    for title, (known, table) in shares.items():
        _, here, there = np.intersect1d(frames, known, return_indices=True)
        top = np.zeros((len(frames), table.shape[1]))
        top[here] = np.cumsum(table[there], axis=1)
        band = (levels[:, None, None] > top[column][None]).sum(axis=-1)
        is_in = np.isin(np.arange(len(frames)), here)[column]
        panel = colours[np.minimum(band, len(colours) - 1)]
        picture = Pillow.fromarray(np.where(is_in[None, :, None], panel, 0).astype(np.uint8))
        pen = ImageDraw.Draw(picture)
        pen.rectangle((0, 0, 10 + font.getlength(title), 17), fill=(0, 0, 0))
        pen.text((5, 2), title, fill=(255, 255, 255), font=font)
        if panels:
            panels.append(np.full((height, _GAP, 3), 255, np.uint8))
        panels.append(np.asarray(picture))
    legend: dict[str, Colour] = dict(zip(names, PALETTE, strict=True))
    span = f"frames {frames[0]:.0f} to {frames[-1]:.0f}"
    return with_legend(np.concatenate(panels, axis=1), legend | {span: (0, 0, 0)})
