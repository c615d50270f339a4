"""Wound healing: the published score, the strict one, and submissions that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.graders.wound import FAMILY
from scorers.grading import assess
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TASK = "wound-healing-speed-kymograph-gigadb100118"
EXPERIMENTS = {"DA3_CTRL_SN29_L5": "SN29_L5", "MDCK_CTRL_DKWH7_L10": "DKWH7_L10"}
SIDE, BANDS, TIMES = 48, 16, 12
SUFFIXES = ("mf_dxs", "mf_dys", "speedKymograph")

Fields = dict[str, np.ndarray]


def cells() -> np.ndarray:
    mask = np.ones((SIDE, SIDE), np.uint8)
    mask[:, 18:30] = 0
    return mask


def fields(seed: int) -> Fields:
    """Cells on both sides move into the gap, the nearest the fastest."""
    rng = np.random.default_rng(seed)
    into = np.where(np.arange(SIDE) < SIDE // 2, 12.0, -12.0)
    vx = into + rng.normal(0, 4, (SIDE, SIDE))
    vy = rng.normal(0, 4, (SIDE, SIDE))
    bands = 20 * np.exp(-np.arange(BANDS) / 5)[:, None] + np.linspace(0, 2, TIMES)
    return {"mf_dxs": vx, "mf_dys": vy, "speedKymograph": bands + rng.normal(0, 0.3, bands.shape)}


REFERENCE = {name: fields(seed) for seed, name in enumerate(EXPERIMENTS.values())}


def write(folder: Path, data: dict[str, Fields], dtype: str = "float64") -> None:
    for condition, experiment in EXPERIMENTS.items():
        for suffix, field in data.get(experiment, {}).items():
            path = folder / condition / f"{experiment}_{suffix}.tif"
            path.parent.mkdir(parents=True, exist_ok=True)
            tifffile.imwrite(path, field.astype(dtype), photometric="minisblack")


def changed(
    suffixes: tuple[str, ...], how: Callable[[np.ndarray], np.ndarray]
) -> dict[str, Fields]:
    return {
        name: {s: how(field) if s in suffixes else field for s, field in own.items()}
        for name, own in REFERENCE.items()
    }


@pytest.fixture
def capsule(released_task: Callable[[str, Path | None], Path], tmp_path: Path) -> Path:
    write(tmp_path / "reference", REFERENCE)
    folder = released_task(TASK, tmp_path / "reference")
    for condition, experiment in EXPERIMENTS.items():
        path = folder / "input" / condition / f"{experiment}_roi.tif"
        path.parent.mkdir(parents=True)
        tifffile.imwrite(path, cells())
    return folder


@pytest.fixture
def graded(capsule: Path, submission: Path):
    def grade(data: dict[str, Fields], dtype: str = "float64"):
        write(submission, data, dtype)
        return assess(capsule, submission)

    return grade


@pytest.fixture
def job(capsule: Path, submission: Path, tree_of) -> Job:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    folders = (capsule / "evaluation", capsule / "input")
    return Job(capsule, spec, rubric, tree_of(submission), *folders, Limits())


def test_the_perfect_submission_scores_exactly_one(capsule, submission, job) -> None:
    FAMILY.perfect(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)
    assert len(grade.items) == len(EXPERIMENTS)


def test_the_blank_submission_earns_its_completeness_and_nothing_strictly(
    capsule, submission, job
) -> None:
    FAMILY.blank(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (0.1, 0.0)


def test_single_precision_and_flat_folders_do_not_matter(graded, submission) -> None:
    graded(REFERENCE, "float32")
    for path in sorted(submission.rglob("*.tif")):
        path.rename(submission / path.name.lower())
    grade = graded({}).grade
    assert grade.result_score == 1.0
    assert grade.strict == pytest.approx(1, abs=1e-4)


def test_kymographs_alone_lose_direction_and_two_thirds_of_completeness(graded) -> None:
    grade = graded({n: {"speedKymograph": f["speedKymograph"]} for n, f in REFERENCE.items()}).grade
    assert grade.metrics["deliverable_completeness"] == pytest.approx(1 / 3, abs=1e-4)
    assert grade.metrics["velocity_direction_fraction"] == 0
    assert grade.result_score == pytest.approx(0.5 + 0.25 + 0.1 / 3, abs=1e-4)
    assert grade.strict == 0.5


def test_noise_has_no_pattern(graded) -> None:
    rng = np.random.default_rng(1)
    noise = changed(("speedKymograph",), lambda field: rng.normal(10, 3, field.shape))
    grade = graded(noise).grade
    assert grade.metrics["spatial_pattern_fraction"] < 0.3
    assert grade.strict < 0.6


def test_a_wrong_unit_is_unseen_by_the_published_score_and_ruins_the_strict_one(graded) -> None:
    grade = graded(changed(SUFFIXES, lambda field: 1000 * field)).grade
    assert grade.result_score == 1.0
    assert grade.strict < 0.01


def test_a_field_turned_round_costs_direction_and_half_of_strict(graded) -> None:
    grade = graded(changed(("mf_dxs", "mf_dys"), lambda field: -field)).grade
    assert grade.result_score == 0.85
    assert grade.strict == 0.5


def test_swapped_components_are_wrong_velocities(graded) -> None:
    swapped = {
        name: own | {"mf_dxs": own["mf_dys"], "mf_dys": own["mf_dxs"]}
        for name, own in REFERENCE.items()
    }
    assert graded(swapped).grade.strict == 0.5


def test_more_noise_lowers_the_strict_score_steadily(capsule, submission) -> None:
    scores = []
    for size in (0, 0.5, 1, 2, 4, 8):
        rng = np.random.default_rng(2)
        noisy = changed(SUFFIXES, lambda f, s=size, r=rng: f + r.normal(0, s, f.shape))
        write(submission, noisy)
        scores.append(assess(capsule, submission).grade.strict)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_taking_a_file_away_never_raises_the_strict_score(suffix: str, capsule, submission) -> None:
    rng = np.random.default_rng(3)
    write(submission, changed(SUFFIXES, lambda field: field + rng.normal(0, 30, field.shape)))
    before = assess(capsule, submission).grade.strict
    next(submission.rglob(f"*{suffix}.tif")).unlink()
    assert assess(capsule, submission).grade.strict <= before


def test_leaving_values_out_costs_more_the_more_there_are(capsule, submission) -> None:
    scores = []
    for share in (0, 0.05, 0.1, 0.2):

        def holes(field: np.ndarray, share: float = share) -> np.ndarray:
            lost = np.random.default_rng(4).random(field.shape) < share
            return np.where(lost, np.nan, field)

        write(submission, changed(SUFFIXES, holes))
        grade = assess(capsule, submission).grade
        scores.append(grade.strict)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert grade.metrics["deliverable_completeness"] == 0


def test_a_missing_experiment_counts_as_zero_throughout(graded) -> None:
    grade = graded({"SN29_L5": REFERENCE["SN29_L5"]}).grade
    assert (grade.result_score, grade.strict) == (0.5, 0.5)
    status = {row["item"]: row["status"] for row in grade.items}
    assert status == {"dkwh7_l10": "missing_prediction", "sn29_l5": "scored"}
    assert grade.metrics["key_match.status"] == "partial_key_overlap"


def test_longer_kymographs_fit_and_shorter_or_coarser_ones_do_not_strictly(graded) -> None:
    longer = changed(("speedKymograph",), lambda f: np.pad(f, ((0, 0), (0, 9)), mode="edge"))
    assert graded(longer).grade.strict == 1.0
    for crop in (np.s_[:, :5], np.s_[:9]):
        grade = graded(changed(("speedKymograph",), lambda f, crop=crop: f[crop])).grade
        assert grade.metrics["kymograph_accuracy"] == 1.0
        assert grade.strict == 0.5


def test_a_kymograph_of_three_axes_or_none_at_all_is_not_scored(graded, submission) -> None:
    graded(changed(("speedKymograph",), lambda f: np.stack([f, f])))
    broken = submission / "DA3_CTRL_SN29_L5" / "SN29_L5_speedKymograph.tif"
    broken.write_bytes(b"TIFF")
    grade = graded({}).grade
    assert grade.metrics["kymograph_accuracy"] == 0
    assert {row["status"] for row in grade.items} == {"unreadable_or_not_2d"}


def test_a_prefix_in_the_name_breaks_the_match(graded, submission) -> None:
    graded(REFERENCE)
    for path in sorted(submission.rglob("*.tif")):
        path.rename(path.with_name(f"agent_{path.name}"))
    grade = graded({}).grade
    assert grade.result_score == 0
    assert grade.metrics["key_match.status"] == "unmatched_keys"


def test_velocities_without_kymographs_score_zero_with_a_reason(graded) -> None:
    velocities = {n: {s: own[s] for s in SUFFIXES[:2]} for n, own in REFERENCE.items()}
    grade = graded(velocities).grade
    assert (grade.result_score, grade.outcome, grade.strict) == (0.0, 0.0, 0.0)
    assert "speedKymograph" in grade.error


def test_huge_and_infinite_values_neither_crash_nor_pay(graded) -> None:
    grade = graded(changed(SUFFIXES, lambda f: np.where(f > 5, 1e300, np.inf))).grade
    assert grade.strict < 0.01
    assert 0 <= grade.result_score < 0.5


def test_without_a_mask_there_is_no_direction(graded, capsule) -> None:
    for path in (capsule / "input").rglob("*.tif"):
        path.unlink()
    grade = graded(REFERENCE).grade
    assert grade.result_score == 0.85
    assert grade.strict == 1.0


@pytest.fixture
def with_truth(capsule: Path) -> dict[str, Fields]:
    """True fields beside the reference's, at twice the speed."""
    truth = changed(SUFFIXES, lambda field: 2 * field)
    for condition, experiment in EXPERIMENTS.items():
        for suffix, name in zip(SUFFIXES, ("dxs", "dys", "kymograph"), strict=True):
            path = capsule / "evaluation" / condition / f"{experiment}_truth_{name}.tif"
            tifffile.imwrite(path, truth[experiment][suffix])
    return truth


def test_strict_goes_by_the_true_velocities_where_there_are_some(with_truth, graded) -> None:
    exact = graded(with_truth).grade
    assert exact.strict == 1.0
    assert exact.strict_metrics["strict_truth"] == "true velocities"
    assert exact.strict_metrics["strict_reference_velocity"] == pytest.approx(0, abs=1e-9)
    pipeline = graded(REFERENCE).grade
    assert pipeline.result_score == 1.0
    assert pipeline.strict < 0.8
    assert pipeline.strict_metrics["strict_reference_kymograph"] == 1.0
    assert pipeline.strict_metrics["strict_velocity"] == pytest.approx(0.5)


def test_the_perfect_submission_is_the_truth(with_truth, capsule, submission, job) -> None:
    FAMILY.perfect(job, submission)
    grade = assess(capsule, submission).grade
    assert (grade.result_score, grade.strict) == (1.0, 1.0)


def test_bands_and_pictures_tell_where_speeds_are_off(graded) -> None:
    def faster(field: np.ndarray) -> np.ndarray:
        off = field.copy()
        off[2] += 7
        return off

    assessed = graded(changed(("speedKymograph",), faster))
    assert len(assessed.result.objects) == BANDS * len(EXPERIMENTS)
    off = {row["band"] for row in assessed.result.objects if abs(row["bias_um_h"]) > 0.01}
    assert off == {2}
    assert [p.role for p in assessed.grade.pictures] == ["thumbnail", "overlay", "overlay"]
    assert len(assessed.grade.pictures[0].data) <= 40_000


def test_a_rubric_without_weights_is_our_fault(graded, capsule) -> None:
    rubric = "metric_config: {primary_metric: result_score}\n"
    (capsule / "evaluation_rubric.yaml").write_text(rubric, encoding="utf-8")
    grade = graded(REFERENCE).grade
    assert (grade.result_score, grade.outcome) == (None, None)
    assert "kymograph_accuracy_weight" in grade.error


@pytest.mark.parametrize("harm", ["no folder", "no kymograph", "unreadable"])
def test_a_capsule_without_a_usable_reference_is_our_fault(harm: str, graded, capsule) -> None:
    for path in sorted((capsule / "evaluation").rglob("*speedKymograph.tif")):
        if harm == "unreadable":
            path.write_bytes(b"TIFF")
        else:
            path.unlink()
    if harm == "no folder":
        (capsule / "evaluation").rename(capsule / "elsewhere")
    grade = graded(REFERENCE).grade
    assert (grade.result_score, grade.outcome) == (None, None)
