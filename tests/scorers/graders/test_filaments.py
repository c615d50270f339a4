from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from scipy import ndimage

from scorers.contract import Grade, Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders.filaments import FAMILY, key_of
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

MakeCapsule = Callable[..., Path]

DELIVERABLE = [("segmentation_masks", "*mask*.tif*", "multi: true, format: binary 2D TIFF")]


def _filaments(seed: int = 0, n: int = 3, size: int = 160) -> np.ndarray:
    """Curves from side to side that do not touch, three pixels wide."""
    rng = np.random.default_rng(seed)
    x = np.arange(4, size - 4)
    image = np.zeros((size, size), bool)
    for index in range(n):
        wave = 5 * np.sin(x / rng.uniform(12, 25) + rng.uniform(0, 6))
        y = np.round((index + 1) * size / (n + 1) + wave).astype(int)
        for step in (-1, 0, 1):
            image[y + step, x] = True
    return image


IMAGE = _filaments()


def _write(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(path, image.astype(np.uint8), photometric="minisblack")


def _reference(capsule: Path, *images: np.ndarray) -> None:
    for index, image in enumerate(images, start=1):
        _write(capsule / "evaluation" / f"report_{index:04d}.binary.tiff", image)


def _submit(submission: Path, *images: np.ndarray) -> None:
    for index, image in enumerate(images, start=1):
        _write(submission / f"report_{index:04d}_mask.tif", image)


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
    folder = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(folder, IMAGE)
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path) -> Callable[[np.ndarray], Grade]:
    """Grade a mask of the one image."""

    def of(mask: np.ndarray) -> Grade:
        _submit(submission, mask)
        return grade(capsule, submission)

    return of


def test_a_wrong_shape_is_left_out_as_published_and_zero_when_strict(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, IMAGE, IMAGE)
    _submit(submission, IMAGE, np.ones((1, 1)))

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (1.0, 0.5)
    assert [row["status"] for row in verdict.items] == ["scored", "shape differs"]
    assert verdict.strict_metrics["strict_n"] == 2


@pytest.mark.parametrize("n", [0, 5, 16])
def test_of_sixteen_images_each_perfect_one_counts_a_sixteenth(
    n: int, make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    small = _filaments(size=40, n=1)
    _reference(capsule, *[small] * 16)
    _submit(submission, *[small] * n)
    # One that cannot be read counts as one that is missing.
    (submission / "report_0016_mask.tif").touch()
    if n == 16:
        _submit(submission, *[small] * 16)

    verdict = grade(capsule, submission)

    assert verdict.result_score == verdict.strict == pytest.approx(n / 16, abs=1e-4)


def test_a_stack_of_planes_is_read_by_its_first_column_as_published(
    capsule: Path, submission: Path
) -> None:
    tifffile.imwrite(
        submission / "report_0001_mask.tif",
        np.stack([IMAGE, IMAGE]).astype(np.uint8),
        photometric="minisblack",
    )

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert verdict.items[0]["note"] == "shape (2, 160), expected (160, 160)"


def test_nothing_drawn_where_nothing_is_is_right_only_when_strict(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, np.zeros((9, 9)), IMAGE)
    _submit(submission, np.zeros((9, 9)), IMAGE)

    verdict = grade(capsule, submission)

    assert verdict.metrics["mean_dice"] == 1.0
    assert verdict.metrics["mean_cl_dice"] == 0.5
    assert verdict.strict == 1.0


def test_where_every_value_is_undefined_the_score_is_zero(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, np.zeros((9, 9)))
    _submit(submission, np.zeros((9, 9)))

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.metrics["mean_dice"], verdict.strict) == (0.0, None, 1.0)


def test_the_rubric_names_the_metric_that_is_the_score(capsule: Path, submission: Path) -> None:
    rubric = "metric_config: {primary_metric: recall}\ngrader: filaments\n"
    (capsule / "evaluation_rubric.yaml").write_text(rubric)
    _submit(submission, ndimage.binary_dilation(IMAGE))

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.metrics["primary_metric"]) == (1.0, "recall")


def test_the_first_of_two_files_of_a_key_counts(capsule: Path, submission: Path) -> None:
    _write(submission / "a_report_0001_mask.tif", IMAGE)
    _write(submission / "b_REPORT_0001_mask.tif", ~IMAGE)

    verdict = grade(capsule, submission)

    assert verdict.result_score == 1.0
    assert verdict.strict_metrics["strict_unpaired_files"] == 1


def test_a_key_keeps_its_zeros() -> None:
    assert key_of("report_1_mask.tif") != key_of("report_0001_mask.tif")
    assert key_of("mask_1.tif") is None


def test_widening_by_a_pixel_costs_dice_and_hardly_anything_strict(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    verdict = graded(ndimage.binary_dilation(IMAGE, np.ones((3, 3))))
    assert float(verdict.result_score or 0) < 0.8
    assert float(verdict.strict or 0) > 0.95


def test_gaps_cost_little_dice_and_most_of_the_strict_value(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    broken = IMAGE.copy()
    broken[:, 10::16] = False

    verdict = graded(broken)

    assert float(verdict.result_score or 0) > 0.95
    assert float(verdict.strict or 1) < 0.2
    assert verdict.strict_metrics["strict_breaks"] == 3 * 10


def test_more_gaps_always_cost_more(graded: Callable[[np.ndarray], Grade]) -> None:
    values = []
    for n_gaps in (0, 1, 2, 4, 8):
        broken = IMAGE.copy()
        broken[:, np.linspace(0, 159, n_gaps + 2).astype(int)[1:-1]] = False
        values.append(float(graded(broken).strict or 0))
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 5


def test_removing_a_piece_or_a_file_never_raises_the_strict_value(
    make_capsule: MakeCapsule, tmp_path: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, IMAGE, IMAGE.T)
    broken = IMAGE & (np.random.default_rng(0).random(160) < 0.9)
    labels, count = ndimage.label(broken, np.ones((3, 3)))

    def strict(name: str, *images: np.ndarray) -> float:
        folder = tmp_path / name
        folder.mkdir()
        _submit(folder, *images)
        return float(assess(capsule, folder).result.strict or 0.0)

    whole = strict("whole", broken, IMAGE.T)
    for label in range(1, count + 1, 6):
        assert strict(f"without {label}", broken & (labels != label), IMAGE.T) <= whole
    assert strict("one file", broken) < whole


def test_lines_of_even_width_are_whole_when_copied(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    steps = np.arange(40)
    image = np.zeros((50, 50), bool)
    image[steps, steps] = image[steps, steps + 1] = True
    image[44:46, 10:12] = True
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, image)
    _submit(submission, image)

    assert grade(capsule, submission).strict == 1.0


def test_an_image_filled_wholly_gets_its_dice_and_nothing_strict(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    verdict = graded(np.ones_like(IMAGE))
    share = IMAGE.mean()
    assert verdict.result_score == pytest.approx(2 * share / (1 + share), abs=1e-4)
    assert float(verdict.strict or 0) <= 0.05


def test_specks_everywhere_cost_most_of_the_strict_value(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    specks = np.random.default_rng(0).random(IMAGE.shape) < 0.01
    verdict = graded(IMAGE | specks)
    assert float(verdict.result_score or 0) > 0.85
    assert float(verdict.strict or 1) < 0.1


def test_the_perfect_submission_earns_exactly_everything(capsule: Path, submission: Path) -> None:
    FAMILY.perfect(_job(capsule, submission), submission)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)
    assert verdict.metrics["mean_cl_dice"] == 1.0


def test_the_blank_submission_is_read_and_earns_nothing(capsule: Path, submission: Path) -> None:
    FAMILY.blank(_job(capsule, submission), submission)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert verdict.items[0]["status"] == "scored"


def test_without_a_reference_the_capsule_is_at_fault(capsule: Path, submission: Path) -> None:
    (capsule / "evaluation" / "report_0001.binary.tiff").rename(capsule / "evaluation" / "a.tiff")
    _submit(submission, IMAGE)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome) == (None, None)
    with pytest.raises(CapsuleFault, match="expected masks"):
        FAMILY.blank(_job(capsule, submission), submission)


def test_an_unreadable_reference_is_our_fault_with_the_published_numbers(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, IMAGE, IMAGE)
    (capsule / "evaluation" / "report_0002.binary.tiff").write_bytes(b"broken")
    _submit(submission, IMAGE, IMAGE)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.outcome) == (1.0, None)
    assert "report_0002.binary.tiff is unreadable" in str(verdict.error)


def test_files_without_a_key_earn_nothing_with_a_hint(capsule: Path, submission: Path) -> None:
    _write(submission / "mask_1.tif", IMAGE)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict, verdict.metrics["n_pred"]) == (0.0, 0.0, 1)
    assert "report_NNNN" in str(verdict.error)


def test_objects_are_filaments_and_the_stretches_that_went_wrong(
    capsule: Path, submission: Path
) -> None:
    broken = IMAGE.copy()
    broken[:, 80:83] = False
    broken[0, :20] = True
    _submit(submission, broken)

    rows = assess(capsule, submission).result.objects

    kinds = [row["kind"] for row in rows]
    assert kinds == ["split"] * 3 + ["miss stretch"] * 3 + ["false hit stretch"]
    assert {row["length"] for row in rows if row["kind"] == "miss stretch"} == {3.0}
    assert len({tuple(row) for row in rows}) == 1 or {frozenset(r) for r in rows} == {
        frozenset(rows[0])
    }


def test_pictures_show_the_worst_image_over_its_input(
    make_capsule: MakeCapsule, submission: Path
) -> None:
    capsule = make_capsule(grader="filaments", deliverables=DELIVERABLE)
    _reference(capsule, IMAGE, IMAGE)
    (capsule / "input").mkdir()
    noise = np.random.default_rng(0).integers(0, 99, IMAGE.shape).astype(np.uint16)
    tifffile.imwrite(capsule / "input" / "report_0002.noisy.tiff", noise)
    broken = IMAGE.copy()
    broken[:, ::16] = False
    _submit(submission, IMAGE, broken)

    pictures = grade(capsule, submission).pictures

    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert pictures[0].caption.startswith("report_0002: clDice")
    assert len(pictures[0].data) <= 40_000
    assert all(len(picture.data) <= 300_000 for picture in pictures)
