"""Pictures of a vessel task: a slab of the worst volume with its centre lines over the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.tree import reference_tree
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.lines import Lines, draw
from scorers.pictures.masks import brightest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.graders.vessels_strict import Verdict
    from scorers.metrics.skeleton import LineAgreement

_SHOWN = 2
_SLAB_UM = 50.0
_SLAB_CUBES = 25


def pictures(job: Job, verdicts: Sequence[Verdict]) -> list[Picture]:
    """Return the thumbnail of the worst volume and overlays of the worst two.

    Shown is the slab (50 µm, or 25 planes where the size of a voxel is not known) with the
    longest errors, seen along the planes.
    """
    drawn = [(verdict, verdict.lines) for verdict in verdicts if verdict.lines]
    ranked = sorted(drawn, key=lambda pair: (not pair[0].scored, pair[0].score))
    made: list[Picture] = []
    for verdict, lines in ranked[: min(_SHOWN, job.limits.overlays)]:
        item = verdict.target.item
        first, last = _slab(lines, verdict)
        ground = _ground(job, verdict, first, last)
        view = _view(lines, verdict, first, last)
        caption = f"{item}, planes {first} to {last - 1} of cubes: clDice {verdict.cl_dice:.3f}"
        if not made:
            small = draw(ground, view, THUMBNAIL_SIDE)
            made.append(as_picture("thumbnail", caption, small, job.limits, "thumbnail"))
        large = draw(ground, view, OVERLAY_SIDE)
        made.append(as_picture(f"{item} slab", caption, large, job.limits))
    return made


def _slab(lines: LineAgreement, verdict: Verdict) -> tuple[int, int]:
    depth, rows, columns = verdict.shape
    thick = round(_SLAB_UM / verdict.edge) if verdict.edge else _SLAB_CUBES
    thick = min(max(thick, 1), depth)
    errors = [lines.reference[~lines.found], lines.predicted[~lines.right]]
    wrong = np.concatenate(errors) // (rows * columns)
    # Without errors the slab with most of the line is shown.
    planes = wrong if len(wrong) else lines.reference // (rows * columns)
    summed = np.concatenate([[0], np.cumsum(np.bincount(planes, minlength=depth))])
    first = int(np.argmax(summed[thick:] - summed[:-thick]))
    return first, first + thick


def _view(lines: LineAgreement, verdict: Verdict, first: int, last: int) -> Lines:
    _, rows, columns = verdict.shape

    def points(places: NDArray[np.intp]) -> NDArray[np.intp]:
        plane, rest = np.divmod(places, rows * columns)
        return np.stack(np.divmod(rest[(plane >= first) & (plane < last)], columns), axis=-1)

    return Lines(
        (rows, columns),
        points(lines.reference[lines.found]),
        points(lines.reference[~lines.found]),
        points(lines.predicted[~lines.right]),
        "voxels" if verdict.edge is None else "um",
        verdict.edge or 1.0,
    )


def _ground(job: Job, verdict: Verdict, first: int, last: int) -> NDArray[Any] | None:
    """Return the brightest of the input in a slab, None if there is no input of that shape."""
    if job.input_dir is None or verdict.target.key is None:
        return None
    depth, cubes = verdict.original[0], verdict.shape[0]
    start, stop = first * depth // cubes, -(-last * depth // cubes)
    for file in reference_tree(job.input_dir, job.limits).files:
        if verdict.target.key in file.stem.lower():
            try:
                with open_stack(file, job.limits.for_references()) as stack:
                    if (1, *stack.shape)[-3:] != verdict.original:
                        return None
                    return brightest(stack.plane(index) for index in range(start, stop))
            except SubmissionFault:
                return None
    return None
