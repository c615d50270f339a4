"""Masks of filaments and vessels damaged segment by segment, over all files of a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.calibration.lines import Segments, segments_of
from evals.calibration.submission_files import TIFF, found, read_image, write_image

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    Mask = NDArray[np.bool_]
    Change = Callable[[Mask, Segments, Mask], Mask]


def segments(folder: Path, pick: Pick, change: Change) -> int:
    """Change segments, chosen among those of all masks; return how many."""
    paths = found(folder, TIFF)
    masks = [read_image(path) > 0 for path in paths]
    parts = [segments_of(mask) for mask in masks]
    hits = pick.hits_in([len(part) for part in parts])
    for path, mask, part, hit in zip(paths, masks, parts, hits, strict=True):
        if hit.any():
            write_image(path, change(mask, part, hit).astype(np.uint8))
    return int(sum(hit.sum() for hit in hits))
