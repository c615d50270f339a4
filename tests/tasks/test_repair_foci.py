from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage as ndi

from evals.simulation.quantise import stream
from scorers.metrics.distributions import ks_statistic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "fluo-dna-repair-foci-colocalization-sbsst227"
CONDITIONS = ("siControl", "si53BP1")


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


def frames_of(made: Made, condition: str) -> list[Path]:
    folder = made.input / "Figure2b" / "single images movies" / f"Figure2b_{condition}.tif"
    return sorted(folder.iterdir())


def read_blocks(path: Path) -> list[np.ndarray]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[2:]
    return [np.array([row[k : k + 3] for row in rows if row[k]], dtype=float) for k in (0, 3)]


@pytest.fixture(scope="module")
def blocks(made: Made) -> list[np.ndarray]:
    return read_blocks(made.evaluation / "coloc_results.csv")


@pytest.fixture(scope="module")
def control(made: Made) -> np.ndarray:
    return np.stack([tifffile.imread(path) for path in frames_of(made, "siControl")])


def test_each_condition_is_a_folder_of_numbered_colour_frames(made: Made) -> None:
    for condition in CONDITIONS:
        paths = frames_of(made, condition)
        assert [p.name for p in paths] == [f"T{k + 1:05d}C01Z001.tif" for k in range(len(paths))]
        with tifffile.TiffFile(paths[0]) as file:
            assert file.pages[0].photometric.name == "RGB"
            assert file.pages[0].dtype == np.uint8
            assert not file.pages[0].description


def test_the_table_has_two_rows_of_headings_and_two_blocks(made: Made) -> None:
    lines = (made.evaluation / "coloc_results.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "siControl,,,si53BP1,,"
    names = "S-phase length (h),Start coloc after S entry (h),Start normalized"
    assert lines[1] == f"{names},{names}"


def test_events_are_many_and_s_phases_whole_and_8_to_12_hours(blocks: list[np.ndarray]) -> None:
    for block in blocks:
        assert len(block) >= 40
        assert (block[:, 0] >= 8).all()
        assert (block[:, 0] <= 12).all()
        assert np.abs(block[:, 1] / block[:, 0] - block[:, 2]).max() < 1e-3


def test_conditions_are_as_far_apart_as_published(blocks: list[np.ndarray]) -> None:
    late, early = (block[:, 2] for block in blocks)
    assert late.mean() > early.mean()
    # Swapping the published conditions scores 0.29, which is 1 - KS.
    assert 1 - ks_statistic(late, early) == pytest.approx(0.29, abs=0.15)


def test_blue_is_nearly_red_and_the_stamp_is_white_and_changes(control: np.ndarray) -> None:
    red, blue = control[..., 0].astype(int), control[..., 2].astype(int)
    rows, columns = control.shape[1] // 8, control.shape[2] * 2 // 3
    assert np.abs(red - blue)[:, rows:].max() <= 8
    stamp = (control[:, :rows, columns:] == 255).all(axis=-1)
    assert (stamp.sum(axis=(1, 2)) > 30).all()
    assert (stamp[0] != stamp[1]).any()


def test_nuclei_bleach_and_the_field_stays_dark(control: np.ndarray) -> None:
    green = control[:, 20:, :, 1].astype(float)
    assert np.median(green) < 3
    early, late = (np.percentile(part, 75) for part in (green[:8], green[-8:]))
    assert 0.55 < late / early < 0.95


def test_foci_are_as_sharp_as_the_lens(simulate: ModuleType) -> None:
    optics, size = simulate.microscope(0.0), simulate.SIZES["quick"]
    cells = simulate.populate(4, 0, size, size.frames[0], 0.35)
    cell = next(c for c in cells if len(c.onsets) and c.entry > 0)
    frame = int(cell.onsets[0]) + 3
    green = simulate.light([cell], frame, size, optics)[1].max(axis=0)
    spots = green - ndi.median_filter(green, 9)
    row, column = np.unravel_index(np.argmax(spots), spots.shape)
    width = (spots[row, column - 4 : column + 5] > spots.max() / 2).sum() * simulate.PIXEL_UM
    # 1.4 NA in green: 0.2 to 0.3 µm, the focus itself has a size too.
    assert 0.2 < width < 0.55


def test_replication_foci_shine_only_in_s_phase(simulate: ModuleType) -> None:
    optics, size = simulate.microscope(0.0), simulate.SIZES["quick"]
    cells = simulate.populate(4, 0, size, size.frames[0], 0.35)
    cell = next(c for c in cells if len(c.onsets) and c.entry > 8 and c.exit < 80)

    def peak(frame: int) -> float:
        return float(simulate.light([cell], frame, size, optics)[0].max())

    quiet = [peak(frame) for frame in (cell.entry - 4, cell.exit + 4)]
    copying = [peak(frame) for frame in range(cell.entry + 3, cell.exit - 2, 9)]
    # Even light of nucleoplasm is below 1.
    assert max(quiet) < 1
    assert min(copying) > 1.3


def test_randomised_biology_moves_the_means(simulate: ModuleType) -> None:
    size = simulate.SIZES["quick"]
    differences = set()
    for seed in range(6):
        late, early = simulate.PATTERNS[int(stream(seed, 0).integers(len(simulate.PATTERNS)))]
        starts = []
        for which, mean in enumerate((late, early)):
            cells = simulate.populate(seed, which, size, size.frames[which], mean)
            simulated = [(c.onsets - c.entry) / (c.exit - c.entry) for c in cells]
            starts.append(np.concatenate(simulated).mean())
        differences.add(int(np.sign(np.round(starts[0] - starts[1], 1))))
    assert len(differences) >= 2


def test_difficulty_keeps_every_event_and_takes_light(
    simulate: ModuleType, tmp_path: Path, blocks: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.tasks.conftest import SEED

    light = [simulate.microscope(difficulty).photons for difficulty in (0, 0.5, 1)]
    assert light == sorted(light, reverse=True)
    monkeypatch.setattr(simulate, "write_tiff", lambda *_, **__: None)
    monkeypatch.setattr(simulate, "light", lambda *_: np.zeros((2, 1, 40, 60), np.float32))
    simulate.simulate(tmp_path, seed=SEED, difficulty=1.0)
    hard = read_blocks(tmp_path / "evaluation" / "coloc_results.csv")
    assert all(np.array_equal(one, other) for one, other in zip(hard, blocks, strict=True))


def test_reference_scores_one_and_a_constant_next_to_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert blank.outcome is not None
    assert blank.strict is not None
    assert blank.outcome <= 0.0625 + 0.02
    assert blank.strict <= 0.05


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade, folder = made.grade("solution"), made.submission("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.55 < grade.outcome < 0.98
    assert 0.5 < grade.strict < 0.95
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert {"normalized_starts.png", "montage_siControl.png", "montage_si53BP1.png"} <= figures
    assert "Mann-Whitney" in (folder / "methods.md").read_text(encoding="utf-8")
