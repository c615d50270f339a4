"""Input images of a counting task: where cells may lie, and the pictures of a grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.tree import reference_tree
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.points import Dots, densest, draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.images import Stack
    from scorers.files.tree import SubmittedFile
    from scorers.graders.counting import Image
    from scorers.graders.counting_strict import Verdict

_T = TypeVar("_T")
_CROP = 256


def inputs_of(job: Job) -> dict[str, SubmittedFile]:
    """Return the files of `input/` by their stems."""
    if job.input_dir is None:
        return {}
    return {file.stem: file for file in reference_tree(job.input_dir, job.limits).files}


def _look(
    image: Image, inputs: dict[str, SubmittedFile], job: Job, what: Callable[[Stack], _T]
) -> _T | None:
    """Return something of an input image, None where it is absent or cannot be read."""
    if image.stem not in inputs:
        return None
    try:
        with open_stack(inputs[image.stem], job.limits.for_references()) as stack:
            return what(stack)
    except SubmissionFault:
        return None


def _size(stack: Stack) -> tuple[int, int]:
    return (stack.shape[0], stack.shape[1]) if _coloured(stack) else stack.plane_shape


def _plane(stack: Stack) -> NDArray[Any]:
    return stack.asarray() if _coloured(stack) else stack.plane(0)


def _coloured(stack: Stack) -> bool:
    return len(stack.shape) == 3 and stack.shape[-1] in {3, 4}


def fields(
    images: list[Image], inputs: dict[str, SubmittedFile], job: Job
) -> list[tuple[float, float, float, float]]:
    """Return where cells may lie: the image, or else the rectangle round all reference cells."""
    cells = np.concatenate([image.reference for image in images])
    (left, top), (right, bottom) = cells.min(axis=0), cells.max(axis=0)
    sizes = [_look(image, inputs, job, _size) for image in images]
    return [
        (0.0, 0.0, float(size[1]), float(size[0])) if size else (left, top, right, bottom)
        for size in sizes
    ]


def pictures(verdicts: list[Verdict], inputs: dict[str, SubmittedFile], job: Job) -> list[Picture]:
    """Show the densest part of the image with most errors, and that whole image."""
    worst = max(verdicts, key=_interest)
    dots = _dots(worst)
    if not len(dots.everything()):
        return []
    ground = _look(worst.image, inputs, job, _plane)
    window = densest(dots, None if ground is None else ground.shape[:2], _CROP)
    what = f"{worst.image.stem}: F1 {worst.f1:.2f} within {worst.radius:.1f} px"
    return [
        as_picture(
            "counting-densest",
            f"Densest part of {what}",
            draw(ground, dots, window, THUMBNAIL_SIDE),
            job.limits,
            "thumbnail",
        ),
        as_picture(
            "counting-worst",
            f"Image with most errors, {what}",
            draw(ground, dots, None, OVERLAY_SIDE),
            job.limits,
        ),
    ]


def _interest(verdict: Verdict) -> tuple[int, int]:
    """Order by errors, and where there are none by cells."""
    cells = len(verdict.image.reference) + len(verdict.predicted)
    return cells - 2 * len(verdict.pairs), cells


def _dots(verdict: Verdict) -> Dots:
    reference, pairs = verdict.image.reference, verdict.pairs
    predicted = verdict.predicted[rest(len(verdict.predicted), pairs.predicted)]
    return Dots(
        hit=reference[pairs.reference],
        miss=reference[rest(len(reference), pairs.reference)],
        false_hit=predicted[np.isfinite(predicted).all(axis=1)],
    )


def rest(count: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices below `count` that are not taken."""
    return np.setdiff1d(np.arange(count), taken, assume_unique=True)
