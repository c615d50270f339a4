"""Filaments: one mask of thin lines for each image.

Published: overlap and clDice (Shit et al. 2021) as means over images, in which a mask of the wrong
shape is left out. Strict: clDice times component-count ratio (see `filaments_strict`), with such
a mask as 0.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for, resolve
from scorers.files.images import open_stack, write_labels
from scorers.files.masks import flat_mask
from scorers.files.tree import reference_tree
from scorers.graders.filaments_pictures import pictures
from scorers.graders.filaments_strict import Verdict, judge, object_rows, summarise
from scorers.graders.mask_files import read_reference_mask
from scorers.graders.mask_pairs import (
    Published,
    Target,
    Terms,
    assign,
    compare,
    line_metrics,
    nothing_paired,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job, Scalar
    from scorers.files.tree import SubmittedFile

DELIVERABLE = "segmentation_masks"
_KEY = re.compile(r"report_[0-9]+", re.IGNORECASE)
_ENDINGS = (".binary.tif", ".binary.tiff", ".binary.png")
_METRICS = ("dice", "iou", "precision", "recall", "cl_dice", "t_prec", "t_sens")
_TERMS = Terms(
    kind=flat_mask,
    axes=2,
    rows="per_image",
    key="stem",
    unit="pixels",
    metrics=_METRICS,
    primary=frozenset({"dice", "iou", "precision", "recall", "cl_dice"}),
    measure=line_metrics,
)


def grade(job: Job) -> Result:
    """Grade the masks of a submission against `*.binary.tif(f)` or `.png` below `evaluation/`."""
    references = [(key_of(file.name), file) for file in _references(job)]
    files = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
    owner = assign(references)
    chosen: dict[int, SubmittedFile] = {}
    for file in files:
        index = owner.get(key_of(file.name) or "")
        if index is not None:
            chosen.setdefault(index, file)
    if not chosen:
        wanted = "put the token report_NNNN of the input's name into each mask's name"
        return nothing_paired(len(files), len(references), wanted)
    published = Published(job, _TERMS, len(files))
    verdicts: list[Verdict] = []
    items: list[dict[str, Scalar]] = []
    for index, (key, reference) in enumerate(references):
        comparison = compare(Target(key, reference, chosen.get(index)), _TERMS, job.limits)
        row = published.add(comparison)
        verdict = judge(comparison)
        items.append(row | verdict.row())
        verdicts.append(verdict)
    result = published.result()
    summarise(verdicts, len(files) - len(chosen), result)
    result.items = items
    result.objects = list(islice(object_rows(verdicts), job.limits.objects))
    result.pictures = pictures(job, verdicts) if job.draws else []
    return result


def key_of(name: str) -> str | None:
    """Return the first `report_` with digits of a file name, lower-cased, or None.

    >>> key_of("agent_Report_0003.mask.tiff")
    'report_0003'
    """
    found = _KEY.search(name)
    return found.group().lower() if found else None


def perfect(job: Job, out: Path) -> None:
    """Write the reference masks as deliverables."""
    for path, file in _targets(job, out):
        mask = read_reference_mask(file, flat_mask, job.limits, _TERMS.axes)
        _write(path, mask.array())


def blank(job: Job, out: Path) -> None:
    """Write masks of the references' shapes without any filament."""
    for path, file in _targets(job, out):
        try:
            with open_stack(file, job.limits.for_references()) as stack:
                shape, _ = flat_mask(stack)
        except SubmissionFault as fault:
            raise CapsuleFault(f"reference {fault}") from fault
        _write(path, np.zeros(shape, bool))


FAMILY = Family("filaments", grade, perfect, blank)


def _write(path: Path, mask: NDArray[np.bool_]) -> None:
    write_labels(path, mask.shape, np.dtype(np.uint8), [mask.astype(np.uint8)])


def _targets(job: Job, out: Path) -> Iterator[tuple[Path, SubmittedFile]]:
    pattern = next((d.filename_pattern for d in job.spec.deliverables if d.id == DELIVERABLE), None)
    if pattern is None:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {DELIVERABLE}")
    for file in _references(job):
        yield out / name_for(pattern, key_of(file.name) or file.stem), file


def _references(job: Job) -> list[SubmittedFile]:
    if job.reference_dir is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected the reference in the folder evaluation/, got no such "
            "folder; get the task's data, or make them"
        )
    files = reference_tree(job.reference_dir, job.limits).files
    masks = [file for file in files if file.name.endswith(_ENDINGS)]
    if not masks:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected masks {', '.join('*' + e for e in _ENDINGS)} in "
            f"evaluation/, got {len(files)} other files; get the task's data, or make them"
        )
    return masks
