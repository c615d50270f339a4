from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage
from skimage.filters import threshold_otsu

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "sim-microtubules-segmentation"
NAMES = [f"report_{number:04d}" for number in range(1, 17)]


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def images(made: Made) -> list[np.ndarray]:
    return [tifffile.imread(made.input / f"{name}.noisy.tiff") for name in NAMES]


@pytest.fixture(scope="module")
def masks(made: Made) -> list[np.ndarray]:
    return [tifffile.imread(made.evaluation / f"{name}.binary.tiff") for name in NAMES]


def test_16_images_and_masks_bear_the_published_names(made: Made) -> None:
    assert {p.name for p in made.input.iterdir()} == {f"{name}.noisy.tiff" for name in NAMES}
    assert {p.name for p in made.evaluation.iterdir()} == {f"{name}.binary.tiff" for name in NAMES}


def test_images_and_masks_are_plain_planes_of_one_size(
    made: Made, images: list[np.ndarray], masks: list[np.ndarray]
) -> None:
    for image, mask in zip(images, masks, strict=True):
        assert (image.dtype, image.shape) == (np.uint8, (256, 256))
        assert (mask.dtype, mask.shape) == (np.uint8, (256, 256))
        assert np.unique(mask).tolist() == [0, 1]
    for path in made.input.iterdir():
        with tifffile.TiffFile(path) as file:
            assert len(file.pages) == 1
            assert not file.pages[0].description


def test_lines_are_one_to_three_pixels_wide_and_usually_below_five_per_cent(
    masks: list[np.ndarray],
) -> None:
    assert np.median([mask.mean() for mask in masks]) < 0.05
    assert max(mask.mean() for mask in masks) < 0.06
    for mask in masks:
        # Inside a line of width w the mean distance to the outside is about w / 4 + 0.5.
        depth = ndimage.distance_transform_edt(np.pad(mask, 1, mode="edge"))[1:-1, 1:-1]
        assert 1.0 <= np.percentile(depth[mask > 0], 50) <= 2.0


def test_light_across_a_line_is_as_wide_as_the_mask(simulate: ModuleType) -> None:
    imaging = simulate.Imaging.of(0.0)
    scene = simulate.grow(simulate.stream(1, 0, 0), 128, 3)
    dye = np.ones(scene.exists.shape) * scene.exists
    light = simulate.near_focus(scene, dye, 128, imaging)
    mask = simulate.reference(scene, dye, np.zeros((128, 128)), 128, imaging)
    alone = (ndimage.uniform_filter(mask.astype(float), 15) < 0.25) & mask
    rim = mask & ~ndimage.binary_erosion(mask)
    crest = np.median(light[alone & (ndimage.maximum_filter(light, 5) == light)])
    # A pixel at the rim of the full width at half maximum has about half of the crest's light.
    assert 0.5 < np.median(light[alone & rim]) / crest < 0.9
    beside = ndimage.binary_dilation(mask, np.ones((3, 3))) & ~mask
    assert np.median(light[beside]) / crest < 0.5


def test_filaments_cross_and_run_out_of_the_field(masks: list[np.ndarray]) -> None:
    pieces = [ndimage.label(mask, np.ones((3, 3))) for mask in masks]
    assert sum(count for _, count in pieces) > 50
    rim = [np.concatenate([m[0], m[-1], m[:, 0], m[:, -1]]) for m in masks]
    assert sum(ndimage.label(edge)[1] for edge in rim) > 40
    # Meshes can only come from crossings.
    meshes = [ndimage.label(mask == 0)[1] - 1 for mask in masks]
    assert sum(meshes) > 16


def test_noise_grows_with_light_as_photons_have_it(simulate: ModuleType) -> None:
    imaging = simulate.Imaging.of(0.5)
    counts = []
    for photons in (10.0, 20.0, 40.0):
        flat = np.full((200, 200), photons)
        image = simulate.record(simulate.stream(5), flat, imaging).astype(float)
        counts.append((image.mean(), image.var()))
    (low, first), (_, _), (high, last) = counts
    gain = (high - low) / 30.0
    assert (last - first) / (high - low) == pytest.approx(gain, rel=0.05)
    assert first == pytest.approx(gain**2 * (10 + 1.6**2), rel=0.05)


def test_one_global_threshold_fails(images: list[np.ndarray], masks: list[np.ndarray]) -> None:
    scores = []
    for image, mask in zip(images, masks, strict=True):
        found = image > threshold_otsu(image)
        scores.append(2 * (found & (mask > 0)).sum() / (found.sum() + mask.sum()))
    assert np.mean(scores) < 0.35


def test_difficulty_dims_the_lines_and_leaves_them_where_they_are(simulate: ModuleType) -> None:
    steps = [simulate.Imaging.of(difficulty) for difficulty in (0.0, 0.5, 1.0)]
    assert [s.crest for s in steps] == sorted((s.crest for s in steps), reverse=True)
    scene = simulate.grow(simulate.stream(2, 4, 0), 128, 4)
    seen = []
    for step in steps:
        dye = simulate.label(simulate.stream(2, 4, 1), scene, step)
        seen.append(simulate.reference(scene, dye, np.full((128, 128), 15.0), 128, step))
    assert seen[0].any()
    assert not (seen[2] & ~seen[0]).any()


def test_a_filament_that_cannot_be_seen_is_not_in_the_reference(simulate: ModuleType) -> None:
    imaging = simulate.Imaging.of(0.5)
    scene = simulate.grow(simulate.stream(2, 4, 0), 128, 4)
    ground, dye = np.full((128, 128), 15.0), np.ones(scene.exists.shape) * scene.exists
    assert simulate.reference(scene, dye, ground, 128, imaging).any()
    assert not simulate.reference(scene, 0.05 * dye, ground, 128, imaging).any()
    blurred = scene._replace(sharp=np.zeros_like(scene.sharp))
    assert not simulate.reference(blurred, dye, ground, 128, imaging).any()


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="these fields are 2D, got dims='3D'"):
        simulate.simulate(tmp_path, seed=0, dims="3D")


def test_the_reference_scores_one_and_nothing_scores_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.0, 0.0)


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.6 < grade.outcome < 0.95
    assert 0.4 < grade.strict < 0.9
    folder = made.submission("solution")
    assert {p.name for p in folder.glob("*.tif")} == {f"{name}_mask.tif" for name in NAMES}
    assert "methods.md" in {p.name for p in folder.iterdir()}
    assert len([*(folder / "figures").iterdir()]) == 3
