"""The files of a tracking task: its reference, and the perfect and the blank submission."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for
from scorers.files.images import write_labels
from scorers.files.movies import Movie
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile

MASKS, LINEAGE = "segmentation_masks", "tracking_lineage"
_LOGS = frozenset({"log.txt", "result.txt", "error.txt", "subprocess_log.txt"})
_TIFF = (".tif", ".tiff")
# A lineage without rows would be refused before the masks are looked at.
_BLANK_LINEAGE = "1 0 0 0\n"


def reference_files(job: Job) -> tuple[SubmittedFile, SubmittedFile]:
    """Return the reference movie and its lineage, chosen by the published rule."""
    if job.reference_dir is None:
        raise CapsuleFault("evaluation/ is missing: expected a movie of labels and its lineage")
    files = reference_tree(job.reference_dir, job.limits).files
    movies = [file for file in files if file.suffix in _TIFF]
    tables = [file for file in files if file.suffix == ".txt" and file.name.lower() not in _LOGS]
    if not movies or not tables:
        lacking = "a movie of labels (.tif)" if not movies else "a lineage (.txt)"
        raise CapsuleFault(f"evaluation/ lacks {lacking}: expected one beside the other")
    return _first_with(movies, ("_gt", "gt")), _first_with(tables, ("man_track", "track"))


def perfect(job: Job, out: Path) -> None:
    """Write the reference movie and lineage under the names of the deliverables, byte for byte."""
    movie, table = reference_files(job)
    masks_path, lineage_path = _targets(job, out, movie)
    for file, path in ((movie, masks_path), (table, lineage_path)):
        with file.open() as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)


def blank(job: Job, out: Path) -> None:
    """Write a movie of the reference's shape without labels, and a lineage of one unseen track.

    Scores exactly 0: making the reference from nothing is the price that TRA is measured in.
    """
    file, _ = reference_files(job)
    masks_path, lineage_path = _targets(job, out, file)
    try:
        with Movie(file, job.limits.for_references()) as movie:
            shape = (movie.n_frames, *movie.frame_shape)
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault
    empty = np.zeros(shape[1:], np.uint16)
    write_labels(masks_path, shape, empty.dtype, (empty for _ in range(shape[0])))
    lineage_path.write_text(_BLANK_LINEAGE, encoding="utf-8")


def _targets(job: Job, out: Path, movie: SubmittedFile) -> tuple[Path, Path]:
    patterns = {entry.id: entry.filename_pattern for entry in job.spec.deliverables}
    lacking = [key for key in (MASKS, LINEAGE) if key not in patterns]
    if lacking:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {lacking[0]}")
    stem = re.sub(r"_?(gt)?(\.ome)?$", "", movie.stem, count=1, flags=re.IGNORECASE) or "movie"
    return (
        out / name_for(patterns[MASKS], stem),
        out / name_for(patterns[LINEAGE], "res", ".txt"),
    )


def _first_with(files: Sequence[SubmittedFile], words: Sequence[str]) -> SubmittedFile:
    for word in words:
        for file in files:
            if word in file.name.lower():
                return file
    return files[0]
