"""Golgi colocalization: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.graders.golgi import FAMILY
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.grading import Assessment

TASK = "fluo-coronavirus-golgi-colocalization"
LEVELS = {"Control": 0.12, "Stage 1": 0.13, "Stage 2": 0.25, "Stage 3": 0.35}
SIZES = {"Control": 40, "Stage 1": 20, "Stage 2": 20, "Stage 3": 30}
NOTE = """\
Control vs Stage 1 p-value: 0.8
Stage 1 vs Stage 2 p-value: 0.001
Stage 2 vs Stage 3 p-value: 0.001
"""
PAIRS = "condition_1,condition_2,p_value\n"

Table = dict[str, np.ndarray]


def true_table(spread: float = 0.03) -> Table:
    # Quantiles instead of chance, the same for Control and Stage 1 up to their small shift.
    return {
        name: LEVELS[name] + spread * np.linspace(-2, 2, count) for name, count in SIZES.items()
    }


TRUE = true_table()


def write(path: Path, table: Table, header: str = "condition,spearman") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name},{value!r}" for name, values in table.items() for value in values.tolist()]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")


@pytest.fixture
def capsule(released_task: Callable[[str, Path | None], Path]) -> Path:
    folder = released_task(TASK, None)
    write(folder / "evaluation" / "truth_colocalization.csv", TRUE)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[..., Assessment]:
    def grade(table: Table | None = None, **texts: str) -> Assessment:
        if table is not None:
            write(submission / "colocalization_results.csv", table)
        for name, text in texts.items():
            (submission / name.replace("__", ".")).write_text(text, encoding="utf-8")
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


def test_the_truth_itself_scores_one_on_both(graded) -> None:
    grade = graded(TRUE).grade
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)


def test_the_perfect_submission_is_the_truth(capsule, submission, tree_of) -> None:
    FAMILY.perfect(job(capsule, tree_of(submission)), submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_the_blank_submission_passes_one_comparison_and_no_ordering(
    capsule, submission, tree_of
) -> None:
    for name, count in SIZES.items():
        (capsule / "input" / name).mkdir(parents=True)
        for cell in range(count):
            (capsule / "input" / name / f"5h_1_{cell}.tif").touch()
    FAMILY.blank(job(capsule, tree_of(submission)), submission)
    grade = assess(capsule, submission).grade
    assert grade.result_score == 0.2333
    assert grade.strict == 0.0


def test_the_published_check_value_of_a_constant_holds(graded) -> None:
    grade = graded({name: np.full(SIZES[name], 0.5) for name in SIZES}).grade
    assert grade.result_score == 0.2333
    assert [row["p_value"] for row in graded().result.metrics["comparison_details"]] == [1.0] * 3


def test_the_published_pattern_turned_round_scores_its_significance_alone(graded) -> None:
    grade = graded({name: 0.5 - values for name, values in TRUE.items()}).grade
    assert grade.result_score == 0.7


def test_coefficients_above_one_score_nothing(graded) -> None:
    assessed = graded({name: values + 3 for name, values in TRUE.items()})
    assert (assessed.grade.result_score, assessed.grade.strict) == (0.0, 0.0)
    assert assessed.result.metrics["n_invalid_coefficients_dropped"] == sum(SIZES.values())


def test_a_note_of_invented_p_values_scores_as_published_and_nothing_strictly(graded) -> None:
    grade = graded({"Other": np.zeros(3)}, note__txt=NOTE).grade
    assert grade.result_score == 0.7
    assert grade.strict == 0.0


def test_invented_p_values_beside_an_honest_table_are_told_as_contradicted(graded) -> None:
    flat = {
        name: np.full(SIZES[name], 0.2) + 0.01 * np.arange(SIZES[name]) % 0.05 for name in SIZES
    }
    told = graded(flat, note__txt=NOTE)
    assert told.grade.metrics["significance_score"] == 1.0
    assert told.grade.strict_metrics["strict_recomputed_significance"] == pytest.approx(0.3333)
    assert told.grade.strict_metrics["strict_contradicted_p"] == 2


def test_without_a_truth_strict_is_not_available_and_that_is_no_fault(
    released_task, submission
) -> None:
    folder = released_task(TASK, None)
    write(submission / "colocalization_results.csv", TRUE)
    grade = assess(folder, submission).grade
    assert (grade.result_score, grade.outcome, grade.strict, grade.error) == (1.0, 1.0, None, None)
    assert grade.strict_metrics["strict_recomputed_score"] == 1.0


def test_a_truth_without_coefficients_is_the_capsules_fault(capsule, submission) -> None:
    (capsule / "evaluation" / "truth_colocalization.csv").write_text("a,b,c\n", encoding="utf-8")
    write(submission / "colocalization_results.csv", TRUE)
    grade = assess(capsule, submission).grade
    assert grade.outcome is None
    assert "truth_colocalization.csv" in grade.error


def test_an_offset_costs_its_share_of_the_scale(graded) -> None:
    grade = graded({name: values + 0.06 for name, values in TRUE.items()}).grade
    assert grade.result_score == 1.0
    assert grade.strict == pytest.approx(0.8)


def test_conditions_in_reversed_order_lose_most_of_both_scores(graded) -> None:
    names = list(TRUE)
    swapped = {name: TRUE[other] for name, other in zip(names, names[::-1], strict=True)}
    grade = graded(swapped).grade
    assert grade.result_score <= 0.3
    assert grade.strict < 0.45


@pytest.mark.parametrize("name", sorted(LEVELS))
def test_an_omitted_condition_costs_a_quarter(name: str, graded) -> None:
    grade = graded({key: values for key, values in TRUE.items() if key != name}).grade
    assert grade.strict == pytest.approx(0.75)


def test_dropping_more_and_more_cells_lowers_the_strict_score_steadily(graded) -> None:
    scores = [
        graded({name: values[kept:] for name, values in TRUE.items()}).grade.strict
        for kept in (0, 1, 2, 4, 8)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_taking_any_cell_away_never_raises_the_strict_score(graded) -> None:
    rng = np.random.default_rng(0)
    noisy = {
        name: np.clip(values + rng.normal(0, 0.3, len(values)), -1, 1)
        for name, values in TRUE.items()
    }
    before = graded(noisy).grade.strict
    for at in range(0, SIZES["Stage 1"], 3):
        less = noisy | {"Stage 1": np.delete(noisy["Stage 1"], at)}
        assert graded(less).grade.strict <= before


def test_a_missing_table_with_a_pairwise_one_is_gated(graded) -> None:
    pairs = PAIRS + "Control,Stage 1,0.8\nStage 1,Stage 2,0.001\nStage 2,Stage 3,0.01\n"
    told = graded(pairwise__txt="", my_pairwise__csv=pairs)
    # The other table stands in by its ending, as published, and has no coefficients.
    assert told.grade.result_score == 0.7
    assert told.grade.strict == 0.0


def test_nothing_at_all_scores_nothing_with_a_reason(graded) -> None:
    grade = graded().grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, 0.0, 0.0)
    assert "neither" in grade.error


@pytest.mark.parametrize(
    ("row", "passed"), [("Stage 1,Stage 2,0.0", False), ("Stage 2,Stage 1,0.0", True)]
)
def test_a_p_value_of_zero_counts_in_the_other_order_of_names_only(row, passed, graded) -> None:
    told = graded({"Other": np.zeros(3)}, pairwise__csv=f"{PAIRS}{row}\n")
    assert told.result.metrics["comparison_details"][1]["passed"] is passed


def test_a_p_value_of_nan_is_no_significance(graded) -> None:
    told = graded({"Other": np.zeros(3)}, pairwise__csv=f"{PAIRS}Control,Stage 1,nan\n")
    assert told.result.metrics["comparison_details"][0]["passed"] is True
    assert told.grade.to_json()["metrics"]["comparisons_passed"] == 1


def test_a_pairwise_row_without_its_condition_has_no_result_but_an_outcome(graded) -> None:
    told = graded(TRUE, pairwise__csv="p_value,condition_1,condition_2\n0.01\n")
    assert told.grade.result_score is None
    assert (told.grade.outcome, told.grade.strict) == (0.0, 1.0)
    assert "pairwise" in told.grade.error


def test_a_table_of_two_unnamed_columns_is_read_from_its_first_row(graded, submission, capsule):
    write(submission / "colocalization_results.csv", TRUE, header="Control,0.12")
    assessed = assess(capsule, submission)
    assert assessed.result.items[0]["cells"] == SIZES["Control"] + 1
    assert assessed.grade.result_score == 1.0


def test_spellings_of_a_condition_are_put_together_strictly(graded) -> None:
    table = {name: values for name, values in TRUE.items() if name != "Stage 1"}
    table |= {"Stage 1": TRUE["Stage 1"][::2], "stage  1": TRUE["Stage 1"][1::2]}
    assert graded(table).grade.strict == 1.0


def test_an_unreadable_pairwise_table_is_passed_over(graded) -> None:
    told = graded(TRUE, pairwise__csv=PAIRS + '"' + "a" * 200_000 + '",b,0.1\n')
    assert (told.grade.result_score, told.grade.strict) == (1.0, 1.0)


def test_each_cell_is_told_as_found_missed_or_surplus(graded) -> None:
    told = graded(TRUE | {"Stage 1": np.append(TRUE["Stage 1"][2:], [-1.0])})
    kinds = [row["kind"] for row in told.result.objects if row["item"] == "Stage 1"]
    assert sorted(kinds) == ["false hit"] + ["hit"] * 18 + ["miss"] * 2
    assert told.result.items[1]["status"] == "scored"


def test_pictures_show_coefficients_and_the_cells_at_the_ends(capsule, submission) -> None:
    rng = np.random.default_rng(0)
    for name in ("Control", "Stage 3"):
        (capsule / "input" / name).mkdir(parents=True)
        image = rng.integers(0, 255, (40, 30, 3), dtype=np.uint8)
        tifffile.imwrite(capsule / "input" / name / "5h_1_1.tif", image, photometric="rgb")
    lines = ["condition,spearman,image", "Control,0.1,5h_1_1.tif", "Stage 3,0.4,5h_1_1.tif"]
    (submission / "colocalization_results.csv").write_text("\n".join(lines), encoding="utf-8")
    pictures = assess(capsule, submission).grade.pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert len(pictures[0].data) <= Limits().thumbnail_bytes
