from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from scorers.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "cytoplasm-nucleus-translocation-bbbc014"
WELLS = [f"{row}{column:02d}" for row in "ABCDEFGH" for column in range(1, 13)]
MAPS = (
    "BBBC014_v1_platemap_dosekey.csv",
    "BBBC014_v1_platemap_all.txt",
    "contents_BBBC014_v1_images_filenames.txt",
)


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def truth(made: Made) -> list[dict[str, str]]:
    return table(made.evaluation / "truth_per_well.csv")


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def picture(made: Made, channel: int, well: str) -> np.ndarray:
    (path,) = made.input.glob(f"Channel {channel}-*-{well[0]}-{well[1:]}-00.bmp")
    return np.asarray(Image.open(path))


def test_two_grey_bitmaps_a_well_bear_channel_number_row_and_column(made: Made) -> None:
    names = {
        f"Channel {channel}-{at + 1:02d}-{well[0]}-{well[1:]}-00.bmp"
        for at, well in enumerate(WELLS)
        for channel in (1, 2)
    }
    assert {path.name for path in made.input.iterdir()} == names | set(MAPS)
    listed = (made.input / MAPS[2]).read_text("utf-8").splitlines()
    assert sorted(listed) == sorted(names)
    with Image.open(made.input / listed[0]) as file:
        assert (file.format, file.mode) == ("BMP", "L")


def test_the_map_gives_each_well_once_with_four_wells_a_dose_and_line(made: Made) -> None:
    rows = table(made.input / MAPS[0])
    assert [row["row"] + row["column"] for row in rows] == WELLS
    assert {row["cell_type"] for row in rows if row["row"] in "ABCD"} == {"MCF7"}
    assert {row["cell_type"] for row in rows if row["row"] in "EFGH"} == {"A549"}
    groups: dict[tuple[str, float], int] = {}
    for row in rows:
        key = row["cell_type"], float(row["dose"])
        groups[key] = groups.get(key, 0) + 1
    assert len(groups) == 24
    assert set(groups.values()) == {4}
    assert min(dose for _, dose in groups) == 0
    layout = [
        line.split("\t")[1:] for line in (made.input / MAPS[1]).read_text("utf-8").split("\n")
    ]
    doses = [float(dose) for line in layout[1:] for dose in line]
    assert doses == [float(row["dose"]) for row in rows]


def test_the_truth_has_a_ratio_for_each_well_of_the_map(
    made: Made, truth: list[dict[str, str]]
) -> None:
    assert [path.name for path in made.evaluation.iterdir()] == ["truth_per_well.csv"]
    assert list(truth[0]) == ["well", "cell_type", "dose", "mean_nuc_over_cyto_ratio"]
    assert [row["well"] for row in truth] == WELLS
    mapped = table(made.input / MAPS[0])
    assert [(row["cell_type"], row["dose"]) for row in truth] == [
        (row["cell_type"], row["dose"]) for row in mapped
    ]


def test_ratios_dip_then_rise_and_more_so_in_mcf7(truth: list[dict[str, str]]) -> None:
    curves = {}
    for line in ("MCF7", "A549"):
        own = [row for row in truth if row["cell_type"] == line]
        dose = np.array([float(row["dose"]) for row in own])
        ratio = np.array([float(row["mean_nuc_over_cyto_ratio"]) for row in own])
        curves[line] = np.array([ratio[dose == at].mean() for at in np.unique(dose)])
    for curve in curves.values():
        assert curve[1:4].mean() < curve[0]
        assert curve[-3:].mean() > 1.5 * curve[0]
    assert curves["MCF7"][-1] > 1.2 * curves["A549"][-1]


def test_cells_of_a_well_differ_by_a_fifth_to_a_third(simulate: ModuleType) -> None:
    well = simulate.plan_plate(1, "canonical")[30]
    ratio = simulate.grow(simulate.stream(1, 3, 2, 6), well, 1.2, (400, 536)).ratio
    assert len(ratio) > 150
    assert 0.2 < ratio.std() / ratio.mean() < 0.3
    assert ratio.mean() == pytest.approx(1.2, rel=0.12)


def test_nuclei_darken_at_rest_and_light_up_at_the_highest_dose(made: Made) -> None:
    def contrast(well: str) -> float:
        dna, protein = (picture(made, channel, well).astype(float) for channel in (1, 2))
        inside = dna > np.percentile(dna, 90)
        near = (protein > np.percentile(protein, 50)) & ~(dna > np.percentile(dna, 70))
        return float(protein[inside].mean() / protein[near].mean())

    rest = np.mean([contrast(f"{row}01") for row in "ABCD"])
    most = np.mean([contrast(f"{row}12") for row in "ABCD"])
    assert most > 1.25 * rest


def test_cells_that_respond_shrink_and_round_up(simulate: ModuleType) -> None:
    well = simulate.plan_plate(1, "canonical")[60]
    calm, active = (
        simulate.grow(simulate.stream(1, 3), well, mean, (200, 200)).layer.bodies
        for mean in (0.55, 1.9)
    )
    assert np.array_equal(calm.y, active.y)
    assert active.radius.mean() < 0.9 * calm.radius.mean()
    assert active.elongation.mean() < 0.8 * calm.elongation.mean()


def test_difficulty_leaves_cells_and_ratios_as_they_are(simulate: ModuleType) -> None:
    well, shape = simulate.plan_plate(2, "canonical")[44], (136, 136)
    made = [simulate.make_well(2, well, simulate.STRONG, shape, d) for d in (0.0, 0.5, 1.0)]
    assert len({round(ratio, 2) for _, ratio in made}) == 1
    spread = [pictures[2].std() / pictures[2].mean() for pictures, _ in made]
    assert spread[0] > spread[1] > spread[2]


def test_randomised_biology_answers_otherwise_and_shuffles_the_doses(simulate: ModuleType) -> None:
    drawn = {simulate.biology_of(seed, "randomised") for seed in range(40)}
    assert drawn == set(simulate.BIOLOGIES)
    assert {simulate.biology_of(seed, "canonical") for seed in range(40)} == {"canonical"}
    first = [well.dose for well in simulate.plan_plate(3, "randomised")[:12]]
    assert sorted(first) == [*simulate.DOSES] != first
    highest = {
        name: [line.ratio(100.0) / line.ratio(0.0) for line in lines]
        for name, lines in simulate.BIOLOGIES.items()
    }
    assert highest["null"] == [1.0, 1.0]
    assert max(highest["reversed"]) < 0.6
    assert highest["MCF7 only"][1] == highest["A549 only"][0] == 1.0
    assert highest["A549 more"][1] > highest["A549 more"][0] > 1.5
    with pytest.raises(ValueError, match="biology must be 'canonical' or 'randomised'"):
        simulate.biology_of(0, "other")


def test_the_truth_scores_one_strictly_and_constant_ratios_a_third(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert perfect.strict == 1.0
    # Plateaus break the order of doses, so the truth itself misses the published maximum.
    assert perfect.outcome is not None
    assert 0.9 < perfect.outcome <= 1.0
    assert blank.outcome == pytest.approx(1 / 3, abs=1e-4)
    assert blank.strict == pytest.approx(0.0, abs=1e-6)


def test_a_line_left_out_costs_the_strict_score_only(made: Made, tmp_path: Path) -> None:
    (source,) = made.submission("perfect").glob("*.csv")
    lines = source.read_text("utf-8").splitlines()
    kept = [line for line in lines if "A549" not in line]
    (tmp_path / source.name).write_text("\n".join(kept) + "\n", encoding="utf-8")
    told = grade(made.capsule, tmp_path)
    assert told.outcome is not None
    assert told.outcome > 0.9
    assert told.strict is not None
    assert told.strict <= 0.55


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    told = made.grade("solution")
    assert told.outcome is not None
    assert told.strict is not None
    assert told.outcome > 0.85
    assert 0.6 < told.strict < 0.93
    folder = made.submission("solution")
    assert len(table(folder / "per_well_summary.csv")) == 96
    assert len(table(folder / "per_cell_features.csv")) > 800
    assert {p.name for p in (folder / "figures").iterdir()} >= {
        "dose_response.png",
        "examples.png",
        "shape.png",
    }
    assert "Kruskal-Wallis" in (folder / "methods.md").read_text(encoding="utf-8")
