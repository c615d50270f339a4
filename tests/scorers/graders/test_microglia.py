"""Phenotypes of microglia: the published score, the strict one, and tables that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.contract import Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.graders.microglia import FAMILY
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.contract import Grade

Cell = tuple[int, float, float, str]
NAMES = ("round", "amoeboid", "ramified")
FRAMES = 6


def cells(seed: int = 0) -> list[Cell]:
    """Ten cells a frame, 60 pixels and more apart, fewer of them ramified from frame to frame."""
    rng = np.random.default_rng(seed)
    # Wide and low, so that swapped axes leave the image.
    grid = np.stack(np.meshgrid(np.arange(20), np.arange(3)), axis=-1).reshape(-1, 2) * 80.0 + 40
    rows: list[Cell] = []
    for frame in range(FRAMES):
        places = grid[rng.permutation(len(grid))[:10]] + rng.uniform(-9, 9, (10, 2))
        kinds = ["ramified"] * (8 - frame) + ["amoeboid", "round"] + ["round"] * frame
        rows += [(frame, x, y, kind) for (x, y), kind in zip(places.tolist(), kinds, strict=True)]
    return rows


REFERENCE = cells()


def annotate(folder: Path, rows: list[Cell]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"{i},{frame}.0,{y!r},{x!r},{k}" for i, (frame, x, y, k) in enumerate(rows)]
    text = "\n".join(["index,axis-0,axis-1,axis-2,label", *lines, ""])
    (folder / "Replicate1annotation.csv").write_text(text, encoding="utf-8")


def write(folder: Path, rows: list[Cell], header: str = "frame,x,y,predicted_phenotype") -> None:
    lines = [f"{frame},{x!r},{y!r},{kind}" for frame, x, y, kind in rows]
    (folder / "cell_labels.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")


@pytest.fixture
def capsule(make_capsule) -> Path:
    folder = make_capsule(
        task_id="my-microglia",
        grader="microglia",
        deliverables=[("cell_labels", "*cell_labels*.csv", "")],
    )
    annotate(folder / "evaluation", REFERENCE)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[list[Cell]], Grade]:
    def give(rows: list[Cell]) -> Grade:
        write(submission, rows)
        return grade(capsule, submission)

    return give


@pytest.fixture
def job(capsule: Path, submission: Path, tree_of) -> Job:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    tree = tree_of(submission)
    return Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())


def test_the_annotation_itself_scores_one(graded) -> None:
    verdict = graded(REFERENCE)
    assert (verdict.result_score, verdict.strict, verdict.passed) == (1.0, 1.0, True)


def test_one_class_for_all_loses_the_trend_and_most_of_the_strict_value(graded) -> None:
    verdict = graded([(frame, x, y, "round") for frame, x, y, _ in REFERENCE])
    assert verdict.metrics["trend_correlation_score"] is None
    assert verdict.metrics["localization_f1"] == 1.0
    share = 21 / 60
    macro = 2 * share / (1 + share) / 3
    assert verdict.result_score == pytest.approx((1 + macro) / 3, abs=5e-5)
    assert verdict.strict == pytest.approx(macro, abs=1e-6)


def test_cells_that_are_not_found_lower_the_strict_value_and_not_the_published_class_f1(
    graded,
) -> None:
    verdict = graded([row for i, row in enumerate(REFERENCE) if i % 2])
    assert verdict.metrics["classification_macro_f1"] == 1.0
    assert verdict.strict == pytest.approx(2 / 3, abs=0.05)
    assert verdict.strict_metrics["strict_misses"] == 30


def test_false_cells_lower_the_strict_value_of_their_class(graded) -> None:
    verdict = graded(
        REFERENCE + [(f, 1700.0, 300.0 + 40 * k, "round") for f in (0, 1) for k in (0, 1)]
    )
    assert verdict.metrics["classification_macro_f1"] == 1.0
    assert verdict.strict_metrics["strict_f1_round"] == pytest.approx(42 / 46, abs=1e-6)
    assert verdict.strict_metrics["strict_f1_ramified"] == 1.0


def test_swapped_axes_lose_everything_strictly(graded) -> None:
    verdict = graded([(frame, y, x, kind) for frame, x, y, kind in REFERENCE])
    # As published the shares of the classes over time are still right.
    assert verdict.result_score >= 0.33
    assert verdict.strict < 0.05


def test_frames_counted_from_one_lose_nearly_everything_strictly(graded) -> None:
    assert graded([(frame + 1, x, y, kind) for frame, x, y, kind in REFERENCE]).strict < 0.15


def test_more_wrong_labels_and_more_missing_cells_lower_the_strict_value_steadily(
    capsule: Path, submission: Path
) -> None:
    order = np.random.default_rng(0).permutation(len(REFERENCE)).tolist()

    def wrong(count: int) -> list[Cell]:
        flipped = set(order[:count])
        return [
            (f, x, y, NAMES[(NAMES.index(k) + 1) % 3] if i in flipped else k)
            for i, (f, x, y, k) in enumerate(REFERENCE)
        ]

    def missing(count: int) -> list[Cell]:
        return [row for i, row in enumerate(REFERENCE) if i not in set(order[:count])]

    for perturbed in (wrong, missing):
        scores = []
        for count in (0, 3, 6, 12):
            write(submission, perturbed(count))
            scores.append(grade(capsule, submission, draws=False).strict)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == len(scores)


def test_taking_away_a_cell_that_is_right_never_raises_the_strict_value(
    capsule: Path, submission: Path
) -> None:
    rng = np.random.default_rng(3)
    noisy = [
        (f, x + rng.normal(0, 6), y + rng.normal(0, 6), k if rng.random() < 0.7 else "round")
        for f, x, y, k in REFERENCE
    ]
    write(submission, noisy)
    whole = assess(capsule, submission)
    right = {(r["match_x"], r["match_y"]) for r in whole.result.objects if r["kind"] == "hit"}
    for index in [i for i, row in enumerate(noisy) if row[1:3] in right][:8]:
        write(submission, noisy[:index] + noisy[index + 1 :])
        assert grade(capsule, submission, draws=False).strict < whole.grade.strict


def test_a_frame_without_cells_counts_as_zero_in_the_mean_over_frames(graded) -> None:
    verdict = graded([row for row in REFERENCE if row[0]])
    assert verdict.strict_metrics["strict_class_f1_frame_mean"] == pytest.approx(5 / 6, abs=1e-6)
    assert verdict.strict_metrics["strict_class_f1_frame_mean_n"] == FRAMES
    assert verdict.items[0]["status"] == "missing"


@pytest.mark.parametrize(
    "header",
    [
        "image_index,centroid_x,centroid_y,predicted_label",
        " Frame ,X,Y,Class",
        "t,col,row,label",
        "timepoint,x_px,y_px,predicted_class",
    ],
)
def test_columns_have_other_names_too(header: str, capsule: Path, submission: Path) -> None:
    write(submission, REFERENCE, header)
    assert grade(capsule, submission).result_score == 1.0


def test_of_two_columns_for_one_thing_a_row_takes_the_first_that_is_filled(
    capsule: Path, submission: Path
) -> None:
    lines = ["x,y,centroid_x,frame,image,label"]
    for i, (frame, x, y, kind) in enumerate(REFERENCE):
        lines.append(f"{x},{y},9999,{frame},77,{kind}" if i % 2 else f",{y},{x}, ,{frame},{kind}")
    (submission / "cell_labels.csv").write_text("\n".join(lines), encoding="utf-8")
    assert grade(capsule, submission).result_score == 1.0


def test_labels_are_read_in_any_case_and_stratified_means_ramified(graded) -> None:
    rows = [
        (f, x, y, "Stratified" if kind == "ramified" else kind.upper())
        for f, x, y, kind in REFERENCE
    ]
    assert graded(rows).result_score == 1.0


def test_a_label_that_is_no_class_is_a_cell_without_one(graded) -> None:
    first, *others = REFERENCE
    verdict = graded([(*first[:3], "bushy"), *others])
    assert verdict.metrics["localization_f1"] == 1.0
    assert verdict.metrics["classification_accuracy"] == pytest.approx(59 / 60, abs=5e-5)
    assert verdict.strict < 1.0


def test_places_that_are_no_numbers_are_false_cells_and_rows_without_a_frame_are_skipped(
    capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    with (submission / "cell_labels.csv").open("a", encoding="utf-8") as table:
        table.write("0,nan,5,round\n1,inf,5,round\nnan,5,5,round\n?,5,5,round\n2,5\n\n")
    verdict = grade(capsule, submission)
    assert verdict.metrics["n_pred_cells"] == 62
    assert verdict.metrics["localization_f1"] == pytest.approx(120 / 122, abs=5e-5)
    assert verdict.strict_metrics["strict_false_hits"] == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no cell"),
        ("frame,x,y,label\n", "holds no cell"),
        ("a,b,c\n1,2,3\n", "holds no cell"),
        ("frame,x,y,label\n0,1,2,round\ninf,1,2,round\n", "infinite"),
        ("\ufeffframe,x,y,label\n0,1,2,round\n", "holds no cell"),
    ],
)
def test_a_table_without_usable_rows_scores_zero_with_a_reason(
    text: str, reason: str, capsule: Path, submission: Path
) -> None:
    (submission / "cell_labels.csv").write_text(text, encoding="utf-8")
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.0, 0.0, 0.0)
    assert reason in verdict.error


def test_the_radius_is_that_of_the_rubric_as_published_and_narrower_in_dense_frames(
    capsule: Path, submission: Path
) -> None:
    dense = [(f, 8.0 * k, 8.0 * (k % 2), NAMES[k % 3]) for f in range(3) for k in range(30)]
    annotate(capsule / "evaluation", dense)
    write(submission, [(f, x + 7, y, kind) for f, x, y, kind in dense])
    verdict = grade(capsule, submission)
    assert verdict.metrics["distance_threshold_px"] == 15.0
    assert verdict.metrics["localization_f1"] == 1.0
    assert verdict.strict_metrics["strict_radius_px"] == pytest.approx(np.sqrt(32), abs=1e-3)
    assert verdict.strict < 0.6


def test_each_cell_has_a_row_that_says_what_became_of_it(capsule: Path, submission: Path) -> None:
    frame, x, y, _ = REFERENCE[0]
    write(submission, [(frame, x, y, "round"), *REFERENCE[3:], (9, 1.0, 1.0, "round")])
    assessment = assess(capsule, submission)
    kinds = [row["kind"] for row in assessment.result.objects]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "hit": 57,
        "wrong class": 1,
        "miss": 2,
        "false hit": 1,
    }
    assert len({tuple(row) for row in assessment.result.objects}) == 1
    assert len({tuple(row) for row in assessment.grade.items}) == 1


def test_pictures_stay_within_their_sizes(capsule: Path, graded) -> None:
    import tifffile

    (capsule / "input").mkdir()
    for frame in range(FRAMES):
        image = np.random.default_rng(frame).integers(0, 999, (280, 1660)).astype(np.uint16)
        tifffile.imwrite(capsule / "input" / f"frame_{frame}.tif", image)
    pictures = graded(REFERENCE[:-20]).pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert len(pictures[0].data) <= 40_000
    assert all(len(picture.data) <= 300_000 for picture in pictures)


def test_the_perfect_submission_scores_exactly_one(job: Job, capsule: Path, submission) -> None:
    FAMILY.perfect(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)


def test_the_blank_submission_scores_nothing(job: Job, capsule: Path, submission: Path) -> None:
    FAMILY.blank(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)


def test_an_annotation_under_a_name_alike_counts_only_at_the_top(
    capsule: Path, submission: Path
) -> None:
    annotation = capsule / "evaluation" / "Replicate1annotation.csv"
    annotation.rename(annotation.with_name("my_Annotations.csv"))
    write(submission, REFERENCE)
    assert grade(capsule, submission).result_score == 1.0
    (capsule / "evaluation" / "deeper").mkdir()
    annotation.with_name("my_Annotations.csv").rename(
        capsule / "evaluation" / "deeper" / "my_Annotations.csv"
    )
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome) == (None, None)


def test_an_annotation_without_cells_scores_0_as_published_and_is_our_fault(
    capsule: Path, submission: Path
) -> None:
    annotate(capsule / "evaluation", [])
    write(submission, REFERENCE)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome) == (0.0, None)


def test_without_a_reference_there_is_no_perfect_submission(
    job: Job, capsule: Path, submission: Path
) -> None:
    (capsule / "evaluation" / "Replicate1annotation.csv").unlink()
    with pytest.raises(CapsuleFault, match="holds no annotation"):
        FAMILY.perfect(job, submission)
