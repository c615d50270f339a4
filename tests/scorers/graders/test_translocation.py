"""Translocation: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.graders.plates import well_name, well_place
from scorers.graders.translocation import FAMILY
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.grading import Assessment

TASK = "cytoplasm-nucleus-translocation-bbbc014"
DOSES = [0, 0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 50, 100]
HEADER = "well,cell_type,dose,mean_nuc_over_cyto_ratio"

# Well, cell type, dose, ratio.
Row = tuple[str, str, float, float]


def true_wells() -> list[Row]:
    rng = np.random.default_rng(0)
    return [
        (
            f"{'ABCDEFGH'[row]}{column + 1:02d}",
            "MCF7" if row < 4 else "A549",
            DOSES[column],
            float((0.9 + (0.8 if row < 4 else 0.5) * column / 11) * rng.normal(1, 0.01)),
        )
        for row in range(8)
        for column in range(12)
    ]


WELLS = true_wells()


def write(path: Path, rows: list[Row], header: str = HEADER, end: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{well},{kind},{dose!r},{ratio!r}{end}" for well, kind, dose, ratio in rows]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")


def changed(change: Callable[[float], float]) -> list[Row]:
    return [(well, kind, dose, change(ratio)) for well, kind, dose, ratio in WELLS]


@pytest.fixture
def capsule(released_task: Callable[[str, Path | None], Path]) -> Path:
    folder = released_task(TASK, None)
    write(folder / "evaluation" / "truth_per_well.csv", WELLS)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[..., Assessment]:
    def grade(rows: list[Row], **layout: str) -> Assessment:
        write(submission / "per_well_summary.csv", rows, **layout)
        return assess(capsule, submission, draws=False)

    return grade


def job(capsule: Path, tree) -> Job:
    inputs = capsule / "input"
    return Job(
        capsule,
        load_spec(capsule),
        load_rubric(capsule),
        tree,
        capsule / "evaluation",
        inputs if inputs.is_dir() else None,
        Limits(),
    )


def test_the_truth_scores_one_strictly_and_nearly_as_published(graded) -> None:
    grade = graded(WELLS).grade
    assert grade.strict == 1.0
    assert grade.result_score > 0.94
    assert grade.passed


def test_the_perfect_submission_is_the_truth(capsule, submission, tree_of) -> None:
    FAMILY.perfect(job(capsule, tree_of(submission)), submission)
    assert assess(capsule, submission).grade.strict == 1.0


def test_the_blank_submission_scores_a_third_and_nothing_strictly(
    capsule, submission, tree_of
) -> None:
    FAMILY.blank(job(capsule, tree_of(submission)), submission)
    grade = assess(capsule, submission).grade
    assert grade.result_score == pytest.approx(1 / 3, abs=5e-5)
    assert grade.strict == pytest.approx(0.0, abs=1e-9)


def test_the_blank_submission_takes_the_wells_from_the_map_of_the_input(
    capsule, submission, tree_of
) -> None:
    (capsule / "evaluation" / "truth_per_well.csv").unlink()
    (capsule / "input").mkdir()
    lines = ["Row,Column,Dose,CellType", "A,1,0,MCF7", "A,02,1e-3,MCF7"]
    (capsule / "input" / "BBBC014_v1_platemap_dosekey.csv").write_text("\n".join(lines), "utf-8")
    FAMILY.blank(job(capsule, tree_of(submission)), submission)
    written = (submission / "per_well_summary.csv").read_text("utf-8").splitlines()
    assert written == [HEADER, "A01,MCF7,0.0,1.0", "A02,MCF7,0.001,1.0"]


def test_any_rising_curve_gets_the_whole_mark_for_its_dose_response(graded) -> None:
    wells = [(w, k, d, 1 + d**3 / 1e6 + 1e-6 * c) for c, (w, k, d, _) in enumerate(WELLS)]
    told = graded(wells).result.metrics["per_cell_type"]
    assert {row["dose_response_score"] for row in told.values()} == {1.0}


def test_the_published_check_value_of_replicates_holds(graded) -> None:
    ratios = {0: (1, 1.1, 0.9, 1.05), 100: (2, 2.2, 1.8, 2.1)}
    wells = [("A01", "MCF7", dose, r) for dose, values in ratios.items() for r in values]
    told = graded(wells).result.metrics["per_cell_type"]["MCF7"]
    assert told["replicate_consistency_score"] == 1.0


def test_a_reversed_response_loses_the_control_test(graded) -> None:
    grade = graded(changed(lambda ratio: 1 / ratio))
    assert grade.grade.metrics["per_cell_type.MCF7.control_vs_treated_score"] == 0.0
    assert grade.grade.result_score == pytest.approx(1 / 3, abs=0.01)
    assert grade.grade.strict == 0.0


def test_an_omitted_cell_type_costs_half_strictly_and_nothing_as_published(graded) -> None:
    grade = graded([row for row in WELLS if row[1] == "MCF7"]).grade
    assert grade.result_score > 0.94
    assert grade.strict == pytest.approx(0.5)
    assert [row["status"] for row in grade.items] == ["scored", "missing"]


def test_a_unit_error_scores_as_published_and_nothing_strictly(graded) -> None:
    grade = graded(changed(lambda ratio: 1000 * ratio)).grade
    assert grade.result_score > 0.94
    assert grade.strict == pytest.approx(0.0, abs=1e-9)


def test_a_table_within_the_truths_range_gets_lins_concordance(graded) -> None:
    true = np.log([row[3] for row in WELLS])
    middle = true.mean()
    grade = graded(
        changed(lambda ratio: float(np.exp(middle + 0.7 * (np.log(ratio) - middle))))
    ).grade
    own = middle + 0.7 * (true - middle)
    expected = []
    for half in (slice(0, 48), slice(48, 96)):
        x, y = own[half], true[half]
        (sxx, sxy), (_, syy) = np.cov(x, y, ddof=0)
        expected.append(2 * sxy / (sxx + syy + (x.mean() - y.mean()) ** 2))
    assert grade.strict == pytest.approx(np.mean(expected), abs=1e-5)


def test_dropping_more_and_more_wells_lowers_the_strict_score_steadily(graded) -> None:
    order = np.random.default_rng(1).permutation(96)
    scores = [
        graded([WELLS[at] for at in sorted(order[count:])]).grade.strict
        for count in (0, 1, 5, 10, 20)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_taking_any_well_away_never_raises_the_strict_score(graded) -> None:
    rng = np.random.default_rng(2)
    noisy = [(w, k, d, float(r * np.exp(rng.standard_t(2) * 0.15))) for w, k, d, r in WELLS]
    before = graded(noisy).grade.strict
    assert 0.1 < before < 0.95
    for at in range(0, 96, 7):
        assert graded(noisy[:at] + noisy[at + 1 :]).grade.strict <= before


def test_the_worst_of_several_rows_for_a_well_counts(graded) -> None:
    twice = [*WELLS, (*WELLS[0][:3], 5.0)]
    once = [(*WELLS[0][:3], 5.0), *WELLS[1:]]
    assert graded(twice).grade.strict == graded(once).grade.strict < 1.0


def test_wells_are_known_by_their_names_in_any_spelling(graded) -> None:
    respelt = [(f"{w[0].lower()}{int(w[1:])}", k, d, r) for w, k, d, r in WELLS]
    assert graded(respelt).grade.strict == 1.0


def test_wells_that_the_plate_does_not_have_are_counted_only(graded) -> None:
    told = graded([*WELLS, ("Z9", "MCF7", 0, 1.0), ("well?", "MCF7", 0, 1.0)]).grade
    assert told.strict == 1.0
    assert told.strict_metrics["strict_wells_surplus"] == 2


def test_a_wrong_dose_is_told(graded) -> None:
    rows = [("A01", "MCF7", 7, WELLS[0][3]), *WELLS[1:]]
    assert graded(rows).grade.strict_metrics["strict_wells_mislabelled"] == 1


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan"), float("inf")])
def test_a_ratio_without_a_logarithm_is_a_missing_well(ratio: float, graded) -> None:
    told = graded([(*WELLS[0][:3], ratio), *WELLS[1:]]).grade
    assert told.strict_metrics["strict_wells_missing"] == 1
    assert told.strict == graded(WELLS[1:]).grade.strict


def test_header_case_is_published_as_nothing_and_read_strictly(graded) -> None:
    grade = graded(WELLS, header=HEADER.title()).grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, 0.0, 1.0)
    assert grade.error


def test_a_trailing_comma_is_published_as_nothing_and_read_strictly(graded) -> None:
    grade = graded(WELLS, end=",").grade
    assert (grade.result_score, grade.strict) == (0.0, 1.0)


def test_the_extreme_ratios_of_floating_numbers_are_graded(graded) -> None:
    rows = [
        (*row[:3], value) for row, value in zip(WELLS, [1e308, -1e308, 1e-308] * 32, strict=True)
    ]
    grade = graded(rows).grade
    assert grade.strict == pytest.approx(0, abs=0.05)
    assert 0 <= grade.result_score <= 1


def test_a_table_of_very_many_cell_types_is_refused(graded) -> None:
    rows = [("A01", f"type {at}", 0, 1.0) for at in range(20_001)]
    grade = graded(rows).grade
    assert grade.result_score == 0.0
    assert "20000" in grade.error


def test_without_a_truth_strict_is_not_available_and_that_is_no_fault(
    released_task, submission
) -> None:
    folder = released_task(TASK, None)
    write(submission / "per_well_summary.csv", WELLS)
    grade = assess(folder, submission).grade
    assert grade.result_score > 0.94
    assert (grade.strict, grade.error) == (None, None)
    assert [picture.role for picture in grade.pictures] == ["thumbnail", "overlay", "overlay"]


def test_a_truth_that_names_a_well_twice_is_the_capsules_fault(capsule, submission) -> None:
    write(capsule / "evaluation" / "truth_per_well.csv", [*WELLS, WELLS[0]])
    write(submission / "per_well_summary.csv", WELLS)
    grade = assess(capsule, submission).grade
    assert grade.outcome is None
    assert "truth_per_well.csv" in grade.error


def test_each_well_is_told_with_its_error(graded) -> None:
    told = graded(WELLS[1:])
    assert [row["kind"] for row in told.result.objects[:2]] == ["miss", "hit"]
    assert told.result.objects[1]["log_error"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a1", "A01"),
        ("A-01", "A01"),
        (" H 012", "H12"),
        ("AF48", "AF48"),
        ("A0", None),
        ("1A", None),
    ],
)
def test_names_of_wells_are_brought_into_one_spelling(text: str, name: str | None) -> None:
    assert well_name(text) == name


def test_wells_are_placed_by_letter_and_number() -> None:
    assert well_place("A01") == (0, 0)
    assert well_place("AF48") == (31, 47)
