from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage

from evals.simulation.dic import Dic
from evals.simulation.quantise import stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "wound-healing-speed-kymograph-gigadb100118"
EXPERIMENTS = {
    "DA3_CTRL_SN29_L5": "SN29_L5",
    "DA3_HGF-SN_SN29_L12": "SN29_L12",
    "DA3_PHA_SN77_L20": "SN77_L20",
    "DA3_PHA-HGF-SF_SN77_L36": "SN77_L36",
    "MDCK_CTRL_DKWH7_L10": "DKWH7_L10",
    "MDCK_HGF-SF_DKWH7_L6": "DKWH7_L6",
}
INTERVAL_H = 14.5 / 60


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


def truth(folder: Path, condition: str) -> dict[str, np.ndarray]:
    stem = folder / condition / EXPERIMENTS[condition]
    names = ("truth_dxs", "truth_dys", "truth_kymograph", "mf_dxs", "mf_dys", "speedKymograph")
    return {name: tifffile.imread(f"{stem}_{name}.tif") for name in names}


def test_each_condition_has_a_folder_with_a_stack_and_a_mask(made: Made) -> None:
    assert {p.name for p in made.input.iterdir()} == set(EXPERIMENTS)
    for condition, name in EXPERIMENTS.items():
        folder = made.input / condition
        files = {f"{name}_image_stack.tif", f"{name}_roi.tif"}
        assert {p.name for p in folder.iterdir()} == files
        stack = tifffile.imread(folder / f"{name}_image_stack.tif")
        cells = tifffile.imread(folder / f"{name}_roi.tif")
        assert (stack.dtype, stack.shape[1:]) == (np.uint8, cells.shape)
        assert (cells.dtype, set(np.unique(cells))) == (np.uint8, {0, 1})
        # A sheet on either side of one gap.
        assert (ndimage.label(cells)[1], ndimage.label(cells == 0)[1]) == (2, 1)


def test_the_tags_tell_pixel_size_and_interval_as_the_published_files_do(made: Made) -> None:
    for condition, name in EXPERIMENTS.items():
        path = made.input / condition / f"{name}_image_stack.tif"
        with tifffile.TiffFile(path) as file:
            page = file.pages.first
            told = file.imagej_metadata
            assert file.series[0].axes == "TYX"
            fraction = page.tags["YResolution"].value
        assert fraction == ((1000, 879) if name == "DKWH7_L6" else (25, 31))
        assert told is not None
        assert (told["finterval"], told["tunit"]) == (14.5, "min")


def test_the_reference_has_the_published_files_and_the_truth_beside_them(made: Made) -> None:
    for condition, name in EXPERIMENTS.items():
        field = truth(made.evaluation, condition)
        shape = tifffile.imread(made.input / condition / f"{name}_roi.tif").shape
        assert {field[key].shape for key in field if "ymograph" not in key} == {shape}
        for kind in ("mf_dxs", "mf_dys", "speedKymograph"):
            assert field[kind].dtype == np.float64
        assert np.array_equal(field["mf_dxs"], field["truth_dxs"])
        assert np.array_equal(field["speedKymograph"], field["truth_kymograph"])
        assert np.isfinite(field["truth_kymograph"]).all()


def test_kymographs_hold_the_mean_true_speed_of_bands_of_15_um(made: Made) -> None:
    field = truth(made.evaluation, "DA3_HGF-SN_SN29_L12")
    cells = tifffile.imread(made.input / "DA3_HGF-SN_SN29_L12" / "SN29_L12_roi.tif")
    distance = ndimage.distance_transform_edt(cells)
    speed = np.hypot(field["mf_dxs"], field["mf_dys"])
    assert len(field["speedKymograph"]) == int(min(300, distance.max()) / 13)
    for band in range(len(field["speedKymograph"])):
        inside = (distance > 13 * band) & (distance < 13 * (band + 1))
        expected = speed[inside].mean()
        assert field["speedKymograph"][band, 0] == pytest.approx(expected, abs=0.05)


def test_the_picture_moves_by_the_true_velocity(simulate: ModuleType, tmp_path: Path) -> None:
    simulate.simulate(tmp_path, seed=9, difficulty=0.0)
    for condition, name in EXPERIMENTS.items():
        stack = tifffile.imread(tmp_path / "input" / condition / f"{name}_image_stack.tif")
        cells = tifffile.imread(tmp_path / "input" / condition / f"{name}_roi.tif")
        field = truth(tmp_path / "evaluation", condition)
        pixel_um = 0.879 if name == "DKWH7_L6" else 1.24
        move = np.stack([field["mf_dys"], field["mf_dxs"]]) * INTERVAL_H / pixel_um
        now, after = (stack[k].astype(float) for k in (0, 1))
        inside = ndimage.binary_erosion(cells, iterations=12)
        unlike = []
        for share in (0.0, 0.5, 1.0, 1.5):
            grid = np.indices(now.shape) + share * move
            back = ndimage.map_coordinates(after, grid, order=1, mode="nearest")
            unlike.append(((back - now)[inside] ** 2).mean())
        assert np.argmin(unlike) == 2
        assert unlike[2] < 0.6 * unlike[0]


def test_the_factor_doubles_the_speed_and_the_edge_leads(made: Made) -> None:
    speeds = {c: truth(made.evaluation, c)["truth_kymograph"] for c in EXPERIMENTS}
    edge = {c: kymograph[:2].mean() for c, kymograph in speeds.items()}
    assert edge["DA3_HGF-SN_SN29_L12"] > 1.6 * edge["DA3_CTRL_SN29_L5"]
    assert edge["DA3_PHA_SN77_L20"] < 0.7 * edge["DA3_CTRL_SN29_L5"]
    assert edge["MDCK_HGF-SF_DKWH7_L6"] > 1.2 * edge["MDCK_CTRL_DKWH7_L10"]
    # 20 µm/h are 3.9 pixels a frame at 1.24 µm.
    assert 14 < edge["DA3_HGF-SN_SN29_L12"] < 26
    for kymograph in speeds.values():
        assert (kymograph[:3].mean(axis=0) > kymograph[len(kymograph) // 2 :].mean(axis=0)).all()


def test_difficulty_keeps_wounds_and_velocities(simulate: ModuleType, tmp_path: Path) -> None:
    for difficulty in (0.0, 1.0):
        simulate.simulate(tmp_path / str(difficulty), seed=3, difficulty=difficulty)
    easy, hard = (tmp_path / d for d in ("0.0", "1.0"))
    names = [p.relative_to(easy) for p in sorted(easy.rglob("*.tif"))]
    same = {n: np.array_equal(tifffile.imread(easy / n), tifffile.imread(hard / n)) for n in names}
    assert all(value for name, value in same.items() if "image_stack" not in name.name)
    assert not any(value for name, value in same.items() if "image_stack" in name.name)


def test_noise_grows_with_light_as_photons_do() -> None:
    microscope = Dic(contrast=0.5, photons=1500, dirt=0.0, flicker=0.0)
    path = 3 * np.arange(-32, 36)[:, None] * np.ones(68) / 32
    frames = [
        microscope.record(path, np.full((64, 64), share), stream(5, k)).astype(float)
        for share in (0.5, 1.0)
        for k in range(30)
    ]
    dim, bright = np.stack(frames[:30]), np.stack(frames[30:])
    gain = 118 / 1500
    for shots in (dim, bright):
        expected = gain * shots.mean() + (2 * gain) ** 2 + 1 / 12
        assert shots.var(axis=0, ddof=1).mean() == pytest.approx(expected, rel=0.05)


def test_randomised_biology_takes_field_knowledge_away(simulate: ModuleType) -> None:
    drawn = [simulate.motions_of(seed, "randomised") for seed in range(30)]
    assert len({tuple(m.speed_um_h for m in motions) for motions in drawn}) > 4
    assert len({motions[0].profile for motions in drawn}) == 3
    assert len({(motions[0].towards, motions[0].along) for motions in drawn}) == 4


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a sheet of cells is flat"):
        simulate.simulate(tmp_path, seed=0, dims="3D")


def test_the_truth_scores_one_and_fields_at_rest_their_completeness(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.1, 0.0)


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.7 < grade.outcome < 0.98
    assert 0.5 < grade.strict < 0.95
    folder = made.submission("solution")
    assert len(list(folder.rglob("*.tif"))) == 18
    assert (folder / "figures" / "speedKymograph_all.png").exists()
    assert "Lucas" in (folder / "methods.md").read_text(encoding="utf-8")
