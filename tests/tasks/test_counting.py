from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "fluo-cell-counting-2d-cellfmcount"
IMAGES = range(21)


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def images(made: Made) -> list[np.ndarray]:
    return [tifffile.imread(made.input / f"{n}.tiff") for n in IMAGES]


@pytest.fixture(scope="module")
def centres(made: Made) -> list[np.ndarray]:
    tables = [(made.evaluation / f"{n}.csv").read_text().splitlines() for n in IMAGES]
    rows = [[line.split(",") for line in table[1:]] for table in tables]
    return [np.array(row, dtype=float).reshape(-1, 2) for row in rows]


def test_21_images_and_tables_bear_the_published_names(made: Made) -> None:
    assert {p.name for p in made.input.iterdir()} == {f"{n}.tiff" for n in IMAGES}
    assert {p.name for p in made.evaluation.iterdir()} == {f"{n}.csv" for n in IMAGES}


def test_tables_begin_with_the_published_header(made: Made) -> None:
    for path in made.evaluation.iterdir():
        assert path.read_bytes().startswith(b"X,Y\n")


def test_images_are_grey_planes_of_two_bit_depths(images: list[np.ndarray]) -> None:
    assert {image.dtype for image in images} == {np.dtype(np.uint8), np.dtype(np.uint16)}
    assert {image.ndim for image in images} == {2}
    assert max(int(image.max()) for image in images if image.dtype == np.uint16) <= 4095


def test_seven_fields_are_blank_and_three_hold_one_or_two_cells(
    centres: list[np.ndarray],
) -> None:
    counts = [len(points) for points in centres]
    assert counts.count(0) == 7
    assert sorted(count for count in counts if 0 < count < 3) == [1, 1, 2]
    assert max(counts) > 200


def test_centres_lie_in_the_field_and_on_light(
    images: list[np.ndarray], centres: list[np.ndarray]
) -> None:
    for image, points in zip(images, centres, strict=True):
        if len(points):
            x, y = np.rint(points).astype(int).T
            assert (x >= 0).all()
            assert (y < image.shape[0]).all()
            assert image[y, x].mean() > np.percentile(image, 75)


def test_cells_crowd_into_colonies(centres: list[np.ndarray]) -> None:
    fields = [points for points in centres if 30 < len(points) < 150]
    counts = [np.histogram2d(*points.T, bins=5)[0] for points in fields]
    assert len(fields) > 2
    # Variance over mean of cells in squares: 1 for points at random, less for evenly spaced ones.
    assert np.mean([count.var() / count.mean() for count in counts]) > 1.5


def test_the_densest_field_leaves_a_cell_little_room(
    images: list[np.ndarray], centres: list[np.ndarray]
) -> None:
    assert images[0].size / max(len(points) for points in centres) < 700


def test_an_image_carries_no_description(made: Made) -> None:
    for path in made.input.iterdir():
        with tifffile.TiffFile(path) as file:
            assert len(file.pages) == 1
            assert not file.pages[0].description
            assert "XResolution" not in file.pages[0].tags or file.pages[0].tags[
                "XResolution"
            ].value == (1, 1)


def test_another_seed_puts_cells_elsewhere(simulate: ModuleType) -> None:
    first, second = (simulate.grow(simulate.stream(seed, 2, 0), 30, 200, 0.5) for seed in (1, 2))
    assert first.outlines.y.tolist() != second.outlines.y.tolist()


def test_difficulty_lowers_the_light_of_cells(simulate: ModuleType) -> None:
    for batch in simulate.BATCHES:
        light = [simulate.photons_of(batch, difficulty) for difficulty in (0.0, 0.5, 1.0)]
        assert light == sorted(light, reverse=True)


def test_a_cell_too_pale_to_be_seen_is_not_in_the_reference(simulate: ModuleType) -> None:
    cells = simulate.grow(simulate.stream(3, 2, 0), 40, 200, 0.5)
    batch = simulate.BATCHES[0]
    listed = len(simulate.reference(cells, 200, 0.5, batch))
    pale = cells._replace(bright=np.full_like(cells.bright, 0.01))
    assert listed > 20
    assert simulate.reference(pale, 200, 0.5, batch) == []


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: object) -> None:
    with pytest.raises(ValueError, match="these fields are 2D, got dims='3D'"):
        simulate.simulate(tmp_path, seed=0, dims="3D")


def test_the_reference_scores_one(made: Made) -> None:
    grade = made.grade("perfect")
    assert (grade.outcome, grade.strict) == (1.0, 1.0)


def test_blank_tables_earn_the_share_of_empty_images(made: Made) -> None:
    grade = made.grade("blank")
    assert grade.outcome == pytest.approx(7 / 21, abs=5e-5)
    assert grade.strict is not None
    assert grade.strict <= 0.05


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.7 < grade.outcome < 0.98
    assert 0.4 < grade.strict < 0.9


def test_the_solution_leaves_tables_figures_and_methods(made: Made) -> None:
    folder = made.submission("solution")
    assert {p.name for p in folder.rglob("*.csv")} == {f"{n}.csv" for n in IMAGES}
    assert {p.name for p in (folder / "figures").iterdir()} >= {
        "overlays.png",
        "cells_per_image.png",
    }
    assert "top-hat" in (folder / "methods.md").read_text(encoding="utf-8")
