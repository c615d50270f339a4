"""The files of a task with several compartments: references, the perfect and the blank masks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for
from scorers.files.images import write_labels
from scorers.files.labels import LabelImage
from scorers.files.tree import reference_tree
from scorers.graders.references import MASK_SUFFIXES, is_flat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path, PurePosixPath

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile

_DEFAULT = ("nuclei", "cytoplasm")


def compartments(job: Job) -> tuple[str, ...]:
    """Return the names of the compartments in the order of the rubric."""
    value: Any = job.rubric.metric_config.get("compartments", list(_DEFAULT))
    texts = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    if not texts or not value or len(set(value)) != len(value):
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.compartments: expected a list of different "
            f"names, such as {list(_DEFAULT)}, got {value!r}"
        )
    return tuple(value)


def deliverable(compartment: str) -> str:
    """Return the id of a compartment's deliverable, which is also the name of its folder."""
    return f"{compartment}_masks"


def references(job: Job) -> dict[str, list[SubmittedFile]]:
    """Return the reference masks of each compartment in path order.

    Empty for a compartment whose folder holds no file ending in `.tif`, as published.

    Raises
    ------
    CapsuleFault
        There is no `evaluation/`, or nothing in it for any compartment.
    """
    names = compartments(job)
    if job.reference_dir is None:
        wanted = ", ".join(f"{deliverable(name)}/" for name in names)
        raise CapsuleFault(f"evaluation/ is missing: expected label images in {wanted}")
    found: dict[str, list[SubmittedFile]] = {name: [] for name in names}
    for file in reference_tree(job.reference_dir, job.limits).files:
        for name in names:
            within = len(file.path.parts) > 1 and file.path.parts[0] == deliverable(name)
            if within and file.path.suffix in MASK_SUFFIXES:
                found[name].append(file)
    return {
        name: files if any(file.path.suffix == ".tif" for file in files) else []
        for name, files in found.items()
    }


def nothing_there(job: Job) -> CapsuleFault:
    """Return the fault of an `evaluation/` without any reference mask."""
    wanted = " or ".join(f"{deliverable(name)}/*.tif" for name in compartments(job))
    return CapsuleFault(f"evaluation/ holds no label image: expected {wanted}")


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
        empty: NDArray[Any] = np.zeros(image.shape[-2:], np.uint8)
        count = int(np.prod(image.shape[:-2], dtype=int))
        write_labels(path, image.shape, empty.dtype, (empty for _ in range(count)))


def _targets(job: Job, out: Path) -> Iterator[tuple[Path, LabelImage]]:
    patterns = {entry.id: entry.filename_pattern for entry in job.spec.deliverables}
    known = references(job)
    if not any(known.values()):
        raise nothing_there(job)
    for name, files in known.items():
        if deliverable(name) not in patterns:
            raise CapsuleFault(
                f"task_spec.yaml: deliverables: expected one with the id {deliverable(name)}"
            )
        for file in files:
            try:
                with LabelImage(file, job.limits.for_references(), flat=is_flat(job)) as image:
                    yield out / _path_for(file.path, patterns[deliverable(name)]), image
            except SubmissionFault as fault:
                raise CapsuleFault(f"reference {fault}") from fault


def _path_for(reference: PurePosixPath, pattern: str) -> PurePosixPath:
    """Return the reference's own path where its folder fits the pattern, else with another name."""
    own = reference.with_suffix(".tif")
    if fnmatchcase(str(own).lower(), pattern.lower()):
        return own
    return reference.parent / name_for(pattern, reference.stem)
