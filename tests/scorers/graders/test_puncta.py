"""Puncta: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.grading import assess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.contract import Grade

TASK = "3d-confocal-puncta-quantification-sbiad1556"
HEADING = [
    "condition", "Image name", "z", "y", "x", "number of GFP puncta",
    "ROI volume pix", "ROI volume um",
]  # fmt: skip
NO_CONDITION = "no condition of the reference occurs in the table"
CONDITIONS = {"08172023_ZR_WT": 4.0, "08172023_ZR_3DBDmut": 1.5, "08172023_ZRC129A_H144A_fix": 0.8}
COUNT = HEADING.index("number of GFP puncta")
Row = list[object]


def nuclei(seed: int = 3) -> list[Row]:
    """Two images a condition with 20 nuclei each, 12 µm apart; most without puncta."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for condition, mean in CONDITIONS.items():
        for image in (1, 2):
            grid = np.stack(np.meshgrid(np.arange(5), np.arange(4)), axis=-1).reshape(-1, 2)
            for y, x in (grid * 190 + rng.uniform(-20, 20, (20, 2)) + 90).tolist():
                count = int(rng.poisson(mean) + 1) if rng.random() < 0.4 else 0
                z = float(rng.uniform(20, 40))
                name = f"{condition}/{condition}.sld - Position {image}.tif_trimmed.tif"
                rows.append([condition, name, z, y, x, count, 250_000, 250_000 * 0.000845])
    return rows


REFERENCE = nuclei()


def write(folder: Path, rows: list[Row], heading: list[str] = HEADING) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cell_quants.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heading, *rows])


@pytest.fixture
def capsule(released_task, tmp_path: Path) -> Path:
    write(tmp_path / "reference", REFERENCE)
    return released_task(TASK, tmp_path / "reference")


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[list[Row]], Grade]:
    def grade(rows: list[Row], draws: bool = False) -> Grade:
        write(submission, rows)
        return assess(capsule, submission, draws=draws).grade

    return grade


def changed(rows: list[Row], change: Callable[[float, int], float]) -> list[Row]:
    """Return rows with other counts, by the count and the row's number."""
    return [
        [*row[:COUNT], change(row[COUNT], at), *row[COUNT + 1 :]] for at, row in enumerate(rows)
    ]


def test_the_reference_itself_scores_one(graded) -> None:
    grade = graded(REFERENCE)
    assert (grade.result_score, grade.outcome, grade.strict, grade.passed) == (1.0, 1.0, 1.0, True)
    assert grade.strict_metrics["strict_n"] == len(REFERENCE)
    assert grade.metrics["condition_rank_correct"] == 1.0


def test_perfect_and_blank_submissions_are_the_ceiling_and_the_floor(
    capsule: Path, submission: Path
) -> None:
    from scorers.contract import Job
    from scorers.files.limits import Limits
    from scorers.files.tree import Tree
    from scorers.graders.puncta import FAMILY
    from scorers.specification import load_rubric, load_spec

    with Tree(submission, Limits()) as tree:
        spec, rubric = load_spec(capsule), load_rubric(capsule)
        job = Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())
        FAMILY.perfect(job, submission)
        assert assess(capsule, submission).grade.strict == 1.0
        FAMILY.blank(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.outcome, grade.strict) == (0.0, 0.0)
    assert grade.error == NO_CONDITION


def test_counts_half_too_large_cost_half_as_published_and_little_strictly(graded) -> None:
    grade = graded(changed(REFERENCE, lambda count, _: count * 1.5))
    assert grade.result_score == pytest.approx(0.5, abs=0.001)
    assert 0.85 < grade.strict < 1


@pytest.mark.parametrize("factor", [2, 3, 0])
def test_twice_the_counts_or_none_at_all_score_nothing_as_published(factor: int, graded) -> None:
    grade = graded(changed(REFERENCE, lambda count, _: count * factor))
    assert grade.result_score == 0.0


def test_shuffled_counts_score_nothing_as_published_and_keep_their_nuclei_strictly(graded) -> None:
    rng = np.random.default_rng(1)
    thirds = (REFERENCE[at : at + 40] for at in (0, 40, 80))
    counts = np.concatenate([rng.permutation([row[COUNT] for row in third]) for third in thirds])
    grade = graded(changed(REFERENCE, lambda _, at: counts[at]))
    assert grade.result_score < 0.05
    assert 0.3 < grade.strict < 0.6
    assert grade.strict_metrics["strict_nucleus_f1"] == 1.0


def test_every_second_nucleus_dropped_costs_their_puncta(graded) -> None:
    grade = graded(REFERENCE[::2])
    left = [sum(row[COUNT] for row in REFERENCE[at : at + 40 : 2]) for at in (0, 40, 80)]
    whole = [sum(row[COUNT] for row in REFERENCE[at : at + 40]) for at in (0, 40, 80)]
    expected = np.mean([part / all_ for part, all_ in zip(left, whole, strict=True)])
    assert grade.result_score == pytest.approx(expected, abs=1e-4)
    assert grade.strict < 0.6


def test_false_nuclei_with_puncta_cost_everything_and_empty_ones_nothing_as_published(graded):
    extra = [[*row[:2], 1e5, 1e5, 1e5, 9, *row[6:]] for row in REFERENCE]
    assert graded(REFERENCE + extra).result_score == 0.0
    grade = graded(REFERENCE + changed(extra, lambda *_: 0))
    assert grade.result_score == 1.0
    assert grade.strict_metrics["strict_nucleus_f1"] == pytest.approx(2 / 3, abs=1e-6)


def test_names_need_neither_folder_nor_suffix(graded) -> None:
    rows = [[row[0], row[1].rpartition("/")[2].partition(".tif")[0], *row[2:]] for row in REFERENCE]
    grade = graded(rows)
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_a_condition_that_is_left_out_scores_zero(graded) -> None:
    grade = graded(REFERENCE[:40])
    assert grade.result_score == pytest.approx(1 / 3, abs=1e-4)
    assert grade.metrics["missing_pred_conditions"] == "3dbdmut, c129a_h144a"
    assert grade.strict < 0.45


def test_distances_are_measured_with_the_voxels_own_three_sizes(graded) -> None:
    # 20 slices are 4 µm, and more than half a median neighbour distance where voxels were cubes.
    deep = [[*row[:2], row[2] + 20, *row[3:]] for row in REFERENCE]
    assert graded(deep).strict == 1.0
    # 80 pixels are 5.2 µm.
    wide = [[*row[:3], row[3] + 80, *row[4:]] for row in REFERENCE]
    assert graded(wide).strict_metrics["strict_nucleus_f1"] == 0.0


def test_swapped_axes_find_no_nuclei(graded) -> None:
    rows = [[*row[:2], row[4], row[3], row[2], *row[5:]] for row in REFERENCE]
    assert graded(rows).strict < 0.05


def test_dropping_more_and_more_nuclei_lowers_the_strict_score_steadily(graded) -> None:
    scores = [graded(REFERENCE[dropped:]).strict for dropped in (0, 6, 12, 24)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


@pytest.mark.parametrize("row", range(0, 120, 17))
def test_taking_a_nucleus_away_never_raises_the_strict_score(row: int, graded) -> None:
    rng = np.random.default_rng(row)
    noisy = changed(REFERENCE, lambda count, _: max(count + int(rng.integers(-2, 6)), 0))
    before = graded(noisy).strict
    assert graded(noisy[:row] + noisy[row + 1 :]).strict <= before


def test_a_count_that_is_no_number_zeroes_its_condition_as_published(graded) -> None:
    grade = graded(changed(REFERENCE, lambda count, at: "nan" if at == 0 else count))
    assert grade.result_score == pytest.approx(2 / 3, abs=1e-4)
    assert 0.9 < grade.strict < 1


@pytest.mark.parametrize("value", ["inf", "1e308", "-5", "x", ""])
def test_odd_counts_are_scored_with_a_number(value: str, graded) -> None:
    grade = graded(changed(REFERENCE, lambda count, at: value if at < 3 else count))
    assert 0 <= grade.result_score <= 1
    assert 0 < grade.strict < 1


@pytest.mark.parametrize("value", ["nan", "inf", "1e308"])
def test_a_nucleus_without_a_place_is_unmatched(value: str, graded) -> None:
    rows = [[*row[:2], value if at == 0 else row[2], *row[3:]] for at, row in enumerate(REFERENCE)]
    grade = graded(rows)
    assert grade.strict_metrics["strict_hits"] == len(REFERENCE) - 1
    assert grade.metrics["per_nucleus_puncta_agreement.per_nucleus_n_gt_unmatched"] == 1


def test_columns_count_by_their_exact_names(capsule: Path, submission: Path) -> None:
    write(submission, REFERENCE, ["Condition", *HEADING[1:]])
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.error) == (0.0, NO_CONDITION)


def test_a_table_without_a_required_column_is_no_deliverable(
    capsule: Path, submission: Path
) -> None:
    write(submission, [[*row[:2], *row[3:]] for row in REFERENCE], HEADING[:2] + HEADING[3:])
    grade = assess(capsule, submission).grade
    assert (grade.outcome, grade.error) == (0.0, "deliverable 'cell_quants' no conforming file")


def test_nuclei_of_unknown_images_count_as_false(graded) -> None:
    rows = [*REFERENCE, ["WT", "elsewhere.tif", 1, 2, 3, 5, 1, 1]]
    grade = graded(rows)
    assert grade.strict_metrics["strict_false_hits"] == 1
    assert grade.items[-1]["status"] == "not in the reference"
    assert {tuple(item) for item in grade.items} == {tuple(grade.items[0])}


def test_without_any_voxel_size_there_is_no_strict_value(capsule: Path, submission: Path) -> None:
    for name in ("evaluation_rubric.yaml", "task_spec.yaml"):
        text = (capsule / name).read_text("utf-8")
        text = text.replace("voxel_size_um: [0.2, 0.065, 0.065]", "x: 1").replace("µm × ", "by ")
        (capsule / name).write_text(text, encoding="utf-8")
    bare = [row[:6] for row in REFERENCE]
    write(capsule / "evaluation", bare, HEADING[:6])
    write(submission, bare, HEADING[:6])
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, None)


def test_the_released_instruction_tells_the_voxel_as_well(capsule: Path, submission: Path) -> None:
    path = capsule / "evaluation_rubric.yaml"
    text = path.read_text("utf-8").replace("voxel_size_um: [0.2, 0.065, 0.065]", "x: 1")
    path.write_text(text, encoding="utf-8")
    write(submission, REFERENCE)
    told = assess(capsule, submission).grade.strict_metrics
    assert told["strict_voxel_um"] == "0.2 x 0.065 x 0.065"


def test_a_reference_without_a_usable_nucleus_has_no_strict_value(
    capsule: Path, submission: Path
) -> None:
    write(capsule / "evaluation", [[*row[:2], "", *row[3:]] for row in REFERENCE])
    write(submission, REFERENCE)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (0.0, None)
    assert grade.metrics["result_score_n_missing"] == 3


def test_a_reference_that_is_not_there_is_our_fault(capsule: Path, submission: Path) -> None:
    (capsule / "evaluation" / "cell_quants.csv").unlink()
    write(submission, REFERENCE)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (0.0, None)
    assert "cell_quants.csv" in grade.error


def test_objects_say_what_became_of_each_nucleus(capsule: Path, submission: Path) -> None:
    write(submission, [*REFERENCE[1:], [*REFERENCE[0][:2], 0, 5000, 5000, 2, 1, 1]])
    objects = assess(capsule, submission).result.objects
    kinds = [row["kind"] for row in objects]
    assert [kinds.count(kind) for kind in ("hit", "miss", "false hit")] == [119, 1, 1]
    (false,) = (row for row in objects if row["kind"] == "false hit")
    assert (false["x_um"], false["puncta"], false["puncta_true"]) == (325.0, 2.0, None)


def test_the_worst_image_is_shown_on_its_gfp(capsule: Path, submission: Path) -> None:
    folder = capsule / "input" / "08172023_ZR_WT"
    folder.mkdir(parents=True)
    stack = np.random.default_rng(0).integers(90, 200, (4, 2, 300, 320), dtype=np.uint16)
    tifffile.imwrite(folder / "08172023_ZR_WT.sld - Position 1.tif", stack)
    write(submission, REFERENCE[10:])
    pictures = assess(capsule, submission).grade.pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay"]
    assert all(len(picture.data) > 1000 for picture in pictures)
