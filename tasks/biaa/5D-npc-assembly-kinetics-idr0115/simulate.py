"""Make 3D movies of dividing cells whose new nuclei take up GFP-Nup107.

Five cells, one a file, with bits of neighbours at the border: metaphase plate, anaphase, two nuclei
that swell. GFP-Nup107 leaves the cytoplasm for the envelope of each daughter (non-core) and for the
folds of membrane between chromosomes in its middle (inner core). Difficulty moves light, bleaching,
dark counts, axial blur, drift and free dye of the same five cells: the reference stays as it is.

What cannot be seen is not in the reference: anaphase onset is the first frame in which the two sets
of chromosomes are 0.75 µm (three pixels) apart, and a daughter has values from then on. They are
what the instruction's recipe gives on the light itself, before noise and bleaching, inside the true
nuclei: volume and surface of the body that was drawn; sums over voxels of light less 25 % of the
cytoplasm's mean in the inner core, and of light less 7 % of the nucleus' mean in the rest, both
over the cytoplasm's mean. `dims="2dt"` adds up each stack, noise and all, over z. Its reference is
the same recipe on the projected light, with the volume of the ball of equal projection and the
surface of a convex body by Cauchy's theorem, four times the projected area.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.mitosis import Division, draw_division
from evals.simulation.movie import write_hyperstack
from evals.simulation.nuclear_envelope import Optics, add_cell, dark_field
from evals.simulation.nuclear_regions import measure_regions
from evals.simulation.nup_uptake import RESTING, Uptake, draw_uptakes
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from scorers.files.workbook_writing import write_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evals.simulation.nuclear_envelope import Light

PIXEL_UM, SPACING_UM, INTERVAL_MIN = 0.25, 1.0, 0.5
CELLS = 5
GAP_UM = 0.75
REST_MIN = 90.0
COLUMNS = (
    "Volume_Nucleus",
    "SurfaceArea_Nucleus",
    "Total_Intensity_InnerCore",
    "Total_Intensity_NonCore",
    "Normalized_total_Intensity_InnerCore",
    "Normalized_total_Intensity_NonCore",
)
Row = list[float | None]


@dataclass(frozen=True)
class Size:
    """Least and greatest frames, planes, rows and columns; frames before onset; size of a cell."""

    frames: tuple[int, int]
    planes: int
    rows: tuple[int, int]
    columns: tuple[int, int]
    before: tuple[int, int]
    cell: float


SIZES = {
    "quick": Size((52, 52), 9, (44, 44), (64, 64), (6, 12), 0.7),
    "standard": Size((110, 120), 15, (76, 84), (92, 104), (8, 20), 0.9),
    "paper": Size((244, 293), 21, (120, 160), (120, 175), (10, 40), 1.0),
}


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write `input/160701-Nup107-cell-*-t6.tif` and `evaluation/processed data NUP107.xlsx`."""
    if dims not in (None, "3dt", "2dt"):
        raise ValueError(f"dims must be None, '3dt' or '2dt', got {dims!r}")
    flat = dims == "2dt"
    uptakes = draw_uptakes(stream(seed, 0), CELLS, randomised=biology == "randomised")
    book: dict[str, list[Row | list[str]]] = {}
    for number in tracked(range(CELLS)):
        movie = Movie.draw(seed, number, SIZES[scale], uptakes[number], difficulty)
        name = f"160701-Nup107-cell-{number + 1}-t6"
        rows: list[Row] = []
        path = out / "input" / f"{name}.tif"
        shape = (movie.frames, 2, *movie.field[1:])
        write_hyperstack(
            path,
            record(movie, flat, rows, stream(seed, 1 + number, 3)),
            shape=shape if flat else (movie.frames, movie.field[0], *shape[1:]),
            axes="TCYX" if flat else "TZCYX",
            dtype="uint16",
            pixel_um=PIXEL_UM,
            spacing_um=None if flat else SPACING_UM,
            frame_interval_s=60 * INTERVAL_MIN,
        )
        book[name] = [heading(), *rows]
    write_workbook(out / "evaluation" / "processed data NUP107.xlsx", book)


@dataclass(frozen=True)
class Movie:
    """All that decides one movie but its noise."""

    field: tuple[int, int, int]
    frames: int
    onset: int
    first_minute: float
    division: Division
    others: list[Division]
    uptake: Uptake
    optics: Optics

    @classmethod
    def draw(cls, seed: int, number: int, size: Size, uptake: Uptake, difficulty: float) -> Movie:
        """Draw the scene, which the difficulty leaves as it is but for the cell's drift."""
        rng = stream(seed, 1 + number, 0)
        frames, rows, columns, before = (
            int(rng.integers(low, high + 1))
            for low, high in (size.frames, size.rows, size.columns, size.before)
        )
        extent = np.array([(size.planes - 1) * SPACING_UM, rows * PIXEL_UM, columns * PIXEL_UM])
        middle = (float(extent[0] / 2), float(extent[1] / 2), float(extent[2] / 2))
        division = draw_division(rng, size.cell, middle, size.cell * (1 + 2 * difficulty))
        parted = division.minute_of_gap(GAP_UM)
        first = parted + INTERVAL_MIN * (float(quantise(rng.uniform(0, 0.98))) - before)
        return cls(
            field=(size.planes, rows, columns),
            frames=frames,
            onset=before,
            first_minute=first,
            division=division,
            others=neighbours(stream(seed, 1 + number, 1), size.cell, extent),
            uptake=uptake,
            optics=microscope(difficulty),
        )

    def minute(self, frame: int) -> float:
        """Return the time of a frame on the clock of the division."""
        return self.first_minute + INTERVAL_MIN * frame


def microscope(difficulty: float) -> Optics:
    """Return the imaging: bright, thin sections at 0; few photons, bleaching, blur along z at 1."""
    return Optics(
        pixel_um=PIXEL_UM,
        spacing_um=SPACING_UM,
        axial_fwhm_um=1.0 + 1.0 * difficulty,
        gfp_photons=1.7 * 0.085**difficulty,
        dna_photons=6.0 * 0.095**difficulty,
        dark_photons=0.02 + 0.08 * difficulty,
        free_dye=0.02 + 0.2 * difficulty,
        bleached=0.2 + 0.2 * difficulty,
    )


def neighbours(rng: np.random.Generator, size: float, extent: np.ndarray) -> list[Division]:
    """Place one or two resting cells so that a part of a nucleus shows in a corner."""
    placed = []
    for corner in rng.permutation(4)[: int(rng.integers(1, 3))].tolist():
        side = np.array([0, corner // 2, corner % 2])
        away = np.array([0.0, 1, 1]) * np.sign(side - 0.5) * rng.uniform(1.2, 2.6, 3) * size
        cell = draw_division(rng, size, (0.0, 0.0, 0.0), 0.0)
        place = np.array([0.5, *side[1:]]) * extent + away - cell.centres(REST_MIN)[0]
        placed.append(replace(cell, centre=quantise(cell.centre + place, 2.0**-12)))
    return placed


def record(
    movie: Movie, flat: bool, rows: list[Row], noise: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the movie's pages frame by frame; the reference's rows are added to `rows`."""
    optics = movie.optics
    behind = dark_field(movie.field)
    for other in movie.others:
        behind = add_cell(
            behind, other, RESTING, optics, minute=REST_MIN, since_onset=REST_MIN, labels=(3, 0)
        )
    left = (1 - optics.bleached) ** (np.arange(movie.frames) / movie.frames)
    for frame, bleach in enumerate(quantise(left, 2.0**-20).tolist()):
        minute, time = movie.minute(frame), INTERVAL_MIN * (frame - movie.onset)
        light = add_cell(
            behind, movie.division, movie.uptake, optics, minute=minute, since_onset=time
        )
        measured = measure(movie, light, minute, flat) if time >= 0 else []
        rows.append([frame, time, *measured])
        exposures = (
            optics.expose(light.gfp, optics.gfp_photons * bleach, noise),
            optics.expose(light.dna, optics.dna_photons, noise),
        )
        stack = np.stack(exposures, axis=1)
        stack = stack.sum(axis=0, dtype=np.uint16)[None] if flat else stack
        yield from stack.reshape(-1, *movie.field[1:])


def measure(movie: Movie, light: Light, minute: float, flat: bool) -> Row:
    """Return a row of the reference without its times, the columns of `COLUMNS` by daughter."""
    if flat:
        nuclei = np.stack([(light.nuclei == label).any(axis=0) for label in (1, 2)])
        labels = nuclei[0] + 2 * nuclei[1].astype(np.uint8)
        # Where a cell is less than half as thick as in its middle, its cytoplasm looks dim.
        thick = quantise(light.body.sum(axis=0), 2.0**-20)
        cell = 2 * thick / thick.max()
        found = measure_regions(light.gfp.sum(axis=0), labels, cell, (1.0, 1.0))
        area = np.array([region.voxels for region in found]) * PIXEL_UM**2
        volume, surface = 4 / 3 * np.pi * (area / np.pi) ** 1.5, 4 * area
    else:
        step = SPACING_UM / PIXEL_UM
        found = measure_regions(light.gfp, light.nuclei, light.body, (step, 1.0, 1.0))
        shape = movie.division.shape(minute)
        volume = np.array([region.voxels for region in found]) * PIXEL_UM**2 * SPACING_UM
        surface = shape.surface_um2 * (volume / shape.volume_um3) ** (2 / 3)
    row: Row = [round(found[0].cytoplasm, 5)]
    for region, v, s in zip(found, volume.tolist(), surface.tolist(), strict=True):
        totals = [region.core, region.rim]
        normalised = [total / region.cytoplasm for total in totals]
        row += [round(v, 3), round(s, 3), *(round(t, 4) for t in (*totals, *normalised))]
    return row


def heading() -> list[str]:
    """Return the names of the reference's columns."""
    names = [f"{name}_{nucleus}" for nucleus in (1, 2) for name in COLUMNS]
    return ["Time Point", "Time after anaphase onset (min)", "Intensity_cytoplasm", *names]
