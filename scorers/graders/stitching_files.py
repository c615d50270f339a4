"""A stitching capsule's reference, and the perfect and the blank submission made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import TIFF_SUFFIXES
from scorers.files.mosaics import open_mosaic, write_mosaic
from scorers.files.tree import reference_tree
from scorers.graders.stitching_tables import read_reference

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.mosaics import Mosaic
    from scorers.files.tree import SubmittedFile
    from scorers.graders.stitching_tables import Reference

TABLE = "reference_table_1.csv"
_HEADER = "population,channel,feature,mean,sd,n"


def reference_means(job: Job) -> Reference:
    """Return the published means of the capsule, or raise `CapsuleFault`."""
    file = next((file for file in _files(job) if str(file.path) == TABLE), None)
    if file is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected the table evaluation/{TABLE}, got none; get the "
            "task's data, or make them"
        )
    try:
        reference = read_reference(file, job.limits.for_references())
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault
    if not reference.means:
        raise CapsuleFault(
            f"evaluation/{TABLE}: expected rows with Feature, WBC_Mean and MCF7_Mean, got none "
            "that could be read; restore the file"
        )
    return reference


def reference_image(job: Job) -> SubmittedFile | None:
    """Return the reference mosaic: the first LSM or TIFF in path order, None if there is none."""
    return next((file for file in _files(job) if file.suffix in TIFF_SUFFIXES), None)


def perfect(job: Job, out: Path) -> None:
    """Write the reference mosaic as stitched image and the published means as summary."""
    rows = [
        f"{population},{channel},{feature},{entry.mean!r},,"
        for (channel, feature), means in sorted(reference_means(job).means.items())
        for population, entry in sorted(means.items())
    ]
    _write_table(out, rows)
    with _opened(job) as mosaic:
        _write_image(out, mosaic, _images(mosaic))


def blank(job: Job, out: Path) -> None:
    """Write a mosaic of the right shape that is zero throughout, and a summary without rows."""
    _write_table(out, [])
    with _opened(job) as mosaic:
        at = mosaic.geometry
        empty = np.zeros((at.height, at.width), mosaic.dtype)
        _write_image(out, mosaic, (empty for _ in range(at.n_slices * at.n_channels)))


def _files(job: Job) -> tuple[SubmittedFile, ...]:
    if job.reference_dir is None:
        return ()
    return reference_tree(job.reference_dir, job.limits).files


def _opened(job: Job) -> Mosaic:
    file = reference_image(job)
    if file is None:
        raise CapsuleFault("evaluation/ holds no mosaic (.lsm, .tif, .tiff): get the task's data")
    try:
        return open_mosaic(file, job.limits.for_references())
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault


def _images(mosaic: Mosaic) -> Iterator[NDArray[Any]]:
    for z in range(mosaic.geometry.n_slices):
        for channel in range(mosaic.geometry.n_channels):
            yield mosaic.image(channel, z)


def _write_image(out: Path, mosaic: Mosaic, images: Iterator[NDArray[Any]]) -> None:
    at = mosaic.geometry
    shape = (at.n_slices, at.n_channels, at.height, at.width)
    write_mosaic(out / "mosaic_stitched.tif", shape, mosaic.dtype, images)


def _write_table(out: Path, rows: list[str]) -> None:
    text = "\n".join([_HEADER, *rows, ""])
    (out / "summary_statistics.csv").write_text(text, encoding="utf-8")
