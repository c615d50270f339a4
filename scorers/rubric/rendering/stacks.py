"""TIFF images and stacks in one view, read plane by plane."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.files.images import open_stack
from scorers.files.limits import MIB
from scorers.pictures.canvas import fitted, resampled, stretch
from scorers.pictures.masks import brightest
from scorers.rubric.rendering.drawing import Drawn
from scorers.rubric.rendering.png import bounded_png

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.files.images import Stack
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.pictures.canvas import Image

_MOST_PLANES = 64
_ARRAY_BYTES = 512 * MIB
# Neighbours that are equal, as a share: few pixels of labels lie at an edge.
_ALIKE = 0.85
_GOLDEN = 0.6180339887498949


def draw_stack(file: SubmittedFile, limits: Limits, side: int, most_bytes: int) -> Drawn:
    """Draw a TIFF: labels by their middle plane, others by the maximum of their planes.

    Raises
    ------
    SubmissionFault
        It is unreadable or beyond the limits.
    """
    from PIL import Image as Pillow

    narrow = replace(limits, array_bytes=min(limits.array_bytes, _ARRAY_BYTES))
    with open_stack(file, narrow) as stack:
        view, note = _view(stack, side)
        colour = _is_colour(stack)
        rows, columns = stack.shape[-3:-1] if colour else stack.plane_shape
        facts = {
            "format": "TIFF",
            "vector": False,
            "width": float(columns),
            "height": float(rows),
            "pages": 1 if colour else stack.n_planes,
        }
    png, size = bounded_png(Pillow.fromarray(view), side, most_bytes)
    return Drawn(png, size, facts, note)


def coloured(labels: NDArray[Any]) -> Image:
    """Return labels as RGB bytes: black where they are 0, neighbours' numbers in other colours."""
    import colorsys

    hues = (np.arange(256) * _GOLDEN) % 1
    table = [colorsys.hsv_to_rgb(hue, 0.55 + 0.4 * (i % 2), 1.0) for i, hue in enumerate(hues)]
    palette = np.round(255 * np.array(table)).astype(np.uint8)
    picture: Image = palette[(labels.astype(np.int64) % 256)]
    picture[labels == 0] = 0
    return picture


def _view(stack: Stack, side: int) -> tuple[Image, str]:
    if _is_colour(stack):
        whole = stack.asarray()
        frames = whole.reshape(-1, *whole.shape[-3:])
        return stretch(frames[len(frames) // 2]), ""
    middle = stack.n_planes // 2
    plane = stack.plane(middle)
    where = f"plane {middle + 1} of {stack.n_planes}" if stack.n_planes > 1 else ""
    shape = tuple(min(pair) for pair in zip(plane.shape, fitted(plane.shape, side), strict=True))
    if plane.dtype.kind in "bui" and _looks_like_labels(plane):
        labels = resampled(plane, (shape[0], shape[1]))
        if len(np.unique(plane[:: max(1, plane.shape[0] // 256)])) <= 2:
            return stretch((labels != 0).astype(np.uint8) * 255, 0, 100), _both(where, "mask")
        return coloured(labels), _both(where, "labels in colours")
    if stack.n_planes == 1:
        return stretch(plane, 1, 99), ""
    step = -(-stack.n_planes // _MOST_PLANES)
    planes = (stack.plane(index) for index in range(0, stack.n_planes, step))
    of_which = "" if step == 1 else f", every {step}th"
    return stretch(brightest(planes), 1, 99), f"maximum of {stack.n_planes} planes{of_which}"


def _both(where: str, what: str) -> str:
    return f"{where}, {what}" if where else what


def _is_colour(stack: Stack) -> bool:
    return len(stack.shape) >= 3 and stack.shape[-1] in {3, 4} and stack.dtype == np.uint8


def _looks_like_labels(plane: NDArray[Any]) -> bool:
    if plane.dtype.kind == "b" or plane.size < 2 or min(plane.shape) < 2:
        return True
    return float((plane[:, 1:] == plane[:, :-1]).mean()) >= _ALIKE
