from __future__ import annotations

import csv
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from skimage.measure import label as component

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "3d-fluo-cell-segmentation-lateral-line-idr0079"


@pytest.fixture(scope="module")
def made(make: Callable[..., Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def planes(make: Callable[..., Made]) -> Made:
    return make(TASK, "2d")


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def stems(made: Made) -> list[str]:
    return sorted(path.stem for path in made.input.iterdir())


def test_three_stacks_and_references_bear_the_published_names(made: Made, stems: list[str]) -> None:
    assert len(stems) == 3
    assert all(re.fullmatch(r"[0-9A-F]{10}_8bit_lynEGFP", stem) for stem in stems)
    assert {p.name for p in made.input.iterdir()} == {f"{stem}.tif" for stem in stems}
    assert {p.name for p in made.evaluation.iterdir()} == {f"{stem}_seg.tif" for stem in stems}


def test_stacks_are_8_bit_with_axes_and_voxel_size(made: Made, stems: list[str]) -> None:
    for stem in stems:
        with tifffile.TiffFile(made.input / f"{stem}.tif") as file:
            assert file.series[0].axes == "ZYX"
            assert file.series[0].dtype == np.uint8
            assert file.imagej_metadata is not None
            assert file.imagej_metadata["unit"] in ("um", "\\u00B5m", "µm")
            assert file.imagej_metadata["spacing"] == pytest.approx(0.225)
            count, length = file.pages[0].tags["XResolution"].value
            assert length / count == pytest.approx(0.099, rel=1e-4)


def test_references_are_16_bit_labels_of_the_input_s_shape(made: Made, stems: list[str]) -> None:
    for stem in stems:
        image = tifffile.imread(made.input / f"{stem}.tif")
        labels = tifffile.imread(made.evaluation / f"{stem}_seg.tif")
        assert labels.dtype == np.uint16
        assert labels.shape == image.shape
        assert np.unique(labels).tolist() == list(range(int(labels.max()) + 1))
        assert labels.max() >= 20


def test_foreground_is_not_the_whole_volume(made: Made, stems: list[str]) -> None:
    for stem in stems:
        labels = tifffile.imread(made.evaluation / f"{stem}_seg.tif")
        assert 0.15 < (labels > 0).mean() < 0.5


def test_no_membrane_is_lost_to_saturation(made: Made, stems: list[str]) -> None:
    for stem in stems:
        image = tifffile.imread(made.input / f"{stem}.tif")
        assert (image == 255).mean() < 1e-3
        assert image.max() > 120


def test_the_capsule_is_small(made: Made) -> None:
    files = [*made.input.iterdir(), *made.evaluation.iterdir()]
    assert sum(path.stat().st_size for path in files) < 9_000_000


def test_difficulty_dims_and_blurs_the_light(simulate: ModuleType) -> None:
    steps = [simulate.microscope(difficulty) for difficulty in (0.0, 0.5, 1.0)]
    assert [s.photons for s in steps] == sorted((s.photons for s in steps), reverse=True)
    assert [s.decay_um for s in steps] == sorted((s.decay_um for s in steps), reverse=True)
    assert [s.haze for s in steps] == sorted(s.haze for s in steps)


def test_another_seed_names_other_samples(simulate: ModuleType) -> None:
    assert simulate.sample_id(1, 0) != simulate.sample_id(2, 0)
    assert simulate.sample_id(1, 0) != simulate.sample_id(1, 1)


def test_a_movie_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dims must be None, '3d' or '2d', got '2dt'"):
        simulate.simulate(tmp_path, seed=0, dims="2dt")


def test_the_reference_scores_one(made: Made) -> None:
    grade = made.grade("perfect")
    assert (grade.outcome, grade.strict) == (1.0, 1.0)


def test_blank_stacks_score_nothing(made: Made) -> None:
    grade = made.grade("blank")
    assert grade.outcome == 0
    assert grade.strict == 0


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.8 < grade.outcome < 0.98
    assert 0.6 < grade.strict < 0.95


def test_the_solution_measures_every_cell_it_labels(made: Made, stems: list[str]) -> None:
    folder = made.submission("solution")
    with (folder / "cell_morphometrics.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    labelled = [int(tifffile.imread(folder / f"{stem}_seg.tif").max()) for stem in stems]
    assert len(rows) == sum(labelled)
    assert all(0.3 < float(row["sphericity"]) < 1.05 for row in rows)
    volumes = [float(row["volume_um3"]) / float(row["volume_voxels"]) for row in rows]
    np.testing.assert_allclose(volumes, 0.099 * 0.099 * 0.225, rtol=1e-3)


def test_the_solution_leaves_figures_and_methods(made: Made, stems: list[str]) -> None:
    folder = made.submission("solution")
    pictures = {f"{stem}_views.png" for stem in stems} | {"shape_distributions.png"}
    assert {path.name for path in folder.glob("*.png")} == pictures
    assert "watershed" in (folder / "methods.md").read_text(encoding="utf-8")


def test_planes_are_cut_from_the_same_tissue(made: Made, planes: Made, stems: list[str]) -> None:
    names = sorted(path.stem for path in planes.input.iterdir())
    assert len(names) == 18
    assert sorted(path.stem for path in planes.evaluation.iterdir()) == [f"{n}_seg" for n in names]
    assert {name.rsplit("_", 1)[0] for name in names} == set(stems)
    for name in names[::5]:
        stem, depth = name.rsplit("_z", 1)
        image = tifffile.imread(planes.input / f"{name}.tif")
        labels = tifffile.imread(planes.evaluation / f"{name}_seg.tif")
        stack = tifffile.imread(made.input / f"{stem}.tif", key=int(depth))
        np.testing.assert_array_equal(image, stack)
        whole = tifffile.imread(made.evaluation / f"{stem}_seg.tif", key=int(depth))
        assert ((labels > 0) != (whole > 0)).mean() < 0.01


def test_a_section_of_a_plane_is_one_piece_and_large_enough(
    planes: Made, simulate: ModuleType
) -> None:
    counts = []
    for path in sorted(planes.evaluation.iterdir()):
        labels = tifffile.imread(path)
        area_um2 = np.bincount(labels.ravel())[1:] * 0.099**2
        assert area_um2.min() >= simulate.SMALLEST_UM2
        assert max(component(labels == k, connectivity=1).max() for k in (1, labels.max())) == 1
        counts.append(int(labels.max()))
    assert sum(counts) >= 300


def test_above_the_published_data_the_focus_leaves_planes_out(simulate: ModuleType) -> None:
    imaging = simulate.microscope(0.5)
    assert imaging.step == 1
    assert simulate.microscope(1.0).step == 3
    size = simulate.Size((24, 48, 72), 60.0)
    fine, coarse = (
        [labels for _, labels in simulate.primordium(size, replace(imaging, step=step), 1, 0)]
        for step in (1, 3)
    )
    np.testing.assert_array_equal(coarse, fine[::3])


def test_the_solution_scores_higher_on_planes_than_on_stacks(made: Made, planes: Made) -> None:
    flat, solid = planes.grade("solution").strict, made.grade("solution").strict
    assert flat is not None
    assert solid is not None
    assert flat > solid
    assert "plane" in (planes.submission("solution") / "methods.md").read_text(encoding="utf-8")
