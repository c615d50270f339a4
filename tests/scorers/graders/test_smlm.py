"""Localised molecules: the published score, the strict one, and lists that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scorers.contract import Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.graders.smlm import FAMILY
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.contract import Grade

NAME = "DNAPAINT_LocalizationList.txt"
PERIOD = 6


def molecules(seed: int = 0, frames: int = 30) -> np.ndarray:
    """Rows of frame, x, y, intensity: molecules 5 pixels and more apart, six a frame."""
    rng = np.random.default_rng(seed)
    spots = np.stack(np.meshgrid(np.arange(8), np.arange(8)), axis=-1).reshape(-1, 2) * 8.0 + 4
    rows = []
    for frame in range(frames):
        here = spots[rng.permutation(len(spots))[:PERIOD]] + rng.uniform(-1.5, 1.5, (PERIOD, 2))
        rows.append(np.column_stack([np.full(PERIOD, frame), here, rng.gamma(4, 300, PERIOD)]))
    return np.concatenate(rows)


REFERENCE = molecules()


def write(folder: Path, table: np.ndarray, name: str = NAME) -> None:
    folder.mkdir(exist_ok=True)
    lines = ["\t".join(f"{value!r}" for value in row) for row in table.tolist()]
    (folder / name).write_text("\n".join(["frame\tx\ty\tintensity", *lines, ""]), encoding="utf-8")


def moved(x: float = 0.0, y: float = 0.0, frames: float = 0.0) -> np.ndarray:
    return REFERENCE + np.array([frames, x, y, 0])


def with_intensity(values: np.ndarray | float) -> np.ndarray:
    table = REFERENCE.copy()
    table[:, 3] = values
    return table


@pytest.fixture
def capsule(make_capsule) -> Path:
    folder = make_capsule(
        task_id="my-molecules",
        grader="smlm",
        deliverables=[("localization_list", "*LocalizationList*.txt", "")],
        config=", distance_threshold_px: 1.0, pixel_size_nm: 100",
    )
    write(folder / "evaluation", REFERENCE)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[np.ndarray], Grade]:
    def give(table: np.ndarray) -> Grade:
        write(submission, table)
        return grade(capsule, submission)

    return give


@pytest.fixture
def job(capsule: Path, submission: Path, tree_of) -> Job:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    tree = tree_of(submission)
    return Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())


def test_the_reference_itself_scores_one(graded) -> None:
    verdict = graded(REFERENCE)
    assert (verdict.result_score, verdict.strict, verdict.passed) == (1.0, 1.0, True)


def test_two_molecules_found_exactly_without_intensities_score_seven_tenths(
    capsule: Path, submission: Path
) -> None:
    write(capsule / "evaluation", REFERENCE[:2])
    (submission / NAME).write_text(
        "\n".join(f"0 {x!r} {y!r}" for x, y in REFERENCE[:2, 1:3].tolist())
    )
    verdict = grade(capsule, submission)
    assert verdict.result_score == 0.7
    assert verdict.metrics["intensity_pearson_r"] is None
    assert verdict.strict == 1.0


@pytest.mark.parametrize(
    "intensity", [500.0, 0.0, -REFERENCE[:, 3]], ids=["equal", "absent", "reversed"]
)
def test_right_places_with_useless_intensities_score_seven_tenths(intensity, graded) -> None:
    assert graded(with_intensity(intensity)).result_score == 0.7


def test_everything_500_pixels_off_scores_nothing(graded) -> None:
    verdict = graded(moved(x=500, y=500))
    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)


def test_two_right_molecules_with_rising_intensities_earn_the_whole_intensity_part(graded) -> None:
    verdict = graded(REFERENCE[:2])
    assert verdict.result_score == pytest.approx(0.3 + 0.7 * 2 / len(REFERENCE), abs=5e-5)
    assert verdict.strict == pytest.approx(2 / len(REFERENCE), abs=1e-6)


def test_half_a_pixel_in_both_directions_costs_nothing_as_published_and_most_of_the_strict_value(
    graded,
) -> None:
    verdict = graded(moved(x=0.5, y=0.5))
    assert verdict.result_score == 1.0
    assert verdict.strict == pytest.approx(1 - np.sqrt(0.5), abs=1e-6)
    assert verdict.strict == verdict.strict_metrics["strict_efficiency_sage"]
    assert verdict.strict_metrics["strict_bias_x_nm"] == pytest.approx(50.0)
    assert verdict.strict_metrics["strict_rmse_nm"] == pytest.approx(70.7107, abs=1e-3)


def test_frames_counted_from_one_lose_nearly_everything(graded) -> None:
    assert graded(moved(frames=1)).strict < 0.05


def test_swapped_axes_lose_nearly_everything_strictly(graded) -> None:
    verdict = graded(REFERENCE[:, [0, 2, 1, 3]])
    assert verdict.strict < 0.1


def test_more_noise_and_more_missing_molecules_lower_the_strict_value_steadily(
    capsule: Path, submission: Path
) -> None:
    noise = np.random.default_rng(1).normal(0, 1, (len(REFERENCE), 2))
    for doses in ((0.0, 0.05, 0.1, 0.2, 0.4), (0.0, 0.05, 0.1, 0.2)):
        scores = []
        for dose in doses:
            table = REFERENCE.copy()
            if len(doses) == 5:
                table[:, 1:3] += dose * noise
            else:
                table = table[int(dose * len(table)) :]
            write(submission, table)
            scores.append(grade(capsule, submission, draws=False).strict)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == len(scores)


def test_removing_a_molecule_that_was_found_never_raises_the_strict_value(
    capsule: Path, submission: Path
) -> None:
    noisy = REFERENCE.copy()
    noisy[:, 1:3] += np.random.default_rng(2).normal(0, 0.25, (len(noisy), 2))
    noisy = np.concatenate([noisy, moved(x=3, y=3)[::10]])
    write(submission, noisy)
    whole = assess(capsule, submission)
    hits = [row for row in whole.result.objects if row["kind"] == "hit"]
    farthest = sorted(hits, key=lambda row: -row["distance_nm"])[:6]
    for row in [*farthest, *hits[:6]]:
        gone = (noisy[:, 0] == row["frame"]) & (noisy[:, 1] == row["match_x"])
        assert gone.sum() == 1
        write(submission, noisy[~gone])
        assert grade(capsule, submission, draws=False).strict <= whole.grade.strict


def test_the_same_list_twice_has_as_many_false_hits(graded) -> None:
    verdict = graded(np.concatenate([REFERENCE, REFERENCE]))
    assert verdict.metrics["jaccard"] == verdict.strict == 0.5
    assert verdict.result_score == 0.65


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_place_that_is_no_number_leaves_no_published_score_but_an_outcome(
    value: str, capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    with (submission / NAME).open("a", encoding="utf-8") as file:
        file.write(f"3\t{value}\t5\t9\n")
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome) == (None, 0.0)
    assert "not finite" in verdict.error
    assert verdict.strict == pytest.approx(180 / 181, abs=1e-6)


def test_a_place_that_is_no_number_in_a_frame_without_molecules_is_a_false_hit(
    capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    with (submission / NAME).open("a", encoding="utf-8") as file:
        file.write("999\tnan\t5\t9\n")
    assert grade(capsule, submission).metrics["fp"] == 1


def test_an_infinite_frame_leaves_no_published_score_but_an_outcome(
    capsule: Path, submission: Path
) -> None:
    write(submission, REFERENCE)
    with (submission / NAME).open("a", encoding="utf-8") as file:
        file.write("inf\t5\t5\t9\nnan\t5\t5\t9\n")
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome) == (None, 0.0)
    assert "infinite frame" in verdict.error


def test_intensities_that_are_no_numbers_count_as_none(graded) -> None:
    assert graded(with_intensity(np.nan)).result_score == 0.7


def test_an_empty_list_scores_nothing(graded) -> None:
    verdict = graded(REFERENCE[:0])
    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.0, 0.0, 0.0)


def test_without_a_pixel_size_100_nm_are_assumed_and_told(capsule: Path, graded) -> None:
    (capsule / "evaluation_rubric.yaml").write_text("metric_config: {}\ngrader: smlm\n")
    metrics = graded(REFERENCE).strict_metrics
    assert (metrics["strict_pixel_size_nm"], metrics["strict_pixel_size_assumed"]) == (100, True)


def test_smaller_pixels_make_the_same_offset_weigh_less(capsule: Path, graded) -> None:
    (capsule / "evaluation_rubric.yaml").write_text(
        "metric_config: {pixel_size_nm: 50}\ngrader: smlm\n"
    )
    assert graded(moved(x=0.4)).strict == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("primary_metric: jaccard", 1.0),
        ("primary_metric: unheard_of", 0.7),
        ("composite_score: {intensity_normalization: symmetric}", 0.7),
        ("composite_score: {intensity_missing_value: 0.5}", 0.85),
        ("composite_score: {localization_weight: 0.2, intensity_weight: 0.8}", 0.2),
        ("composite_score: {final_range: [0.0, 0.6]}", 0.6),
    ],
)
def test_the_rubric_says_what_the_score_is_made_of(
    config: str, expected: float, capsule: Path, graded
) -> None:
    (capsule / "evaluation_rubric.yaml").write_text(f"metric_config: {{{config}}}\ngrader: smlm\n")
    assert graded(with_intensity(1.0)).result_score == expected


@pytest.mark.parametrize(
    "config",
    [
        "composite_score: {localization_metric: luck}",
        "composite_score: {intensity_normalization: wild}",
        "composite_score: {final_range: 1}",
        "composite_score: {intensity_weight: much}",
        "composite_score: 7",
        "pixel_size_nm: 0",
        "distance_threshold_px: far",
    ],
)
def test_a_rubric_that_makes_no_sense_is_our_fault(config: str, capsule: Path, graded) -> None:
    (capsule / "evaluation_rubric.yaml").write_text(f"metric_config: {{{config}}}\ngrader: smlm\n")
    verdict = graded(REFERENCE)
    assert verdict.outcome is None
    assert config.split(":")[0] in verdict.error


def test_a_reference_folder_without_a_list_scores_0_as_published_and_is_our_fault(
    capsule: Path, submission: Path
) -> None:
    (capsule / "evaluation" / NAME).unlink()
    write(submission, REFERENCE)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.outcome) == (0.0, None)


def test_a_reference_under_a_name_alike_is_found(capsule: Path, submission: Path) -> None:
    (capsule / "evaluation" / NAME).rename(capsule / "evaluation" / "known_localizations.txt")
    write(submission, REFERENCE)
    assert grade(capsule, submission).result_score == 1.0


def test_each_molecule_has_a_row_that_says_what_became_of_it(
    capsule: Path, submission: Path
) -> None:
    write(submission, np.concatenate([REFERENCE[3:], [[2, 60, 60, 1], [77, 1, 1, 1]]]))
    assessment = assess(capsule, submission)
    kinds = [row["kind"] for row in assessment.result.objects]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "hit": len(REFERENCE) - 3,
        "miss": 3,
        "false hit": 2,
    }
    assert len({tuple(row) for row in assessment.result.objects}) == 1
    assert assessment.grade.items[0]["misses"] == 3


def test_pictures_stay_within_their_sizes(graded) -> None:
    noisy = REFERENCE[5:] + np.random.default_rng(0).normal(0, [0, 0.3, 0.3, 1], (175, 4))
    pictures = graded(noisy).pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert len(pictures[0].data) <= 40_000
    assert all(len(picture.data) <= 300_000 for picture in pictures)


def test_the_perfect_submission_scores_exactly_one(job: Job, capsule: Path, submission) -> None:
    FAMILY.perfect(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)


def test_the_blank_submission_is_read_and_scores_nothing(
    job: Job, capsule: Path, submission: Path
) -> None:
    FAMILY.blank(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert verdict.error is None


def test_without_a_reference_there_is_no_perfect_submission(
    job: Job, capsule: Path, submission: Path
) -> None:
    (capsule / "evaluation" / NAME).unlink()
    with pytest.raises(CapsuleFault, match="holds no list"):
        FAMILY.perfect(job, submission)
