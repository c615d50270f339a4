"""Tracking: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.files.limits import Limits
from scorers.grading import assess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.grading import Assessment

N_FRAMES, ROWS, COLUMNS = 16, 24, 80
# Two founders, each divides twice: (start, end, parent).
TRACKS = {
    1: (0, 5, 0),
    2: (0, 7, 0),
    3: (6, 10, 1),
    4: (6, 15, 1),
    5: (8, 15, 2),
    6: (8, 15, 2),
    7: (11, 15, 3),
    8: (11, 15, 3),
}
LINEAGE = "".join(f"{k} {a} {b} {p}\n" for k, (a, b, p) in TRACKS.items())


def movie() -> np.ndarray:
    frames = np.zeros((N_FRAMES, ROWS, COLUMNS), np.uint16)
    for label, (start, end, _) in TRACKS.items():
        left = 10 * (label - 1) + 1
        frames[start : end + 1, 8:16, left : left + 8] = label
    return frames


@pytest.fixture
def capsule(make_capsule) -> Path:
    folder = make_capsule(
        task_id="my-tracking",
        grader="tracking",
        deliverables=[
            ("segmentation_masks", "*_RES.ome.tif*", "format: label stack"),
            ("tracking_lineage", "*track*.txt", "required: true"),
        ],
    )
    save(folder / "evaluation", "00_GT.ome.tif", "man_track.txt", movie(), LINEAGE)
    return folder


def save(folder: Path, masks: str, table: str, frames: np.ndarray, lineage: str, **how) -> None:
    folder.mkdir(exist_ok=True)
    tifffile.imwrite(folder / masks, frames, photometric="minisblack", **how)
    (folder / table).write_text(lineage, encoding="utf-8")


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[..., Assessment]:
    def grade(
        frames: np.ndarray | None = None, lineage: str = LINEAGE, limits=None, **how
    ) -> Assessment:
        frames = movie() if frames is None else frames
        save(submission, "00_RES.ome.tif", "res_track.txt", frames, lineage, **how)
        return assess(capsule, submission, limits or Limits())

    return grade


def test_the_reference_itself_scores_one(graded) -> None:
    grade = graded().grade
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)
    assert grade.metrics["ct"] == grade.metrics["div"] == grade.metrics["lnk"] == 1.0


def test_masks_without_links_score_high_as_published_and_low_strictly(graded) -> None:
    frames, rows, label = movie(), [], 0
    for frame in range(N_FRAMES):
        for old in np.unique(movie()[frame])[1:]:
            label += 1
            frames[frame][movie()[frame] == old] = label
            rows.append(f"{label} {frame} {frame} 0\n")
    grade = graded(frames, "".join(rows)).grade
    assert grade.result_score > 0.9
    assert grade.strict < 0.25
    assert grade.strict_metrics["strict_div"] == 0.0
    assert grade.strict_metrics["strict_detection"] == 1.0


def test_frames_counted_from_one_hardly_cost_as_published_and_all_divisions(graded) -> None:
    lineage = "".join(f"{k} {a + 1} {b + 1} {p}\n" for k, (a, b, p) in TRACKS.items())
    grade = graded(lineage=lineage).grade
    assert grade.result_score > 0.97
    assert grade.metrics["div"] == 0.0
    assert grade.strict < grade.result_score


def test_dropping_more_and_more_objects_lowers_both_scores_steadily(
    capsule: Path, submission: Path
) -> None:
    rng = np.random.default_rng(3)
    nodes = [(f, k) for f in range(N_FRAMES) for k in np.unique(movie()[f])[1:]]
    order = rng.permutation(len(nodes))
    frames, strict, published = movie(), [], []
    for count in range(0, len(order), 12):
        for index in order[max(count - 12, 0) : count]:
            frame, label = nodes[index]
            frames[frame][frames[frame] == label] = 0
        save(submission, "00_RES.ome.tif", "res_track.txt", frames, LINEAGE)
        grade = assess(capsule, submission).grade
        strict.append(grade.strict)
        published.append(grade.result_score)
    assert all(np.diff(strict) < 0)
    assert all(np.diff(published) < 0)


def test_objects_drawn_too_wide_cost_strict_their_overlap_and_not_chota(graded) -> None:
    frames = movie()
    frames[:, 7, :] = frames[:, 8, :]  # 8 rows become 9
    grade = graded(frames).grade
    assert grade.strict_metrics["strict_chota"] == 1.0
    assert grade.strict_metrics["strict_localisation"] == grade.strict
    assert grade.strict == pytest.approx(8 / 9, abs=1e-6)


def test_a_missing_file_scores_zero(capsule: Path, submission: Path, graded) -> None:
    graded()
    (submission / "res_track.txt").unlink()
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, 0.0, 0.0)
    assert "tracking_lineage" in grade.error


@pytest.mark.parametrize("lineage", ["", "track start end parent\n", "0 0 5 0\n", "1 5 0 0\n"])
def test_a_lineage_without_a_row_scores_zero_with_a_reason(graded, lineage: str) -> None:
    grade = graded(lineage=lineage).grade
    assert (grade.result_score, grade.strict) == (0.0, 0.0)
    assert "no row of a lineage" in grade.error


def test_another_frame_size_scores_zero_with_a_reason(graded) -> None:
    grade = graded(movie()[:, :-1]).grade
    assert (grade.result_score, grade.strict) == (0.0, 0.0)
    assert "(24, 80)" in grade.error


def test_frames_beyond_the_reference_hold_false_objects(graded) -> None:
    metrics = graded(np.concatenate([movie(), movie()[-1:]])).grade.metrics
    assert metrics["false_positives"] == 5
    assert metrics["gt_frames"] == metrics["evaluated_frames"] == N_FRAMES + 1


def test_a_movie_that_is_too_short_misses_what_follows(graded) -> None:
    metrics = graded(movie()[:-1]).grade.metrics
    assert (metrics["false_negatives"], metrics["gt_frames"]) == (5, N_FRAMES)


def test_floating_labels_are_rounded(graded) -> None:
    assert graded(movie() + np.float32(0.3) * (movie() > 0)).grade.result_score == 1.0


def test_one_image_is_one_frame(graded) -> None:
    metrics = graded(movie()[0]).grade.metrics
    assert metrics["pred_nodes"] == 2


def test_an_axis_of_length_one_after_time_does_no_harm(graded) -> None:
    grade = graded(movie()[:, None], ome=False, metadata={"axes": "TCYX"}).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_an_axis_of_length_one_before_time_leaves_no_published_score_but_an_outcome(
    graded,
) -> None:
    grade = graded(movie()[None], ome=False).grade
    assert grade.result_score is None
    assert (grade.outcome, grade.passed, grade.strict) == (0.0, False, 1.0)
    assert "axis of length 1" in grade.error


def test_infinite_frames_leave_no_published_score_but_an_outcome(graded) -> None:
    grade = graded(lineage=LINEAGE + "9 0 inf 0\n").grade
    assert grade.result_score is None
    assert (grade.outcome, grade.strict) == (0.0, 1.0)
    assert "infinite" in grade.error


def test_an_unreadable_movie_scores_zero_with_a_reason(
    capsule: Path, submission: Path, graded
) -> None:
    graded()
    (submission / "00_RES.ome.tif").write_bytes(b"II*\0 no image")
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (0.0, 0.0)
    assert "00_RES.ome.tif" in grade.error


def test_more_objects_than_the_limit_score_zero_with_a_reason(graded) -> None:
    grade = graded(limits=Limits(labels=20)).grade
    assert grade.outcome == 0.0
    assert "more than 20 objects" in grade.error


def test_rows_for_absent_labels_are_counted_and_cost_nothing(graded) -> None:
    grade = graded(lineage=LINEAGE + "77 0 3 0\n78 4 9 77\n").grade
    assert grade.result_score == grade.strict == 1.0
    assert grade.metrics["pred_tracks"] == len(TRACKS) + 2


def test_each_object_link_and_division_that_is_wrong_has_a_row(graded) -> None:
    frames = movie()
    frames[7][frames[7] == 4] = 0
    frames[3, 0:3, 0:3] = 9
    assessed = graded(frames, LINEAGE.replace("7 11 15 3", "7 11 15 0"))
    kinds = [row["kind"] for row in assessed.result.objects]
    n_nodes = assessed.grade.metrics["gt_nodes"]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "missed division": 1,
        "missed link": 3,
        "miss": 1,
        "false hit": 1,
        "hit": n_nodes - 1,
    }
    assert len({tuple(row) for row in assessed.result.objects}) == 1


def test_rows_of_objects_stop_at_the_limit_with_errors_first(graded) -> None:
    frames = movie()
    frames[7][frames[7] == 4] = 0
    rows = graded(frames, limits=Limits(objects=4)).result.objects
    assert [row["kind"] for row in rows] == ["missed link", "missed link", "miss", "hit"]


def test_markers_match_by_coverage_where_the_rubric_says_so(
    capsule: Path, submission: Path
) -> None:
    markers = movie()
    markers[:, :11] = 0
    markers[:, 14:] = 0
    save(capsule / "evaluation", "00_GT.ome.tif", "man_track.txt", markers, LINEAGE)
    save(submission, "00_RES.ome.tif", "res_track.txt", movie(), LINEAGE)
    assert assess(capsule, submission).grade.strict == 0.0
    rubric = capsule / "evaluation_rubric.yaml"
    rubric.write_text(
        "metric_config: {node_matching: coverage}\ngrader: tracking\n", encoding="utf-8"
    )
    grade = assess(capsule, submission).grade
    assert (grade.strict, grade.metrics["tra"]) == (1.0, 1.0)
    assert grade.metrics["seg"] == pytest.approx(3 / 8)


@pytest.mark.parametrize(
    ("config", "reason"),
    [("node_matching: nearest", "node_matching"), ("iou_threshold: half", "iou_threshold")],
)
def test_a_rubric_that_makes_no_sense_is_our_fault(
    capsule: Path, graded, config: str, reason: str
) -> None:
    rubric = capsule / "evaluation_rubric.yaml"
    rubric.write_text(f"metric_config: {{{config}}}\ngrader: tracking\n", encoding="utf-8")
    grade = graded().grade
    assert grade.outcome is None
    assert reason in grade.error


@pytest.mark.parametrize("name", ["00_GT.ome.tif", "man_track.txt"])
def test_a_reference_that_is_missing_or_broken_is_our_fault(
    capsule: Path, graded, name: str
) -> None:
    (capsule / "evaluation" / name).write_bytes(b"")
    broken = graded().grade
    (capsule / "evaluation" / name).unlink()
    missing = graded().grade
    for grade in (broken, missing):
        assert (grade.result_score, grade.outcome) == (None, None)
        assert "evaluation/" in grade.error


def test_a_reference_without_objects_is_our_fault(capsule: Path, graded) -> None:
    save(capsule / "evaluation", "00_GT.ome.tif", "man_track.txt", 0 * movie(), LINEAGE)
    assert graded().grade.outcome is None


def test_logs_are_not_taken_for_a_lineage(capsule: Path, graded) -> None:
    (capsule / "evaluation" / "log.txt").write_text("no lineage", encoding="utf-8")
    assert graded().grade.result_score == 1.0


def test_pictures_stay_within_their_sizes_with_and_without_errors(graded) -> None:
    frames = movie()
    frames[7][frames[7] == 4] = 0
    for assessed in (graded(), graded(frames), graded(movie()[:3])):
        pictures = assessed.grade.pictures
        assert [p.role for p in pictures] == ["thumbnail", "overlay", "overlay"]
        assert all(len(p.data) <= (40_000 if p.role == "thumbnail" else 300_000) for p in pictures)


@pytest.fixture
def job(tree_of, capsule: Path, submission: Path):
    from scorers.contract import Job
    from scorers.specification import load_rubric, load_spec

    return Job(
        capsule,
        load_spec(capsule),
        load_rubric(capsule),
        tree_of(submission),
        capsule / "evaluation",
        None,
        Limits(),
    )


def test_the_perfect_submission_scores_exactly_one(job, capsule: Path, submission: Path) -> None:
    from scorers.graders.tracking import FAMILY

    FAMILY.perfect(job, submission)
    assert {path.name for path in submission.iterdir()} == {"00_RES.ome.tif", "res_track.txt"}
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_the_blank_submission_scores_exactly_zero(job, capsule: Path, submission: Path) -> None:
    from scorers.graders.tracking import FAMILY

    FAMILY.blank(job, submission)
    assert tifffile.imread(submission / "00_RES.ome.tif").shape == movie().shape
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict, grade.error) == (0.0, 0.0, None)
