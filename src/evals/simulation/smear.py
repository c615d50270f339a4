"""White blood cells and cells of a breast cancer line on a slide, stained in four colours.

Nuclei carry DNA with denser grains of chromatin; Bodipy lies in membranes and droplets;
cytokeratins form a cage of filaments round the nucleus of epithelial cells; CD45 sits in patches on
the membrane of leukocytes. Everything belongs to the cells and not to a picture, so that a tile and
its neighbour see the same grains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise, stream
from evals.simulation.scatter import keep_apart, thomas_points
from evals.simulation.shapes import Blobs, deposit, draw_blobs, rasterise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Field = NDArray[np.float64]

WBC, MCF7 = 0, 1
CHANNELS = ("Bodipy", "PanCK", "DAPI", "CD45")
BODIPY, PANCK, DAPI, CD45 = range(4)
# Profiles along the relative radius of an outline.
DOME, DISC, SHELL = range(3)


@dataclass(frozen=True)
class Biology:
    """How MCF7 cells differ from leukocytes, as factors; 1 is no difference.

    The populations keep their markers, cytokeratin and CD45, by which they are defined.

    Attributes
    ----------
    size
        Radius of cell and nucleus.
    lipid
        Light of Bodipy.
    droplets
        Number of lipid droplets.
    dna
        Light of DAPI per area.
    """

    size: float = 1.7
    lipid: float = 2.2
    droplets: float = 4.0
    dna: float = 0.85


@dataclass(frozen=True)
class Layer:
    """Objects of one channel and profile that belong to cells.

    Attributes
    ----------
    channel, profile
        What they are drawn in and how.
    outlines
        Their shapes, in pixels of the slide.
    light
        Light per pixel of each, shape (n,), 1 being a bright structure.
    depth_um
        Their height above the middle slice, shape (n,).
    """

    channel: int
    profile: int
    outlines: Blobs
    light: Field
    depth_um: Field


@dataclass(frozen=True)
class Smear:
    """All cells of a slide.

    Attributes
    ----------
    kind
        WBC or MCF7 of each cell, shape (n,).
    nuclei
        Outlines of their nuclei in pixels of the slide.
    layers
        What glows.
    """

    kind: NDArray[np.int64]
    nuclei: Blobs
    layers: tuple[Layer, ...]


def spread_cells(
    seed: int, extent_px: float, margin_px: float, count: int, pixel_um: float, biology: Biology
) -> Smear:
    """Put cells on a square of a slide, in loose clumps and with empty areas between.

    Parameters
    ----------
    seed
        Of the scene.
    extent_px, margin_px
        Width of the square, and of the strip round it that holds cells too.
    count
        About how many cells the square holds; half of them are leukocytes.
    pixel_um
        Width of a pixel.
    biology
        Differences between the populations.
    """
    rng = stream(seed, 0)
    wide = extent_px + 2 * margin_px
    wanted = 3.0 * count * (wide / extent_px) ** 2
    # Clumps of a dozen cells, of which the crowded ones lose some again.
    points = thomas_points(
        rng, (wide, wide), parents=max(2, round(wanted / 16)), children=16.0, spread=20 / pixel_um
    )
    kind = rng.integers(0, 2, len(points))
    grown = np.where(kind == MCF7, biology.size, 1.0)
    radius = 5.0 / pixel_um * grown * np.exp(0.08 * rng.standard_normal(len(points)))
    inside = ((points > 0) & (points < wide)).all(axis=1)
    kept = inside & keep_apart(points, quantise(1.75 * radius))
    points, kind, radius = points[kept] - margin_px, kind[kept], radius[kept]
    return _stained(seed, points, kind, radius, extent_px, biology)


def _stained(
    seed: int,
    points: Field,
    kind: NDArray[np.int64],
    radius: Field,
    extent_px: float,
    biology: Biology,
) -> Smear:
    rng, count = stream(seed, 1), len(points)
    cancer = kind == MCF7
    bodies = draw_blobs(
        rng, *points.T, radius=radius, elongation=rng.uniform(1, 1.3, count), roughness=0.04
    )
    reach = radius[:, None] * 0.12 * rng.uniform(-1, 1, (count, 2))
    nuclei = draw_blobs(
        rng,
        *(points + reach).T,
        radius=radius * rng.uniform(0.64, 0.74, count),
        elongation=rng.uniform(1, 1.35, count),
        roughness=0.05,
    )
    # The slide is tilted a little; cells lie on it with their middle some micrometres up.
    tilt = 4.0 * rng.uniform(-1, 1, 2)
    depth = (points / extent_px - 0.5) @ tilt + rng.uniform(-1.5, 1.5, count)
    vary = np.exp(0.25 * rng.standard_normal((count, 4)))
    lipid = vary[:, BODIPY] * np.where(cancer, biology.lipid, 1.0) * 0.22
    keratin = vary[:, PANCK] * np.where(cancer, 0.6, 0.03)
    dna = vary[:, DAPI] * np.where(cancer, biology.dna, 1.0) * 0.6
    cd45 = vary[:, CD45] * np.where(cancer, 0.02, 0.7)

    def layer(channel: int, profile: int, outlines: Blobs, light: Field, depth_um: Field) -> Layer:
        return Layer(channel, profile, outlines, quantise(light, 2.0**-12), quantise(depth_um))

    def grains(
        channel: int,
        hosts: Blobs,
        number: Field,
        size_px: tuple[float, float],
        long: float,
        ring: tuple[float, float],
        light: Field,
    ) -> Layer:
        owner, blobs = _grains(rng, hosts, number, size_px, long, ring)
        bright = light[owner] * rng.uniform(0.4, 1.6, len(owner))
        return layer(channel, DISC, blobs, bright, depth[owner])

    droplets = np.where(cancer, biology.droplets, 1.0) * 7
    layers = (
        layer(BODIPY, DOME, bodies, lipid, depth),
        grains(BODIPY, bodies, droplets, (0.8, 1.8), 1.0, (0.3, 0.95), 4 * lipid),
        layer(PANCK, DOME, bodies, 0.5 * keratin, depth),
        grains(PANCK, bodies, np.where(cancer, 45.0, 3.0), (0.8, 1.4), 7.0, (0.2, 0.95), keratin),
        layer(DAPI, DISC, nuclei, dna, depth),
        grains(DAPI, nuclei, np.where(cancer, 12.0, 7.0), (1.0, 2.4), 1.3, (0.0, 0.85), dna),
        layer(CD45, DOME, bodies, 0.35 * cd45, depth),
        layer(CD45, SHELL, bodies, cd45, depth),
        grains(CD45, bodies, np.full(count, 22.0), (0.8, 1.6), 1.5, (0.4, 1.0), cd45),
        *_debris(stream(seed, 2), points, extent_px),
    )
    return Smear(kind, nuclei, layers)


def _grains(
    rng: np.random.Generator,
    hosts: Blobs,
    number: Field,
    size_px: tuple[float, float],
    long: float,
    ring: tuple[float, float],
) -> tuple[NDArray[np.int64], Blobs]:
    """Scatter small objects in their hosts, between two relative radii."""
    owner = np.repeat(np.arange(len(hosts)), rng.poisson(quantise(number)))
    turn = rng.uniform(0, 2 * np.pi, len(owner))
    far = np.sqrt(rng.uniform(ring[0] ** 2, ring[1] ** 2, len(owner))) * hosts.radius[owner]
    y, x = hosts.y[owner] + far * np.sin(turn), hosts.x[owner] + far * np.cos(turn)
    angle = turn + np.pi / 2 + 0.4 * rng.standard_normal(len(owner))
    radius = rng.uniform(*size_px, len(owner))
    stretch = rng.uniform(1, long, len(owner)) if long > 1 else 1.0
    return owner, draw_blobs(rng, y, x, radius=radius, elongation=stretch, angle=angle)


def _debris(rng: np.random.Generator, points: Field, extent_px: float) -> list[Layer]:
    """Scatter dirt that glows in all channels and is no cell."""
    count = max(3, len(points) // 12)
    y, x = rng.uniform(0, extent_px, (2, count))
    specks = draw_blobs(
        rng,
        y,
        x,
        radius=rng.uniform(1, 3.5, count),
        elongation=rng.uniform(1, 3, count),
        roughness=0.15,
    )
    light = quantise(rng.uniform(0.1, 0.9, (4, count)), 2.0**-12)
    height = quantise(rng.uniform(-4, 4, count))
    return [Layer(channel, DISC, specks, light[channel], height) for channel in range(4)]


@dataclass(frozen=True)
class Lens:
    """A field of view: where it lies and how colours are displaced in it.

    Attributes
    ----------
    corner
        Its upper left corner on the slide (y, x).
    size_px, oversample
        Width of the field, and samples per pixel.
    shift_px, magnification
        Of each channel, shape (4, 2) and (4,): displacement, and enlargement about the middle
        less 1.
    slices_um
        Heights of the slices.
    """

    corner: Field
    size_px: int
    oversample: int
    shift_px: Field
    magnification: Field
    slices_um: tuple[float, ...]


def draw_channel(smear: Smear, lens: Lens, channel: int) -> NDArray[np.float32]:
    """Return the light of one channel before the optics, shape (slices, Y, X), oversampled.

    A structure out of a slice's plane is dimmer there, as behind a pinhole.
    """
    shape, factor = (lens.size_px, lens.size_px), lens.oversample
    wide = (lens.size_px * factor, lens.size_px * factor)
    light = np.zeros((len(lens.slices_um), *wide), np.float32)
    middle = (lens.size_px - 1) / 2
    for layer in smear.layers:
        if layer.channel != channel:
            continue
        own = layer.outlines
        enlarged = 1 + lens.magnification[channel]
        y, x = (
            (value - corner - middle) * enlarged + middle + shift
            for value, corner, shift in zip(
                (own.y, own.x), lens.corner, lens.shift_px[channel], strict=True
            )
        )
        samples = rasterise(replace(own, y=quantise(y), x=quantise(x)), shape, factor)
        profile = _profile(layer.profile, samples.rho)
        for index, height in enumerate(lens.slices_um):
            bright = layer.light / (1 + ((layer.depth_um - height) / 3.5) ** 2)
            light[index] += deposit(samples, bright[samples.owner] * profile, wide)
    return light


def _profile(kind: int, rho: NDArray[np.float32]) -> NDArray[np.float32]:
    if kind == DOME:
        return np.asarray(np.sqrt(np.maximum(1 - rho * rho, 0)), np.float32)
    if kind == SHELL:
        ring = 1 - np.abs(rho - np.float32(0.93)) / np.float32(0.12)
        return np.asarray(np.maximum(ring, 0), np.float32)
    return np.ones_like(rho)
