"""Layout of a gland's section: tubes or acini side by side, stroma between, special regions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.scatter import keep_apart
from evals.simulation.shapes import draw_blobs, rasterise
from evals.simulation.texture import enlarge, smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAD = 48  # margin drawn round the field and cut away, so that nothing ends at its border


@dataclass(frozen=True)
class Organ:
    """Dimensions of an organ's units in pixels (a unit: a tubule or an acinus in section).

    Attributes
    ----------
    unit_radius
        Mean radius of a unit.
    gap
        Width of the stroma between neighbours.
    cell_height
        Lowest and highest height of the epithelium, from basement membrane to lumen.
    nest_radius
        Radius of a glomerulus or an islet.
    nest_space
        Width of the empty space round a nest (Bowman's space), or 0.
    """

    unit_radius: float
    gap: float
    cell_height: tuple[float, float]
    nest_radius: float
    nest_space: float


@dataclass(frozen=True)
class Tissue:
    """Where each kind of tissue lies; maps of one padded field, shape (Y, X).

    Attributes
    ----------
    unit
        Number of the unit, 0 outside all.
    depth
        Distance from the basement membrane inside units, in cell heights of that unit.
    distance
        Relative distance from the nearest unit's centre; its gradient points outwards.
    lumen, stroma, nest, lymphoid, vessel
        Masks that exclude each other and the epithelium.
    """

    unit: NDArray[np.int64]
    depth: NDArray[np.float32]
    distance: NDArray[np.float32]
    lumen: NDArray[np.bool_]
    stroma: NDArray[np.bool_]
    nest: NDArray[np.bool_]
    lymphoid: NDArray[np.bool_]
    vessel: NDArray[np.bool_]

    @property
    def epithelium(self) -> NDArray[np.bool_]:
        """Units without their lumen."""
        return (self.unit > 0) & ~self.lumen

    def cropped(self) -> Tissue:
        """Return the field without its margin."""
        inner = slice(PAD, -PAD)
        return Tissue(*(getattr(self, field.name)[inner, inner] for field in fields(self)))


def lay_out(
    rng: np.random.Generator, organ: Organ, size: int, *, nest: bool, lymphoid: bool, vessel: bool
) -> Tissue:
    """Arrange a square field of tissue.

    Parameters
    ----------
    rng
        Random stream.
    organ
        Dimensions.
    size
        Side of the field in pixels, without the margin `PAD`.
    nest, lymphoid, vessel
        Which special regions the field shows.

    Returns
    -------
    Tissue
        Maps of side `size + 2 * PAD`.
    """
    from scipy import ndimage

    side = size + 2 * PAD
    first, second, unit = _nearest_units(rng, organ, side)
    core = 1 - organ.nest_space / organ.nest_radius
    in_nest, space = _region(
        rng,
        side,
        radius=organ.nest_radius,
        core=core,
        elongation=1.2,
        roughness=0.06,
        wanted=nest,
    )
    infiltrate, _ = _region(
        rng,
        side,
        radius=0.16 * size,
        core=1.0,
        elongation=1.5,
        roughness=0.15,
        wanted=lymphoid,
    )
    infiltrate &= ~in_nest & ~space
    blood, wall = _region(
        rng, side, radius=52.0, core=0.8, elongation=3.0, roughness=0.05, wanted=vessel
    )
    blood &= ~in_nest & ~space & ~infiltrate
    taken = in_nest | space | infiltrate | blood | wall
    free = (second - first) * organ.unit_radius > organ.gap
    interior = free & (first < 1.15) & ~taken
    thickness = rng.uniform(*organ.cell_height, unit.max() + 1)[unit]
    ragged = 1 + 0.12 * smooth_noise(rng, (side, side), 3.0)
    depth = ndimage.distance_transform_edt(interior) / (thickness * ragged)
    lumen = (interior & (depth > 1)) | space
    solid = in_nest | infiltrate | blood
    return Tissue(
        unit=np.where(interior, unit + 1, 0),
        depth=depth.astype(np.float32),
        distance=first,
        lumen=lumen,
        stroma=~interior & ~space & ~solid,
        nest=in_nest,
        lymphoid=infiltrate,
        vessel=blood,
    )


def _nearest_units(
    rng: np.random.Generator, organ: Organ, side: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Distances to the nearest and next unit in units of their radii, and which is nearest."""
    edge = organ.unit_radius
    tries = rng.uniform(-edge, side + edge, (600, 2))
    centres = tries[keep_apart(tries, 1.6 * organ.unit_radius)].astype(np.float32)
    radii = (organ.unit_radius * rng.uniform(0.85, 1.15, len(centres))).astype(np.float32)
    coarse = side // 2 + 1
    warp = [0.1 * organ.unit_radius * smooth_noise(rng, (coarse, coarse), 9.0) for _ in range(2)]
    grid = 2 * np.arange(coarse, dtype=np.float32)
    y, x = grid[:, None] + warp[0], grid[None, :] + warp[1]
    first = np.full((coarse, coarse), np.inf, dtype=np.float32)
    second, nearest = first.copy(), np.zeros((coarse, coarse), dtype=np.int64)
    for index in range(len(centres)):
        dy, dx = y - centres[index, 0], x - centres[index, 1]
        squared = (dy * dy + dx * dx) / radii[index] ** 2
        nearest[squared < first] = index
        second = np.minimum(second, np.maximum(first, squared))
        first = np.minimum(first, squared)
    owner = np.repeat(np.repeat(nearest[:-1, :-1], 2, axis=0), 2, axis=1)
    return enlarge(np.sqrt(first), 2), enlarge(np.sqrt(second), 2), owner


def _region(
    rng: np.random.Generator,
    side: int,
    *,
    radius: float,
    core: float,
    elongation: float,
    roughness: float,
    wanted: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """One special region somewhere in the middle: its core up to a share of the radius, its rim.

    The outline is drawn in any case, so that what follows in the stream stays the same.
    """
    centre = side * rng.uniform(0.25, 0.75, (2, 1))
    blob = draw_blobs(rng, *centre, radius=radius, elongation=elongation, roughness=roughness)
    masks = np.zeros((2, side * side), dtype=bool)
    if wanted:
        samples = rasterise(blob, (side, side))
        masks[0, samples.place] = samples.rho < core
        masks[1, samples.place] = samples.rho >= core
    inner, rim = masks.reshape(2, side, side)
    return inner, rim
