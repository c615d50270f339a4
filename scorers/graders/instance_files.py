"""The perfect and the blank submission of an instance segmentation task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for
from scorers.files.images import write_labels
from scorers.files.labels import LabelImage
from scorers.graders.references import is_flat, reference_masks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job

DELIVERABLE = "segmentation_masks"


def perfect(job: Job, out: Path) -> None:
    """Write the reference masks as deliverables."""
    for path, image in _targets(job, out):
        whole = image.dtype.kind in "iu"
        dtype = image.dtype if whole else np.dtype(np.int32)
        planes = (plane.astype(dtype, copy=False) for plane in image.planes())
        write_labels(path, image.shape, dtype, planes)


def blank(job: Job, out: Path) -> None:
    """Write masks of the references' shapes without any object."""
    for path, image in _targets(job, out):
        empty: NDArray[Any] = np.zeros(image.shape[-2:], np.uint16)
        count = int(np.prod(image.shape[:-2], dtype=int))
        write_labels(path, image.shape, empty.dtype, (empty for _ in range(count)))


def _targets(job: Job, out: Path) -> Iterator[tuple[Path, LabelImage]]:
    pattern = next((d.filename_pattern for d in job.spec.deliverables if d.id == DELIVERABLE), None)
    if pattern is None:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {DELIVERABLE}")
    for reference in reference_masks(job):
        path = out / reference.path.parent / name_for(pattern, reference.stem)
        try:
            with LabelImage(reference, job.limits.for_references(), flat=is_flat(job)) as image:
                yield path, image
        except SubmissionFault as fault:
            raise CapsuleFault(f"reference {fault}") from fault
