"""A pore protein in the cytoplasm and at two new nuclei, as a confocal microscope sees it.

Light is in units of the protein's concentration in the cytoplasm of mitosis, and of compact DNA.
Nup107 that arrives is drawn in two places: on the envelope, a shell at the nucleus' surface, and in
its inner core, for membrane also lies between the chromosomes that have come together there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.mitosis import Division, cell_body, nucleus_window
from evals.simulation.nuclear_regions import CORE_SHARE
from evals.simulation.optics import FWHM_PER_SIGMA, camera, gaussian_kernel
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evals.simulation.nup_uptake import Uptake

_ENVELOPE_UM = 0.3
_ENVELOPE, _CORE, _KINETOCHORES = 5.0, 2.4, 0.8
_EXCLUDED = 0.75
_TAKEN = 0.2
_LATERAL_SIGMA_UM = 0.13


@dataclass(frozen=True)
class Optics:
    """A confocal microscope that counts photons.

    Attributes
    ----------
    pixel_um, spacing_um
        Width of a pixel and distance of planes; the latter a multiple of the former.
    axial_fwhm_um
        Thickness of an optical section.
    gfp_photons, dna_photons
        Mean counts of a voxel at a light of 1.
    dark_photons
        Mean counts of a dark voxel.
    free_dye
        DNA dye in the cytoplasm, in units of that in compact DNA.
    bleached
        Share of the GFP lost by the end of the movie.
    """

    pixel_um: float
    spacing_um: float
    axial_fwhm_um: float
    gfp_photons: float
    dna_photons: float
    dark_photons: float
    free_dye: float
    bleached: float

    def expose(
        self, light: NDArray[np.float64], photons: float, rng: np.random.Generator
    ) -> NDArray[np.uint16]:
        """Count photons: no offset and no read noise, as hybrid and GaAsP detectors do."""
        mean = light * photons + self.dark_photons
        return camera(mean, rng, offset_adu=0.0, read_noise_e=0.0)


@dataclass(frozen=True)
class Light:
    """Noise-free planes (Z, Y, X) of both channels, and where things are.

    Attributes
    ----------
    gfp, dna
        Light after the optics.
    body
        Share of each voxel that lies in a cell.
    nuclei
        Labels, as given to `add_cell`.
    """

    gfp: NDArray[np.float64]
    dna: NDArray[np.float64]
    body: NDArray[np.float64]
    nuclei: NDArray[np.uint8]


def dark_field(field: tuple[int, int, int]) -> Light:
    """Return a field without any cell."""
    gfp, dna, body = (np.zeros(field) for _ in range(3))
    return Light(gfp, dna, body, np.zeros(field, np.uint8))


def add_cell(
    behind: Light,
    division: Division,
    uptake: Uptake,
    optics: Optics,
    *,
    minute: float,
    since_onset: float,
    labels: Sequence[int] = (1, 2),
) -> Light:
    """Return a field with one cell more.

    Parameters
    ----------
    behind
        The field so far.
    division, uptake
        The cell.
    optics
        The microscope.
    minute, since_onset
        Time on the clock of the division, and since its onset, from when protein arrives.
    labels
        Of both nuclei; 0 leaves one out.
    """
    field = behind.gfp.shape
    step = round(optics.spacing_um / optics.pixel_um)
    grid = ((field[0] - 1) * step + 1, field[1], field[2])
    heights = np.arange(field[0], dtype=np.float64) * np.float64(optics.spacing_um)
    own = cell_body(division, minute, heights, (field[1], field[2]), optics.pixel_um)
    body = np.maximum(behind.body, own)
    rim, core = uptake.rim(since_onset), uptake.core(since_onset)
    cytoplasm = 1 - _TAKEN * (sum(rim) + sum(core)) / 4
    radius = (division.shape(minute).volume_um3 * 3 / (4 * np.pi)) ** (1 / 3)
    edge = float(quantise(CORE_SHARE * radius, 2.0**-12))
    kinetochores = _KINETOCHORES * float(np.clip(1 - since_onset / 6, 0, 1))
    gfp = np.maximum(behind.gfp, cytoplasm * own)
    dna = np.maximum(behind.dna, optics.free_dye * own)
    nuclei = behind.nuclei.copy()
    for which, label in enumerate(labels):
        window = nucleus_window(division, minute, which, grid, optics.pixel_um)
        if window is None or not label:
            continue
        depth = window.depth
        inside = np.clip(depth / optics.pixel_um + 0.5, 0, 1)
        shell = np.clip(1 - np.abs(depth - 0.05) / _ENVELOPE_UM, 0, 1)
        middle = np.clip((depth - edge) / optics.pixel_um + 0.5, 0, 1)
        arrived = _ENVELOPE * rim[which] * shell
        arrived += (_CORE * core[which] + kinetochores) * middle
        planes, place = _sections((window.place[0].start, depth.shape[0]), step, field[0])
        target = (place, *window.place[1:])
        seen = [
            _through(part, planes, optics)
            for part in (inside * window.grain, inside, arrived * window.grain)
        ]
        dna[target] += seen[0]
        gfp[target] = gfp[target] * (1 - _EXCLUDED * np.minimum(seen[1], 1)) + seen[2]
        nuclei[target][depth[planes] > 0] = label
    return Light(gfp, dna, body, nuclei)


def _sections(span: tuple[int, int], step: int, count: int) -> tuple[NDArray[np.int64], slice]:
    """Return which samples of a window lie in planes, and which planes these are."""
    first, last = -(-span[0] // step), (span[0] + span[1] - 1) // step
    place = slice(first, min(last, count - 1) + 1)
    return np.arange(place.start, place.stop) * step - span[0], place


def _through(
    part: NDArray[np.float64], planes: NDArray[np.int64], optics: Optics
) -> NDArray[np.float64]:
    """Blur along z, take the planes, blur within them; nothing comes from beyond the window."""
    from scipy import ndimage

    axial = gaussian_kernel(optics.axial_fwhm_um / FWHM_PER_SIGMA / optics.pixel_um, 3.0)
    lateral = gaussian_kernel(_LATERAL_SIGMA_UM / optics.pixel_um)
    light: Any = ndimage.correlate1d(part, axial, axis=0, mode="constant")[planes]
    for axis in (1, 2):
        light = ndimage.correlate1d(light, lateral, axis=axis, mode="constant")
    return np.asarray(light)
