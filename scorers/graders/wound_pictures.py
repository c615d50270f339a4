"""The pictures of a wound-healing grade: kymographs and their difference, velocities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.pictures.canvas import (
    HIT,
    MISS,
    OVERLAY_SIDE,
    THUMBNAIL_SIDE,
    as_picture,
    fitted,
    resampled,
    with_legend,
)
from scorers.pictures.heat import arrows, difference, heat, panels

if TYPE_CHECKING:
    from scorers.contract import Picture
    from scorers.files.limits import Limits
    from scorers.graders.wound_files import Field
    from scorers.pictures.canvas import Image

_ARROWS = 26
_LEAST_SPACING = 16


@dataclass(frozen=True)
class Shown:
    """What is shown of one experiment: both kymographs, both velocity fields, where cells are."""

    key: str
    score: float
    own: Field | None
    known: Field
    velocities: tuple[Field, Field] | None
    true: tuple[Field, Field] | None
    cells: Field | None


def pictures(shown: Shown, limits: Limits) -> list[Picture]:
    """Show the kymographs of the worst experiment, and its velocities."""
    what = f"{shown.key}, strict {shown.score:.2f}"
    drawn = [
        as_picture(
            "wound-kymograph",
            f"Kymographs of {what}: distance from the wound down, time to the right",
            _kymographs(shown, THUMBNAIL_SIDE),
            limits,
            "thumbnail",
        ),
        as_picture(
            "wound-kymographs",
            f"Kymographs of {what}: distance from the wound down, time to the right",
            _kymographs(shown, OVERLAY_SIDE),
            limits,
        ),
    ]
    if shown.true is not None and shown.true[0].shape == shown.true[1].shape:
        caption = f"First velocity field of {what}, cells lighter"
        drawn.append(as_picture("wound-velocities", caption, _velocities(shown), limits))
    return drawn


def _kymographs(shown: Shown, side: int) -> Image:
    finite = shown.known[np.isfinite(shown.known)]
    top = float(np.percentile(np.abs(finite), 99)) if finite.size else 1.0
    own = np.full(shown.known.shape, np.nan) if shown.own is None else shown.own
    with np.errstate(over="ignore", invalid="ignore"):
        off = own - shown.known
    return panels(
        [
            (f"submitted, 0 to {top:.0f} um/h", heat(own, top)),
            ("true", heat(shown.known, top)),
            (f"too fast (red) or too slow (blue), up to {top:.0f} um/h", difference(off, top)),
        ],
        side,
    )


def _velocities(shown: Shown) -> Image:
    assert shown.true is not None
    shape = shown.true[0].shape
    size = fitted(shape, OVERLAY_SIDE)
    ground = np.full((*size, 3), 25, np.uint8)
    if shown.cells is not None and shown.cells.shape == shape:
        ground[resampled(shown.cells, size) > 0] = 70
    true_x, true_y = (resampled(part, size) for part in shown.true)
    fields = [(true_x, true_y, HIT)]
    legend = {"true": HIT}
    own = shown.velocities
    if own is not None and all(part.shape == shape for part in own):
        fields.append((resampled(own[0], size), resampled(own[1], size), MISS))
        legend["submitted"] = MISS
    return with_legend(arrows(ground, fields, max(max(size) // _ARROWS, _LEAST_SPACING)), legend)
