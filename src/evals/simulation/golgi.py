"""One cultured cell with nucleus, Golgi ribbon and vesicles, as a confocal section shows it.

Components are light per compartment on the pixel grid, blurred by the optics and without noise;
what a channel shows is a mixture of them. All lengths follow the cell's size but the point spread
function and the width of the ribbon, which are those of the microscope and of a stack of cisternae.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import bin_mean, gaussian_psf_blur
from evals.simulation.quantise import quantise
from evals.simulation.shapes import Blobs, deposit, draw_blobs, rasterise
from evals.simulation.texture import bent_lines, smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

FINE = 2  # samples per pixel; outlines of small cells are sampled at twice that
MARGIN_PX = 9
# Confocal at NA 1.4 and 0.5 to 0.6 µm: FWHM near 0.21 µm, three pixels of 70.6 nm.
PSF_PX = 1.25
RIBBON_PX = 1.0
_FINE_STEP = 2.0**-12
_WIDE_PX = 400  # from here on outlines are sampled once per fine sample, to bound the memory


@dataclass(frozen=True)
class Golgi:
    """How the Golgi lies in the cell.

    Attributes
    ----------
    ribbons
        Number of cisternal stacks.
    spread
        Standard deviation of their places as a share of the cell's radius: 0.12 for a compact
        Golgi, more for a fragmented one.
    vesicles
        Number of carriers round it.
    """

    ribbons: int
    spread: float
    vesicles: int


@dataclass(frozen=True)
class Section:
    """Light of a cell's compartments, each about 1 where it is bright; arrays (Y, X) in pixels.

    Attributes
    ----------
    inside
        Pixels of which at least half belong to the cell.
    body
        The cell's thickness in the section, thinner over the nucleus.
    golgi
        What a Golgi marker stains: ribbons, some carriers, and the haze of the secretory pathway.
    secretory
        Where a glycoprotein on its way through the Golgi is: ribbons, carriers of its own, the
        compartment between them and the reticulum.
    reticulum
        Fine network of the endoplasmic reticulum, with the envelope of the nucleus.
    unspecific
        What a poor antibody stains: cytoplasm and, a little more, the nucleus.
    patches
        Sheets and endosomes that lie anywhere but at the Golgi, and the plasma membrane.
    clusters
        Round bodies in the cytoplasm.
    beyond
        Another cell at the border of the picture; it does not touch this one.
    """

    inside: NDArray[np.bool_]
    body: Grid
    golgi: Grid
    secretory: Grid
    reticulum: Grid
    unspecific: Grid
    patches: Grid
    clusters: Grid
    beyond: Grid


@dataclass(frozen=True)
class _Layout:
    """The cell on the fine grid: outline and nucleus, and where its Golgi is, in pixels."""

    side: int
    radius: float
    cover: Grid  # share of each fine sample within the cell
    thickness: Grid
    nucleus: Grid
    centre: NDArray[np.float64]

    @property
    def fine(self) -> tuple[int, int]:
        return (self.side * FINE, self.side * FINE)


def draw_section(rng: np.random.Generator, radius_px: float, golgi: Golgi) -> Section:
    """Draw a cell and its compartments, cut out with a margin of 9 px.

    Parameters
    ----------
    rng
        Random stream of the cell.
    radius_px
        Radius of the disc of the cell's area in pixels.
    golgi
        How its Golgi lies.
    """
    layout, beyond = _lay_out(rng, radius_px)
    cytoplasm = layout.cover * (1 - layout.nucleus)
    ribbon = _ribbons(rng, layout, golgi) * cytoplasm
    haze = _nearness(layout, 0.38) * cytoplasm
    shared, own, foreign = (
        _spots(rng, layout, round(golgi.vesicles * share), reach) * cytoplasm
        for share, reach in ((1.0, 0.32), (0.8, 0.36), (0.7, 0.8))
    )
    body = layout.thickness * (1 - np.float32(0.55) * layout.nucleus)
    mottle = np.float32(1) + np.float32(0.30) * _noise(rng, layout, 0.045)
    other_mottle = _positive(1 + np.float32(0.42) * _noise(rng, layout, 0.06))
    er = _positive(1 + np.float32(0.55) * _noise(rng, layout, 0.016))
    er = er * cytoplasm * (np.float32(0.6) + np.float32(0.4) * layout.thickness)
    patches = _positive(_noise(rng, layout, 0.055)) + np.float32(0.6) * foreign
    patches *= cytoplasm * (1 - np.float32(0.7) * _nearness(layout, 0.25))
    # The plasma membrane, seen from its side, is the brightest part of what passes by the Golgi.
    inward = gaussian_psf_blur(bin_mean(layout.cover, FINE), 0.09 * radius_px)
    rim = layout.cover * (1 - inward.repeat(FINE, axis=0).repeat(FINE, axis=1))
    patches = patches + np.float32(1.6) * rim * _positive(
        1 + np.float32(0.5) * _noise(rng, layout, 0.1)
    )
    drawn = {
        "body": body,
        "golgi": ribbon + np.float32(0.45) * shared + np.float32(0.22) * mottle * haze,
        # Cisternae of the two stains differ: the overlap of ribbons is not complete.
        "secretory": ribbon * _positive(1 + np.float32(0.45) * _noise(rng, layout, 0.02))
        + np.float32(0.25) * shared
        + np.float32(0.35) * own
        + np.float32(0.28) * haze * _positive(1 + np.float32(0.4) * _noise(rng, layout, 0.035)),
        "reticulum": er,
        "unspecific": layout.thickness * (1 + np.float32(0.45) * layout.nucleus) * other_mottle,
        "patches": patches,
        "clusters": _spots(rng, layout, 3 * golgi.ribbons, 0.45, sigma_px=2.2) * cytoplasm,
        "beyond": beyond,
    }
    seen = {name: _observed(light) for name, light in drawn.items()}
    inside = bin_mean(layout.cover, FINE) >= 0.5
    frame = _frame(inside)
    return Section(inside[frame], **{name: light[frame] for name, light in seen.items()})


def _lay_out(rng: np.random.Generator, radius: float) -> tuple[_Layout, Grid]:
    """Place outline, nucleus and Golgi in a square that holds the cell; and its neighbour."""
    stretch = float(quantise(rng.uniform(1.05, 1.6)))
    side = 2 * int(1.32 * radius * np.sqrt(stretch))
    middle = np.full(1, side / 2)
    cell = draw_blobs(rng, middle, middle, radius=radius, elongation=stretch, roughness=0.055)
    turn = rng.uniform(0, 2 * np.pi)
    away = quantise([np.sin(turn), np.cos(turn)], _FINE_STEP)
    place = middle + 0.16 * radius * away
    nucleus = draw_blobs(
        rng, place[:1], place[1:], radius=0.40 * radius, elongation=1.25, roughness=0.03
    )
    # The Golgi sits beside the nucleus, where there is more cytoplasm.
    swing = turn + np.pi + rng.uniform(-0.5, 0.5)
    centre = place + 0.52 * radius * quantise([np.sin(swing), np.cos(swing)], _FINE_STEP)
    cover, thickness = _fill(cell, side)
    round_nucleus, _ = _fill(nucleus, side)
    layout = _Layout(side, radius, cover, thickness, round_nucleus, centre)
    return layout, _neighbour(rng, layout)


def _fill(blob: Blobs, side: int) -> tuple[Grid, Grid]:
    """Return how far each sample is covered, and a flattened cap over it."""
    block = 2 if side < _WIDE_PX else 1
    samples = rasterise(blob, (side, side), block * FINE)
    cap = np.sqrt(np.float32(1.02) - samples.rho * samples.rho)
    fine = (side * FINE, side * FINE)
    return deposit(samples, np.ones_like(cap), fine, block), deposit(samples, cap, fine, block)


def _neighbour(rng: np.random.Generator, layout: _Layout) -> Grid:
    """Draw the blurred border of another cell, at a gap from this one."""
    corner = quantise(rng.choice([-1.0, 1.0], 2) * rng.uniform(0.9, 1.15, 2))
    place = layout.side / 2 + layout.radius * corner
    other = draw_blobs(
        rng, place[:1], place[1:], radius=0.62 * layout.radius, elongation=1.3, roughness=0.06
    )
    cover, thickness = _fill(other, layout.side)
    near = gaussian_psf_blur(layout.cover, 3.5 * FINE) > 0.02  # within about two of its sigmas
    return np.asarray(thickness * cover * ~near, dtype=np.float32)


def _ribbons(rng: np.random.Generator, layout: _Layout, golgi: Golgi) -> Grid:
    start = layout.centre + golgi.spread * layout.radius * rng.standard_normal((golgi.ribbons, 2))
    shape = (layout.side, layout.side)
    lines = bent_lines(rng, shape, quantise(start), 0.17 * layout.radius, FINE)
    sigma = (RIBBON_PX + layout.radius / 200) * FINE
    # A line blurred by sigma keeps 1 / (sigma sqrt(2 pi)) of its height.
    height = np.float32(sigma * np.sqrt(2 * np.pi))
    drawn = gaussian_psf_blur(lines, sigma) * height
    return np.asarray(np.minimum(drawn, np.float32(2.5)), dtype=np.float32)


def _spots(
    rng: np.random.Generator, layout: _Layout, count: int, reach: float, sigma_px: float = 0.9
) -> Grid:
    """Scatter round bodies about the Golgi, normally with `reach` as a share of the radius."""
    middle = layout.centre if reach < 0.6 else np.full(2, layout.side / 2)
    places = middle + reach * layout.radius * rng.standard_normal((count, 2))
    bright = quantise(rng.uniform(0.4, 1.6, count))
    index = np.rint(places * FINE).astype(np.int64)
    held = ((index >= 0) & (index < layout.fine[0])).all(axis=1)
    flat = index[held, 0] * layout.fine[1] + index[held, 1]
    points = np.bincount(flat, bright[held], minlength=layout.fine[0] * layout.fine[1])
    sigma = sigma_px * (0.8 + layout.radius / 300) * FINE
    height = np.float32(2 * np.pi * sigma * sigma)
    spots = gaussian_psf_blur(points.reshape(layout.fine).astype(np.float32), sigma) * height
    return np.asarray(spots, dtype=np.float32)


def _nearness(layout: _Layout, reach: float) -> Grid:
    """Return a Gaussian round the Golgi's centre, `reach` being a share of the cell's radius."""
    sigma = reach * layout.radius
    at = (np.arange(layout.fine[0]) + 0.5) / FINE - 0.5
    rows, columns = (
        quantise(np.exp(-0.5 * ((at - c) / sigma) ** 2), _FINE_STEP).astype(np.float32)
        for c in layout.centre.tolist()
    )
    return np.asarray(rows[:, None] * columns, dtype=np.float32)


def _noise(rng: np.random.Generator, layout: _Layout, width: float) -> Grid:
    """Draw a random field; its sigma is a share of the cell's radius, but a pixel at least."""
    return smooth_noise(rng, layout.fine, max(width * layout.radius, 1.0) * FINE)


def _positive(field: Grid) -> Grid:
    return np.maximum(field, np.float32(0))


def _observed(light: Grid) -> Grid:
    blurred = bin_mean(gaussian_psf_blur(light, PSF_PX * FINE), FINE)
    return quantise(blurred, _FINE_STEP).astype(np.float32)


def _frame(inside: NDArray[np.bool_]) -> tuple[slice, slice]:
    """Return rows and columns of the mask's bounding box with a margin."""
    found = []
    for axis in (1, 0):
        filled = np.flatnonzero(inside.any(axis=axis))
        low, high = int(filled[0]) - MARGIN_PX, int(filled[-1]) + 1 + MARGIN_PX
        found.append(slice(max(low, 0), high))
    return found[0], found[1]
