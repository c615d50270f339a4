"""Where nuclei sit in a tissue section and what each of them looks like."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise
from evals.simulation.scatter import candidates, keep_apart
from evals.simulation.shapes import Blobs, draw_blobs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.tissue import Tissue

_TRIES_PER_PLACE = 10  # enough for a packing that is almost as dense as it gets


@dataclass(frozen=True)
class Kind:
    """One cell type's nuclei, in pixels and in amounts of hematoxylin.

    Attributes
    ----------
    radius
        Mean radius of the disc of equal area; single nuclei vary by 9 %.
    elongation
        Lowest and highest ratio of the axes.
    room
        Least distance of neighbours in diameters.
    share
        Share of places that hold a nucleus (the section misses the others).
    stain
        Mean amount of hematoxylin; single nuclei vary by 24 %.
    """

    radius: float
    elongation: tuple[float, float]
    room: float
    share: float
    stain: float


@dataclass(frozen=True)
class Nuclei:
    """Nuclei of a field, later ones above earlier ones.

    Attributes
    ----------
    outlines
        Positions in the padded field and shapes.
    stain
        Amount of hematoxylin of each, shape (n,).
    vesicular
        Open chromatin with a nucleolus (epithelium) or dense, shape (n,).
    """

    outlines: Blobs
    stain: NDArray[np.float64]
    vesicular: NDArray[np.bool_]

    def shifted(self, by: float) -> Nuclei:
        """Return the same nuclei with centres moved by `by` pixels along both axes."""
        moved = replace(self.outlines, y=self.outlines.y + by, x=self.outlines.x + by)
        return replace(self, outlines=moved)


def populate(
    rng: np.random.Generator, tissue: Tissue, kinds: dict[str, Kind], crowding: float
) -> Nuclei:
    """Place nuclei: basal in epithelium, along the stroma, dense in nests and infiltrates.

    Parameters
    ----------
    rng
        Random stream.
    tissue
        Layout of the padded field.
    kinds
        Types by region: epithelium, stroma, nest, lymphoid.
    crowding
        Factor on every least distance; below about .9 nuclei overlap.
    """
    basal = tissue.epithelium & (abs(tissue.depth - 0.42) < 0.12)
    regions = {
        "lymphoid": tissue.lymphoid,
        "nest": tissue.nest,
        "epithelium": basal,
        "stroma": tissue.stroma,
    }
    drawn = [_propose(rng, regions[name], kinds[name]) for name in regions]
    points, radius, stretch, stain, room, shown = (
        np.concatenate(part) for part in zip(*drawn, strict=True)
    )
    name_of = np.repeat([*regions], [len(part[0]) for part in drawn])
    keep = keep_apart(points, crowding * room) & shown
    points, name_of = points[keep], name_of[keep]
    outlines = draw_blobs(
        rng,
        points[:, 0],
        points[:, 1],
        radius=radius[keep],
        elongation=stretch[keep],
        angle=_directions(rng, tissue, points, along=name_of == "stroma"),
        roughness=0.05,
    )
    amount = quantise(np.maximum(stain[keep], 0.05))
    return _shuffled(rng, Nuclei(outlines, amount, name_of == "epithelium"))


def _propose(
    rng: np.random.Generator, region: NDArray[np.bool_], kind: Kind
) -> tuple[NDArray[Any], ...]:
    """Draw more nuclei than there is room for: place, radius, stretch, stain, room, shown."""
    room = 2 * kind.room * kind.radius
    tries = int(_TRIES_PER_PLACE * np.count_nonzero(region) / room**2)
    places = candidates(rng, region, tries)
    spread = np.clip(rng.standard_normal((2, tries)), -2.5, 2.5)
    radius = kind.radius * (1 + 0.09 * spread[0])
    stain = kind.stain * (1 + 0.24 * spread[1])
    stretch = rng.uniform(*kind.elongation, tries)
    shown = rng.random(tries) < kind.share
    return places, radius, stretch, stain, 2 * kind.room * radius, shown


def _directions(
    rng: np.random.Generator,
    tissue: Tissue,
    points: NDArray[np.float64],
    along: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Any direction, but along the border of the next unit for spindle cells of the stroma."""
    side = tissue.distance.shape[0]
    row, column = np.clip(np.rint(points).astype(np.int64), 1, side - 2).T
    distance = tissue.distance.astype(np.float64)
    slope_y = distance[row + 1, column] - distance[row - 1, column]
    slope_x = distance[row, column + 1] - distance[row, column - 1]
    tangent = np.arctan2(slope_y, slope_x) + np.pi / 2
    return np.where(along, tangent, rng.uniform(0, np.pi, len(points)))


def _shuffled(rng: np.random.Generator, nuclei: Nuclei) -> Nuclei:
    order = rng.permutation(len(nuclei.outlines))
    return Nuclei(nuclei.outlines.take(order), nuclei.stain[order], nuclei.vesicular[order])
