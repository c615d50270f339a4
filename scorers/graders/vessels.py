"""Vessels: one mask of a network for each volume.

Published: overlap, volumetric similarity and clDice (Shit et al. 2021) as means over volumes, in
which a mask of the wrong shape is left out. Strict: clDice on cubes (see `vessels_strict`), with
such a mask as 0.
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
from scorers.files.masks import volume_mask
from scorers.files.tree import reference_tree
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
from scorers.graders.spacing import spacing_of
from scorers.graders.vessels_pictures import pictures
from scorers.graders.vessels_strict import Verdict, judge, object_rows, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scorers.contract import Job, Scalar
    from scorers.files.tree import SubmittedFile
    from scorers.graders.mask_pairs import Values
    from scorers.metrics.packed import PackedMask

DELIVERABLE = "vessel_masks"
_REFERENCE = re.compile(r"binary[_-]?(.+)", re.IGNORECASE)
_SUFFIXES = frozenset({".tif", ".tiff", ".png"})
_METRICS = (
    "dice",
    "iou",
    "precision",
    "recall",
    "volumetric_similarity",
    "cl_dice",
    "t_prec",
    "t_sens",
)


def grade(job: Job) -> Result:
    """Grade the masks of a submission against the `Binary_<id>` volumes below `evaluation/`."""
    references = [(_id_of(file.stem), file) for file in _references(job)]
    files = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
    chosen = _chosen(files, assign(references))
    if not chosen:
        wanted = "put the input's name into each mask's name, not at once after 'binary'"
        return nothing_paired(len(files), len(references), wanted)
    spacing = spacing_of(job)
    published = Published(job, _TERMS, len(files))
    verdicts: list[Verdict] = []
    items: list[dict[str, Scalar]] = []
    for index, (key, reference) in enumerate(references):
        comparison = compare(Target(key, reference, chosen.get(index)), _TERMS, job.limits)
        row = published.add(comparison)
        verdict = judge(comparison, spacing)
        items.append(row | verdict.row())
        verdicts.append(verdict)
    result = published.result()
    summarise(verdicts, len(files) - len(chosen), result)
    result.items = items
    result.objects = list(islice(object_rows(verdicts), job.limits.objects))
    result.pictures = pictures(job, verdicts) if job.draws else []
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the reference masks as deliverables."""
    for path, file in _targets(job, out):
        mask = read_reference_mask(file, volume_mask, job.limits, _TERMS.axes)
        planes = (plane.astype(np.uint8) for plane in mask.planes())
        write_labels(path, mask.shape, np.dtype(np.uint8), planes)


def blank(job: Job, out: Path) -> None:
    """Write masks of the references' shapes without any vessel."""
    for path, file in _targets(job, out):
        try:
            with open_stack(file, job.limits.for_references()) as stack:
                shape, _ = volume_mask(stack)
        except SubmissionFault as fault:
            raise CapsuleFault(f"reference {fault}") from fault
        empty = np.zeros(shape[-2:], np.uint8)
        planes = (empty for _ in range(int(np.prod(shape[:-2], dtype=int))))
        write_labels(path, shape, empty.dtype, planes)


def volume_metrics(prediction: PackedMask, reference: PackedMask) -> Values:
    """Return `line_metrics` and `volumetric_similarity`, in [0, 1], None where nothing is."""
    one, other = prediction.size, reference.size
    similarity = 1 - abs(one - other) / (one + other) if one + other else None
    return line_metrics(prediction, reference) | {"volumetric_similarity": similarity}


_TERMS = Terms(
    kind=volume_mask,
    axes=3,
    rows="per_volume",
    key="id",
    unit="voxels",
    metrics=_METRICS,
    primary=frozenset({"dice", "iou", "precision", "recall", "volumetric_similarity", "cl_dice"}),
    measure=volume_metrics,
)
FAMILY = Family("vessels", grade, perfect, blank)


def _id_of(stem: str) -> str | None:
    found = _REFERENCE.fullmatch(stem)
    return found.group(1).lower() if found else None


def _chosen(files: Iterable[SubmittedFile], owner: dict[str, int]) -> dict[int, SubmittedFile]:
    """Return the first file for each reference; the longest id within a name counts.

    A file named as a reference is named is passed over, as published.
    """
    longest_first = sorted(owner, key=len, reverse=True)
    chosen: dict[int, SubmittedFile] = {}
    for file in files:
        stem = file.stem.lower()
        if _id_of(stem) is None:
            key = next((key for key in longest_first if key in stem), None)
            if key is not None:
                chosen.setdefault(owner[key], file)
    return chosen


def _targets(job: Job, out: Path) -> Iterator[tuple[Path, SubmittedFile]]:
    pattern = next((d.filename_pattern for d in job.spec.deliverables if d.id == DELIVERABLE), None)
    if pattern is None:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {DELIVERABLE}")
    for file in _references(job):
        found = _REFERENCE.fullmatch(file.stem)
        yield out / name_for(pattern, found.group(1) if found else file.stem), file


def _references(job: Job) -> list[SubmittedFile]:
    if job.reference_dir is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected the reference in the folder evaluation/, got no such "
            "folder; get the task's data, or make them"
        )
    files = reference_tree(job.reference_dir, job.limits).files
    masks = [f for f in files if f.path.suffix in _SUFFIXES and _id_of(f.stem) is not None]
    if not masks:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected masks Binary_<id>.tiff in evaluation/, got "
            f"{len(files)} other files; get the task's data, or make them"
        )
    return masks
