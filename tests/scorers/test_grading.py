import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile

from scorers.contract import Family, Job, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.limits import Limits
from scorers.grading import assess, flat, grade

MakeCapsule = Callable[..., Path]

LABELS = np.zeros((20, 24), np.uint16)
LABELS[2:8, 2:8], LABELS[10:18, 5:15] = 1, 2


@pytest.fixture
def capsule(make_capsule: MakeCapsule) -> Path:
    folder = make_capsule()
    tifffile.imwrite(folder / "evaluation" / "a.tif", LABELS)
    return folder


@pytest.fixture
def graded_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Job], Result]], None]:
    """Let a function stand in for the family of every task."""

    def use(function: Callable[[Job], Result]) -> None:
        family = Family("stand-in", function, lambda *_: None, lambda *_: None)
        monkeypatch.setattr("scorers.grading.family_for", lambda *_: family)

    return use


def test_the_reference_itself_earns_everything(capsule: Path, submission: Path) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome, verdict.strict) == (1.0, 1.0, 1.0)
    assert verdict.passed
    assert verdict.error is None
    assert verdict.deliverables["found"] == {"segmentation_masks": ["a.tif"]}


def test_an_empty_submission_earns_nothing_with_the_reason(capsule: Path, submission: Path) -> None:
    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.0, 0.0, 0.0)
    assert not verdict.passed
    assert verdict.error == "deliverable 'segmentation_masks' not found"
    assert verdict.deliverables["missing"][0]["filename_pattern"] == "*.tif"


def test_a_grade_is_json_in_the_order_of_the_contract(capsule: Path, submission: Path) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    told = json.loads(json.dumps(grade(capsule, submission).to_json(), allow_nan=False))

    assert list(told) == [
        "task_id",
        "result_score",
        "outcome",
        "passed",
        "strict",
        "metrics",
        "strict_metrics",
        "items",
        "deliverables",
        "pictures",
        "error",
        "canary",
    ]


def test_a_packaged_submission_is_graded_by_its_artifacts(capsule: Path, submission: Path) -> None:
    (submission / "submission.json").write_text("{}")
    (submission / "artifacts").mkdir()
    tifffile.imwrite(submission / "artifacts" / "a.tif", LABELS)
    tifffile.imwrite(submission / "a.tif", np.zeros_like(LABELS))

    verdict = grade(capsule, submission)

    assert verdict.outcome == 1.0
    assert verdict.deliverables["found"] == {"segmentation_masks": ["a.tif"]}


def test_a_package_without_artifacts_holds_nothing(capsule: Path, submission: Path) -> None:
    (submission / "submission.json").write_text("{}")
    tifffile.imwrite(submission / "a.tif", LABELS)

    assert grade(capsule, submission).outcome == 0.0


def test_artifacts_that_link_to_the_reference_are_not_followed(
    capsule: Path, submission: Path
) -> None:
    (submission / "submission.json").write_text("{}")
    (submission / "artifacts").symlink_to(capsule / "evaluation")

    verdict = grade(capsule, submission)

    assert verdict.outcome == 0.0
    assert verdict.deliverables["refused"][0]["file"] == "artifacts"


def test_a_missing_reference_is_our_fault_and_no_score(capsule: Path, submission: Path) -> None:
    (capsule / "evaluation" / "a.tif").unlink()
    tifffile.imwrite(submission / "a.tif", LABELS)

    verdict = grade(capsule, submission)

    assert verdict.result_score is verdict.outcome is verdict.strict is None
    assert not verdict.passed
    assert "expected reference masks" in str(verdict.error)


def test_a_null_result_is_an_outcome_of_zero_with_the_reason(
    capsule: Path, submission: Path, graded_by: Callable[..., None]
) -> None:
    graded_by(lambda _: Result(None, error="a coordinate is not finite"))
    tifffile.imwrite(submission / "a.tif", LABELS)

    verdict = grade(capsule, submission)

    assert verdict.result_score is None
    assert (verdict.outcome, verdict.passed) == (0.0, False)
    assert verdict.error == "a coordinate is not finite"


def test_a_result_that_is_no_number_is_null(
    capsule: Path, submission: Path, graded_by: Callable[..., None]
) -> None:
    graded_by(lambda _: Result(float("nan"), {"a": float("inf")}))
    tifffile.imwrite(submission / "a.tif", LABELS)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome) == (None, 0.0)
    assert verdict.metrics == {"a": None}
    assert verdict.error


def test_the_gate_zeroes_the_outcome_and_leaves_the_evaluators_value(
    make_capsule: MakeCapsule, submission: Path, graded_by: Callable[..., None]
) -> None:
    graded_by(lambda _: Result(0.9))
    folder = make_capsule(deliverables=[("a", "*.csv", ""), ("b", "*.txt", "")])
    (submission / "a.csv").touch()

    verdict = grade(folder, submission)

    assert (verdict.result_score, verdict.outcome, verdict.passed) == (0.9, 0.0, False)
    assert verdict.error == "missing required deliverables: b"


def test_a_fault_of_the_submission_in_a_grader_is_a_zero_with_its_reason(
    capsule: Path, submission: Path, graded_by: Callable[..., None]
) -> None:
    def fails(_: Job) -> Result:
        raise SubmissionFault("table.csv is no table")

    graded_by(fails)
    tifffile.imwrite(submission / "a.tif", LABELS)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.0, 0.0, 0.0)
    assert verdict.error == "table.csv is no table"


@pytest.mark.parametrize(("threshold", "passed"), [("0.7", True), ("0.71", False)])
def test_passing_depends_on_the_rubrics_threshold(
    threshold: str,
    passed: bool,
    make_capsule: MakeCapsule,
    submission: Path,
    graded_by: Callable[..., None],
) -> None:
    graded_by(lambda _: Result(0.7))
    folder = make_capsule(config=f", result_pass_threshold: {threshold}")
    (submission / "a.tif").touch()

    assert grade(folder, submission).passed is passed


def test_the_grade_does_not_depend_on_the_name_of_the_folder(capsule: Path, tmp_path: Path) -> None:
    grades = []
    for name in ("raw", "elsewhere"):
        folder = tmp_path / name / "out"
        folder.mkdir(parents=True)
        tifffile.imwrite(folder / "a.tiff", LABELS)
        grades.append(grade(capsule, folder).to_json())

    assert grades[0] == grades[1]
    assert grades[0]["outcome"] == 1.0


def test_a_folder_that_does_not_exist_is_told(capsule: Path, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match=r"expected a folder, got '.*nowhere'"):
        grade(capsule, tmp_path / "nowhere")


def test_an_unknown_task_is_told_with_the_graders_and_a_near_match(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule(task_id="he-nuinsseg-nuclear-segmentatoin", grader=None)

    with pytest.raises(
        CapsuleFault,
        match=r"instance, counting, tracking.*mean the task id 'he-nuinsseg-nuclear-segmentation'",
    ):
        grade(folder, submission)


def test_an_unknown_grader_is_told_with_a_near_match(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    with pytest.raises(CapsuleFault, match="got 'instances'; did you mean 'instance'"):
        grade(make_capsule(grader="instances"), submission)


def test_rows_of_objects_go_with_the_assessment(capsule: Path, submission: Path) -> None:
    tifffile.imwrite(submission / "a.tif", np.where(LABELS == 2, 0, LABELS))

    rows = assess(capsule, submission).result.objects

    assert [(row["label"], row["kind"]) for row in rows] == [(1, "hit"), (2, "miss")]


def test_rows_of_objects_are_bounded(capsule: Path, submission: Path) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    assert len(assess(capsule, submission, Limits(objects=1)).result.objects) == 1


def test_nested_metrics_become_dotted_and_lists_text() -> None:
    nested = {"a": {"b": {"c": 1}}, "names": ["x", "y"], "rows": [{"d": 1}], "n": np.float64(0.5)}

    assert flat(nested) == {"a.b.c": 1, "names": "x, y", "n": 0.5}
