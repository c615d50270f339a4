from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "fluo-coronavirus-golgi-colocalization"
Row = dict[str, str]


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def truth(made: Made) -> list[Row]:
    return read(made.evaluation / "truth_colocalization.csv")


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def medians(rows: list[Row]) -> dict[str, float]:
    names = {row["condition"] for row in rows}
    return {
        name: float(np.median([float(r["spearman"]) for r in rows if r["condition"] == name]))
        for name in sorted(names)
    }


def test_four_folders_hold_colour_tiffs_named_by_hours_replicate_and_cell(
    made: Made, truth: list[Row]
) -> None:
    folders = {path.name for path in made.input.iterdir()}
    assert folders == {"Control", "Stage 1", "Stage 2", "Stage 3", "colors.txt"}
    counts = Counter(path.parent.name for path in made.input.rglob("*.tif"))
    assert list(map(counts.get, ("Control", "Stage 1", "Stage 2", "Stage 3"))) == [25, 20, 20, 25]
    for path in made.input.rglob("*.tif"):
        hours, replicate, cell = path.stem.split("_")
        assert hours.endswith("h")
        assert min(int(hours[:-1]), int(replicate), int(cell)) > 0
    assert {(p.parent.name, p.name) for p in made.input.rglob("*.tif")} == {
        (row["condition"], row["image"]) for row in truth
    }


def test_the_paper_has_the_released_numbers_of_cells(simulate: ModuleType) -> None:
    assert simulate.CELLS["paper"] == (111, 20, 24, 59)
    names = simulate.file_names(0, 0, 111)
    assert len(set(names)) == 111


def test_an_image_is_rgb_of_8_bits_with_its_pixel_size_and_no_words(made: Made) -> None:
    for path in sorted(made.input.rglob("*.tif"))[::9]:
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            assert (page.dtype, page.shape[2], page.photometric.name) == (np.uint8, 3, "RGB")
            across = page.tags["XResolution"].value
            assert 1e4 * across[1] / across[0] == pytest.approx(0.0706, rel=1e-4)
            assert not page.description


def test_true_medians_are_as_published(truth: list[Row]) -> None:
    found = medians(truth)
    assert 0.10 <= found["Control"] <= 0.15
    assert 0.10 <= found["Stage 1"] <= 0.15
    assert 0.22 <= found["Stage 2"] <= 0.28
    assert 0.32 <= found["Stage 3"] <= 0.38


def test_without_a_mask_every_condition_seems_to_overlap(made: Made) -> None:
    whole = [
        stats.spearmanr(*(image[..., k].ravel() for k in (0, 1))).statistic
        for image in map(tifffile.imread, sorted(made.input.rglob("*.tif"))[::6])
    ]
    assert min(whole) > 0.4


def test_difficulty_keeps_cells_and_truth_and_takes_light(simulate: ModuleType) -> None:
    section = simulate.grow(5, 3, 0, 50.0)
    light, value = simulate.stain(5, 3, 0, section, 0.35)
    assert value == pytest.approx(0.35, abs=0.01)
    ratios = []
    for difficulty in (0.0, 0.5, 1.0):
        optics = simulate.microscope(difficulty)
        image = simulate.record(5, 3, 0, section, light, optics)
        red = image[..., 0].astype(float)
        # Photon noise shows in neighbouring pixels, which see nearly the same light.
        ratios.append(
            np.diff(red, axis=1)[section.inside[:, 1:]].std() / red[section.inside].mean()
        )
    assert ratios == sorted(ratios)


def test_noise_grows_with_the_root_of_the_light(simulate: ModuleType) -> None:
    optics = simulate.microscope(0.0)._replace(haze=0.0, neighbours=0.0)
    section = simulate.grow(5, 0, 0, 50.0)
    grey = []
    for level in (0.2, 0.8):
        flat = np.full((*section.inside.shape, 3), level, dtype=np.float32)
        grey.append(simulate.record(5, 0, 0, section, flat, optics)[..., 0].astype(float))
    gain = 110 / optics.photons
    for plane in grey:
        # A photomultiplier's excess noise factor is 1.2.
        expected = 1.2**2 * gain * (plane.mean() - 3)
        assert plane.var() == pytest.approx(expected, rel=0.1)


def test_randomised_biology_changes_the_pattern(simulate: ModuleType) -> None:
    drawn = {simulate.pattern(seed, "randomised") for seed in range(30)}
    assert drawn == set(simulate.PATTERNS.values())
    assert {simulate.pattern(seed, "canonical") for seed in range(30)} == {
        simulate.PATTERNS["canonical"]
    }


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sections in 2D, got dims='3d'"):
        simulate.simulate(tmp_path, seed=0, dims="3d")


def test_the_truth_scores_one(made: Made) -> None:
    grade = made.grade("perfect")
    assert (grade.outcome, grade.strict) == (1.0, 1.0)


def test_full_overlap_everywhere_earns_the_published_floor(made: Made) -> None:
    grade = made.grade("blank")
    assert grade.outcome == pytest.approx(0.2333, abs=1e-4)
    assert grade.strict == pytest.approx(0.0, abs=0.05)


def test_the_solution_lies_between_floor_and_ceiling_and_shows_its_work(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.7 < grade.strict < 0.93
    assert grade.outcome > 0.7
    folder = made.submission("solution")
    rows = read(folder / "colocalization_results.csv")
    assert len(rows) == 90
    assert {p.name for p in (folder / "figures").iterdir()} == {
        "spearman_by_condition.png",
        "typical_cells.png",
    }
    assert "Spearman" in (folder / "methods.md").read_text(encoding="utf-8")
