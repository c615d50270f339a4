"""Nuclei and cytoplasm: the published score, the strict one, and masks that go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.contract import Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.graders.compartments import FAMILY
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from pathlib import Path

NUCLEI = np.zeros((24, 40), np.uint8)
NUCLEI[4:8, 2:6], NUCLEI[4:8, 14:18], NUCLEI[14:18, 26:30] = 1, 2, 3
CYTOPLASM = np.zeros_like(NUCLEI)
CYTOPLASM[2:10, :10], CYTOPLASM[2:10, 10:20], CYTOPLASM[12:20, 22:32] = 1, 2, 3
EMPTY = np.zeros_like(NUCLEI)
BOTH = {"nuclei": NUCLEI, "cytoplasm": CYTOPLASM}


def write(folder: Path, stem: str, masks: dict[str, np.ndarray]) -> None:
    for name, mask in masks.items():
        (folder / f"{name}_masks").mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}_masks" / f"{stem}.tif"
        tifffile.imwrite(path, mask, photometric="minisblack")


@pytest.fixture
def capsule(make_capsule) -> Path:
    folder = make_capsule(
        task_id="my-compartments",
        grader="compartments",
        deliverables=[
            (f"{name}_masks", f"*{name}*.tif*", "multi: true, format: uint8 TIF (instance labels)")
            for name in BOTH
        ],
        config=", compartments: [nuclei, cytoplasm]",
    )
    write(folder / "evaluation", "7", BOTH)
    write(folder / "evaluation", "8", {name: mask[::-1] for name, mask in BOTH.items()})
    return folder


@pytest.fixture
def exact(submission: Path) -> Path:
    """A submission of the reference itself."""
    write(submission, "7", BOTH)
    write(submission, "8", {name: mask[::-1] for name, mask in BOTH.items()})
    return submission


@pytest.fixture
def job(capsule: Path, submission: Path, tree_of) -> Job:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    tree = tree_of(submission)
    return Job(capsule, spec, rubric, tree, capsule / "evaluation", None, Limits())


def relabelled(labels: np.ndarray, *order: int) -> np.ndarray:
    return np.array([0, *order], np.uint8)[labels]


def test_the_reference_itself_scores_one(capsule: Path, exact: Path) -> None:
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict, verdict.passed) == (1.0, 1.0, True)
    assert verdict.strict_metrics["strict_cell_pq_n"] == 2


def test_ids_shuffled_in_one_compartment_cost_nothing_as_published_and_everything_strictly(
    capsule: Path, exact: Path
) -> None:
    write(exact, "7", {"cytoplasm": relabelled(CYTOPLASM, 2, 3, 1)})
    write(exact, "8", {"cytoplasm": relabelled(CYTOPLASM, 3, 1, 2)[::-1]})
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict) == (1.0, 0.0)
    assert verdict.strict_metrics["strict_pq_cytoplasm"] == 1.0
    assert verdict.strict_metrics["strict_wrong_links"] == 6
    assert verdict.strict_metrics["strict_link_rate"] == 0.0


def test_shuffling_more_and_more_ids_lowers_the_strict_value_steadily(
    capsule: Path, exact: Path
) -> None:
    scores = []
    for order in ((1, 2, 3), (2, 1, 3), (2, 3, 1)):
        write(exact, "7", {"cytoplasm": relabelled(CYTOPLASM, *order)})
        scores.append(grade(capsule, exact, draws=False).strict)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_a_ring_without_its_nucleus_is_worth_its_own_overlap(capsule: Path, exact: Path) -> None:
    ring = np.where(NUCLEI > 0, 0, CYTOPLASM)
    write(exact, "7", {"cytoplasm": ring})
    write(exact, "8", {"cytoplasm": ring[::-1]})
    verdict = grade(capsule, exact)
    assert verdict.result_score == pytest.approx((1 + 128 / 144) / 2, abs=1e-4)
    assert verdict.strict == pytest.approx(64 / 80)


def test_a_merged_pair_of_cells_keeps_the_published_score(capsule: Path, exact: Path) -> None:
    write(exact, "7", {name: relabelled(mask, 1, 1, 3) for name, mask in BOTH.items()})
    verdict = grade(capsule, exact)
    assert verdict.result_score == 1.0
    assert verdict.strict < 0.9


def test_a_missing_mask_of_one_compartment_costs_the_whole_image_strictly(
    capsule: Path, exact: Path
) -> None:
    (exact / "cytoplasm_masks" / "8.tif").unlink()
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict) == (0.75, 0.5)
    assert verdict.metrics["compartments.cytoplasm.missing_prediction_images"] == 1
    before = verdict.strict_metrics["strict_cell_pq_pooled"]
    (exact / "nuclei_masks" / "8.tif").unlink()
    assert grade(capsule, exact).strict_metrics["strict_cell_pq_pooled"] == before


def test_a_mask_of_another_shape_or_unreadable_costs_the_whole_image(
    capsule: Path, exact: Path
) -> None:
    write(exact, "7", {"nuclei": NUCLEI[:, 1:]})
    (exact / "nuclei_masks" / "8.tif").write_bytes(b"broken")
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict) == (0.5, 0.0)
    assert verdict.metrics["compartments.nuclei.skipped_images"] == "8.tif"
    assert [row["status"] for row in verdict.items] == ["shape differs", "unreadable"]


def test_a_missing_compartment_scores_nothing_and_is_named(capsule: Path, submission: Path) -> None:
    (submission / "cytoplasm.png").write_bytes(b"")
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert "nuclei_masks" in verdict.error


def test_masks_of_one_compartment_alone_stand_in_for_the_other_only_as_published(
    capsule: Path, submission: Path
) -> None:
    write(submission, "7", {"cytoplasm": CYTOPLASM})
    write(submission, "8", {"cytoplasm": CYTOPLASM[::-1]})
    verdict = grade(capsule, submission)
    assert verdict.metrics["compartments.nuclei.dice"] > 0
    assert verdict.strict == 0.0


def test_a_compartment_none_of_whose_files_fit_counts_as_zero_with_a_reason(
    capsule: Path, exact: Path
) -> None:
    for path in (exact / "nuclei_masks").iterdir():
        path.rename(path.with_name(f"x{'y' * int(path.stem)}.tif"))
    (exact / "nuclei_masks" / "z.tif").write_bytes(b"")
    verdict = grade(capsule, exact)
    assert verdict.result_score == 0.5
    assert verdict.error.startswith("nuclei: no predicted mask")
    assert verdict.strict == 0.0
    assert verdict.strict_metrics["strict_unpaired_files"] == 3


def test_a_compartment_without_a_reference_is_left_out_and_leaves_no_strict_value(
    capsule: Path, exact: Path
) -> None:
    for path in (capsule / "evaluation" / "cytoplasm_masks").iterdir():
        path.unlink()
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict) == (1.0, None)
    assert verdict.metrics["compartments.cytoplasm.note"] == "not present"
    assert verdict.strict_metrics["strict_pq_nuclei"] == 1.0


def test_a_compartment_without_a_file_ending_in_tif_has_no_reference(
    capsule: Path, exact: Path
) -> None:
    for path in (capsule / "evaluation" / "cytoplasm_masks").iterdir():
        path.rename(path.with_suffix(".tiff"))
    assert grade(capsule, exact).metrics["compartments.cytoplasm.note"] == "not present"


def test_an_image_rightly_without_cells_is_right_only_strictly(
    make_capsule, capsule: Path, exact: Path
) -> None:
    for folder in (capsule / "evaluation", exact):
        write(folder, "8", {"nuclei": EMPTY, "cytoplasm": EMPTY})
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.strict) == (0.5, 1.0)


def test_the_rubric_names_compartments_and_metric(capsule: Path, exact: Path) -> None:
    (capsule / "evaluation_rubric.yaml").write_text(
        "metric_config: {primary_metric: pq, compartments: [cytoplasm]}\ngrader: compartments\n"
    )
    write(exact, "7", {"cytoplasm": np.where(CYTOPLASM == 3, 0, CYTOPLASM)})
    verdict = grade(capsule, exact)
    assert verdict.result_score == verdict.metrics["compartments.cytoplasm.pq"] == 0.9
    assert verdict.strict == 0.9
    assert verdict.pictures == []


@pytest.mark.parametrize("value", ["[]", "nuclei", "[nuclei, nuclei]", "[1]"])
def test_compartments_that_make_no_sense_are_our_fault(
    value: str, capsule: Path, exact: Path
) -> None:
    (capsule / "evaluation_rubric.yaml").write_text(
        f"metric_config: {{compartments: {value}}}\ngrader: compartments\n"
    )
    verdict = grade(capsule, exact)
    assert verdict.outcome is None
    assert "metric_config.compartments" in verdict.error


def test_an_unreadable_reference_is_our_fault_with_the_published_numbers(
    capsule: Path, exact: Path
) -> None:
    (capsule / "evaluation" / "nuclei_masks" / "8.tif").write_bytes(b"broken")
    verdict = grade(capsule, exact)
    assert (verdict.result_score, verdict.outcome, verdict.strict) == (0.75, None, None)


def test_cells_and_objects_have_rows_that_say_what_became_of_them(
    capsule: Path, exact: Path
) -> None:
    write(exact, "7", {"cytoplasm": relabelled(CYTOPLASM, 2, 1, 3)})
    write(exact, "8", {name: np.where(m == 1, 0, m)[::-1] for name, m in BOTH.items()})
    rows = assess(capsule, exact).result.objects
    kinds = [row["kind"] for row in rows if row["compartment"] == "cell"]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "hit": 3,
        "wrong link": 2,
        "false hit": 2,
        "miss": 1,
    }
    assert {row["compartment"] for row in rows} == {"cell", "nuclei", "cytoplasm"}
    assert len({tuple(sorted(row)) for row in rows}) == 1


def test_taking_away_a_right_object_or_a_file_never_raises_the_strict_value(
    capsule: Path, exact: Path
) -> None:
    shifted = {"nuclei": np.roll(NUCLEI, 1, axis=0), "cytoplasm": np.roll(CYTOPLASM, 1, axis=1)}
    write(exact, "7", shifted)
    whole = grade(capsule, exact).strict
    for label in (1, 2, 3):
        for names in (["nuclei"], ["cytoplasm"], ["nuclei", "cytoplasm"]):
            less = {name: np.where(shifted[name] == label, 0, shifted[name]) for name in names}
            write(exact, "7", shifted | less)
            assert grade(capsule, exact, draws=False).strict < whole
    write(exact, "7", shifted)
    for path in sorted(exact.rglob("*.tif")):
        content = path.read_bytes()
        path.unlink()
        assert grade(capsule, exact, draws=False).strict < whole
        path.write_bytes(content)


def test_pictures_tie_nuclei_to_the_cells_of_their_id_within_their_sizes(
    capsule: Path, exact: Path
) -> None:
    (capsule / "input").mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (*NUCLEI.shape, 3)).astype(np.uint8)
    tifffile.imwrite(capsule / "input" / "7.tif", noise, photometric="rgb")
    write(exact, "7", {"cytoplasm": relabelled(CYTOPLASM, 2, 1, 3)})
    pictures = grade(capsule, exact).pictures
    assert [picture.role for picture in pictures] == ["thumbnail", "overlay", "overlay"]
    assert pictures[0].caption.startswith("7: PQ of whole cells 0.333")
    assert len(pictures[0].data) <= 40_000


@pytest.mark.parametrize("name", ["*nuclei*.tif*", "my_nuclei_*.tif"])
def test_the_perfect_submission_scores_exactly_one(
    name: str, capsule: Path, submission: Path, tree_of
) -> None:
    spec = (capsule / "task_spec.yaml").read_text().replace("*nuclei*.tif*", name)
    (capsule / "task_spec.yaml").write_text(spec)
    job = Job(
        capsule,
        load_spec(capsule),
        load_rubric(capsule),
        tree_of(submission),
        capsule / "evaluation",
        None,
        Limits(),
    )
    FAMILY.perfect(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)


def test_the_blank_submission_is_read_and_scores_nothing(
    job: Job, capsule: Path, submission: Path
) -> None:
    FAMILY.blank(job, submission)
    verdict = grade(capsule, submission)
    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert {row["status"] for row in verdict.items} == {"scored"}


def test_without_a_reference_there_is_no_perfect_submission(job: Job, capsule: Path) -> None:
    for path in (capsule / "evaluation").rglob("*.tif"):
        path.unlink()
    with pytest.raises(CapsuleFault, match="holds no label image"):
        FAMILY.perfect(job, capsule)
