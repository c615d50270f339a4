"""Made pictures against real ones of the same modality: light, fineness, noise, sizes.

The real sections were stored as JPEG and the real fluorescence fields with 8 bits, which left no
noise to compare with; that of real 16-bit pictures stands for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy import ndimage
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tasks.conftest import Made

REAL = Path(__file__).parents[1] / "data" / "real"
# Two of the real fields of that set bear another, purple stain.
REAL_HE = ("4193474b", "8f27ebc7", "87ea7289", "57bd029b")
HE = "he-nuinsseg-nuclear-segmentation"
COUNTING = "fluo-cell-counting-2d-cellfmcount"
HELA = "fluo-helacytonuc-cell-segmentation"
PUNCTA = "3d-confocal-puncta-quantification-sbiad1556"


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


def shot_noise_exponent(plane: np.ndarray, offset: float = 0, dark: float = 0.05) -> float:
    """Power of the mean that the variance of the noise follows: 1 for photons.

    Noise is what a second difference along both axes leaves, in places of like brightness; the
    darkest ones, where the camera's own noise rules, are left out.
    """
    mask = np.outer((1, -2, 1), (1, -2, 1)) / 6
    noise = np.abs(ndimage.convolve(plane, mask))
    light = ndimage.uniform_filter(plane, 5) - offset
    edges = np.quantile(light, np.linspace(dark, 0.99, 9))
    classes = np.digitize(light, edges)
    mean, variance = (
        np.array([np.median(values[classes == k]) for k in range(1, len(edges))])
        for values in (light, noise**2)
    )
    return float(np.polyfit(np.log(mean), np.log(variance), 1)[0])


def quantiles(plane: np.ndarray) -> np.ndarray:
    """Return the quartiles and the ninth decile on a scale from the first to the last percent."""
    low, *inner, high = np.percentile(plane, (1, 25, 50, 75, 90, 99))
    return (np.array(inner) - low) / (high - low)


def widths_and_gaps(label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the diameters of objects and the distance to their neighbours in diameters."""
    y, x = np.nonzero(label)
    _, owner = np.unique(label[y, x], return_inverse=True)
    size = np.bincount(owner)
    centres = np.stack([np.bincount(owner, axis) / size for axis in (y, x)], axis=1)
    width = 2 * np.sqrt(size / np.pi)
    return width, cKDTree(centres).query(centres, k=2)[0][:, 1] / width


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
    labels = [tifffile.imread(path) for path in sorted(capsule.evaluation.iterdir())]
    gaps = [widths_and_gaps(label)[1] for label in labels]
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


@pytest.fixture(scope="module")
def real_nuclei() -> list[tuple[np.ndarray, np.ndarray]]:
    pictures = sorted((REAL / "nuclei-fluo-2d").glob("*.png"))
    return [
        (rgb(path)[..., 0], tifffile.imread(path.with_name(f"{path.stem}_label.tif")))
        for path in pictures
    ]


@pytest.fixture(scope="module")
def made_nuclei(make: Callable[[str], Made]) -> list[tuple[np.ndarray, np.ndarray]]:
    capsule = make(HELA)
    pictures = sorted(capsule.input.glob("*.tif"))
    masks = capsule.evaluation / "nuclei_masks"
    return [
        (tifffile.imread(path)[..., 2].astype(float), tifffile.imread(masks / path.name))
        for path in pictures
    ]


def test_fluorescent_nuclei_have_the_fineness_of_real_ones(
    made_nuclei: list[tuple[np.ndarray, np.ndarray]],
    real_nuclei: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    made, real = (
        [spectral_slope(plane) for plane, _ in group] for group in (made_nuclei, real_nuclei)
    )
    assert min(real) - 0.5 < np.mean(made) < max(real) + 0.4


def test_fluorescent_nuclei_share_out_their_light_like_real_ones(
    made_nuclei: list[tuple[np.ndarray, np.ndarray]],
    real_nuclei: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    made, real = (
        np.median([quantiles(plane) for plane, _ in group], axis=0)
        for group in (made_nuclei, real_nuclei)
    )
    assert np.abs(made - real).max() < 0.2


def test_fluorescent_nuclei_vary_in_size_and_lie_apart_like_real_ones(
    made_nuclei: list[tuple[np.ndarray, np.ndarray]],
    real_nuclei: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    made, real = (
        [widths_and_gaps(label) for _, label in group] for group in (made_nuclei, real_nuclei)
    )
    spread = [[np.std(w) / np.mean(w) for w, _ in group] for group in (made, real)]
    assert 0.7 * min(spread[1]) < np.mean(spread[0]) < max(spread[1])
    apart = [[np.median(gap) for _, gap in group] for group in (made, real)]
    assert min(apart[1]) < np.mean(apart[0]) < max(apart[1])


def test_noise_grows_with_light_as_in_real_fluorescence(make: Callable[[str], Made]) -> None:
    movie = sorted((REAL / "nuclei-tracking-ctc" / "01").glob("*.tif"))
    stack = tifffile.imread(REAL / "nuclei-3d" / "nuclei.tif")
    real = [shot_noise_exponent(tifffile.imread(path).astype(float)) for path in movie]
    real += [shot_noise_exponent(plane.astype(float)) for plane in stack[5:16:5]]
    hela = sorted(make(HELA).input.glob("*.tif"))[:3]
    made = [shot_noise_exponent(tifffile.imread(path)[..., 2].astype(float)) for path in hela]
    fields = [tifffile.imread(path) for path in sorted(make(COUNTING).input.iterdir())]
    bright = [plane for plane in fields if plane.dtype == np.uint16 and np.ptp(plane) > 1000]
    made += [shot_noise_exponent(plane.astype(float), offset=100) for plane in bright[:3]]
    stacks = sorted(make(PUNCTA).input.rglob("*.tif"))[::9]
    middles = [tifffile.imread(path)[5, 0].astype(float) for path in stacks]
    made += [shot_noise_exponent(plane, offset=100, dark=0.3) for plane in middles]
    assert min(real) > 0.75
    assert max(real) < 1.35
    assert min(made) > 0.8
    assert max(made) < 1.25


def test_noise_of_sections_is_that_of_their_photons(made_he: list[np.ndarray]) -> None:
    # 2000 photo-electrons fill 252 grey levels: a variance of 0.126 a level, and read noise.
    red = made_he[0][..., 0]
    mask = np.outer((1, -2, 1), (1, -2, 1)) / 6
    noise = ndimage.convolve(red, mask)[ndimage.uniform_filter(red, 5) > 215]
    variance = (1.4826 * np.median(np.abs(noise))) ** 2
    assert 0.8 < variance / (0.126 * 225 + (2 * 0.126) ** 2 + 1 / 12) < 1.3
