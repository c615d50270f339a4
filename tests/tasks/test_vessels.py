from __future__ import annotations

import csv
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage

from evals import assets
from evals.simulation.light_sheet import Volume
from evals.simulation.tubes import Tubes
from evals.simulation.vasculature import Vessels
from scorers.grading import grade
from tests.tasks.conftest import Made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

TASK = "3d-light-sheet-brain-vessels"
ANIMALS = ("204", "218", "608", "640", "641", "642")


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def flat(simulate: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Made:
    capsule = tmp_path_factory.mktemp("flat") / TASK
    capsule.mkdir()
    simulate.simulate(capsule, seed=11, dims="2d")
    for name in ("task_spec", "evaluation_rubric"):
        source = assets() / "tasks" / "biaa" / TASK / f"{name}.2d.yaml"
        shutil.copy(source, capsule / f"{name}.yaml")
    return Made(capsule, capsule.parent / "submissions")


@pytest.fixture(scope="module")
def pairs(made: Made) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        (
            tifffile.imread(made.input / f"control{animal}_r_RA.tiff"),
            tifffile.imread(made.evaluation / f"Binary_control{animal}_r_RA.tiff"),
        )
        for animal in ANIMALS
    ]


def test_stacks_and_references_bear_the_published_names_and_no_voxel_size(made: Made) -> None:
    stems = [f"control{animal}_r_RA" for animal in ANIMALS]
    assert sorted(p.name for p in made.input.iterdir()) == [f"{stem}.tiff" for stem in stems]
    assert sorted(p.stem for p in made.evaluation.iterdir()) == [f"Binary_{s}" for s in stems]
    with tifffile.TiffFile(made.input / f"{stems[0]}.tiff") as file:
        assert {"XResolution", "ImageDescription"} & {t.name for t in file.pages[0].tags} <= {
            "XResolution"
        }
        assert file.pages[0].tags["XResolution"].value == (1, 1)


def test_volumes_are_16_bit_and_references_are_0_and_1(
    pairs: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    for image, mask in pairs:
        assert (image.dtype, mask.dtype) == (np.uint16, np.uint8)
        assert image.shape == mask.shape
        assert image.ndim == 3
        assert set(np.unique(mask).tolist()) == {0, 1}


def test_vessels_fill_a_few_hundredths_of_the_tissue_in_one_web(
    pairs: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    shares = [mask.mean() for _, mask in pairs]
    assert 0.012 < np.mean(shares) < 0.04
    for _, mask in pairs:
        labels, _ = ndimage.label(mask, np.ones((3, 3, 3)))
        # A mesh that the faces cut into a few large pieces.
        assert np.sort(np.bincount(labels.ravel())[1:])[-4:].sum() > 0.6 * mask.sum()


def test_noise_grows_with_the_light_as_electrons_do(simulate: ModuleType, tmp_path: Path) -> None:
    # Two recordings of one tissue differ by noise alone: the scene's streams are the same.
    volume = Volume((4, 48, 48), simulate.VOXEL_UM)
    tubes = simulate.vessels(volume, 3, 0)
    stacks = [
        np.stack(list(simulate.record(tubes, volume, simulate.microscope(0.0), 3, key)))
        for key in (7, 7)
    ]
    np.testing.assert_array_equal(*stacks)
    ground = stacks[0].astype(float)
    local = ndimage.uniform_filter(ground, (1, 5, 5))
    dark = local < np.percentile(local, 60)
    residual = (ground - local)[dark] / np.sqrt(24 / 25)
    # Read noise of 1.6 electrons and an offset of 100 counts, one count an electron.
    assert residual.var() == pytest.approx(local[dark].mean() - 100 + 1.6**2, rel=0.25)


def test_difficulty_moves_the_light_and_leaves_the_vessels(
    made: Made, simulate: ModuleType, tmp_path: Path
) -> None:
    simulate.simulate(tmp_path, seed=11, difficulty=1.0)
    name = "control218_r_RA.tiff"
    one, other = (tifffile.imread(root / "input" / name) for root in (made.capsule, tmp_path))
    assert other.std() < 0.7 * one.std()
    first, second = (
        tifffile.imread(root / "evaluation" / f"Binary_{name}") for root in (made.capsule, tmp_path)
    )
    np.testing.assert_array_equal(first, second)
    for low, high in pairwise([simulate.microscope(d) for d in (0.0, 0.5, 1.0)]):
        assert low.photons > high.photons
        assert low.waist_um < high.waist_um
        assert low.stripes < high.stripes


def test_the_faintest_vessel_is_seen_at_difficulty_one(simulate: ModuleType) -> None:
    volume = Volume((24, 80, 80), simulate.VOXEL_UM)
    tubes = simulate.vessels(volume, 5, 0)
    nothing = Tubes(Vessels(np.full((1, 3), -1e3), np.ones(1), np.ones(1)))
    with_vessels, without = (
        np.stack(list(simulate.record(what, volume, simulate.microscope(1.0), 5, 0))).astype(float)
        for what in (tubes, nothing)
    )
    smooth = ndimage.gaussian_filter(with_vessels - without, (1.2, 2, 2))
    mask = np.stack(list(simulate.masks(tubes, volume))).astype(bool)
    far = ndimage.distance_transform_edt(~mask, sampling=volume.voxel_um) > 15
    core = ndimage.distance_transform_edt(mask, sampling=volume.voxel_um) >= 1.9
    # The difference of two recordings has the noise of both.
    noise = smooth[far].std() / np.sqrt(2)
    assert np.percentile(smooth[core], 5) - smooth[far].mean() > 3 * noise


def test_only_volumes_and_images_can_be_had(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dims must be None or '2d', got '2dt'"):
        simulate.simulate(tmp_path, seed=0, dims="2dt")


def test_the_reference_scores_one_and_nothing_scores_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.0, 0.0)


def test_slabs_are_images_that_the_grader_serves(flat: Made, made: Made) -> None:
    names = sorted(path.name for path in flat.input.iterdir())
    assert names[:2] == ["control204_r_RA_slab00.tiff", "control204_r_RA_slab01.tiff"]
    stack = tifffile.imread(made.evaluation / "Binary_control204_r_RA.tiff")
    mask = tifffile.imread(flat.evaluation / f"Binary_{names[0]}")
    np.testing.assert_array_equal(mask, stack[:20].max(axis=0))
    perfect, blank = flat.grade("perfect"), flat.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.0, 0.0)


def test_the_solution_lies_between_floor_and_ceiling_and_does_better_in_2d(
    made: Made, flat: Made
) -> None:
    solid = grade(made.capsule, made.submission("solution"))
    planar = grade(flat.capsule, flat.submission("solution"))
    assert solid.strict is not None
    assert planar.strict is not None
    assert 0.5 < solid.strict < planar.strict < 0.95
    assert solid.outcome is not None
    assert 0.5 < solid.outcome < 0.9


def test_the_solution_leaves_one_row_a_volume_figures_and_methods(made: Made) -> None:
    folder = made.submission("solution")
    with (folder / "vessel_morphology.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["sample_id"] for row in rows] == [f"control{animal}_r_RA" for animal in ANIMALS]
    assert all(3 < float(row["mean_diameter_um"]) < 9 for row in rows)
    assert len(list((folder / "figures").glob("*.png"))) == 7
    assert "hysteresis" in (folder / "methods.md").read_text(encoding="utf-8")
