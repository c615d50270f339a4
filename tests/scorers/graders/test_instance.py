from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from scorers.contract import Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders.instance import FAMILY
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

MakeCapsule = Callable[..., Path]
WriteFamily = Callable[[Path, Path], None]

EMPTY = np.zeros((24, 30), np.uint16)
CELLS = EMPTY.copy()
CELLS[2:10, 2:10], CELLS[2:10, 10:18], CELLS[14:20, 5:20] = 1, 2, 3


def _write(folder: Path, **images: np.ndarray) -> None:
    for name, image in images.items():
        tifffile.imwrite(folder / f"{name}.tif", image, photometric="minisblack")


def _job(capsule: Path, out: Path) -> Job:
    return Job(
        task_dir=capsule,
        spec=load_spec(capsule),
        rubric=load_rubric(capsule),
        submission=Tree(out, Limits()),
        reference_dir=capsule / "evaluation",
        input_dir=None,
        limits=Limits(),
    )


@pytest.fixture
def capsule(make_capsule: MakeCapsule) -> Path:
    folder = make_capsule()
    _write(folder / "evaluation", a=CELLS, b=CELLS[::-1])
    return folder


def test_touching_cells_merged_keep_the_published_dice_and_lose_strict_quality(
    capsule: Path, submission: Path
) -> None:
    merged = np.where(CELLS == 2, 1, CELLS)
    _write(submission, a=merged, b=merged[::-1])

    verdict = grade(capsule, submission)

    assert verdict.result_score == 1.0
    # Of three cells two are one object of IoU 0.5, which still matches one of them.
    assert verdict.strict == pytest.approx((0.5 + 1.0) / 2.5)
    assert verdict.strict_metrics["strict_merges"] == 2


def test_a_missing_file_counts_as_zero_in_every_mean(capsule: Path, submission: Path) -> None:
    _write(submission, a=CELLS)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.5, 0.5)
    assert verdict.metrics["missing_prediction_images"] == 1
    assert verdict.metrics["boundary_f1"] == 1.0
    assert verdict.strict_metrics["strict_boundary_f1"] == 0.5
    assert verdict.strict_metrics["strict_pq_n"] == 2
    assert verdict.strict_metrics["strict_misses"] == 3
    assert [row["status"] for row in verdict.items] == ["scored", "missing"]


def test_a_wrong_shape_counts_as_zero_with_both_shapes_told(
    capsule: Path, submission: Path
) -> None:
    _write(submission, a=CELLS, b=CELLS[:, :-1])

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.5, 0.5)
    assert verdict.metrics["shape_mismatch_images"] == 1
    assert verdict.items[1]["note"] == "shape (24, 29), expected (24, 30)"


def test_nothing_found_where_nothing_is_is_right_only_by_the_strict_value(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule()
    _write(folder / "evaluation", a=EMPTY)
    _write(submission, a=EMPTY)

    verdict = grade(folder, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 1.0)
    assert verdict.metrics["ap_at_0.5"] == 1.0
    assert verdict.strict_metrics["strict_pq_pooled"] == 1.0


def test_values_pool_over_the_objects_of_all_images(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule()
    one = np.where(CELLS == 3, 1, 0).astype(np.uint16)
    _write(folder / "evaluation", a=CELLS, b=one)
    _write(submission, a=CELLS, b=EMPTY)

    verdict = grade(folder, submission)

    assert verdict.strict == 0.5
    assert verdict.strict_metrics["strict_pq_pooled"] == pytest.approx(3 / 3.5)
    assert verdict.strict_metrics["strict_pooled_n"] == 4


def test_a_reference_in_colour_is_read_by_its_busiest_channel(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule()
    colour = np.zeros((*CELLS.shape, 3), np.uint8)
    colour[..., 1] = CELLS
    colour[..., 2] = CELLS > 0
    Image.fromarray(colour).save(folder / "evaluation" / "a.png")
    _write(submission, a=CELLS)

    assert grade(folder, submission).strict == 1.0


def test_an_unreadable_reference_is_our_fault_with_the_published_numbers(
    capsule: Path, submission: Path
) -> None:
    (capsule / "evaluation" / "b.tif").write_bytes(b"broken")
    _write(submission, a=CELLS, b=CELLS[::-1])

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.5, None, None)
    assert "reference b.tif is unreadable" in str(verdict.error)


def test_the_rubric_names_the_metric_that_is_the_score(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule()
    (folder / "evaluation_rubric.yaml").write_text(
        "metric_config: {primary_metric: pq}\ngrader: instance\n"
    )
    _write(folder / "evaluation", a=CELLS)
    _write(submission, a=np.where(CELLS == 3, 0, CELLS))

    verdict = grade(folder, submission)

    assert verdict.result_score == verdict.metrics["pq"] == 0.8


def test_files_that_no_name_pairs_earn_nothing_with_the_counts(
    capsule: Path, submission: Path
) -> None:
    _write(submission, x=CELLS)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.0, 0.0, 0.0)
    assert (verdict.metrics["pred_count"], verdict.metrics["gt_count"]) == (1, 2)


def test_a_label_image_of_endless_labels_is_unreadable(capsule: Path, submission: Path) -> None:
    _write(submission, a=np.arange(CELLS.size, dtype=np.uint16).reshape(CELLS.shape), b=CELLS)

    verdict = grade(capsule, submission, Limits(labels=100))

    assert verdict.items[0]["status"] == "unreadable"
    assert "more than 100 distinct labels" in str(verdict.items[0]["note"])


@pytest.fixture
def volumes(make_capsule: MakeCapsule) -> Path:
    folder = make_capsule(
        dimensions="3D",
        deliverables=[("segmentation_masks", "*_seg.tif*", "multi: true, format: uint16 labels")],
    )
    _write(folder / "evaluation", fish_seg=np.stack([EMPTY, CELLS, CELLS, CELLS, EMPTY]))
    return folder


def test_a_volume_is_scored_by_its_objects_in_space(volumes: Path, submission: Path) -> None:
    # Each object lacks one of its three planes.
    _write(submission, fish_seg=np.stack([EMPTY, EMPTY, CELLS, CELLS, EMPTY]))

    verdict = grade(volumes, submission)

    assert verdict.result_score == 0.8
    assert verdict.strict == pytest.approx(2 / 3, abs=1e-6)
    assert verdict.metrics["boundary_f1"] is None
    assert verdict.metrics["ap_at_0.75"] == 0.0
    assert "strict_adapted_rand" in verdict.strict_metrics


def test_a_volume_short_of_a_slice_earns_nothing(volumes: Path, submission: Path) -> None:
    _write(submission, fish_seg=np.stack([EMPTY, CELLS, CELLS, CELLS]))

    verdict = grade(volumes, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)


@pytest.mark.parametrize("kind", ["capsule", "volumes"])
def test_the_perfect_submission_earns_exactly_everything(
    kind: str, submission: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    FAMILY.perfect(_job(folder, submission), submission)

    verdict = grade(folder, submission)

    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)


@pytest.mark.parametrize("kind", ["capsule", "volumes"])
def test_the_blank_submission_is_read_and_earns_nothing(
    kind: str, submission: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    FAMILY.blank(_job(folder, submission), submission)

    verdict = grade(folder, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert {row["status"] for row in verdict.items} == {"scored"}


def test_without_a_reference_neither_can_be_made(capsule: Path, submission: Path) -> None:
    for file in (capsule / "evaluation").iterdir():
        file.unlink()

    with pytest.raises(CapsuleFault, match="expected reference masks"):
        FAMILY.perfect(_job(capsule, submission), submission)


def test_removing_a_right_object_or_a_file_never_raises_the_strict_value(
    capsule: Path, tmp_path: Path
) -> None:
    def strict(name: str, **images: np.ndarray) -> float:
        folder = tmp_path / name
        folder.mkdir()
        _write(folder, **images)
        return float(assess(capsule, folder).result.strict or 0.0)

    shifted = np.roll(CELLS, 1, axis=0)
    whole = strict("whole", a=shifted, b=CELLS[::-1])
    for label in (1, 2, 3):
        less = np.where(shifted == label, 0, shifted)
        assert strict(f"without {label}", a=less, b=CELLS[::-1]) < whole
    assert strict("one file", a=shifted) < whole


def test_pictures_show_the_worst_image_within_their_bounds(capsule: Path, submission: Path) -> None:
    (capsule / "input").mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (*CELLS.shape, 3)).astype(np.uint8)
    Image.fromarray(noise).save(capsule / "input" / "b.png")
    _write(submission, a=CELLS, b=CELLS)

    pictures = grade(capsule, submission).pictures

    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert pictures[0].caption.startswith("b, image: PQ 0.")
    assert len(pictures[0].data) <= 40_000
    assert all(len(picture.data) <= 300_000 for picture in pictures)


def test_a_volume_is_pictured_by_projection_and_middle_plane(
    volumes: Path, submission: Path
) -> None:
    FAMILY.perfect(_job(volumes, submission), submission)

    names = [picture.name for picture in grade(volumes, submission).pictures]

    assert names == ["thumbnail", "fish_seg projection", "fish_seg middle plane"]


def test_rows_of_objects_tell_how_far_their_outlines_lie_off(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    folder = make_capsule()
    spec = folder / "task_spec.yaml"
    stated = spec.read_text("utf-8").replace("input: {", "input: {pixel_size_um: 0.5, ")
    spec.write_text(stated, encoding="utf-8")
    y, x = np.indices((90, 90)) - 45
    for parent, radius in ((folder / "evaluation", 30), (submission, 33)):
        _write(parent, a=(np.hypot(y, x) <= radius).astype(np.uint16))

    [row] = assess(folder, submission).result.objects

    assert row["kind"] == "hit"
    assert row["boundary_error_px"] == pytest.approx(3, rel=0.1)
    assert row["boundary_error_um"] == pytest.approx(row["boundary_error_px"] / 2)
