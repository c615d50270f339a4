"""Pictures of phenotypes: their shares over time, and the cells of four frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.pairing import number_of
from scorers.files.phenotypes import CLASSES
from scorers.files.tree import reference_tree
from scorers.metrics.classes import class_fractions
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.phenotypes import Cells, Panel, draw_frames, draw_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.phenotypes import CellTable
    from scorers.graders.microglia_strict import Verdict

_IMAGES = frozenset({".tif", ".tiff", ".png"})
_PANELS = 4


def pictures(verdict: Verdict, job: Job) -> list[Picture]:
    """Return the shares of the classes over time, small and large, and four frames of the movie."""
    shares = {
        title: class_fractions(side.frame, side.kind, len(CLASSES))
        for title, side in (("reference", verdict.reference), ("submitted", verdict.predicted))
    }
    right, total = int(verdict.right.sum()), len(verdict.reference)
    what = f"{right} of {total} cells found and classified right"
    frames = verdict.frames
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, _PANELS).round().astype(int))]
    images = _images(job, chosen)
    extent = next((i.shape for i in images if i is not None and i.ndim == 2), None)
    panels = [
        Panel(
            image,
            f"frame {frame:.0f}",
            _cells(verdict.reference, frame),
            _cells(verdict.predicted, frame),
        )
        for frame, image in zip(chosen.tolist(), images, strict=True)
    ]
    size = (extent[0], extent[1]) if extent else _extent(verdict.reference)
    return [
        as_picture(
            "phenotypes-shares-small",
            f"Shares of the phenotypes over time: {what}",
            draw_shares(frames, shares, CLASSES, THUMBNAIL_SIDE),
            job.limits,
            "thumbnail",
        ),
        as_picture(
            "phenotypes-frames",
            f"Cells of {len(panels)} frames by phenotype: {what}",
            draw_frames(panels, size, CLASSES, OVERLAY_SIDE),
            job.limits,
        ),
        as_picture(
            "phenotypes-shares",
            f"Shares of the phenotypes over time: {what}",
            draw_shares(frames, shares, CLASSES, OVERLAY_SIDE),
            job.limits,
        ),
    ][: job.limits.overlays + 1]


def _cells(side: CellTable, frame: float) -> Cells:
    here = side.frame == frame
    return Cells(side.place[here], side.kind[here])


def _extent(cells: CellTable) -> tuple[int, int]:
    last = np.clip(cells.place.max(axis=0), 1, 20_000)
    return int(last[1]) + 2, int(last[0]) + 2


def _images(job: Job, frames: NDArray[np.float64]) -> list[NDArray[Any] | None]:
    """Return the images of some frames: the images of `input/` by their numbers are the movie."""
    if job.input_dir is None:
        return [None] * len(frames)
    found = reference_tree(job.input_dir, job.limits).files
    files = [file for file in found if file.suffix in _IMAGES]
    files.sort(key=lambda file: number_of(file.stem) or 0)
    images: list[NDArray[Any] | None] = []
    for frame in frames.tolist():
        image = None
        if 0 <= frame < len(files):
            try:
                with open_stack(files[int(frame)], job.limits.for_references()) as stack:
                    image = stack.asarray()
            except SubmissionFault:
                image = None
        images.append(image)
    return images
