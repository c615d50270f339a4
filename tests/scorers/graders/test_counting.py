"""Counting: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.errors import CapsuleFault
from scorers.grading import assess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.grading import Assessment

SIZE = 200


def places(count: int, seed: int = 0) -> np.ndarray:
    """Cells on a jittered grid of 20 pixels, so that their neighbours are about that far."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(10), np.arange(10)), axis=-1).reshape(-1, 2) * 20.0 + 9
    return grid[rng.permutation(100)[:count]] + rng.uniform(-2, 2, (count, 2))


REFERENCE = {"0": places(0), "1": places(0), "2": places(10, 1), "3": places(20, 2)}


def write(folder: Path, tables: dict[str, np.ndarray]) -> None:
    folder.mkdir(exist_ok=True)
    for name, points in tables.items():
        lines = ["X,Y", *(f"{x!r},{y!r}" for x, y in points.tolist())]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def capsule(make_capsule) -> Path:
    folder = make_capsule(
        task_id="my-counting",
        grader="counting",
        deliverables=[("centroids_per_image", "*.csv", "multi: true, required_columns: [X, Y]")],
        config=", distance_threshold_px: 10",
    )
    write(folder / "evaluation", REFERENCE)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[dict[str, np.ndarray]], Assessment]:
    def grade(tables: dict[str, np.ndarray]) -> Assessment:
        write(submission, tables)
        return assess(capsule, submission)

    return grade


def test_the_reference_itself_scores_one(graded) -> None:
    grade = graded(REFERENCE).grade
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)


def test_the_published_check_value_holds(capsule: Path, submission: Path) -> None:
    (capsule / "evaluation" / "3.csv").unlink()
    write(capsule / "evaluation", {"0": places(0), "1": places(10), "2": places(20)})
    write(submission, {"0": places(1), "1": places(5), "2": places(30)})
    assert assess(capsule, submission).grade.result_score == 0.65


def test_an_empty_table_for_every_image_scores_the_share_of_empty_images(graded) -> None:
    grade = graded(dict.fromkeys(REFERENCE, places(0))).grade
    assert grade.result_score == 0.5
    assert grade.strict == 0.0


def test_a_typical_number_of_false_cells_costs_an_empty_image_whole(graded) -> None:
    grade = graded(REFERENCE | {"0": places(20), "1": places(20)}).grade
    assert grade.result_score == 0.5


def test_right_numbers_in_the_wrong_places_score_one_as_published_and_little_strictly(graded):
    corner = {name: np.zeros_like(points) for name, points in REFERENCE.items()}
    grade = graded(corner).grade
    assert grade.result_score == 1.0
    assert grade.strict < 0.1


def test_dropping_more_and_more_cells_lowers_the_strict_score_steadily(
    capsule: Path, submission: Path
) -> None:
    scores = []
    for dropped in (0, 1, 2, 5, 10):
        write(submission, {name: points[dropped:] for name, points in REFERENCE.items()})
        scores.append(assess(capsule, submission).grade.strict)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_a_tenth_of_the_cells_missing_costs_a_twentieth_of_f1(graded) -> None:
    grade = graded(REFERENCE | {"2": REFERENCE["2"][1:], "3": REFERENCE["3"][2:]}).grade
    assert grade.strict == pytest.approx(2 * 0.9 / 1.9, abs=1e-6)
    assert grade.strict_metrics["strict_f1_n"] == 2


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_taking_a_file_away_never_raises_the_strict_score(
    name: str, capsule: Path, submission: Path
) -> None:
    noisy = {key: np.concatenate([value, places(5, 7) + 9]) for key, value in REFERENCE.items()}
    noisy["1"] = places(0)
    write(submission, noisy)
    before = assess(capsule, submission).grade.strict
    (submission / f"{name}.csv").unlink()
    assert assess(capsule, submission).grade.strict <= before


def test_of_two_files_for_one_image_the_worse_counts_strictly(graded) -> None:
    assessed = graded(REFERENCE | {"agent_3": places(0)})
    assert assessed.grade.result_score == 1.0
    assert assessed.grade.strict == 0.5
    assert assessed.grade.metrics["ignored_extra_files"] == 1


def test_names_fit_with_a_prefix_or_as_an_ending(graded) -> None:
    tables = {
        f"{prefix}{name}": points
        for (name, points), prefix in zip(
            REFERENCE.items(), ("", "agent_", "my-image-", "a_b_"), strict=True
        )
    }
    assert graded(tables).grade.result_score == 1.0


def test_file_names_that_fit_no_image_score_zero_with_a_reason(graded) -> None:
    grade = graded({"a": places(3), "b": places(3)}).grade
    assert (grade.result_score, grade.outcome) == (0.0, 0.0)
    assert "no file name fits" in grade.error


def test_summary_tables_alone_score_zero_with_a_reason(graded) -> None:
    grade = graded({"summary": places(3), "Report_all": places(3)}).grade
    assert grade.outcome == 0.0
    assert "only summary tables" in grade.error


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_place_that_is_no_number_leaves_no_published_score_but_an_outcome(
    value: str, capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    with (submission / "3.csv").open("a", encoding="utf-8") as table:
        table.write(f"{value},5\n")
    grade = assess(capsule, submission).grade
    assert grade.result_score is None
    assert (grade.outcome, grade.passed) == (0.0, False)
    assert "3.csv" in grade.error
    assert grade.strict == pytest.approx((1 + 40 / 41) / 2, abs=1e-6)


def test_a_place_that_is_no_number_in_an_empty_image_is_a_false_cell(
    capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    (submission / "0.csv").write_text("X,Y\nnan,5\n", encoding="utf-8")
    grade = assess(capsule, submission).grade
    assert grade.result_score == pytest.approx((3 + 1 - 1 / 20) / 4, abs=5e-5)


def test_missing_images_count_as_zero_and_twice_in_the_relative_error(graded) -> None:
    grade = graded({"2": REFERENCE["2"], "3": REFERENCE["3"]}).grade
    assert grade.result_score == 0.5
    assert grade.metrics["result_score_n_missing"] == 2
    assert grade.metrics["count_mape"] == 0.5
    assert grade.strict == 0.5


def test_a_table_that_cannot_be_read_counts_as_missing(capsule: Path, submission: Path) -> None:
    write(submission, REFERENCE)
    (submission / "3.csv").write_text("X,Y\n" + "1," * 9000 + "\n", encoding="utf-8")
    grade = assess(capsule, submission).grade
    assert grade.result_score == 0.75
    assert [row["status"] for row in grade.items if row["item"] == "3"] == ["unreadable"]


def test_each_cell_has_a_row_that_says_what_became_of_it(graded) -> None:
    assessed = graded(REFERENCE | {"2": REFERENCE["2"][1:], "0": places(1)})
    kinds = [row["kind"] for row in assessed.result.objects]
    assert {kind: kinds.count(kind) for kind in kinds} == {"hit": 29, "miss": 1, "false hit": 1}
    assert len({tuple(row) for row in assessed.result.objects}) == 1
    assert len({tuple(row) for row in assessed.grade.items}) == 1


def test_chance_is_told_beside_the_strict_score(graded) -> None:
    metrics = graded(REFERENCE).grade.strict_metrics
    assert 0 < metrics["strict_chance_f1"] < 0.6
    assert metrics["strict_chance_f1_n"] == 2


def test_pictures_stay_within_their_sizes(graded) -> None:
    pictures = graded(REFERENCE | {"3": places(18, 5)}).grade.pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay"]
    assert len(pictures[0].data) <= 40_000
    assert len(pictures[1].data) <= 300_000


def test_the_input_image_is_the_ground_of_the_pictures(capsule: Path, submission: Path) -> None:
    import io

    import tifffile
    from PIL import Image

    (capsule / "input").mkdir()
    tifffile.imwrite(
        capsule / "input" / "3.tif", np.arange(SIZE**2, dtype=np.uint16).reshape(SIZE, -1)
    )
    write(submission, REFERENCE | {"3": REFERENCE["3"][1:]})
    thumbnail = assess(capsule, submission).grade.pictures[0]
    image = np.asarray(Image.open(io.BytesIO(thumbnail.data)))
    assert image[:SIZE].mean() > 60


@pytest.mark.parametrize("value", ["ten", "0", "true"])
def test_a_rubric_without_a_distance_that_makes_sense_is_our_fault(
    value: str, capsule: Path, graded
) -> None:
    rubric = f"metric_config: {{distance_threshold_px: {value}}}\ngrader: counting\n"
    (capsule / "evaluation_rubric.yaml").write_text(rubric, encoding="utf-8")
    grade = graded(REFERENCE).grade
    assert grade.outcome is None
    assert "distance_threshold_px" in grade.error


def test_a_capsule_without_reference_tables_is_our_fault(capsule: Path, submission: Path) -> None:
    for table in (capsule / "evaluation").iterdir():
        table.unlink()
    write(submission, REFERENCE)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (None, None)
    assert "evaluation/ holds no *.csv" in grade.error


@pytest.fixture
def job_of(tree_of):
    from scorers.contract import Job
    from scorers.files.limits import Limits
    from scorers.specification import load_rubric, load_spec

    def build(capsule: Path, submission: Path) -> Job:
        folders = [capsule / name for name in ("evaluation", "input")]
        evaluation, inputs = (folder if folder.is_dir() else None for folder in folders)
        return Job(
            capsule,
            load_spec(capsule),
            load_rubric(capsule),
            tree_of(submission),
            evaluation,
            inputs,
            Limits(),
        )

    return build


def test_the_perfect_submission_scores_exactly_one(capsule: Path, submission: Path, job_of) -> None:
    from scorers.graders.counting import FAMILY

    FAMILY.perfect(job_of(capsule, submission), submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_the_blank_submission_follows_the_input_and_scores_the_share_of_empty_images(
    capsule: Path, submission: Path, job_of
) -> None:
    from scorers.graders.counting import FAMILY

    (capsule / "input").mkdir()
    for name in REFERENCE:
        (capsule / "input" / f"{name}.tiff").write_bytes(b"")
    FAMILY.blank(job_of(capsule, submission), submission)
    assert {path.name for path in submission.iterdir()} == {f"{name}.csv" for name in REFERENCE}
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (0.5, 0.0)


def test_without_input_and_reference_there_is_no_blank_submission(
    make_capsule, submission: Path, job_of
) -> None:
    from scorers.graders.counting import FAMILY

    capsule = make_capsule(grader="counting")
    (capsule / "evaluation").rmdir()
    with pytest.raises(CapsuleFault, match="neither"):
        FAMILY.blank(job_of(capsule, submission), submission)
