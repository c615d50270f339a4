"""Make movies of nuclei that copy their DNA, in which RAD18 joins stalled replication foci.

Two conditions, siControl and si53BP1, a folder of RGB frames each: maximum projections of a stack
that was recorded plane by plane, with its noise, and stretched to 8 bits. Red is PCNA, green RAD18,
blue a near-copy of red; the time is burned into the upper right corner. Difficulty moves light,
bleaching, blur and haze of the same nuclei: the reference stays as it is.

What cannot be seen is not in the reference: it lists the foci of nuclei that lie in the field and
have both ends of S phase at least four frames within the movie. S phase runs from the first to the
last frame with replication foci; an event starts in the first frame in which RAD18 lies on a focus.
Foci with RAD18 in one nucleus are 0.5 µm apart or more. RAD18 beside nucleoli, where no DNA is
copied, is no event. No cell divides within the movie.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.files import write_table, write_tiff
from evals.simulation.nucleus_view import look
from evals.simulation.optics import camera
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from evals.simulation.replication import (
    Nucleus,
    joined,
    nuclear_bodies,
    recruitment,
    replication_foci,
    wander,
)
from evals.simulation.scatter import keep_apart
from evals.simulation.time_stamp import burn_time

if TYPE_CHECKING:
    from pathlib import Path

PIXEL_UM = 0.108
INTERVAL_MIN = 10
CONDITIONS = ("siControl", "si53BP1")
S_PHASE_FRAMES = (48, 72)  # 8 to 12 h
MARGIN_FRAMES = 4
OFFSET = 20.0
# Mean start as a share of S phase: conditions as far apart as in the published figure, whose
# distributions swapped score 0.29, which is 1 - KS.
LATE, EARLY = 0.35, 0.18
SPREAD_CELLS, SPREAD_FOCI = 0.035, 0.065
PATTERNS = ((LATE, EARLY), (LATE, LATE), (EARLY, EARLY), (EARLY, LATE), (0.65, LATE))


@dataclass(frozen=True)
class Size:
    """Rows and columns, planes, frames and events by condition, radius and number of nuclei."""

    field: tuple[int, int]
    planes: int
    frames: tuple[int, int]
    events: int
    radius_px: float
    nuclei: int
    foci: int


SIZES = {
    "quick": Size((152, 168), 5, (88, 84), 44, 16.0, 14, 22),
    "standard": Size((400, 400), 9, (120, 87), 56, 32.0, 20, 50),
    "paper": Size((1000, 1000), 22, (157, 87), 56, 70.0, 26, 110),
}


@dataclass(frozen=True)
class Microscope:
    """Light of nucleoplasm in photons a plane, loss by the end, blur, haze and gain."""

    photons: float
    bleached: float
    sigma_px: float
    sigma_planes: float
    haze: float
    grey: float


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write `input/Figure2b/single images movies/…` and `evaluation/coloc_results.csv`."""
    if dims not in (None, "2dt"):
        raise ValueError(f"these movies are projections: dims must be None or '2dt', got {dims!r}")
    size, optics = SIZES[scale], microscope(difficulty)
    drawn = PATTERNS[int(stream(seed, 0).integers(len(PATTERNS)))]
    means = drawn if biology == "randomised" else PATTERNS[0]
    cells = [
        populate(seed, which, size, size.frames[which], mean) for which, mean in enumerate(means)
    ]
    movies = out / "input" / "Figure2b" / "single images movies"
    for which, frame in tracked([(w, t) for w in (0, 1) for t in range(size.frames[w])]):
        lost = (1 - optics.bleached) ** (frame / size.frames[which])
        stack = light(cells[which], frame, size, optics)
        noise = stream(seed, 1 + which, 2, frame)
        image = expose(stack, float(quantise(lost, 2.0**-20)), optics, noise)
        burn_time(image, frame * INTERVAL_MIN)
        folder = movies / f"Figure2b_{CONDITIONS[which]}.tif"
        write_tiff(folder / f"T{frame + 1:05d}C01Z001.tif", image, pixel_um=PIXEL_UM)
    write_reference(out / "evaluation" / "coloc_results.csv", cells, size)


def microscope(difficulty: float) -> Microscope:
    """Return the imaging: bright and sharp at 0; few photons, blur and haze at 1."""
    photons = 60 * 0.12**difficulty
    return Microscope(
        photons=photons,
        bleached=0.15 + 0.25 * difficulty,
        sigma_px=1.0 + 0.5 * difficulty,
        sigma_planes=1.5,
        haze=0.05 + 0.15 * difficulty,
        grey=36 / photons,
    )


def populate(seed: int, which: int, size: Size, frames: int, mean: float) -> list[Nucleus]:
    """Draw the nuclei of a condition; their events add up to the wanted number."""
    rng = stream(seed, 1 + which, 0)
    radius = size.radius_px
    room = np.array(size.field) - 2.4 * radius
    homes = quantise(1.2 * radius + rng.random((1500, 2)) * room)
    # The time stamp must not hide a nucleus.
    corner = (homes[:, 0] < 2.6 * radius) & (homes[:, 1] > size.field[1] - 3.4 * radius)
    homes = homes[~corner]
    homes = homes[keep_apart(homes, 2.35 * radius)][: size.nuclei]
    whole = max(int(0.72 * len(homes)), 1)
    shares = np.diff(np.rint(np.linspace(0, size.events, whole + 1)).astype(int)).tolist()
    return [
        nucleus(stream(seed, 1 + which, 1, k), home, size, frames, mean, wanted)
        for k, (home, wanted) in enumerate(
            zip(homes, [*shares, *[0] * (len(homes) - whole)], strict=True)
        )
    ]


def nucleus(
    rng: np.random.Generator,
    home: np.ndarray,
    size: Size,
    frames: int,
    mean: float,
    wanted: int,
) -> Nucleus:
    """Draw one nucleus; without wanted events its S phase is cut by an end of the movie."""
    path, turn = wander(rng, frames, home, 0.16 * size.radius_px)
    nucleoli = rng.uniform(0.25, 0.5, (2, 2)) * np.array([[1, -1], [-1, 1]])
    length = int(rng.integers(*S_PHASE_FRAMES))
    latest = frames - 1 - MARGIN_FRAMES - length
    entry = int(rng.integers(MARGIN_FRAMES, latest + 1))
    if not wanted:
        cut = [-length // 2, frames - length // 2, 2 * frames][int(rng.integers(3))]
        entry = cut + int(rng.integers(-8, 9))
    of_cell = mean + SPREAD_CELLS * float(np.clip(rng.standard_normal(), -2, 2))
    starts = of_cell + SPREAD_FOCI * np.clip(rng.standard_normal(wanted or 4), -2.5, 2.5)
    onsets = entry + np.rint(np.clip(starts, 0.05, 0.85) * length).astype(np.int64)
    apart = 0.5 / PIXEL_UM / size.radius_px
    stalled, rad18, onsets = recruitment(rng, onsets, entry + length, nucleoli, apart)
    bodies = nuclear_bodies(rng, 2, frames, nucleoli)
    foci = replication_foci(rng, entry, length, size.foci, nucleoli)
    # No replication before S phase, not even at sites that will stall.
    np.maximum(stalled.first, entry, out=stalled.first)
    return Nucleus(
        radius_px=float(quantise(size.radius_px * rng.uniform(0.92, 1.06))),
        elongation=float(quantise(rng.uniform(1.05, 1.3))),
        half_planes=float(quantise(0.42 * size.planes)),
        path=path,
        turn=turn,
        nucleoli=quantise(nucleoli),
        entry=entry,
        exit=entry + length,
        pcna=joined([foci, stalled]),
        rad18=joined([rad18, bodies]),
        onsets=onsets,
    )


def light(cells: list[Nucleus], frame: int, size: Size, optics: Microscope) -> np.ndarray:
    """Return the noise-free stack of both channels in units of nucleoplasm, (2, Z, Y, X)."""
    stack = np.full((2, size.planes, *size.field), optics.haze, dtype=np.float32)
    for cell in cells:
        view = look(cell, frame, size.planes, size.field)
        if view is None:
            continue
        blur = (optics.sigma_px, optics.sigma_planes)
        copying = cell.entry <= frame <= cell.exit
        # In S phase part of the PCNA has left the nucleoplasm for the foci.
        even = (0.7 if copying else 0.85, 0.7)
        for channel, spots in enumerate((cell.pcna, cell.rad18)):
            own = even[channel] * view.body + view.foci(cell, spots, frame, *blur)
            stack[channel, :, view.place[0], view.place[1]] += own
    return stack


def expose(
    stack: np.ndarray, left: float, optics: Microscope, noise: np.random.Generator
) -> np.ndarray:
    """Record plane by plane, project the counts and stretch them to an RGB picture of 8 bits."""
    projection = np.zeros((2, *stack.shape[2:]))
    for channel, planes in enumerate(stack):
        for plane in planes:
            mean = plane.astype(np.float64) * (optics.photons * left)
            counts = camera(mean, noise, offset_adu=OFFSET, read_noise_e=1.2)
            np.maximum(projection[channel], counts - OFFSET, out=projection[channel])
    # The export cuts off what is darker than the empty field.
    dark = optics.haze * optics.photons + 2 * np.sqrt(optics.haze * optics.photons + 2)
    grey = np.clip(np.rint((projection - quantise(dark)) * optics.grey), 0, 255)
    red, green = grey
    return np.stack([red, green, np.rint(0.97 * red)], axis=-1).astype(np.uint8)


def write_reference(path: Path, cells: list[list[Nucleus]], size: Size) -> None:
    """Write both conditions side by side under two rows of headings."""
    blocks: list[list[list[object]]] = []
    for which, nuclei in enumerate(cells):
        rows: list[list[object]] = []
        for cell in nuclei:
            if cell.entry < MARGIN_FRAMES or cell.exit > size.frames[which] - 1 - MARGIN_FRAMES:
                continue
            length = cell.exit - cell.entry
            for onset in np.sort(cell.onsets).tolist():
                hours = (length * INTERVAL_MIN / 60, (onset - cell.entry) * INTERVAL_MIN / 60)
                rows.append(
                    [*(round(h, 3) for h in hours), round((onset - cell.entry) / length, 4)]
                )
        blocks.append(rows)
    names = ["S-phase length (h)", "Start coloc after S entry (h)", "Start normalized"]
    header = [CONDITIONS[0], "", "", CONDITIONS[1], "", ""]
    empty: list[object] = ["", "", ""]
    pairs = zip_longest(blocks[0], blocks[1], fillvalue=empty)
    write_table(path, header, [[*names, *names], *([*one, *other] for one, other in pairs)])
