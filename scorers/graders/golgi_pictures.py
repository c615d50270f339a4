"""The pictures of a Golgi grade: coefficients by condition, and the cells at both ends."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.tree import reference_tree
from scorers.pictures.canvas import (
    HIT,
    OVERLAY_SIDE,
    REFERENCE,
    THUMBNAIL_SIDE,
    as_picture,
    resized,
    stretch,
    with_legend,
)
from scorers.pictures.heat import heat
from scorers.pictures.plots import span, strips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.tree import SubmittedFile
    from scorers.graders.golgi_tables import Cells
    from scorers.pictures.canvas import Image

    Condition = tuple[str, NDArray[np.float64] | None, NDArray[np.float64] | None]

_CELL = 320
_BINS = 64


def pictures(conditions: Sequence[Condition], cells: Cells, job: Job) -> list[Picture]:
    """Show the coefficients of each condition, and the cells with the lowest and highest one."""
    nothing = np.zeros(0)
    series = [(name, own, true) for name, own, true in conditions]
    held = [v for _, own, true in series for v in (own, true) if v is not None]
    if not held:
        return []
    with_truth = any(true is not None for _, _, true in series)
    groups = []
    for name, own, true in series:
        mine = (HIT, nothing if own is None else own)
        groups.append((name, [mine, (REFERENCE, true)] if true is not None else [mine]))
    legend = {"submitted": HIT, "true": REFERENCE} if with_truth else {"submitted": HIT}
    title, limits = "coefficient of each cell, and medians", span(*held)
    caption = "Coefficients by condition, one dot a cell, bars at the medians"
    small, large = (
        strips(groups, limits, side, title, legend) for side in (THUMBNAIL_SIDE, OVERLAY_SIDE)
    )
    drawn = [
        as_picture("golgi-thumbnail", caption, small, job.limits, "thumbnail"),
        as_picture("golgi-coefficients", caption, large, job.limits),
    ]
    extremes = _extremes(cells, job)
    if extremes is not None:
        caption = (
            "The cells with the lowest (top) and highest submitted coefficient: red Golgi, green "
            "S; beside it each pixel's red (right) and green (up), brighter where there are more"
        )
        drawn.append(as_picture("golgi-extremes", caption, extremes, job.limits))
    return drawn


def _extremes(cells: Cells, job: Job) -> Image | None:
    """Return the two cells at the ends, None where the table does not say which images they are."""
    if job.input_dir is None or not any(cells.image):
        return None
    with reference_tree(job.input_dir, job.limits) as tree:
        known = {f"{f.path.parent.name}/{f.stem}".lower(): f for f in tree.files}
        keys = [
            f"{condition}/{PurePosixPath(image).stem}".lower()
            for condition, image in zip(cells.condition, cells.image, strict=True)
        ]
        named = np.array([key in known for key in keys], bool)
        order = np.flatnonzero(named)[np.argsort(cells.value[named], kind="stable")]
        ends = dict.fromkeys(order[[0, -1]].tolist() if order.size else [])
        rows = [_row(known[keys[at]], float(cells.value[at]), job) for at in ends]
    shown = [row for row in rows if row is not None]
    return np.concatenate(shown) if shown else None


def _row(file: SubmittedFile, coefficient: float, job: Job) -> Image | None:
    """Return a cell's image in red and green beside its pixels by both intensities."""
    try:
        with open_stack(file, job.limits.for_references()) as stack:
            image = stack.asarray()
    except SubmissionFault:
        return None
    if image.ndim != 3 or image.shape[-1] < 2:
        return None
    merged = np.zeros((*image.shape[:2], 3), np.uint8)
    for channel in range(2):
        merged[..., channel] = stretch(image[..., channel])[..., 0]
    red, green = merged[..., 0].ravel(), merged[..., 1].ravel()
    cloud, _, _ = np.histogram2d(green, red, bins=_BINS, range=[(0, 256), (0, 256)])
    density = np.log1p(cloud[::-1])
    cell = resized(merged, (_CELL, max(1, round(_CELL * image.shape[1] / image.shape[0]))))
    plot = resized(heat(density, float(density.max())), (_CELL, _CELL))
    label = {f"{file.path}: submitted {coefficient:.3f}": HIT}
    return with_legend(np.concatenate([_fitted(cell), plot], axis=1), label)


def _fitted(image: Image) -> Image:
    """Return an image as wide as high, cut or padded at the right."""
    square = np.zeros((image.shape[0], image.shape[0], 3), np.uint8)
    width = min(image.shape[:2])
    square[:, :width] = image[:, :width]
    return square
