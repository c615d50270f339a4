"""Make DIC movies of six scratch wounds that close, with the velocities that close them.

Each experiment is a sheet of cells with a gap, of the frames, pixel size and condition of the
published one. Velocities are drawn first, cells and their granules are carried along by them and
filmed. Difficulty moves light, contrast, dirt and how fast the texture changes; wounds and
velocities stay as they are.

The reference holds the true velocities, not those of an estimator: kymographs are their magnitudes
averaged over bands of distance as the published script does, for all pairs of frames before the two
fronts first touch. Later there is no edge to measure a distance from. The files of the published
reference and those of the truth, which strict scores use, hold the same numbers. All cells of the
mask count: texture covers the whole sheet, and velocities change over a hundred micrometres, far
more than a cell, so there is no motion that cannot be seen.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import tifffile

from evals.simulation.dic import Dic
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from evals.simulation.wound import (
    ALL_ALIKE,
    DEPTH_FASTEST,
    EDGE_FASTEST,
    Motion,
    Texture,
    cut_wound,
    flow,
    optical_paths,
    swirls,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Field = NDArray[np.float64]

INTERVAL_MIN = 14.5
INTERVAL_H = INTERVAL_MIN / 60
BAND_UM, FARTHEST_PX = 15.0, 300
MARGIN_PX = 20
CELL_UM = 17.0


class Experiment(NamedTuple):
    """One published experiment: frames, pairs until fronts touch, µm a pixel, speed in µm/h."""

    condition: str
    name: str
    frames: int
    closing: int
    pixel: tuple[int, int]
    speed_um_h: float

    @property
    def pixel_um(self) -> float:
        """Width of a pixel."""
        return self.pixel[0] / self.pixel[1]

    @property
    def px_per_um_h(self) -> float:
        """Pixels that 1 µm/h makes from frame to frame."""
        return INTERVAL_H / self.pixel_um


# One scratch tool, about 250 µm wide: speeds follow from the published times until closure.
EXPERIMENTS = (
    Experiment("DA3_CTRL_SN29_L5", "SN29_L5", 114, 50, (31, 25), 10.0),
    Experiment("DA3_HGF-SN_SN29_L12", "SN29_L12", 77, 25, (31, 25), 20.0),
    Experiment("DA3_PHA_SN77_L20", "SN77_L20", 200, 99, (31, 25), 5.0),
    Experiment("DA3_PHA-HGF-SF_SN77_L36", "SN77_L36", 100, 28, (31, 25), 18.0),
    Experiment("MDCK_CTRL_DKWH7_L10", "DKWH7_L10", 60, 42, (31, 25), 14.0),
    Experiment("MDCK_HGF-SF_DKWH7_L6", "DKWH7_L6", 60, 33, (879, 1000), 20.0),
)
# Rows across the wound, columns along it, and the share of frames that is filmed.
SIZES = {
    "quick": (320, 120, 0.2),
    "standard": (640, 512, 0.5),
    "paper": (1024, 1024, 1.0),
}


class Imaging(NamedTuple):
    """Microscope, and the granules' life in frames and own motion in pixels."""

    microscope: Dic
    granule_life: float
    jitter_px: float


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write a stack and a mask for each condition, and the true fields and kymograph."""
    if dims not in (None, "2D"):
        raise ValueError(f"a sheet of cells is flat: dims must be None or '2D', got {dims!r}")
    rows, columns, share = SIZES[scale]
    imaging = imaging_of(difficulty)
    motions = motions_of(seed, biology)
    for number in tracked(range(len(EXPERIMENTS))):
        given = EXPERIMENTS[number]
        experiment = given._replace(
            frames=max(14, round(share * given.frames)),
            closing=max(5, round(share * given.closing)),
        )
        shape = (rows + 2 * MARGIN_PX, columns + 2 * MARGIN_PX)
        film(out, experiment, motions[number], shape, imaging, (seed, number))


def imaging_of(difficulty: float) -> Imaging:
    """Return the imaging: much light and lasting texture at 0; flat, noisy, fast fading at 1."""
    microscope = Dic(
        contrast=0.7 * 0.25**difficulty,
        photons=4000 * 0.1**difficulty,
        dirt=0.006 + 0.012 * difficulty,
    )
    return Imaging(microscope, 18 * 0.1**difficulty, 0.1 + 0.6 * difficulty)


def motions_of(seed: int, biology: str) -> list[Motion]:
    """Return how each sheet moves: as published, or by a rule drawn from the seed."""
    known = [experiment.speed_um_h for experiment in EXPERIMENTS]
    if biology == "canonical":
        return [Motion(speed) for speed in known]
    rng = stream(seed, 20)
    control, mdck = known[0], known[4]
    speeds = (
        known,
        [12.0] * 6,
        [known[1], known[0], 18.0, 5.0, known[5], known[4]],  # the factor slows down
        [control] * 4 + known[4:],
        known[:4] + [mdck] * 2,
        [known[k] for k in rng.permutation(6)],
    )[int(rng.integers(6))]
    profile = (EDGE_FASTEST, ALL_ALIKE, DEPTH_FASTEST)[int(rng.integers(3))]
    towards, along = ((1.0, 0.0), (0.0, 1.0), (-0.6, 0.0), (0.7, 0.7))[int(rng.integers(4))]
    return [Motion(speed, towards=towards, along=along, profile=profile) for speed in speeds]


def film(
    out: Path,
    experiment: Experiment,
    motion: Motion,
    shape: tuple[int, int],
    imaging: Imaging,
    key: tuple[int, int],
) -> None:
    """Film one experiment and write all its files; every second wound runs from top to bottom."""
    pixel_um, unit = experiment.pixel_um, experiment.px_per_um_h
    wound, nominal = cut_wound(
        stream(*key, 0),
        swirls(stream(*key, 1), shape, pixel_um, INTERVAL_H),
        motion,
        shape,
        experiment.closing,
        unit,
    )
    velocities = flow(stream(*key, 1), motion, wound, nominal, pixel_um, INTERVAL_H)
    texture = Texture(CELL_UM / pixel_um, 7, imaging.granule_life, imaging.jitter_px)
    scene = optical_paths(stream(*key, 2), wound, velocities, texture, unit)
    upright = bool(stream(*key, 3).integers(2))
    cells = wound.cells()[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]
    cells = cells.T if upright else cells
    bands = bands_of(cells, pixel_um)
    light = imaging.microscope.field(stream(*key, 4), (cells.shape[0], cells.shape[1]))
    noise = stream(*key, 5)
    stack = np.empty((experiment.frames, *cells.shape), np.uint8)
    columns, first = [], np.zeros((2, *cells.shape))
    for time, (path, velocity) in enumerate(islice(scene, experiment.frames)):
        inner = MARGIN_PX - 2
        seen = path[inner:-inner, inner:-inner]
        stack[time] = imaging.microscope.record(seen.T if upright else seen, light, noise)
        if time < wound.closing:
            own = velocity[:, MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]
            columns.append(band_means(np.sqrt((own**2).sum(axis=0)), bands, upright=upright))
            if time == 0:
                first = own[::-1].transpose(0, 2, 1) if upright else own
    save(out, experiment, stack, cells, first, np.stack(columns, axis=1))


def bands_of(cells: NDArray[np.bool_], pixel_um: float) -> NDArray[np.int64]:
    """Return the band of distance of each pixel, counted from 1; 0 belongs to none."""
    from scipy.ndimage import distance_transform_edt

    distance = distance_transform_edt(cells)
    width = int(np.ceil(BAND_UM / pixel_um))
    count = int(min(FARTHEST_PX, distance.max()) / width)
    band = np.ceil(distance / width).astype(np.int64)
    between = (distance < band * width) & (band <= count)
    return np.where(between, band, 0)


def band_means(speed: Field, bands: NDArray[np.int64], *, upright: bool) -> Field:
    """Return the mean speed of each band."""
    speed = speed.T if upright else speed
    count = np.bincount(bands.ravel())[1:]
    total = np.bincount(bands.ravel(), quantise(speed).ravel())[1:]
    return quantise(total / count, 2.0**-12)


def save(
    out: Path,
    experiment: Experiment,
    stack: NDArray[np.uint8],
    cells: NDArray[np.bool_],
    velocity: Field,
    kymograph: Field,
) -> None:
    """Write what is seen, and what is true: as the published reference and for strict scores."""
    name, folder = experiment.name, out / "input" / experiment.condition
    tags: dict[str, Any] = {
        "imagej": True,
        # Pixels per µm as a fraction, as the published files have it.
        "resolution": (experiment.pixel[::-1], experiment.pixel[::-1]),
        "resolutionunit": "NONE",
    }
    told = {"axes": "TYX", "unit": "um", "finterval": INTERVAL_MIN, "tunit": "min"}
    write(folder / f"{name}_image_stack.tif", stack, metadata=told, **tags)
    write(folder / f"{name}_roi.tif", cells.astype(np.uint8), metadata=None)
    folder = out / "evaluation" / experiment.condition
    moving = np.where(cells, velocity, 0.0)
    for suffix, kind in (("mf", np.float64), ("truth", np.float32)):
        for axis, component in zip("yx", moving, strict=True):
            write(folder / f"{name}_{suffix}_d{axis}s.tif", component.astype(kind), metadata=None)
    write(folder / f"{name}_speedKymograph.tif", kymograph, metadata=None)
    write(folder / f"{name}_truth_kymograph.tif", kymograph, metadata=None)


def write(path: Path, image: NDArray[Any], **options: Any) -> None:
    """Write a compressed TIFF without date or program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options |= {
        "photometric": "minisblack",
        "compression": "zlib",
        "predictor": image.dtype.kind == "u",
    }
    tifffile.imwrite(path, image, software=False, datetime=False, maxworkers=1, **options)
