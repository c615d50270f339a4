"""How far the outlines of matched objects lie off, in pixels and µm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.spacing import pixel_um_of, spacing_of
from scorers.metrics.outline import outline_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.metrics.instances import Matching
    from scorers.metrics.overlap import Overlap


@dataclass(frozen=True)
class Grid:
    """The size of a voxel: along planes, rows and columns in pixels' widths; that width in µm."""

    spacing_px: tuple[float, float, float]
    pixel_um: float | None

    @classmethod
    def of(cls, job: Job, *, flat: bool) -> Grid | None:
        """Return the grid of a job's images, None where nobody will see rows of objects."""
        if job.limits.objects <= 1:
            return None
        if flat:
            return cls((1.0, 1.0, 1.0), pixel_um_of(job))
        spacing = spacing_of(job)
        if spacing is None:
            return cls((1.0, 1.0, 1.0), None)
        z, y, x = spacing
        return cls((z / x, y / x, 1.0), x)

    def voxel(self, *, flat: bool) -> float:
        """Size of a pixel, or of a voxel, in pixels' widths squared or cubed."""
        return math.prod(self.spacing_px[1:] if flat else self.spacing_px)


@dataclass(frozen=True)
class Outlines:
    """Outlines of the reference objects in the order of their ids, and of what unit they are.

    Attributes
    ----------
    lengths
        Lengths of outlines in pixels' widths, in volumes areas.
    voxel
        Size of a voxel in that unit.
    pixel_um
        Width of a pixel in µm, None where nothing says it.
    """

    lengths: NDArray[np.float64]
    voxel: float
    pixel_um: float | None

    def errors(self, table: Overlap, pairs: Matching) -> list[float | None]:
        """Return how far the outline of each matched reference object lies off, in pixels."""
        off: list[float | None] = [None] * len(self.lengths)
        areas = table.reference_areas[pairs.reference]
        others = table.prediction_areas[pairs.prediction]
        shared = np.rint(pairs.iou * (areas + others) / (1 + pairs.iou)).astype(np.int64)
        lengths = self.lengths[pairs.reference]
        found = outline_error(areas, others, shared, lengths, self.voxel)
        for place, error in zip(pairs.reference.tolist(), found.tolist(), strict=True):
            off[place] = None if math.isnan(error) else error
        return off

    def um(self, error: float | None) -> float | None:
        """Return an error in µm, None where nothing says how wide a pixel is."""
        return None if error is None or self.pixel_um is None else error * self.pixel_um
