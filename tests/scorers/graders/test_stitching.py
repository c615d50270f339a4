"""Stitching: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.graders.stitching import FAMILY
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TASK = "confocal-mosaic-4channel-stitching-ctc-model"
KEYS = [(c, f) for c in ("Bodipy", "PanCK", "DAPI", "CD45") for f in ("Sigma", "r", "rf", "M")]
SCORED = [("Bodipy", "Sigma"), ("DAPI", "r"), ("CD45", "rf")]
MEANS = {key: (10.0 + i, 40.5 - 2 * i) for i, key in enumerate(KEYS)}
BAND = 100
Z, C, Y, X = 3, 4, 240, 160


def mosaic() -> np.ndarray:
    """Blurred blobs with camera noise; every plane its own."""
    rng = np.random.default_rng(0)
    blobs = ndimage.gaussian_filter(rng.normal(size=(Z, C, Y, X)), (0, 0, 3, 3))
    return np.clip(1000 + 4000 * blobs + rng.normal(0, 20, blobs.shape), 0, 65535).astype(np.uint16)


MOSAIC = mosaic()


def write_mosaic(folder: Path, image: np.ndarray, axes: str | None = "ZCYX") -> None:
    metadata = {"axes": axes} if axes else {}
    tifffile.imwrite(
        folder / "mosaic_stitched.tif", image, photometric="minisblack", metadata=metadata
    )


def write_summary(folder: Path, means: dict[tuple[str, str], tuple[float, ...]]) -> None:
    lines = ["Population,Channel,Feature,Mean,SD,n"]
    for (channel, feature), values in means.items():
        for name, value in zip(("WBC", "MCF7"), values, strict=False):
            lines.append(f"{name},{channel},{feature},{value!r},1.5,40")
    (folder / "summary_statistics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def capsule(released_task: Callable[[str, Path | None], Path], tmp_path: Path) -> Path:
    reference = tmp_path / "reference"
    reference.mkdir()
    tifffile.imwrite(reference / "a_8x8_Stitched.lsm", MOSAIC, imagej=True)
    rows = [
        f"{channel} {'Sigma' if feature == 'Sigma' else f'<{feature}>'},{wbc},1,{mcf},1,{i + 1}"
        for i, ((channel, feature), (wbc, mcf)) in enumerate(MEANS.items())
    ]
    text = "Feature,WBC_Mean,WBC_SD,MCF7_Mean,MCF7_SD,D\n" + "\n".join(rows) + "\nReg1,1,1,2,1,3\n"
    (reference / "reference_table_1.csv").write_text(text, encoding="utf-8")
    return released_task(TASK, reference)


@pytest.fixture
def graded(capsule: Path, submission: Path):
    def grade(image=None, means=MEANS, axes: str | None = "ZCYX"):
        if image is not None:
            write_mosaic(submission, image, axes)
        write_summary(submission, means)
        return assess(capsule, submission)

    return grade


@pytest.fixture
def job(capsule: Path, submission: Path, tree_of) -> Job:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    tree = tree_of(submission)
    return Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())


def test_the_perfect_submission_scores_exactly_one(capsule, submission, job) -> None:
    FAMILY.perfect(job, submission)
    assessed = assess(capsule, submission)
    assert (assessed.grade.result_score, assessed.grade.strict) == (1.0, 1.0)
    assert assessed.grade.metrics["direction_agreement"] == 1.0
    assert {row["status"] for row in assessed.grade.items} == {"scored"}
    assert len(assessed.grade.items) == Z * C


def test_the_blank_submission_earns_its_shape_and_nothing_strictly(
    capsule, submission, job
) -> None:
    FAMILY.blank(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (0.35, 0.0)


def test_the_mosaic_alone_scores_seven_tenths(graded) -> None:
    grade = graded(MOSAIC, means={}).grade
    assert (grade.result_score, grade.strict) == (0.7, 1.0)


def test_exact_means_with_an_unreadable_mosaic_score_three_tenths(graded, submission) -> None:
    (submission / "stitched.tif").write_bytes(b"TIFF")
    grade = graded().grade
    assert (grade.result_score, grade.strict) == (0.3, 0.0)
    assert grade.items[0]["status"] == "unreadable"


@pytest.mark.parametrize(
    ("image", "axes"), [(MOSAIC[0, 0], "YX"), (MOSAIC[:, :, :64, :64], "ZCYX")]
)
def test_exact_means_with_a_flat_or_tiny_mosaic_score_about_three_tenths(
    image, axes, graded
) -> None:
    grade = graded(image, axes=axes).grade
    assert grade.result_score < 0.45
    assert grade.strict <= 0.1


@pytest.mark.parametrize("k", range(7))
def test_each_of_the_six_means_alone_is_worth_a_twentieth(k: int, graded, submission) -> None:
    (submission / "stitched.tif").write_bytes(b"TIFF")
    whole, half = SCORED[: k // 2], SCORED[k // 2 : k // 2 + k % 2]
    means = {key: MEANS[key] for key in whole} | {key: MEANS[key][:1] for key in half}
    assert graded(means=means).grade.result_score == pytest.approx(0.05 * k)


@pytest.mark.parametrize(("factor", "score"), [(1.5, 0.15), (0.5, 0.15), (3, 0.0)])
def test_means_that_are_off_lose_their_relative_error(factor, score, graded, submission) -> None:
    (submission / "stitched.tif").write_bytes(b"TIFF")
    means = {key: tuple(factor * value for value in pair) for key, pair in MEANS.items()}
    assert graded(means=means).grade.result_score == pytest.approx(score)


def test_scrambling_what_the_published_score_does_not_look_at_costs_strict_alone(graded) -> None:
    scrambled = MOSAIC.copy()
    outside = np.r_[0 : Y // 2 - BAND // 2, Y // 2 + BAND // 2 : Y]
    scrambled[:, :, outside] = MOSAIC[:, :, np.roll(outside, 60)]
    grade = graded(scrambled).grade
    assert grade.result_score == 1.0
    assert grade.strict < 0.5


def test_the_more_tiles_are_displaced_the_lower_is_strict(capsule, submission) -> None:
    write_summary(submission, MEANS)
    scores = []
    for displaced in range(5):
        moved = MOSAIC.copy()
        for tile in range(displaced):
            columns = np.s_[..., X // 4 * tile : X // 4 * (tile + 1)]
            # Another way for each, so that no two share an origin.
            moved[columns] = np.roll(MOSAIC[columns], 4 + 3 * tile, axis=2)
        write_mosaic(submission, moved)
        scores.append(assess(capsule, submission).grade.strict)
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_half_a_pixel_is_near_enough_and_three_pixels_are_not(graded) -> None:
    half = MOSAIC.astype(np.float32)
    half[:, :, :, X // 2 :] = ndimage.shift(half, (0, 0, 0.5, 0.5), order=1)[:, :, :, X // 2 :]
    assert graded(half).grade.strict > 0.95
    far = MOSAIC.copy()
    far[:, :, :, X // 2 + 20 :] = np.roll(MOSAIC, 3, axis=2)[:, :, :, X // 2 + 20 :]
    assert 0.4 < graded(far).grade.strict < 0.8


def test_where_the_mosaic_starts_is_a_convention(graded) -> None:
    grade = graded(np.pad(MOSAIC, ((0, 0), (0, 0), (5, 0), (3, 0)))).grade
    assert grade.strict > 0.9
    assert grade.metrics["stitching_detail.shape_match_score"] == 0.8
    origin = [grade.strict_metrics[f"strict_origin_shift_{axis}_px"] for axis in "yx"]
    assert origin == pytest.approx([5, 3], abs=0.1)


def test_gain_and_offset_do_not_matter_strictly(graded) -> None:
    assert graded((MOSAIC * 0.5 + 300).astype(np.float32)).grade.strict == 1.0


def test_swapped_channels_are_not_in_place(graded) -> None:
    grade = graded(MOSAIC[:, [1, 0, 2, 3]]).grade
    assert grade.strict == pytest.approx(0.5, abs=0.05)
    assert grade.strict_metrics["strict_in_place_channel_2"] == 1.0


def test_slices_in_another_order_are_not_in_place(graded) -> None:
    grade = graded(MOSAIC[::-1]).grade
    assert grade.metrics["stitching_quality"] == 1.0
    assert grade.strict < 0.45


def test_another_number_of_slices_is_no_mosaic(graded) -> None:
    grade = graded(MOSAIC[:2]).grade
    assert grade.metrics["stitching_detail.shape_match_score"] == 0
    assert grade.strict == 0.0
    assert grade.items[0]["status"] == "wrong shape"


@pytest.mark.parametrize("kind", ["ome", "imagej", "channel last", "planar pages"])
def test_the_order_of_axes_and_the_kind_of_tiff_do_not_matter(
    kind: str, graded, submission: Path
) -> None:
    path = submission / "stitched.tif"
    if kind == "ome":
        path = submission / "stitched.ome.tif"
        moved = np.moveaxis(MOSAIC, 1, 0)
        tifffile.imwrite(path, moved, metadata={"axes": "CZYX"}, compression="zlib")
    elif kind == "imagej":
        tifffile.imwrite(path, MOSAIC, imagej=True)
    elif kind == "channel last":
        last = np.moveaxis(MOSAIC, 1, -1)
        tifffile.imwrite(path, last, metadata={"axes": "ZYXC"}, photometric="rgb")
    else:
        tifffile.imwrite(
            path, MOSAIC, metadata={"axes": "ZCYX"}, photometric="rgb", planarconfig="separate"
        )
    grade = graded().grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_pages_without_axes_are_added_to_every_channel_as_published(graded) -> None:
    grade = graded(MOSAIC, axes=None).grade
    values = {grade.metrics[f"stitching_detail.profile_r_channel_{c}"] for c in range(C)}
    assert max(values) < 0.9
    assert grade.strict == 1.0


def test_values_that_are_not_finite_leave_no_profile_and_no_crash(graded) -> None:
    image = MOSAIC.astype(np.float32)
    image[:, :, 100:110] = np.nan
    image[:, :, 0, 0] = np.inf
    grade = graded(image).grade
    assert grade.metrics["stitching_detail.profile_match_score"] == 0
    assert 0.5 < grade.strict < 1


def test_cells_stand_in_for_a_summary_in_another_layout(graded, submission: Path, capsule) -> None:
    graded(MOSAIC)
    (submission / "summary_statistics.csv").write_text("Feature,WBC\nx,1\n", encoding="utf-8")
    names = ["Bodipy_Sigma_dBct", "DAPI_r_um", "CD45_rf_um1"]
    lines = [f"cell_type,{','.join(names)}"]
    for name, index in (("WBC", 0), ("MCF7", 1)):
        values = [MEANS[key][index] for key in SCORED]
        lines += [",".join([name, *(str(v + d) for v in values)]) for d in (-1, 1)]
        lines.append(f"{name},nan,,inf")
    lines.append("debris,9,9,9")
    table = submission / "cell_features.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert assess(capsule, submission).grade.result_score == 1.0
    table.write_text("\n".join([*lines, "WBC,1,1,1,1,"]) + "\n", encoding="utf-8")
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (None, 0.0)
    assert "more cells" in grade.error


def test_one_usable_feature_in_the_summary_keeps_the_cells_out(graded, submission: Path) -> None:
    (submission / "cell_features.csv").write_text(
        "cell_type,DAPI_r\nWBC,1\nMCF7,2\n", encoding="utf-8"
    )
    grade = graded(MOSAIC, means={("Bodipy", "Sigma"): MEANS["Bodipy", "Sigma"]}).grade
    assert grade.metrics["summary_source"] == "summary_statistics"
    assert grade.result_score == pytest.approx(0.8)


def test_a_summary_row_that_is_too_long_scores_zero_with_a_reason(
    graded, submission: Path, capsule
) -> None:
    graded(MOSAIC)
    with (submission / "summary_statistics.csv").open("a", encoding="utf-8") as table:
        table.write("WBC,DAPI,r,1,1,1,\n")
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.outcome) == (0.0, 0.0)
    assert "more cells" in grade.error


def test_the_last_row_counts_and_what_is_no_number_does_not(
    graded, submission: Path, capsule
) -> None:
    graded(MOSAIC)
    with (submission / "summary_statistics.csv").open("a", encoding="utf-8") as table:
        table.write("wbc cells,lipid,total intensity,0,,\nWBC,DAPI,r,nan,,\nWBC,?,r,5\n\n")
    assert assess(capsule, submission).grade.result_score == pytest.approx(0.95)


def test_without_a_reference_mosaic_the_means_are_all_there_is(graded, capsule) -> None:
    (capsule / "evaluation" / "a_8x8_Stitched.lsm").unlink()
    grade = graded(MOSAIC).grade
    assert (grade.result_score, grade.strict) == (1.0, None)
    assert grade.metrics["stitching_quality"] is None


def test_without_the_reference_table_the_fault_is_ours(graded, capsule) -> None:
    (capsule / "evaluation" / "reference_table_1.csv").unlink()
    grade = graded(MOSAIC).grade
    assert (grade.result_score, grade.outcome) == (0.0, None)
    assert "reference_table_1.csv" in grade.error


def test_a_weight_that_makes_no_sense_is_our_fault(graded, capsule) -> None:
    path = capsule / "evaluation_rubric.yaml"
    text = path.read_text("utf-8").replace("stitching_weight: 0.7", "stitching_weight: much")
    path.write_text(text, encoding="utf-8")
    grade = graded(MOSAIC).grade
    assert grade.outcome is None
    assert "stitching_weight" in grade.error


def test_blocks_and_pictures_tell_where_it_went_wrong(graded) -> None:
    moved = MOSAIC.copy()
    moved[:, 2, :, X // 2 :] = np.roll(MOSAIC[:, 2], 6, axis=1)[:, :, X // 2 :]
    assessed = graded(moved)
    kinds = {row["kind"] for row in assessed.result.objects}
    assert kinds >= {"in place", "displaced"}
    displaced = [row for row in assessed.result.objects if row["kind"] == "displaced"]
    assert {row["item"][:9] for row in displaced} == {"channel 2"}
    assert np.median([row["shift_um"] for row in displaced]) == pytest.approx(6 * 0.415, abs=0.1)
    assert [picture.role for picture in assessed.grade.pictures] == [
        "thumbnail",
        "overlay",
        "overlay",
    ]
    assert len(assessed.grade.pictures[0].data) <= 40_000
