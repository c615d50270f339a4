"""DNA-repair foci: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.graders.foci import FAMILY
from scorers.graders.foci_tables import align, blocks, owner
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.grading import Assessment

TASK = "fluo-dna-repair-foci-colocalization-sbsst227"
# As many events as published, and as far apart: a KS statistic of 40 / 56 between the conditions,
# and 1 and 6 of 56 events on the other side of 0.5.
CONTROL = np.concatenate(
    [np.linspace(0.25, 0.36, 16), np.linspace(0.38, 0.48, 34), np.linspace(0.61, 0.7, 6)]
)
TREATED = np.concatenate([np.linspace(0.06, 0.249, 40), np.linspace(0.251, 0.359, 15), [0.62]])
TRUE = {"siControl": CONTROL, "si53BP1": TREATED}

Table = dict[str, np.ndarray]


def write(path: Path, table: Table, header: str = "condition,start_normalized") -> None:
    lines = [f"{name},{value!r}" for name, values in table.items() for value in values.tolist()]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")


@pytest.fixture
def capsule(released_task: Callable[[str, Path | None], Path], tmp_path: Path) -> Path:
    reference = tmp_path / "reference"
    reference.mkdir()
    rows = [
        "siControl,,,si53BP1,,",
        ",".join(["S-phase length (h),Start coloc after S entry (h),Start normalized"] * 2),
        *(
            f"10,{10 * a!r},{a!r},11,{11 * b!r},{b!r}"
            for a, b in zip(CONTROL.tolist(), TREATED.tolist(), strict=True)
        ),
    ]
    (reference / "coloc_results.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return released_task(TASK, reference)


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[Table], Assessment]:
    def grade(table: Table) -> Assessment:
        write(submission / "coloc_results.csv", table)
        return assess(capsule, submission, draws=False)

    return grade


def job(capsule: Path, tree) -> Job:
    return Job(
        capsule,
        load_spec(capsule),
        load_rubric(capsule),
        tree,
        capsule / "evaluation",
        None,
        Limits(),
    )


def test_the_perfect_submission_scores_one(capsule, submission, tree_of) -> None:
    FAMILY.perfect(job(capsule, tree_of(submission)), submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)


def test_the_blank_submission_scores_a_sixteenth_and_next_to_nothing_strictly(
    capsule, submission, tree_of
) -> None:
    FAMILY.blank(job(capsule, tree_of(submission)), submission)
    grade = assess(capsule, submission).grade
    assert grade.result_score == 0.0625
    assert grade.strict <= 0.05


def test_one_condition_alone_scores_a_half(graded) -> None:
    grade = graded({"siControl": CONTROL}).grade
    assert (grade.result_score, grade.strict) == (0.5, 0.5)
    assert [row["status"] for row in grade.items] == ["scored", "missing"]


def test_every_second_event_scores_nearly_one_as_published_and_a_half_strictly(graded) -> None:
    grade = graded({name: values[::2] for name, values in TRUE.items()}).grade
    assert grade.result_score > 0.95
    assert grade.strict == pytest.approx(0.5)


def test_swapped_conditions_score_as_published_and_no_more_than_that_strictly(graded) -> None:
    grade = graded({"siControl": TREATED, "si53BP1": CONTROL}).grade
    assert grade.result_score == 0.2857
    assert grade.strict <= 0.3


def test_the_larger_an_offset_the_lower_the_strict_score(graded) -> None:
    grades = [
        graded({name: values + offset for name, values in TRUE.items()}).grade
        for offset in (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.7)
    ]
    scores = [grade.strict for grade in grades]
    assert scores == sorted(scores, reverse=True)
    assert (scores[0], scores[-1]) == (1.0, 0.0)
    milder = grades[3].strict_metrics["strict_wasserstein_score"]
    assert milder == pytest.approx(0.95, abs=1e-6)


def test_replicates_are_put_together_strictly_where_the_published_score_takes_one(graded) -> None:
    table = {
        "siControl_rep1": CONTROL[:20],
        "siControl_rep2": CONTROL[20:],
        "si53BP1 rep 1": TREATED[:20],
        "si53BP1 rep 2": TREATED[20:],
    }
    told = graded(table)
    assert told.grade.result_score < 0.7
    assert told.grade.strict == 1.0


def test_untreated_is_a_control_strictly(graded) -> None:
    grade = graded({"untreated": CONTROL, "53BP1 knockdown": TREATED}).grade
    assert grade.strict == 1.0
    # As published, it is the treated condition, and the control has none left.
    assert grade.result_score == 0.1429


def test_surplus_events_cost_what_missing_ones_do(graded) -> None:
    grade = graded({name: np.repeat(values, 2) for name, values in TRUE.items()}).grade
    assert grade.strict == pytest.approx(0.5)


def test_dropping_more_and_more_events_lowers_the_strict_score_steadily(graded) -> None:
    scores = [
        graded({name: values[count:] for name, values in TRUE.items()}).grade.strict
        for count in (0, 1, 3, 6, 11)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_taking_any_event_away_never_raises_the_strict_score(graded) -> None:
    rng = np.random.default_rng(0)
    noisy = {name: values + 0.1 + rng.normal(0, 0.1, 56) for name, values in TRUE.items()}
    before = graded(noisy).grade.strict
    for at in range(0, 56, 5):
        less = noisy | {"siControl": np.delete(noisy["siControl"], at)}
        assert graded(less).grade.strict <= before


def test_a_single_event_is_no_distribution(graded) -> None:
    told = graded({name: values[:1] for name, values in TRUE.items()})
    assert told.grade.result_score == 0.0
    assert {row["status"] for row in told.grade.items} == {"too few events"}
    assert told.grade.strict == pytest.approx(1 / 56, abs=1e-6)


def test_numbers_that_are_none_or_infinite_are_passed_over(graded, submission, capsule) -> None:
    write(
        submission / "coloc_results.csv", TRUE | {"siControl": np.append(CONTROL, [np.nan, np.inf])}
    )
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_names_that_fit_no_condition_score_nothing_with_a_reason(graded) -> None:
    told = graded({"wt": CONTROL, "kd": TREATED})
    assert (told.grade.result_score, told.grade.outcome, told.grade.strict) == (0.0, 0.0, 0.0)
    assert "no condition" in told.grade.error
    assert told.result.metrics["pred_conditions"] == ["wt", "kd"]


def test_values_at_the_ends_of_the_numbers_are_graded(graded) -> None:
    grade = graded({name: np.array([1e308, -1e308, 1e308]) for name in TRUE}).grade
    assert (grade.strict, grade.error) == (0.0, None)


def test_an_empty_reference_leaves_the_published_score_but_no_outcome(capsule, submission) -> None:
    (capsule / "evaluation" / "coloc_results.csv").write_text("a\nb\n", encoding="utf-8")
    write(submission / "coloc_results.csv", TRUE)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, None, None)
    assert "Start normalized" in grade.error


def test_a_missing_reference_is_the_capsules_fault(capsule, submission) -> None:
    (capsule / "evaluation" / "coloc_results.csv").unlink()
    write(submission / "coloc_results.csv", TRUE)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (None, None)


def test_events_are_told_one_by_one_and_drawn(capsule, submission) -> None:
    table = TRUE | {"siControl": np.append(CONTROL[1:], [3.0, 4.0])}
    write(submission / "coloc_results.csv", table)
    told = assess(capsule, submission)
    kinds = [row["kind"] for row in told.result.objects if row["item"] == "siControl"]
    assert sorted(kinds) == ["false hit"] * 2 + ["hit"] * 55 + ["miss"]
    assert [p.role for p in told.grade.pictures] == ["thumbnail", "overlay", "overlay"]
    assert len(told.grade.pictures[0].data) <= Limits().thumbnail_bytes


def test_blocks_are_read_from_where_their_condition_is_named() -> None:
    rows = [
        ["", "A", "", "B"],
        ["n", "length", "Start Normalized", "start normalized"],
        ["1", "10", "0.5", "0.25"],
        ["2", "10", "x"],
        ["3", "10", "inf", "0.75"],
    ]
    found = blocks(rows)
    assert {name: values.tolist() for name, values in found.items()} == {
        "A": [0.5],
        "B": [0.25, 0.75],
    }


def test_a_table_without_events_has_no_blocks() -> None:
    assert blocks([["A"], ["start normalized"]]) == {}


@pytest.mark.parametrize(
    ("predicted", "aligned"),
    [
        (["si 53bp1", "SICONTROL"], {"siControl": "SICONTROL", "si53BP1": "si 53bp1"}),
        (["treated", "Control"], {"siControl": "Control", "si53BP1": "treated"}),
        (["siControl_1", "siControl_2"], {"siControl": "siControl_1"}),
        (["untreated"], {"si53BP1": "untreated"}),
        (["wt"], {}),
    ],
)
def test_conditions_are_aligned_by_name_and_then_by_class(predicted, aligned) -> None:
    assert align(["siControl", "si53BP1"], predicted) == aligned


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("siControl", "siControl"),
        ("SiCONTROL replicate-2", "siControl"),
        ("si53BP1", "si53BP1"),
        ("si53BP1_3", "si53BP1"),
        ("mock", "siControl"),
        ("treated", "si53BP1"),
        ("si", None),
        ("c7", None),
        ("", None),
        ("wt", None),
    ],
)
def test_a_name_is_given_to_the_one_condition_it_can_mean(name, condition) -> None:
    assert owner(name, ["siControl", "si53BP1"]) == condition
