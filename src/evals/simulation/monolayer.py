"""Adherent cells on the bottom of a dish: where they sit, and which ground each of them holds.

A cell is a nucleus and a body that would spread freely to an irregular ellipse. Where bodies meet,
a point belongs to the cell in whose body it lies relatively deepest, which gives the curved borders
of cells in contact. Only sums, products, quotients and square roots decide a border, so that it is
the same on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise
from evals.simulation.scatter import candidates, keep_apart
from evals.simulation.shapes import Blobs, Samples, draw_blobs, rasterise
from evals.simulation.texture import smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRIES_PER_PLACE = 8  # enough for a packing that is almost as dense as it gets
_DEPTH_STEPS = 2**15
_SQUEEZED_DEPTH = 0.15  # of a nucleus that juts into its neighbour's ground


@dataclass(frozen=True)
class Form:
    """What the cells of a line look like; lengths in pixels.

    Attributes
    ----------
    nucleus_px
        Mean radius of a nucleus; single ones vary by `nucleus_cv`.
    nucleus_cv
        Standard deviation of the nuclear radius as a share of the mean.
    nucleus_elongation, body_elongation
        Lowest and highest ratio of the axes.
    body_reach
        Lowest and highest radius of a free body in radii of its nucleus.
    roughness
        Irregularity of the body's outline, see `draw_blobs`.
    room
        Mean least distance of neighbouring nuclei in nuclear diameters; single ones vary.
    sisters
        Share of cells that have just divided, nucleus beside nucleus.
    """

    nucleus_px: float
    nucleus_cv: float
    nucleus_elongation: tuple[float, float]
    body_reach: tuple[float, float]
    body_elongation: tuple[float, float]
    roughness: float
    room: float
    sisters: float


@dataclass(frozen=True)
class Monolayer:
    """Cells of a field and its margin; row k of both is cell k."""

    nuclei: Blobs
    bodies: Blobs

    def __len__(self) -> int:
        return len(self.nuclei)

    def take(self, chosen: NDArray[Any] | slice) -> Monolayer:
        """Return the chosen cells, by mask, indices or slice."""
        return Monolayer(self.nuclei.take(chosen), self.bodies.take(chosen))


@dataclass(frozen=True)
class Territories:
    """Which cell holds each sample of a grid, all arrays (Y, X).

    Attributes
    ----------
    cell
        Cell whose body, nucleus included, lies here; -1 for bare ground.
    nucleus
        Cell whose nucleus lies here; -1 elsewhere.
    depth
        How deep inside the cell, 0 at its edge to 1: distance as a share of the body's radius.
    inner
        Distance from the nucleus' centre as a share of its radius, 1 outside nuclei.
    """

    cell: NDArray[np.int32]
    nucleus: NDArray[np.int32]
    depth: NDArray[np.float32]
    inner: NDArray[np.float32]


def grow_monolayer(
    rng: np.random.Generator,
    shape: tuple[int, int],
    form: Form,
    *,
    cover: float,
    margin: float,
    patch_px: float = 60.0,
) -> Monolayer:
    """Seed cells in patches and spread a body round each nucleus.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns of the field in pixels.
    form
        The cells' looks.
    cover
        Share of the field where cells can sit: 1 is confluent, low values leave islands.
    margin
        Width in pixels of the strip round the field that holds cells too.
    patch_px
        Scale of the islands.
    """
    points = _seats(rng, shape, form, cover, margin, patch_px)
    radius = form.nucleus_px * (1 + form.nucleus_cv * _clipped(rng, len(points)))
    points, radius = _divide(rng, points, radius, form)
    count = len(points)
    nuclei = draw_blobs(
        rng,
        points[:, 0],
        points[:, 1],
        radius=radius,
        elongation=rng.uniform(*form.nucleus_elongation, count),
        roughness=0.03,
    )
    reach = radius * rng.uniform(*form.body_reach, count)
    # The nucleus sits off the body's middle, by as much as leaves cytoplasm on each side.
    shift = quantise(0.35 * rng.uniform(-1, 1, (count, 2)) * (reach - radius)[:, None])
    bodies = draw_blobs(
        rng,
        points[:, 0] + shift[:, 0],
        points[:, 1] + shift[:, 1],
        radius=reach,
        elongation=rng.uniform(*form.body_elongation, count),
        roughness=form.roughness,
    )
    return Monolayer(nuclei, bodies)


def _seats(
    rng: np.random.Generator,
    shape: tuple[int, int],
    form: Form,
    cover: float,
    margin: float,
    patch_px: float,
) -> NDArray[np.float64]:
    """Place nuclei in the patches of the padded field, at random but apart."""
    pad = int(margin)
    padded = (shape[0] + 2 * pad, shape[1] + 2 * pad)
    relief = quantise(smooth_noise(rng, padded, patch_px))
    threshold = np.quantile(relief, 1 - cover) if cover < 1 else -np.inf
    mask = relief >= threshold
    least = 2 * form.room * form.nucleus_px
    tries = int(_TRIES_PER_PLACE * np.count_nonzero(mask) / least**2) + 1
    points = candidates(rng, mask, tries)
    room = least * (1 + 0.25 * _clipped(rng, len(points)))
    return quantise(points[keep_apart(points, room)] - pad)


def _divide(
    rng: np.random.Generator, points: NDArray[np.float64], radius: NDArray[np.float64], form: Form
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give some cells a sister beside them; both are smaller than before."""
    chosen = rng.random(len(points)) < form.sisters
    radius = np.where(chosen, 0.86 * radius, radius)
    turn = rng.standard_normal((len(points), 2))
    turn /= np.maximum(np.sqrt(turn[:, :1] ** 2 + turn[:, 1:] ** 2), 1e-6)
    # Two nuclei of about one radius, from just touching to a small gap.
    gap = 2 * radius * rng.uniform(0.98, 1.25, len(points))
    born = quantise(points + turn * gap[:, None])[chosen]
    every, size = np.concatenate([points, born]), np.concatenate([radius, radius[chosen]])
    kept = keep_apart(every, 1.9 * size)
    return every[kept], quantise(size[kept])


def _clipped(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    return np.clip(rng.standard_normal(count), -2.2, 2.2)


def hold_ground(cells: Monolayer, shape: tuple[int, int], fine: int) -> Territories:
    """Share out the ground among cells.

    Parameters
    ----------
    cells
        Cells in pixels.
    shape
        Rows and columns of the field in pixels.
    fine
        Samples per pixel along each axis. With an odd number the middle sample of a pixel is its
        centre.

    Returns
    -------
    Territories
        On a grid of `shape * fine`. A body is in one piece with its nucleus; parts that other
        cells cut off are bare.
    """
    grid = (shape[0] * fine, shape[1] * fine)
    size = grid[0] * grid[1]
    (body, _), (out, rival) = _deepest(rasterise(cells.bodies, shape, fine), size)
    (nucleus, _), (inner, _) = _deepest(rasterise(cells.nuclei, shape, fine), size)
    inside = nucleus >= 0
    depth = np.where(body >= 0, rival - out, np.float32(0))
    depth = np.where(inside & (body != nucleus), np.float32(_SQUEEZED_DEPTH), depth)
    cell = np.where(inside, nucleus, body)
    whole = _in_one_piece(cell.reshape(grid), inside.reshape(grid)).ravel()
    return Territories(
        cell=np.where(whole, cell, -1).reshape(grid),
        nucleus=nucleus.reshape(grid),
        depth=np.where(whole, depth, np.float32(0)).reshape(grid),
        inner=inner.reshape(grid),
    )


def _deepest(
    samples: Samples, size: int
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.float32]]]:
    """Return at each sample the two objects in which it lies deepest, and how far out in them.

    Where there is none, the object is -1 and the distance 1.
    """
    steps = (samples.rho * np.float32(_DEPTH_STEPS)).astype(np.uint16)
    # Written from the outermost to the innermost: the last one stays.
    order = np.argsort(steps, kind="stable")[::-1]
    owner = samples.owner.astype(np.int32)
    owners, distances = [], []
    for _ in range(2):
        first = np.full(size, -1, dtype=np.int32)
        distance = np.ones(size, dtype=np.float32)
        first[samples.place[order]] = owner[order]
        distance[samples.place[order]] = samples.rho[order]
        owners.append(first)
        distances.append(distance)
        order = order[owner[order] != first[samples.place[order]]]
    return owners, distances


def _in_one_piece(cell: NDArray[np.int32], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which samples hang together with a nucleus of their own cell."""
    from skimage.measure import label

    pieces = label(cell + 1, background=0, connectivity=1)  # type: ignore[no-untyped-call]
    rooted = np.zeros(int(pieces.max()) + 1, dtype=bool)
    rooted[pieces[inside]] = True
    rooted[0] = False
    return np.asarray(rooted[pieces])
