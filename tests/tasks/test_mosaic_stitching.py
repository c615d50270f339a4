from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "confocal-mosaic-4channel-stitching-ctc-model"
NAME = "day15_1_6_wbc_wbca1_mcf7_dapi_bodipy_panck_cd45_zstack_8x8"
SIDE, TILE, STEP = 5, 108, 98


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def tiles(made: Made) -> np.ndarray:
    return tifffile.imread(made.input / f"{NAME}.lsm")


@pytest.fixture(scope="module")
def mosaic(made: Made) -> np.ndarray:
    return tifffile.imread(made.evaluation / f"{NAME}_Stitched.lsm")


def table_of(folder: Path) -> dict[str, list[float]]:
    lines = (folder / "reference_table_1.csv").read_text().splitlines()
    assert lines[0] == "Feature,WBC_Mean,WBC_SD,MCF7_Mean,MCF7_SD,D"
    return {line.split(",")[0]: [float(n) for n in line.split(",")[1:]] for line in lines[1:]}


def test_the_input_is_one_lsm_file_of_all_tiles_slices_and_channels(
    made: Made, tiles: np.ndarray
) -> None:
    assert [p.name for p in made.input.rglob("*")] == [f"{NAME}.lsm"]
    assert (tiles.shape, tiles.dtype) == ((SIDE**2, 3, 4, TILE, TILE), np.uint16)
    with tifffile.TiffFile(made.input / f"{NAME}.lsm") as file:
        assert file.is_lsm
        assert file.series[0].axes == "MZCYX"


def test_the_file_tells_voxel_size_channels_and_where_the_stage_was_sent(made: Made) -> None:
    with tifffile.TiffFile(made.input / f"{NAME}.lsm") as file:
        told = file.lsm_metadata
    assert told is not None
    assert [told[f"VoxelSize{axis}"] for axis in "XYZ"] == pytest.approx([0.415e-6, 0.415e-6, 5e-6])
    assert told["ChannelColors"]["ColorNames"][2] == "DAPI"
    assert told["ChannelWavelength"][0] == pytest.approx([490e-9, 553e-9])
    places = told["TilePositions"][:, :2] / 0.415e-6
    assert np.diff(places[:SIDE, 0]) == pytest.approx(STEP)
    # The second row is scanned backwards.
    assert np.diff(places[SIDE : 2 * SIDE, 0]) == pytest.approx(-STEP)


def test_the_reference_is_a_mosaic_and_sixteen_rows_of_features(
    made: Made, mosaic: np.ndarray
) -> None:
    assert {p.name for p in made.evaluation.iterdir()} == {
        f"{NAME}_Stitched.lsm",
        "reference_table_1.csv",
    }
    assert mosaic.shape[:2] == (3, 4)
    assert mosaic.shape[2:] == pytest.approx((500, 500), abs=30)
    assert len(table_of(made.evaluation)) == 16


def test_the_known_differences_of_the_populations_show(made: Made) -> None:
    table = table_of(made.evaluation)
    for name in ("Bodipy Sigma (dBct)", "PanCK Sigma (dBct)", "DAPI Sigma (dBct)", "DAPI <r>"):
        assert table[name][2] > table[name][0]
    assert table["CD45 Sigma (dBct)"][2] < table["CD45 Sigma (dBct)"][0]
    # Nuclei of leukocytes are 6 to 8 µm wide, those of MCF7 10 to 15; a disc has <r> = radius / √2.
    assert 2.0 < table["DAPI <r>"][0] < 3.0
    assert 3.4 < table["DAPI <r>"][2] < 5.3


def test_noise_is_that_of_counted_photons(simulate: ModuleType) -> None:
    size, microscope = simulate.SIZES["quick"], simulate.microscope_of(0.0)
    slide = simulate.spread_cells(3, size.grid.extent_px, 48, size.cells, 0.415, simulate.Biology())
    light = [np.ones((TILE, TILE))] * 4
    # The same place time and again: tiles differ in laser power and noise alone.
    shots = simulate.scan(slide, np.zeros((SIDE**2, 2)), light, size.grid, microscope, 3)
    dapi = [plane.astype(float) for k, plane in enumerate(shots) if k % 12 == 6]
    scaled = np.stack([plane * np.mean(dapi) / plane.mean() for plane in dapi])
    mean, variance = scaled.mean(axis=0), scaled.var(axis=0, ddof=1)
    for low, high in ((0.5, 2), (5, 15), (15, 40)):
        chosen = (mean > low) & (mean < high)
        assert variance[chosen].mean() / mean[chosen].mean() == pytest.approx(1, abs=0.12)


def test_corners_of_tiles_are_darker_than_their_middle(tiles: np.ndarray) -> None:
    mean = tiles.mean(axis=(0, 1, 2))
    ends = (slice(20), slice(-20, None))
    corners = np.mean([mean[rows, columns] for rows in ends for columns in ends])
    assert corners < 0.95 * mean[34:74, 34:74].mean()


def test_the_stage_errs_by_some_pixels_and_rows_lag(simulate: ModuleType) -> None:
    grid = simulate.SIZES["quick"].grid
    stage = simulate.microscope_of(0.5).stage
    places = np.stack([simulate.true_places(simulate.stream(s, 3), grid, stage) for s in range(40)])
    error = places - grid.serpentine() * grid.step_px
    odd = grid.serpentine()[:, 0] % 2 == 1
    lag = error[:, odd, 1].mean() - error[:, ~odd, 1].mean()
    assert lag == pytest.approx(stage.backlash_px, abs=0.5)
    assert 2 < (error[:, odd] - error[:, odd].mean(axis=1, keepdims=True)).std() < 5


def test_difficulty_keeps_the_cells_and_changes_the_imaging(
    simulate: ModuleType, tmp_path: Path
) -> None:
    microscopes = [simulate.microscope_of(d) for d in (0.0, 0.5, 1.0)]
    assert [m.photons for m in microscopes] == sorted(
        (m.photons for m in microscopes), reverse=True
    )
    tables = []
    for difficulty in (0.0, 1.0):
        folder = tmp_path / str(difficulty)
        simulate.simulate(folder, seed=9, difficulty=difficulty)
        tables.append(table_of(folder / "evaluation"))
    for name in ("DAPI <r>", "PanCK <r>"):
        easy, hard = (table[name] for table in tables)
        assert hard[0] == pytest.approx(easy[0], rel=0.06)
        assert hard[2] == pytest.approx(easy[2], rel=0.06)


def test_randomised_biology_is_not_always_the_known_one(simulate: ModuleType) -> None:
    drawn = [simulate.biology_of(seed, "randomised") for seed in range(30)]
    assert len(set(drawn)) == 5
    assert {simulate.biology_of(seed, "canonical") for seed in range(5)} == {simulate.Biology()}


def test_a_flat_mosaic_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a mosaic has three slices"):
        simulate.simulate(tmp_path, seed=0, dims="2D")


def test_the_reference_scores_one_and_a_blank_mosaic_its_shape_alone(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.35, 0.0)


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert grade.outcome > 0.8
    assert 0.3 < grade.strict < 0.98
    folder = made.submission("solution")
    assert {p.name for p in (folder / "figures").iterdir()} == {"mosaic.png", "features.png"}
    assert "correlation" in (folder / "methods.md").read_text(encoding="utf-8")
