"""Pictures of an instance segmentation: the worst images or volumes, outlined over the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import open_stack
from scorers.files.labels import LabelImage
from scorers.files.tree import reference_tree
from scorers.graders.comparison import REFERENCE_UNREADABLE, SCORED
from scorers.metrics.overlap import whole_labels
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.masks import Objects, brightest, draw, projected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.graders.comparison import Comparison

_INPUT_SUFFIXES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp"})


def pictures(job: Job, comparisons: Sequence[Comparison], *, flat: bool) -> list[Picture]:
    """Return the thumbnail of the worst item and larger overlays of the worst few."""
    ranked = sorted(
        (c for c in comparisons if c.status != REFERENCE_UNREADABLE),
        key=lambda c: (c.status != SCORED, c.strict_pq),
    )
    inputs = _inputs(job)
    made: list[Picture] = []
    for comparison in ranked[: job.limits.overlays]:
        image = _input_of(comparison.reference, inputs)
        try:
            made += _of_item(job, comparison, image, flat=flat, thumbnail=not made)
        except (SubmissionFault, CapsuleFault):
            # The numbers are there; a file that changed since is no reason to lose them.
            continue
    return made[: job.limits.overlays + 1]


def _of_item(
    job: Job, comparison: Comparison, image: SubmittedFile | None, *, flat: bool, thumbnail: bool
) -> Iterator[Picture]:
    for name, index in (("image", 0),) if flat else (("projection", None), ("middle plane", -1)):
        objects = _objects(comparison, job.limits, flat=flat, index=index)
        shape = objects[1].labels.shape
        ground = None if image is None else _ground(image, job.limits, index, shape)
        caption = f"{comparison.item}, {name}: PQ {comparison.strict_pq:.3f}"
        if thumbnail:
            small = draw(ground, *objects, THUMBNAIL_SIDE)
            yield as_picture("thumbnail", caption, small, job.limits, "thumbnail")
            thumbnail = False
        large = draw(ground, *objects, OVERLAY_SIDE)
        yield as_picture(f"{comparison.item} {name}", caption, large, job.limits)


def _objects(
    comparison: Comparison, limits: Limits, *, flat: bool, index: int | None
) -> tuple[Objects, Objects]:
    """Return the predicted and the reference objects in one view."""
    table, anatomy = comparison.table, comparison.anatomy
    with LabelImage(comparison.reference, limits.for_references(), flat=flat) as image:
        referenced = _seen(image, index)
    predicted = np.zeros_like(referenced)
    if comparison.status == SCORED and comparison.prediction is not None:
        with LabelImage(comparison.prediction, limits, flat=flat) as image:
            predicted = _seen(image, index)
    return (
        Objects(predicted, table.prediction_ids, anatomy.prediction.kind),
        Objects(referenced, table.reference_ids, anatomy.reference.kind),
    )


def _seen(image: LabelImage, index: int | None) -> NDArray[np.int64]:
    """Return a label image's projection along its planes, or one plane (-1: the middle one)."""
    if index is None:
        return projected(image.planes())
    plane = image.plane(index)
    return whole_labels(plane).reshape(plane.shape).astype(np.int64)


def _inputs(job: Job) -> dict[str, SubmittedFile]:
    if job.input_dir is None:
        return {}
    files = reference_tree(job.input_dir, job.limits).files
    return {file.stem: file for file in reversed(files) if file.suffix in _INPUT_SUFFIXES}


def _input_of(reference: SubmittedFile, inputs: dict[str, SubmittedFile]) -> SubmittedFile | None:
    """Return the input whose name is the longest beginning of the reference's."""
    fitting = [stem for stem in inputs if stem and reference.stem.startswith(stem)]
    return inputs[max(fitting, key=len)] if fitting else None


def _ground(
    file: SubmittedFile, limits: Limits, index: int | None, shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return the input in the view that the labels are shown in, or None if it does not fit."""
    try:
        with open_stack(file, limits.for_references()) as stack:
            if stack.shape[:2] == shape and len(stack.shape) <= 3:
                return stack.asarray()
            if stack.plane_shape != shape:
                return None
            if index is None:
                return brightest(stack.planes())
            return stack.plane(stack.n_planes // 2 if index < 0 else index)
    except SubmissionFault:
        return None
