"""The pictures of a translocation grade: response curves, and the plate as measured and as true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.plates import well_place
from scorers.pictures.canvas import (
    HIT,
    OVERLAY_SIDE,
    REFERENCE,
    THUMBNAIL_SIDE,
    as_picture,
)
from scorers.pictures.heat import difference, heat, panels
from scorers.pictures.plots import Curve, curves, span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.graders.plates import Plate
    from scorers.graders.translocation_strict import Wells
    from scorers.pictures.canvas import Image

_MOST_TYPES = 4
_MOST_DOSES = 24
# Of a plate of 384 wells, and twice as many either way.
_MOST_ROWS, _MOST_COLUMNS = 32, 48


def pictures(told: Plate, wells: Wells | None, job: Job) -> list[Picture]:
    """Show response curves by cell type, and the plate."""
    truth = None if wells is None else wells.plate
    drawn: list[Picture] = []
    if len(told.well) or truth is not None:
        caption = "Ratio by dose (in order of doses), a dot a well, lines through the means"
        small, large = (_curves(told, truth, side) for side in (THUMBNAIL_SIDE, OVERLAY_SIDE))
        drawn = [
            as_picture("translocation-thumbnail", caption, small, job.limits, "thumbnail"),
            as_picture("translocation-curves", caption, large, job.limits),
        ]
    plate = _plate(told, truth)
    if plate is not None:
        caption = "The plate, rows from A down, columns from 1 to the right"
        drawn.append(as_picture("translocation-plate", caption, plate, job.limits))
    return drawn


def _curves(told: Plate, truth: Plate | None, side: int) -> Image:
    shown = told if truth is None else truth
    doses = np.unique(shown.dose)[:_MOST_DOSES]
    ticks = {float(at): f"{dose:.3g}" for at, dose in enumerate(doses.tolist())}
    if len(ticks) > side / 60:
        step = int(-(-len(ticks) * 60 // side))
        ticks = {at: text if int(at) % step == 0 else "" for at, text in ticks.items()}
    plots = []
    for name in list(dict.fromkeys(shown.cell_type))[:_MOST_TYPES]:
        drawn = [] if truth is None else [_curve(truth, name, doses, REFERENCE)]
        plots.append((f"{name}: nucleus over cytoplasm", [*drawn, _curve(told, name, doses, HIT)]))
    # What lies far beyond the truth is shown at the edge.
    limits = span(told.ratio) if truth is None else span(truth.ratio * 0.8, truth.ratio * 1.25)
    legend = {"submitted": HIT} if truth is None else {"submitted": HIT, "true": REFERENCE}
    return curves(plots, ticks, limits, side, legend)


def _curve(
    plate: Plate, name: str, doses: NDArray[np.float64], colour: tuple[int, int, int]
) -> Curve:
    own = np.array([cell_type == name for cell_type in plate.cell_type], bool)
    own &= np.isin(plate.dose, doses)
    return Curve(np.searchsorted(doses, plate.dose[own]).astype(float), plate.ratio[own], colour)


def _plate(told: Plate, truth: Plate | None) -> Image | None:
    shown = told if truth is None else truth
    places = np.array([well_place(name) for name in shown.well], np.int64).reshape(-1, 2)
    inside = (places < (_MOST_ROWS, _MOST_COLUMNS)).all(axis=1)
    if not inside.any():
        return None
    shape = tuple((places[inside].max(axis=0) + 1).tolist())
    own = _grid(told, shape)
    known = None if truth is None else _grid(truth, shape)
    scale = own if known is None else known
    low, high = float(np.nanmin(scale)), float(np.nanmax(scale))
    # A little above the lowest value, so that a well is never as black as none.
    bottom = low - (high - low) / 10
    reach = f"{bottom:.2f} (black) to {high:.2f} (white)"
    parts = [(f"submitted, {reach}, grey: none", heat(own - bottom, high - bottom))]
    if known is not None:
        parts.append(("true", heat(known - bottom, high - bottom)))
        off = np.log(own / known)
        parts.append(
            ("too high (red) or too low (blue), up to a factor of 2", difference(off, 0.69))
        )
    return panels(parts, OVERLAY_SIDE)


def _grid(plate: Plate, shape: tuple[int, ...]) -> NDArray[np.float64]:
    grid = np.full(shape, np.nan)
    places = np.array([well_place(name) for name in plate.well], np.int64).reshape(-1, 2)
    inside = (places < shape).all(axis=1)
    grid[tuple(places[inside].T)] = plate.ratio[inside]
    return grid
