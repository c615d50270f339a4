"""How thick microglia are, seen from above: a body that flattens, and branches that grow out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import bin_mean, gaussian_psf_blur
from evals.simulation.quantise import quantise
from evals.simulation.shapes import Blobs, rasterise
from evals.simulation.texture import smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.microglia import Moment

    Table = NDArray[np.float64]
    Grid = NDArray[np.float32]

FINE = 2
BRANCHES = 6
_POINTS = 90  # of a branch; a second one leaves it half-way and takes the last third of them
_GRID = 2.0**-14
# What belongs to shapes from a ball to a branched cell; lengths in pixels of 0.65 µm.
_SHAPE = (0.0, 0.3, 0.5, 0.75, 1.0)
_RADIUS = (7.6, 9.0, 10.6, 9.0, 8.0)
_HEIGHT = (13.0, 7.5, 4.2, 3.6, 3.4)
_STRETCH = (1.05, 1.25, 1.55, 1.5, 1.5)
_ROUGH = (0.15, 0.6, 1.0, 0.9, 0.8)
_REACH = (0.0, 4.0, 11.0, 21.0, 30.0)
_THICK = (0.0, 1.4, 2.4, 2.3, 2.2)
_FEW = (1.0, 0.75, 0.5, 0.15, 0.0)  # branches with a smaller share are not put out


@dataclass
class Habits:
    """What makes a cell itself, changing slowly; one entry (or row) a cell.

    Attributes
    ----------
    size
        Factor on its lengths.
    angle
        Direction of the body in radians.
    wobble
        Irregularity of its outline, cosine and sine of harmonics 2 to 5.
    branch
        Directions of its branches relative to even spacing, in radians.
    share
        Their lengths as a share of the longest possible.
    bend
        How far each bows to one side as a share of its length.
    """

    size: Table
    angle: Table
    wobble: Table
    branch: Table
    share: Table
    bend: Table

    @classmethod
    def draw(cls, rng: np.random.Generator, count: int) -> Habits:
        """Draw the habits of `count` cells."""
        return cls(
            size=1 + 0.09 * np.clip(rng.standard_normal(count), -2, 2),
            angle=rng.uniform(0, 2 * np.pi, count),
            wobble=_wobble(rng, count),
            branch=0.3 * rng.standard_normal((count, BRANCHES)),
            share=rng.beta(1.6, 1.3, (count, BRANCHES)),
            bend=0.18 * rng.standard_normal((count, BRANCHES)),
        )

    def wander(self, rng: np.random.Generator) -> None:
        """Go on to the next frame."""
        count, keep = len(self.size), 0.85
        new = np.sqrt(1 - keep**2)
        self.angle = self.angle + 0.2 * rng.standard_normal(count)
        self.wobble = keep * self.wobble + new * _wobble(rng, count)
        self.branch = keep * self.branch + new * 0.3 * rng.standard_normal((count, BRANCHES))
        self.share = keep * self.share + (1 - keep) * rng.beta(1.6, 1.3, (count, BRANCHES))
        self.bend = keep * self.bend + new * 0.18 * rng.standard_normal((count, BRANCHES))


def _wobble(rng: np.random.Generator, count: int) -> Table:
    scale = 0.085 * 2.0 / np.arange(2, 6)
    return np.asarray(rng.standard_normal((count, 4, 2)) * scale[:, None])


def draw_thickness(
    rng: np.random.Generator, moment: Moment, habits: Habits, field: tuple[int, int]
) -> Grid:
    """Return the thickness of all cells in pixels, shape (Y, X).

    Parameters
    ----------
    rng
        Random stream of what flickers from frame to frame: granules.
    moment
        Places and shapes.
    habits
        Of the same cells.
    field
        Rows and columns.
    """
    fine = (field[0] * FINE, field[1] * FINE)
    bodies = _bodies(moment, habits, field)
    granules = 1 + np.float32(0.14) * smooth_noise(rng, fine, 1.1 * FINE)
    branches = _branches(moment, habits, fine)
    thickness = np.maximum(bodies * granules, branches)
    return np.asarray(quantise(bin_mean(thickness, FINE), _GRID), dtype=np.float32)


def _bodies(moment: Moment, habits: Habits, field: tuple[int, int]) -> Grid:
    here = np.flatnonzero(moment.present)
    shape = moment.shape[here]
    radius, height, stretch, rough = (
        np.interp(shape, _SHAPE, values) for values in (_RADIUS, _HEIGHT, _STRETCH, _ROUGH)
    )
    outlines = Blobs(
        y=moment.place[here, 0],
        x=moment.place[here, 1],
        radius=quantise(radius * habits.size[here]),
        elongation=quantise(stretch),
        cosine=quantise(np.cos(habits.angle[here]), _GRID),
        sine=quantise(np.sin(habits.angle[here]), _GRID),
        wobble=quantise(np.clip(habits.wobble[here] * rough[:, None, None], -0.3, 0.3), _GRID),
    )
    samples = rasterise(outlines, field, FINE)
    tall = quantise(height, _GRID).astype(np.float32)[samples.owner]
    cap = tall * np.sqrt(np.float32(1) - samples.rho * samples.rho)
    return _highest(samples.place, cap, (field[0] * FINE, field[1] * FINE))


def _branches(moment: Moment, habits: Habits, fine: tuple[int, int]) -> Grid:
    """Draw branches that thin out, and the twig of each; roots are broader than tips."""
    here = np.flatnonzero(moment.present & (moment.shape > _SHAPE[1]))
    shape = moment.shape[here]
    reach, thick, radius, few = (
        np.interp(shape, _SHAPE, values) for values in (_REACH, _THICK, _RADIUS, _FEW)
    )
    fan = 2 * np.pi / BRANCHES * np.arange(BRANCHES)
    turn = habits.angle[here, None] + fan + habits.branch[here]
    grown = np.clip((habits.share[here] - few[:, None]) / 0.1, 0, 1) * (0.25 + habits.share[here])
    length = (reach * habits.size[here])[:, None] * grown
    base = 0.55 * radius * habits.size[here]
    along, across = _course(habits.bend[here])
    forward = base[:, None, None] + length[..., None] * along
    aside = length[..., None] * across
    cosine, sine = (quantise(f(turn), _GRID)[..., None] for f in (np.cos, np.sin))
    row = moment.place[here, 0, None, None] + forward * sine + aside * cosine
    column = moment.place[here, 1, None, None] + forward * cosine - aside * sine
    # The inner points lie under the body, so that the visible branch begins at full thickness.
    height = thick[:, None, None] * np.broadcast_to(_TAPER, row.shape)
    drawn = np.zeros(fine, dtype=np.float32)
    for chosen, sigma in ((along < _ROOT, 1.5 * FINE), (along >= _ROOT, 0.85 * FINE)):
        which = np.broadcast_to(chosen, row.shape)
        line = _points(row[which], column[which], height[which], fine)
        blurred = gaussian_psf_blur(line, sigma) * np.float32(sigma * np.sqrt(2 * np.pi))
        drawn = np.maximum(drawn, blurred)
    return drawn


_ROOT = 0.3
_MAIN = np.linspace(0, 1, _POINTS * 2 // 3)
_TWIG = np.linspace(0, 1, _POINTS - _POINTS * 2 // 3)
_TAPER = np.concatenate([1 - 0.6 * _MAIN, 0.7 - 0.35 * _TWIG])


def _course(bend: Table) -> tuple[Table, Table]:
    """Return points of a branch and its twig, along and across it, in units of its length."""
    side = np.where(bend > 0, -1.0, 1.0)[..., None]
    shape = (*bend.shape, _MAIN.size)
    main = np.broadcast_to(_MAIN, shape)
    bow = bend[..., None] * _MAIN * _MAIN
    twig = np.broadcast_to(0.5 + 0.32 * _TWIG, (*bend.shape, _TWIG.size))
    away = 0.25 * bend[..., None] + side * 0.33 * _TWIG
    return np.concatenate([main, twig], axis=-1), np.concatenate([bow, away], axis=-1)


def _points(row: Table, column: Table, height: Table, fine: tuple[int, int]) -> Grid:
    """Put points on the fine grid; of several on one sample the highest stays."""
    i, j = (np.rint(quantise(at) * FINE).astype(np.int64) for at in (row, column))
    inside = (i >= 0) & (i < fine[0]) & (j >= 0) & (j < fine[1])
    place = i[inside] * fine[1] + j[inside]
    return _highest(place, quantise(height[inside], _GRID).astype(np.float32), fine)


def _highest(place: NDArray[np.int64], height: Grid, fine: tuple[int, int]) -> Grid:
    canvas = np.zeros(fine[0] * fine[1], dtype=np.float32)
    np.maximum.at(canvas, place, height)
    return canvas.reshape(fine)
