"""Three simple methods rank alike on made and on real pictures of nuclei.

A made picture that any threshold solves, or none, would rank them another way. The methods: half of
the range of grey levels; everything above the mean (in volumes: every maximum); and Otsu's
threshold of the smoothed picture with a watershed on the distance transform.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tifffile
from PIL import Image
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from skimage import color, feature, filters, measure, segmentation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.tasks.conftest import Made

REAL = Path(__file__).parents[1] / "data" / "real"
REAL_HE = ("4193474b", "8f27ebc7", "87ea7289", "57bd029b")
HE = "he-nuinsseg-nuclear-segmentation"
HELA = "fluo-helacytonuc-cell-segmentation"
PUNCTA = "3d-confocal-puncta-quantification-sbiad1556"


def large(labels: np.ndarray, least: float) -> np.ndarray:
    size = np.bincount(labels.ravel())
    size[0] = 0
    return np.where(size[labels] >= least, labels, 0)


def half_range(picture: np.ndarray, radius: float) -> np.ndarray:
    low, high = np.percentile(picture, (0.5, 99.8))
    return large(measure.label(picture > (low + high) / 2), radius**picture.ndim)


def above_mean(picture: np.ndarray, radius: float) -> np.ndarray:
    return large(measure.label(picture > picture.mean()), radius**2)


def maxima(picture: np.ndarray, radius: float) -> np.ndarray:
    smooth = ndimage.gaussian_filter(picture, radius / 8)
    return seeds_at_maxima(smooth, radius / 2, smooth > filters.threshold_otsu(picture))


def otsu_watershed(picture: np.ndarray, radius: float) -> np.ndarray:
    smooth = ndimage.gaussian_filter(picture, radius / 6)
    mask = ndimage.binary_fill_holes(smooth > filters.threshold_otsu(smooth))
    if picture.ndim == 2:
        mask = ndimage.binary_opening(mask, iterations=max(1, int(radius / 5)))
    depth = ndimage.gaussian_filter(ndimage.distance_transform_edt(mask), radius / 4)
    seeds = seeds_at_maxima(depth, 0.9 * radius, mask)
    return large(segmentation.watershed(-depth, seeds, mask=mask), radius**picture.ndim)


def seeds_at_maxima(height: np.ndarray, apart: float, mask: np.ndarray) -> np.ndarray:
    peaks = feature.peak_local_max(
        height, min_distance=max(1, int(apart)), labels=measure.label(mask), exclude_border=False
    )
    seeds = np.zeros(height.shape, dtype=int)
    seeds[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    return seeds


def panoptic_quality(labels: np.ndarray, found: np.ndarray) -> float:
    width = int(found.max()) + 1
    pairs = labels.ravel().astype(np.int64) * width + found.ravel()
    shared = np.bincount(pairs, minlength=(int(labels.max()) + 1) * width).reshape(-1, width)
    own, other = shared.sum(axis=1, keepdims=True), shared.sum(axis=0, keepdims=True)
    iou = (shared / np.maximum(own + other - shared, 1))[1:, 1:]
    total = np.count_nonzero(own[1:]) + np.count_nonzero(other[0, 1:])
    return float(2 * iou[iou > 0.5].sum() / max(total, 1))


def qualities(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Mean quality of the three methods over pairs of picture and labels."""
    rows = []
    for picture, labels in pairs:
        size = np.bincount(labels.ravel())[1:]
        radius = float(np.median(np.sqrt(size[size > 0] / np.pi)))
        methods = (half_range, above_mean, otsu_watershed)
        rows.append([panoptic_quality(labels, method(picture, radius)) for method in methods])
    return np.mean(rows, axis=0)


def found_share(centres: np.ndarray, found: np.ndarray, reach: float) -> float:
    """F1 of centres, one to one within a reach in voxels."""
    numbers = np.unique(found)[1:]
    places = np.array(ndimage.center_of_mass(found > 0, found, numbers)).reshape(-1, 3)
    if not len(centres) or not len(places):
        return float(len(centres) == len(places))
    away = np.sqrt(((centres[:, None] - places[None]) ** 2).sum(axis=-1))
    rows, columns = linear_sum_assignment(np.minimum(away, reach))
    hits = np.count_nonzero(away[rows, columns] < reach)
    return float(2 * hits / (len(centres) + len(places)))


def finds(volume: np.ndarray, centres: np.ndarray, radius: float) -> list[float]:
    methods = (half_range, maxima, otsu_watershed)
    return [found_share(centres, method(volume, radius), radius) for method in methods]


def assert_alike(made: np.ndarray, real: np.ndarray) -> None:
    """Both rise from the crudest method to the best, and by a clear step at the end."""
    for quality in (made, real):
        assert quality[0] < quality[1] < quality[2]
        assert quality[2] > quality[1] + 0.1


def test_methods_rank_alike_on_stained_sections(make: Callable[[str], Made]) -> None:
    def blue(path: Path) -> np.ndarray:
        return np.asarray(color.rgb2hed(np.asarray(Image.open(path).convert("RGB")))[..., 0])

    folder, capsule = REAL / "nuclei-he-2d", make(HE)
    real = [
        (blue(folder / f"{name}.png"), tifffile.imread(folder / f"{name}_label.tif"))
        for name in REAL_HE
    ]
    made = [
        (blue(path), tifffile.imread(capsule.evaluation / f"{path.stem}.tif"))
        for path in sorted(capsule.input.iterdir())
    ]
    assert_alike(qualities(made), qualities(real))


def test_methods_rank_alike_on_fluorescent_nuclei(make: Callable[[str], Made]) -> None:
    folder, capsule = REAL / "nuclei-fluo-2d", make(HELA)
    real = [
        (
            np.asarray(Image.open(path).convert("L")).astype(float),
            tifffile.imread(folder / f"{path.stem}_label.tif"),
        )
        for path in sorted(folder.glob("*.png"))
    ]
    made = [
        (
            tifffile.imread(path)[..., 2].astype(float),
            tifffile.imread(capsule.evaluation / "nuclei_masks" / path.name),
        )
        for path in sorted(capsule.input.glob("*.tif"))
    ]
    assert_alike(qualities(made), qualities(real))


def test_methods_rank_alike_on_nuclei_in_volumes(make: Callable[[str], Made]) -> None:
    volume = tifffile.imread(REAL / "nuclei-3d" / "nuclei.tif")[:, ::2, ::2].astype(float)
    labels = tifffile.imread(REAL / "nuclei-3d" / "nuclei_label.tif")[:, ::2, ::2]
    even = ndimage.zoom(volume, (0.29 / 0.52, 1, 1), order=1)
    centres = np.array(ndimage.center_of_mass(labels > 0, labels, np.unique(labels)[1:]))
    centres[:, 0] *= 0.29 / 0.52
    real = finds(even, centres, radius=5.0 / 0.52)
    capsule = make(PUNCTA)
    made = []
    for path in sorted(capsule.input.rglob("*.tif")):
        with tifffile.TiffFile(path) as file:
            count, length = file.pages[0].tags["XResolution"].value
            stretch = (file.imagej_metadata or {})["spacing"] * count / length
            nuclei = file.asarray()[:, 0].astype(float)
        even = ndimage.zoom(nuclei, (stretch, 1, 1), order=1)
        table = capsule.evaluation / "cell_quants" / path.parent.name / f"{path.stem}_trimmed.csv"
        with table.open(newline="", encoding="utf-8") as rows:
            places = [[float(row[axis]) for axis in "zyx"] for row in csv.DictReader(rows)]
        centres = np.array(places).reshape(-1, 3) * (stretch, 1, 1)
        made.append(finds(even, centres, radius=2.3 * count / length))
    assert_alike(np.mean(made, axis=0), np.array(real))
