from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy import ndimage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "he-nuinsseg-nuclear-segmentation"
STEMS = [f"human_{organ}_{n:02d}" for organ in ("kidney", "pancreas") for n in range(1, 6)]


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def labels(made: Made) -> list[np.ndarray]:
    return [tifffile.imread(made.evaluation / f"{stem}.tif") for stem in STEMS]


@pytest.fixture(scope="module")
def pictures(made: Made) -> list[np.ndarray]:
    return [np.asarray(Image.open(made.input / f"{stem}.png")) for stem in STEMS]


def test_ten_pictures_and_ten_references_bear_the_published_names(made: Made) -> None:
    assert sorted(p.name for p in made.input.iterdir()) == [f"{stem}.png" for stem in STEMS]
    assert sorted(p.name for p in made.evaluation.iterdir()) == [f"{stem}.tif" for stem in STEMS]


def test_pictures_are_rgb_and_references_uint16_of_their_size(
    pictures: list[np.ndarray], labels: list[np.ndarray]
) -> None:
    for picture, label in zip(pictures, labels, strict=True):
        assert picture.dtype == np.uint8
        assert picture.shape == (*label.shape, 3)
        assert label.dtype == np.uint16


def test_a_quick_edition_holds_at_least_300_nuclei(labels: list[np.ndarray]) -> None:
    assert sum(int(label.max()) for label in labels) >= 300


def test_labels_are_consecutive_and_large_enough_to_be_seen(
    labels: list[np.ndarray], simulate: ModuleType
) -> None:
    for label in labels:
        areas = np.bincount(label.ravel())[1:]
        assert areas.min() >= simulate.VISIBLE_PIXELS


def test_nuclei_are_as_wide_as_published(labels: list[np.ndarray]) -> None:
    widths = []
    for label in labels:
        cut = np.concatenate([label[[0, -1]].ravel(), label[:, [0, -1]].ravel()])
        areas = np.bincount(label.ravel())
        areas[cut] = 0
        areas[0] = 0
        widths.append(np.sqrt(4 * areas[areas > 0] / np.pi))
    low, middle, high = np.percentile(np.concatenate(widths), (5, 50, 95))
    assert low > 15
    assert 21 < middle < 30
    assert high < 36


def test_some_nuclei_touch(labels: list[np.ndarray]) -> None:
    merged = sum(int(ndimage.label(label)[1]) for label in labels)
    assert merged < 0.97 * sum(int(label.max()) for label in labels)


def test_nuclei_are_bluer_than_what_surrounds_them(
    pictures: list[np.ndarray], labels: list[np.ndarray]
) -> None:
    for picture, label in zip(pictures, labels, strict=True):
        red = picture[..., 0].astype(float)
        assert red[label > 0].mean() < red[label == 0].mean() - 30


def test_a_picture_carries_pixels_only(made: Made) -> None:
    for stem in STEMS:
        with Image.open(made.input / f"{stem}.png") as file:
            assert not file.info


def test_another_seed_makes_another_tissue(simulate: ModuleType) -> None:
    first, second = (simulate.make_field(seed, 0, "kidney", 96, 0.5) for seed in (1, 2))
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])


def test_difficulty_lowers_the_contrast_of_nuclei(simulate: ModuleType) -> None:
    contrasts = []
    for difficulty in (0.0, 0.5, 1.0):
        picture, label = simulate.make_field(5, 5, "pancreas", 192, difficulty)
        red = picture[..., 0].astype(float)
        contrasts.append(red[label == 0].mean() - red[label > 0].mean())
    assert contrasts[0] > contrasts[1] > contrasts[2]


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: object) -> None:
    with pytest.raises(ValueError, match="H&E sections are 2D, got dims='3D'"):
        simulate.simulate(tmp_path, seed=0, dims="3D")


def test_the_reference_scores_one(made: Made) -> None:
    grade = made.grade("perfect")
    assert (grade.outcome, grade.strict) == (1.0, 1.0)


def test_blank_masks_score_nothing(made: Made) -> None:
    grade = made.grade("blank")
    assert (grade.outcome, grade.strict) == (0.0, 0.0)


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.65 < grade.outcome < 0.93
    assert 0.45 < grade.strict < 0.85


def test_the_solution_leaves_masks_figures_and_methods(made: Made) -> None:
    folder = made.submission("solution")
    assert sorted(p.stem for p in folder.rglob("*.tif")) == STEMS
    assert {p.name for p in (folder / "figures").iterdir()} >= {
        "overlays.png",
        "nuclei_per_image.png",
    }
    assert "Colour deconvolution" in (folder / "methods.md").read_text(encoding="utf-8")
