"""The movie and the lineage of a tracking submission, damaged in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.calibration.movies import Tracked
from evals.calibration.submission_files import TIFF, found, read_image, write_image

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.calibration.doses import Pick

_LINEAGE = "*track*.txt"


def tracks(folder: Path, pick: Pick, change: Callable[[Tracked, Pick], Tracked]) -> int:
    """Change nodes, frames or tracks; return the number of tracks that were there."""
    [masks], [table] = found(folder, TIFF), found(folder, _LINEAGE)
    lineage = np.loadtxt(table, np.int64, ndmin=2)
    changed = change(Tracked(read_image(masks), lineage), pick)
    write_image(masks, changed.movie)
    np.savetxt(table, changed.lineage, fmt="%d")
    return len(lineage)
