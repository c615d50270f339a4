"""Make pictures of single cells, Golgi red and S green, and how well the two truly agree.

Each cell draws the rank correlation that it ought to have from its condition's normal distribution
and mixes the light of S accordingly: S that comes to the Golgi raises the correlation, sheets and
endosomes elsewhere lower it. What both stains owe to the cell's thickness, and the red light that
bleeds into the green channel, is part of the mixture, as it is of any measured coefficient.

The truth is Spearman's rank correlation of red and green light over the pixels of which at least
half belong to the cell: light as the lens delivers it, without noise, haze and neighbours. All
cells can be seen, so all are listed, and the truth is the same at every difficulty. Ten images of
Stage 1 are copies of Control images in the released data; that slip is not repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evals.simulation.files import write_table, write_tiff
from evals.simulation.golgi import Golgi, Section, draw_section
from evals.simulation.optics import camera, gaussian_psf_blur
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from evals.simulation.ranks import mixture_with, spearman

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

PIXEL_UM = 0.0706
CONDITIONS = ("Control", "Stage 1", "Stage 2", "Stage 3")
CELLS = {
    "quick": (25, 20, 20, 25),
    "standard": (60, 20, 24, 59),
    "paper": (111, 20, 24, 59),
}
RADIUS_PX = {"quick": 50.0, "standard": 120.0, "paper": 275.0}  # of the disc of a cell's area
LOW, MIDDLE, HIGH = 0.125, 0.25, 0.35
SPREAD = 0.06  # of the cells of one condition
PATTERNS = {
    "canonical": (LOW, LOW, MIDDLE, HIGH),
    "null": (LOW, LOW, LOW, LOW),
    "reversed": (HIGH, MIDDLE, LOW, LOW),
    "only late": (LOW, LOW, LOW, HIGH),
    "early": (LOW, HIGH, MIDDLE, LOW),
}
REACH = 4.0  # of the parameter that brings S to the Golgi or elsewhere
COLOURS = "red: Golgi marker\ngreen: S protein\nblue: N protein\n"


class Condition(NamedTuple):
    """What infection does to the stains; brightness relative to the Golgi marker."""

    spike: float
    elsewhere: float  # share of S at the plasma membrane and in endosomes, come what may
    nucleoprotein: float
    golgi: Golgi
    hours: tuple[int, ...]


STATES = (
    Condition(0.45, 0.0, 0.04, Golgi(16, 0.11, 110), (5, 7, 10, 12)),
    Condition(0.55, 0.1, 0.25, Golgi(16, 0.12, 110), (5, 7)),
    Condition(0.80, 0.4, 0.60, Golgi(18, 0.15, 130), (7, 10)),
    Condition(0.90, 0.5, 0.90, Golgi(20, 0.19, 150), (10, 12)),
)


class Microscope(NamedTuple):
    """What difficulty moves; photons are those of a bright ribbon in one pixel."""

    photons: float
    haze: float  # share of light from beyond the section
    neighbours: float  # share of cells with another one in the picture
    dark: float  # photons of the empty picture


def microscope(difficulty: float) -> Microscope:
    """Return bright and clean pictures at 0, a few photons in haze at 1."""
    return Microscope(
        photons=float(quantise(160.0 * 2.0 ** (-3.5 * difficulty))),
        haze=0.03 + 0.17 * difficulty,
        neighbours=0.15 + 0.45 * difficulty,
        dark=0.2 + 0.6 * difficulty,
    )


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write the cells of four conditions and `evaluation/truth_colocalization.csv`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: fewer photons, more haze, more neighbours in the picture, a lighter background.
    dims
        None or "2D", the only one there is.
    scale
        Cells as wide as at Vero cells' full size (paper), a half (standard) or a fifth of it
        (quick), at the same pixel and point spread.
    biology
        "canonical": S comes to the Golgi in Stages 2 and 3. "randomised": one of `PATTERNS`.
    """
    if dims not in (None, "2D"):
        raise ValueError(f"these cells are sections in 2D, got dims={dims!r}")
    levels = pattern(seed, biology)
    cells = [(group, cell) for group, count in enumerate(CELLS[scale]) for cell in range(count)]
    wanted = [targets(seed, group, levels[group], CELLS[scale][group]) for group in range(4)]
    names = [file_names(seed, group, CELLS[scale][group]) for group in range(4)]
    rows = []
    for group, cell in tracked(cells):
        section = grow(seed, group, cell, RADIUS_PX[scale])
        light, truth = stain(seed, group, cell, section, wanted[group][cell])
        image = record(seed, group, cell, section, light, microscope(difficulty))
        name = names[group][cell]
        write_tiff(out / "input" / CONDITIONS[group] / name, image, pixel_um=PIXEL_UM)
        rows.append((CONDITIONS[group], name, round(truth, 6)))
    (out / "input" / "colors.txt").write_text(COLOURS, encoding="utf-8", newline="\n")
    table = out / "evaluation" / "truth_colocalization.csv"
    write_table(table, ["condition", "image", "spearman"], sorted(rows))


def pattern(seed: int, biology: str) -> tuple[float, ...]:
    """Return the mean coefficient of each condition."""
    chosen = int(stream(seed, 9).integers(0, len(PATTERNS)))
    return PATTERNS["canonical" if biology == "canonical" else [*PATTERNS][chosen]]


def targets(seed: int, group: int, level: float, count: int) -> list[float]:
    """Draw the coefficients of a condition's cells, one from each of equally likely intervals.

    Independent draws would by chance make Control and Stage 1 differ in one data set of twenty.
    """
    from scipy.special import ndtri

    rng = stream(seed, 0, group)
    share = (rng.permutation(count) + rng.uniform(0.2, 0.8, count)) / count
    drawn: list[float] = quantise(level + SPREAD * ndtri(share), 2.0**-12).tolist()
    return drawn


def file_names(seed: int, group: int, count: int) -> list[str]:
    """Name cells by hours, replicate and their number, such as `10h_3_12.tif`."""
    rng = stream(seed, 1, group)
    hours = np.sort(rng.choice(STATES[group].hours, count))
    replicate = rng.integers(1, 4, count)
    order = np.lexsort((replicate, hours))
    pairs = np.stack([hours, replicate], axis=1)[order].tolist()
    return [f"{h}h_{r}_{pairs[:place].count([h, r]) + 1}.tif" for place, (h, r) in enumerate(pairs)]


def grow(seed: int, group: int, cell: int, radius_px: float) -> Section:
    """Draw the cell of a condition; cells differ in size."""
    rng = stream(seed, 2, group, cell)
    size = radius_px * (1 + 0.09 * np.clip(rng.standard_normal(), -2, 2))
    return draw_section(rng, float(quantise(size)), STATES[group].golgi)


def stain(seed: int, group: int, cell: int, section: Section, wanted: float) -> tuple[Grid, float]:
    """Return the light (Y, X, 3) of Golgi, S and N, and how well the first two truly agree."""
    rng, state = stream(seed, 3, group, cell), STATES[group]
    red_level, green_level = quantise(np.exp(0.2 * rng.standard_normal(2)))
    bleeding = np.float32(quantise(rng.uniform(0.02, 0.05), 2.0**-12))
    red = np.float32(red_level) * (section.golgi + np.float32(0.16) * section.body)
    resting = np.float32(0.25) * section.unspecific + np.float32(0.10) * section.reticulum
    level = np.float32(state.spike * green_level)
    inside = section.inside

    def green(mix: float, where: NDArray[np.bool_] | slice) -> Grid:
        to_golgi, elsewhere = np.float32(max(mix, 0.0)), np.float32(max(-mix, 0.0))
        spike = resting[where] + np.float32(state.elsewhere) * section.patches[where]
        spike = spike + to_golgi * section.secretory[where] + elsewhere * section.patches[where]
        return np.asarray(level * spike + bleeding * red[where], dtype=np.float32)

    mix = mixture_with(lambda value: green(value, inside), red[inside], wanted, REACH)
    seen = green(mix, slice(None))
    blue = np.float32(0.5) * section.body + np.float32(0.6) * section.clusters
    light = np.stack([red, seen, np.float32(state.nucleoprotein) * blue], axis=-1)
    light = quantise(light, 2.0**-14).astype(np.float32)
    return light, spearman(light[..., 0][inside], light[..., 1][inside])


def record(
    seed: int, group: int, cell: int, section: Section, light: Grid, optics: Microscope
) -> NDArray[np.uint8]:
    """Scan the three channels with photomultipliers into 8 bits; some ribbons saturate."""
    layout, noise = stream(seed, 4, group, cell), stream(seed, 5, group, cell)
    beside = layout.random() < optics.neighbours
    share = quantise(layout.uniform(0.3, 0.8, 3)) * (0.5, STATES[group].spike * 0.4, 0.3)
    width = 0.12 * min(light.shape[:2])
    channels = []
    for channel in range(3):
        plane = light[..., channel] + np.float32(beside * share[channel]) * section.beyond
        far = gaussian_psf_blur(plane, width)
        photons = optics.photons * (plane + np.float32(optics.haze * 3) * far) + optics.dark
        gain = 110.0 / optics.photons
        channels.append(
            camera(
                photons, noise, offset_adu=3, read_noise_e=0.15, gain=gain, bits=8, excess_noise=1.2
            )
        )
    return np.stack(channels, axis=-1).astype(np.uint8)
