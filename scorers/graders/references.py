"""What the segmentation families read of a capsule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile

MASK_SUFFIXES = frozenset({".tif", ".tiff", ".png"})


def reference_masks(job: Job) -> list[SubmittedFile]:
    """Return the capsule's reference images in path order, or raise `CapsuleFault`."""
    if job.reference_dir is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected the reference in the folder evaluation/, got no such "
            "folder; get the task's data, or make them"
        )
    files = reference_tree(job.reference_dir, job.limits).files
    masks = [file for file in files if file.path.suffix in MASK_SUFFIXES]
    if not masks:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected reference masks (.tif, .tiff, .png) in evaluation/, "
            f"got {len(files)} other files; get the task's data, or make them"
        )
    return masks


def is_flat(job: Job) -> bool:
    """Return whether the specification is of images, not of volumes."""
    return not str(job.spec.input.get("spatial_dimensions", "")).upper().startswith("3")
