"""Pictures of cells in compartments: the worst images, nuclei tied to the cells of their id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import open_stack
from scorers.files.labels import LabelImage
from scorers.files.tree import reference_tree
from scorers.graders.comparison import REFERENCE_UNREADABLE, SCORED
from scorers.graders.references import is_flat
from scorers.metrics.overlap import whole_labels
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.cells import Linked, draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.graders.compartments_strict import Image

_INPUTS = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp"})
_SHOWN = 2


def pictures(images: Sequence[Image], job: Job) -> list[Picture]:
    """Return the thumbnail of the worst image and overlays of the worst two.

    Only of images with two compartments, the first of them inside the second.
    """
    if not is_flat(job) or not images or len(images[0].parts) != 2:
        return []
    readable = [image for image in images if image.status != REFERENCE_UNREADABLE]
    ranked = sorted(readable, key=lambda image: (image.status != SCORED, image.strict_pq))
    inputs = _inputs(job)
    made: list[Picture] = []
    for image in ranked[: min(_SHOWN, job.limits.overlays)]:
        try:
            made += _of_image(image, inputs.get(image.item), job, thumbnail=not made)
        except (SubmissionFault, CapsuleFault):
            # The numbers are there; a file that changed since is no reason to lose them.
            continue
    return made


def _of_image(
    image: Image, file: SubmittedFile | None, job: Job, *, thumbnail: bool
) -> Iterator[Picture]:
    inner, outer = image.parts.values()
    reference = _labels(outer.reference, job.limits.for_references())
    nothing = np.zeros_like(reference)
    scored = image.status == SCORED
    submitted = [
        _labels(part.prediction, job.limits) if scored and part.prediction else nothing
        for part in (inner, outer)
    ]
    cells = Linked(submitted[0], submitted[1], image.cells.prediction_ids, _kinds(image))
    ground = None if file is None else _ground(file, job.limits)
    missed = image.cells.matching.misses
    caption = f"{image.item}: PQ of whole cells {image.strict_pq:.3f}"
    sizes = (THUMBNAIL_SIDE, OVERLAY_SIDE) if thumbnail else (OVERLAY_SIDE,)
    for side in sizes:
        yield as_picture(
            f"cells {image.item}",
            caption,
            draw(ground, reference, cells, missed, side),
            job.limits,
            "thumbnail" if side == THUMBNAIL_SIDE else "overlay",
        )


def _kinds(image: Image) -> NDArray[np.str_]:
    """Return what became of each submitted id."""
    cells = image.cells
    kinds = np.full(len(cells.prediction_ids), "false hit", dtype="<U10")
    for part in image.parts.values() if len(kinds) else ():
        outlined = part.table.prediction_ids[part.matching.prediction]
        kinds[np.searchsorted(cells.prediction_ids, outlined)] = "wrong link"
    kinds[cells.matching.prediction] = "hit"
    return kinds


def _labels(file: SubmittedFile, limits: Limits) -> NDArray[np.int64]:
    with LabelImage(file, limits, flat=True) as image:
        plane = image.plane(0)
    return whole_labels(plane).reshape(plane.shape).astype(np.int64)


def _inputs(job: Job) -> dict[str, SubmittedFile]:
    if job.input_dir is None:
        return {}
    files = reference_tree(job.input_dir, job.limits).files
    return {
        "/".join(file.path.with_suffix("").parts): file for file in files if file.suffix in _INPUTS
    }


def _ground(file: SubmittedFile, limits: Limits) -> NDArray[Any] | None:
    try:
        with open_stack(file, limits.for_references()) as stack:
            coloured = len(stack.shape) == 3 and stack.shape[-1] in {3, 4}
            return stack.asarray() if coloured else stack.plane(0)
    except SubmissionFault:
        return None
