"""Nuclear pore kinetics: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

import csv
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.files.workbook_writing import write_workbook
from scorers.graders.npc import FAMILY
from scorers.graders.npc_files import Key, cell_match, key_of
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.contract import Grade

TASK = "5D-npc-assembly-kinetics-idr0115"
HEADING = [
    "Time Point", "Time after anaphase onset (min)", "Volume_Nucleus_1", "Volume_Nucleus_2",
    "SurfaceArea_Nucleus_1", "SurfaceArea_Nucleus_2",
    "Normalized_total_Intensity_InnerCore_1", "Normalized_total_Intensity_InnerCore_2",
    "Normalized_total_Intensity_NonCore_1", "Normalized_total_Intensity_NonCore_2",
]  # fmt: skip
FRAME, TIME, CURVES = 0, 1, slice(6, 10)
Rows = list[list[float | str | None]]


def cell(number: int) -> Rows:
    """Sixty frames of half a minute; onset in frame 10, 12, …; both daughters differ a little."""
    rng = np.random.default_rng(number)
    frames = np.arange(60)
    time = (frames - 8 - 2 * number) * 0.5
    rise = 1 / (1 + np.exp(-(time - 6) / 2))
    columns = [frames, time]
    columns += [300 + 900 * rise + rng.normal(0, 9, 60) for _ in range(2)]
    columns += [240 + 600 * rise + rng.normal(0, 9, 60) for _ in range(2)]
    columns += [(1 + 0.2 * at) * rise + rng.normal(0, 0.02, 60) for at in range(2)]
    columns += [(0.6 + 0.1 * at) * rise + rng.normal(0, 0.02, 60) for at in range(2)]
    return np.stack(columns, axis=1).tolist()


CELLS = {f"160701-cell{number}": cell(number) for number in (1, 2, 3, 4)}


def write(folder: Path, cells: dict[str, Rows], heading: list[str] = HEADING) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, rows in cells.items():
        write_workbook(folder / f"{name}.xlsx", {"Sheet1": [heading, *rows]})


@pytest.fixture
def capsule(released_task, tmp_path: Path) -> Path:
    sheets = {name: [HEADING, *rows] for name, rows in CELLS.items()}
    write_workbook(tmp_path / "reference" / "processed data NUP107.xlsx", sheets)
    return released_task(TASK, tmp_path / "reference")


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[..., Grade]:
    def grade(cells: dict[str, Rows], heading: list[str] = HEADING) -> Grade:
        write(submission, cells, heading)
        return assess(capsule, submission, draws=False).grade

    return grade


def changed(change: Callable[[np.ndarray], None]) -> dict[str, Rows]:
    """Return the cells after a change to each one's array of numbers."""
    cells = {}
    for name, rows in CELLS.items():
        values = np.array(rows, float)
        change(values)
        cells[name] = [[None if np.isnan(v) else v for v in row] for row in values.tolist()]
    return cells


def scaled(factor: float) -> dict[str, Rows]:
    def change(values: np.ndarray) -> None:
        values[:, CURVES] *= factor

    return changed(change)


def test_the_reference_itself_scores_one(graded) -> None:
    grade = graded(CELLS)
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)
    assert grade.strict_metrics["strict_n"] == 4


def test_perfect_and_blank_submissions_are_the_ceiling_and_the_floor(
    capsule: Path, submission: Path
) -> None:
    with Tree(submission, Limits()) as tree:
        spec, rubric = load_spec(capsule), load_rubric(capsule)
        job = Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())
        FAMILY.perfect(job, submission)
        grade = assess(capsule, submission).grade
        assert (grade.result_score, grade.strict) == (1.0, 1.0)
        FAMILY.blank(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.outcome, grade.strict) == (0.0, 0.0)


def test_an_onset_twenty_frames_off_costs_half(graded) -> None:
    def later(values: np.ndarray) -> None:
        values[:, FRAME] += 20

    grade = graded(changed(later))
    assert (grade.result_score, grade.strict) == (0.5, 0.5)


def test_an_onset_three_frames_off_costs_little_as_published_and_half_strictly(graded) -> None:
    def later(values: np.ndarray) -> None:
        values[:, FRAME] += 3

    grade = graded(changed(later))
    assert (grade.result_score, grade.strict) == (0.925, 0.5)


def test_frames_counted_from_one_cost_a_third_of_the_onset(graded) -> None:
    def later(values: np.ndarray) -> None:
        values[:, FRAME] += 1

    assert graded(changed(later)).strict == pytest.approx(5 / 6, abs=1e-6)


def test_a_table_without_frames_costs_half(graded) -> None:
    rows = {name: [row[1:] for row in rows] for name, rows in CELLS.items()}
    grade = graded(rows, HEADING[1:])
    assert (grade.result_score, grade.strict) == (0.5, 0.5)


def test_half_of_the_cells_score_half(graded) -> None:
    grade = graded(dict(list(CELLS.items())[:2]))
    assert (grade.result_score, grade.strict) == (0.5, 0.5)


def test_a_wrong_unit_costs_nothing_as_published_and_half_strictly(graded) -> None:
    grade = graded(scaled(1000))
    assert grade.result_score == 1.0
    assert grade.strict <= 0.5


def test_a_growing_error_of_scale_lowers_the_strict_score_steadily(graded) -> None:
    scores = [graded(scaled(factor)).strict for factor in (1, 1.05, 1.1, 1.2, 1.5)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5


def test_leaving_more_and_more_times_out_lowers_the_strict_score_steadily(graded) -> None:
    scores = []
    for left_out in (0, 3, 6, 12, 24):

        def drop(values: np.ndarray, left_out: int = left_out) -> None:
            values[20 : 20 + left_out, CURVES] = np.nan

        scores.append(graded(changed(drop)).strict)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5


@pytest.mark.parametrize("name", sorted(CELLS))
def test_taking_a_file_away_never_raises_the_strict_score(
    name: str, capsule: Path, submission: Path
) -> None:
    noisy = scaled(3) | {"160701-cell1": CELLS["160701-cell1"], "cell1": CELLS["160701-cell2"]}
    write(submission, noisy)
    before = assess(capsule, submission).grade.strict
    (submission / f"{name}.xlsx").unlink()
    assert assess(capsule, submission).grade.strict <= before


@pytest.mark.parametrize("column", range(6, 10))
def test_taking_a_column_away_never_raises_the_strict_score(column: int, graded) -> None:
    def wrong(values: np.ndarray) -> None:
        values[:, 7] = values[::-1, 7]
        values[:, 8] *= 2

    noisy = changed(wrong)
    before = graded(noisy).strict
    rest = {
        name: [row[:column] + row[column + 1 :] for row in rows] for name, rows in noisy.items()
    }
    assert graded(rest, HEADING[:column] + HEADING[column + 1 :]).strict <= before


def test_which_daughter_is_the_first_does_not_count(graded) -> None:
    order = [0, 1, 3, 2, 5, 4, 7, 6, 9, 8]
    swapped = {name: [[row[at] for at in order] for row in rows] for name, rows in CELLS.items()}
    assert graded(swapped).strict == 1.0


def test_daughters_swapped_in_one_region_only_are_not_the_same(graded) -> None:
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
    swapped = {name: [[row[at] for at in order] for row in rows] for name, rows in CELLS.items()}
    assert graded(swapped).strict < 0.999


def test_curves_turned_upside_down_earn_the_onset_alone(graded) -> None:
    grade = graded(scaled(-1))
    assert (grade.result_score, grade.strict) == (0.5, 0.5)


def test_sheets_of_one_workbook_may_be_the_cells(capsule: Path, submission: Path) -> None:
    sheets = {f"Cell {name[-1]}": [HEADING, *rows] for name, rows in CELLS.items()}
    write_workbook(submission / "kinetics 160701.xlsx", sheets)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_text_tables_count_as_published_and_not_strictly(capsule: Path, submission: Path) -> None:
    write_workbook(submission / "notes.xlsx", {"notes": [["k", "v"]]})
    for name, rows in CELLS.items():
        with (submission / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEADING, *rows])
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 0.0)


def test_a_cell_of_another_number_is_paired_as_published_and_not_strictly(graded) -> None:
    grade = graded({"160701-cell10": CELLS["160701-cell1"]})
    assert grade.metrics["n_cells_paired"] == 1
    assert grade.strict == 0.0


def test_one_wild_onset_outweighs_all_as_published_and_costs_one_cell_strictly(graded) -> None:
    wild = np.array(CELLS["160701-cell1"], float)
    wild[:, FRAME] += 1000
    grade = graded(CELLS | {"160701-cell1": wild.tolist()})
    assert grade.result_score == 0.5
    assert grade.strict == 0.875


@pytest.mark.parametrize("value", ["n/a", "nan", "inf", True, "", 1e300])
def test_odd_cells_are_scored_with_a_number(value: object, graded) -> None:
    rows = [[*row[:6], value, *row[7:]] for row in CELLS["160701-cell1"]]
    grade = graded(CELLS | {"160701-cell1": rows})
    assert 0.5 < grade.result_score <= 1
    assert 0.5 < grade.strict < 1


def test_another_primary_metric_is_a_correlation(capsule: Path, submission: Path) -> None:
    path = capsule / "evaluation_rubric.yaml"
    text = path.read_text("utf-8")
    text = text.replace('metric: "kinetics_quality_score"', 'metric: "mae_volume_nucleus"')
    path.write_text(text, encoding="utf-8")
    write(submission, scaled(-1))
    grade = assess(capsule, submission).grade
    assert grade.result_score == grade.metrics["pearson_volume_nucleus"] == 1.0


def test_nothing_of_kinetics_is_a_zero_with_a_reason(capsule: Path, submission: Path) -> None:
    (submission / "k.xlsx").write_bytes(b"no workbook")
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, 0.0, 0.0)
    assert grade.metrics["key_match.status"] == "empty_prediction"


def test_other_cells_are_a_zero_with_a_reason(graded) -> None:
    grade = graded({"160701-cell7": CELLS["160701-cell1"]})
    assert (grade.result_score, grade.strict) == (0.0, 0.0)
    assert grade.metrics["key_match.status"] == "unmatched_keys"


@pytest.mark.parametrize("content", [None, b"broken"])
def test_a_reference_that_cannot_be_used_is_our_fault(
    content: bytes | None, capsule: Path, submission: Path
) -> None:
    (book,) = (capsule / "evaluation").iterdir()
    book.unlink()
    if content is not None:
        book.write_bytes(content)
    write(submission, CELLS)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (None if content is None else 0.0, None)
    assert "evaluation/" in grade.error


def test_objects_say_how_far_each_curve_is_off(capsule: Path, submission: Path) -> None:
    def shift(values: np.ndarray) -> None:
        values[:, 6] += 0.1
        values[:5, 6] = np.nan

    write(submission, changed(shift))
    first = assess(capsule, submission).result.objects[0]
    assert (first["nucleus"], first["times"], first["times_missing"]) == (1, 55, 5)
    assert (first["bias"], first["rmse"]) == (pytest.approx(0.1), pytest.approx(0.1))


def test_curves_are_shown(capsule: Path, submission: Path) -> None:
    write(submission, scaled(1.3))
    pictures = assess(capsule, submission).grade.pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay"]


def test_names_say_the_number_of_a_cell_and_its_date() -> None:
    assert str(key_of("kinetics_per_cell 161111-cell3")) == "161111-cell3"
    assert str(key_of("Cell_02")) == "cell2"
    assert str(key_of("cell1234")) == "cell1234"
    assert key_of("cell1234").cell is None
    assert str(key_of("Sheet1", "160701-Nup107-cell-1-t6")) == "160701-cell1"
    assert str(key_of("Sheet1", "all")) == "sheet1"


def test_two_names_are_of_one_cell_unless_their_dates_differ() -> None:
    one, other, undated = (Key("cell1", date, "") for date in ("160701", "161111", None))
    assert cell_match(one, undated)
    assert not cell_match(one, other)
    assert not cell_match(one, Key("cell2", "160701", ""))
