"""Made pictures against real ones of the same modality: colours, fineness, sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tasks.conftest import Made

REAL = Path(__file__).parents[1] / "data" / "real"
# Two of the real fields of that set bear another, purple stain.
REAL_HE = ("4193474b", "8f27ebc7", "87ea7289", "57bd029b")
HE = "he-nuinsseg-nuclear-segmentation"
COUNTING = "fluo-cell-counting-2d-cellfmcount"


def rgb(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def spectral_slope(plane: np.ndarray) -> float:
    """Slope of the radial power spectrum in log-log, from 4 periods a field to 6 px a period."""
    side = min(plane.shape)
    square = plane[:side, :side] - plane[:side, :side].mean()
    window = np.hanning(side)
    power = np.abs(np.fft.fftshift(np.fft.fft2(square * window * window[:, None]))) ** 2
    y, x = np.indices(power.shape) - side // 2
    radius = np.hypot(y, x).astype(int).ravel()
    mean = np.bincount(radius, power.ravel()) / np.bincount(radius)
    periods = np.arange(4, side // 6)
    return float(np.polyfit(np.log(periods), np.log(mean[periods]), 1)[0])


@pytest.fixture(scope="module")
def real_he() -> list[np.ndarray]:
    return [rgb(REAL / "nuclei-he-2d" / f"{name}.png") for name in REAL_HE]


@pytest.fixture(scope="module")
def made_he(make: Callable[[str], Made]) -> list[np.ndarray]:
    return [rgb(path) for path in sorted(make(HE).input.iterdir())]


def test_stained_sections_have_the_colours_of_real_ones(
    made_he: list[np.ndarray], real_he: list[np.ndarray]
) -> None:
    made, real = (
        np.median([np.percentile(picture, (10, 50, 90), axis=(0, 1)) for picture in group], axis=0)
        for group in (made_he, real_he)
    )
    assert np.abs(made - real).mean() < 25
    assert np.corrcoef(made.ravel(), real.ravel())[0, 1] > 0.85


def test_stained_sections_have_the_fineness_of_real_ones(
    made_he: list[np.ndarray], real_he: list[np.ndarray]
) -> None:
    made, real = (
        [spectral_slope(picture[..., 0]) for picture in group] for group in (made_he, real_he)
    )
    assert min(real) - 0.4 < np.mean(made) < max(real) + 0.4


def test_stained_nuclei_lie_as_close_as_in_real_sections_or_closer(
    make: Callable[[str], Made],
) -> None:
    capsule = make(HE)
    gaps = []
    for path in sorted(capsule.evaluation.iterdir()):
        label = tifffile.imread(path)
        y, x = np.nonzero(label)
        owner = label[y, x]
        size = np.bincount(owner)[1:]
        centres = np.stack([np.bincount(owner, axis)[1:] / size for axis in (y, x)], axis=1)
        nearest = cKDTree(centres).query(centres, k=2)[0][:, 1]
        gaps.append(nearest / (2 * np.sqrt(size / np.pi)))
    # In units of a nucleus: real kidney and pancreas pack from touching to a few widths apart.
    low, middle = np.percentile(np.concatenate(gaps), (5, 50))
    assert 0.7 < low < 1.15
    assert 1.1 < middle < 2.0


def test_counting_fields_are_mostly_dark_like_real_fluorescence(
    make: Callable[[str], Made],
) -> None:
    real = [rgb(path)[..., 0] for path in sorted((REAL / "nuclei-fluo-2d").glob("*.png"))]
    capsule = make(COUNTING)
    rows = {p.stem: len(p.read_text().splitlines()) - 1 for p in capsule.evaluation.iterdir()}
    made = [
        tifffile.imread(capsule.input / f"{stem}.tiff").astype(float)
        for stem, count in rows.items()
        if count > 20
    ]

    def dark_share(plane: np.ndarray) -> float:
        low, high = np.percentile(plane, (0.5, 99.8))
        return float(np.mean(plane < low + 0.3 * (high - low)))

    shares = [dark_share(plane) for plane in made]
    assert np.median(shares) > min(dark_share(plane) for plane in real) - 0.1
