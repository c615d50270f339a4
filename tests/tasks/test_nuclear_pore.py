from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import tifffile
from scipy import ndimage as ndi

from evals.simulation.quantise import stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "5D-npc-assembly-kinetics-idr0115"
NAMES = [f"160701-Nup107-cell-{number}-t6" for number in range(1, 6)]
CORE = "Normalized_total_Intensity_InnerCore_1"
RIM = "Normalized_total_Intensity_NonCore_1"
MINUTES = "Time after anaphase onset (min)"


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def sheets(made: Made) -> dict[str, pd.DataFrame]:
    return pd.read_excel(made.evaluation / "processed data NUP107.xlsx", sheet_name=None)


def test_five_stacks_over_time_tell_their_axes_and_sizes(made: Made) -> None:
    assert sorted(path.stem for path in made.input.iterdir()) == NAMES
    for path in made.input.iterdir():
        with tifffile.TiffFile(path) as file:
            series, told = file.series[0], file.imagej_metadata
            assert series.axes == "TZCYX"
            assert series.dtype == np.uint16
            assert series.shape[2] == 2
            assert (told["spacing"], told["finterval"], told["unit"]) == (1.0, 30.0, "um")
            numerator, denominator = file.pages[0].tags["XResolution"].value
            assert numerator / denominator == pytest.approx(4.0)


def test_the_workbook_has_a_sheet_a_movie_and_a_row_a_frame(
    made: Made, sheets: dict[str, pd.DataFrame]
) -> None:
    assert list(sheets) == NAMES
    for name, table in sheets.items():
        frames = tifffile.imread(made.input / f"{name}.tif").shape[0]
        assert table["Time Point"].tolist() == list(range(frames))
        onset = int(table["Time Point"][table[MINUTES] == 0].iloc[0])
        assert 4 <= onset < frames // 3
        assert table[CORE].first_valid_index() == onset
        assert not table.loc[onset:].isna().any().any()


def test_one_plate_becomes_two_nuclei_at_onset(made: Made, sheets: dict[str, pd.DataFrame]) -> None:
    for name, table in sheets.items():
        dna = tifffile.imread(made.input / f"{name}.tif")[:, :, 1].sum(axis=1).astype(float)
        onset = int(table[MINUTES].abs().idxmin())
        middle = dna[:, 12:-12, 10:-10]
        smooth = ndi.gaussian_filter(middle, (0, 1.5, 1.0))
        # Along the axis of division, which lies nearly along x.
        profile = smooth.max(axis=1)
        centre = np.average(np.arange(profile.shape[1]), weights=profile[onset] ** 2)
        dip = [row[int(centre) - 2 : int(centre) + 4].min() / row.max() for row in profile]
        assert np.mean(dip[: onset - 3]) > 2 * np.mean(dip[onset + 4 : onset + 12])


def test_counts_vary_as_photons_do(made: Made) -> None:
    movie = tifffile.imread(made.input / f"{NAMES[0]}.tif")[:5, :, 0].astype(float)
    mean = movie.mean(axis=0)
    variance = movie.var(axis=0, ddof=1)
    bright = mean > np.quantile(mean, 0.6)
    assert variance[bright].mean() / mean[bright].mean() == pytest.approx(1.0, abs=0.08)


def test_cytoplasm_bleaches_by_a_fifth_to_two_fifths(simulate: ModuleType) -> None:
    lost = [simulate.microscope(difficulty).bleached for difficulty in (0, 0.5, 1)]
    assert (lost[0], lost[-1]) == (0.2, 0.4)


def test_nuclei_have_the_size_that_was_drawn_and_grow(sheets: dict[str, pd.DataFrame]) -> None:
    for table in sheets.values():
        after = table.dropna()
        volume, surface = after["Volume_Nucleus_1"], after["SurfaceArea_Nucleus_1"]
        assert volume.iloc[-1] > 1.6 * volume.iloc[0]
        # No body has less surface than a ball.
        assert (surface > 0.98 * (36 * np.pi * volume**2) ** (1 / 3)).all()


def test_the_rim_fills_in_ten_minutes_and_the_core_later(simulate: ModuleType) -> None:
    for uptake in simulate.draw_uptakes(stream(3, 0), 5, randomised=False):
        rim = [uptake.rim(minute)[0] for minute in (0.0, 7.0, 10.0, 120.0)]
        core = [uptake.core(minute)[0] for minute in (0.0, 20.0, 45.0, 120.0)]
        assert rim[0] == core[0] == 0
        assert rim[1] < 0.5 < rim[2]
        assert core[1] < 0.6
        assert core[2] < 0.75 < rim[3]


def test_randomised_biology_changes_who_fills_first(simulate: ModuleType) -> None:
    def order(seed: int) -> tuple[bool, bool]:
        uptake = simulate.draw_uptakes(stream(seed, 0), 5, randomised=True)[0]
        (rim, _), (core, other) = uptake.rim(12.0), uptake.core(12.0)
        return core > rim, abs(core - other) > 0.1

    assert len({order(seed) for seed in range(12)}) >= 3


def test_difficulty_keeps_the_scene_and_dims_it(simulate: ModuleType) -> None:
    uptake = simulate.draw_uptakes(stream(5, 0), 5, randomised=False)[0]
    easy, hard = (simulate.Movie.draw(5, 0, simulate.SIZES["quick"], uptake, d) for d in (0, 1))
    assert easy.onset == hard.onset
    assert easy.division.axis.tolist() == hard.division.axis.tolist()
    assert easy.division.centre.tolist() == hard.division.centre.tolist()
    assert easy.optics.gfp_photons > 5 * hard.optics.gfp_photons


def test_the_sibling_adds_up_the_same_stacks(
    made: Made, simulate: ModuleType, tmp_path: Path
) -> None:
    from tests.tasks.conftest import SEED

    simulate.simulate(tmp_path, seed=SEED, dims="2dt")
    for name in NAMES:
        stack = tifffile.imread(made.input / f"{name}.tif")
        with tifffile.TiffFile(tmp_path / "input" / f"{name}.tif") as file:
            assert file.series[0].axes == "TCYX"
            assert np.array_equal(file.asarray(), stack.sum(axis=1, dtype=np.uint16))
    with pytest.raises(ValueError, match="dims must be None, '3dt' or '2dt', got '2d'"):
        simulate.simulate(tmp_path, seed=0, dims="2d")


def test_reference_scores_one_and_blank_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert blank.outcome is not None
    assert blank.outcome <= 0.05
    assert (blank.strict or 0.0) <= 0.05


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade, folder = made.grade("solution"), made.submission("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.8 < grade.outcome < 1
    assert 0.5 < grade.strict < 0.95
    assert {path.stem for path in folder.glob("*.xlsx")} == set(NAMES)
    assert {path.stem for path in (folder / "figures").iterdir()} == {*NAMES, "kinetics"}
    assert "Otsu" in (folder / "methods.md").read_text(encoding="utf-8")
