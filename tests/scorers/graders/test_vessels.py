from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from scipy import ndimage

from scorers.contract import Grade, Job
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders.vessels import FAMILY
from scorers.grading import assess, grade
from scorers.specification import load_rubric, load_spec

MakeCapsule = Callable[..., Path]

DELIVERABLE = [("vessel_masks", "*mask*.tif*", "multi: true, format: binary 3D TIFF")]
SIZE = ", voxel_size_um: [2.0, 1.0, 1.0]"


def _network(seed: int = 0, shape: tuple[int, int, int] = (24, 60, 60)) -> np.ndarray:
    """Straight tubes in all directions, thinner along the planes as in an oblong voxel."""
    rng = np.random.default_rng(seed)
    mask = np.zeros(shape, bool)
    for _ in range(5):
        start, end = rng.uniform(3, np.array(shape) - 3, (2, 3))
        path = np.round(start + np.linspace(0, 1, 200)[:, None] * (end - start)).astype(int)
        mask[tuple(path.T)] = True
    return ndimage.binary_dilation(mask, np.ones((2, 4, 4)))


VOLUME = _network()


def _write(path: Path, volume: np.ndarray, dtype: type = np.uint8) -> None:
    tifffile.imwrite(path, volume.astype(dtype), photometric="minisblack")


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
def make_vessels(make_capsule: MakeCapsule) -> Callable[..., Path]:
    """Write a capsule with volumes by their ids."""

    def make(*, config: str = SIZE, **volumes: np.ndarray) -> Path:
        folder = make_capsule(
            grader="vessels", deliverables=DELIVERABLE, dimensions="3D", config=config
        )
        for name, volume in volumes.items():
            _write(folder / "evaluation" / f"Binary_{name}_r_RA.tiff", volume)
        return folder

    return make


@pytest.fixture
def graded(make_vessels: Callable[..., Path], submission: Path) -> Callable[[np.ndarray], Grade]:
    """Grade a mask of the one volume."""
    capsule = make_vessels(control1=VOLUME)

    def of(mask: np.ndarray) -> Grade:
        _write(submission / "control1_r_RA_mask.tif", mask)
        return grade(capsule, submission)

    return of


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("width", [2, 4])
def test_a_perfect_copy_of_an_even_tube_is_nothing_as_published_and_all_when_strict(
    axis: int, width: int, make_vessels: Callable[..., Path], submission: Path
) -> None:
    tube = np.moveaxis(np.pad(np.ones((24, width, width)), 2), 0, axis)
    capsule = make_vessels(config="", control1=tube)
    _write(submission / "control1_r_RA_mask.tif", tube)

    verdict = grade(capsule, submission)

    assert (verdict.metrics["mean_cl_dice"], verdict.strict) == (0.0, 1.0)
    assert verdict.result_score == 1.0


def test_a_missing_an_unreadable_and_a_wrong_mask_are_all_zero_when_strict(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME, control2=VOLUME, control3=VOLUME, control4=VOLUME)
    _write(submission / "control1_r_RA_mask.tif", VOLUME)
    (submission / "control2_r_RA_mask.tif").write_bytes(b"II*\0broken file")
    _write(submission / "control3_r_RA_mask.tif", VOLUME[1:])

    verdict = grade(capsule, submission)

    assert verdict.strict == 0.25
    statuses = [row["status"] for row in verdict.items]
    assert statuses[0] == "scored"
    assert statuses[2:] == ["shape differs", "missing"]
    assert verdict.metrics["n_missing_predictions"] == 1
    assert verdict.strict_metrics["strict_betti_n"] == 4


def test_a_name_that_starts_like_a_reference_is_passed_over(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME)
    _write(submission / "binary_mask_control1_r_RA.tiff", VOLUME)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert "not at once after 'binary'" in str(verdict.error)


def test_the_longest_id_within_a_name_is_the_mask_s(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(x=VOLUME, ax=~VOLUME)
    _write(submission / "mask_of_AX_R_RA.tif", ~VOLUME)
    _write(submission / "mask_of_x_r_ra.tif", VOLUME)

    assert grade(capsule, submission).result_score == 1.0


def test_a_volume_in_colour_is_read_by_its_brightest_channel(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME)
    colour = np.zeros((*VOLUME.shape, 3), np.uint8)
    colour[..., 1] = VOLUME * 255
    tifffile.imwrite(submission / "control1_r_RA_mask.tif", colour, photometric="rgb")

    assert grade(capsule, submission).result_score == 1.0


def test_volumetric_similarity_may_be_the_score(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME)
    (capsule / "evaluation_rubric.yaml").write_text(
        "metric_config: {primary_metric: volumetric_similarity}\ngrader: vessels\n"
    )
    _write(submission / "control1_r_RA_mask.tif", np.roll(VOLUME, 20, axis=1))

    assert grade(capsule, submission).result_score == 1.0


def test_widening_by_a_voxel_costs_dice_and_strict_only_where_it_joins_vessels(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    verdict = graded(ndimage.binary_dilation(VOLUME, np.ones((3, 3, 3))))
    assert float(verdict.result_score or 0) < 0.7
    assert float(verdict.strict_metrics["strict_cl_dice"] or 0) > 0.95
    assert 0.8 < float(verdict.strict or 0) < 0.95


def test_cutting_segments_away_costs_more_the_more_are_cut(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    values = []
    for share in (0, 10, 20, 40):
        cut = VOLUME.copy()
        cut[:, :, 20 : 20 + 60 * share // 100] = False
        values.append(float(graded(cut).strict or 0))
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_a_filled_volume_gets_its_dice_and_nothing_strict(
    graded: Callable[[np.ndarray], Grade],
) -> None:
    verdict = graded(np.ones_like(VOLUME))
    share = VOLUME.mean()
    assert verdict.result_score == pytest.approx(2 * share / (1 + share), abs=1e-4)
    assert float(verdict.strict or 0) <= 0.05


def test_betti_errors_tell_pieces_loops_and_hollows(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    block = np.zeros((9, 20, 20), bool)
    block[2:7, 2:18, 2:18] = True
    ring = block.copy()
    ring[:, 8:12, 8:12] = False
    ring[4, 4, 4] = False
    ring[0, 0, 0] = True
    capsule = make_vessels(control1=block)
    _write(submission / "control1_r_RA_mask.tif", ring)

    metrics = grade(capsule, submission).strict_metrics

    assert [metrics[f"strict_betti_{i}_error"] for i in range(3)] == [1.0, 1.0, 1.0]


def test_removing_a_vessel_or_a_file_never_raises_the_strict_value(
    make_vessels: Callable[..., Path], tmp_path: Path
) -> None:
    capsule = make_vessels(control1=VOLUME, control2=VOLUME[::-1])
    labels, count = ndimage.label(VOLUME, np.ones((3, 3, 3)))

    def strict(name: str, **volumes: np.ndarray) -> float:
        folder = tmp_path / name
        folder.mkdir()
        for key, volume in volumes.items():
            _write(folder / f"{key}_r_RA_mask.tif", volume)
        return float(assess(capsule, folder).result.strict or 0.0)

    whole = strict("whole", control1=VOLUME, control2=VOLUME[::-1])
    for label in range(1, count + 1):
        less = VOLUME & (labels != label)
        assert strict(f"{label}", control1=less, control2=VOLUME[::-1]) < whole
    assert strict("one file", control1=VOLUME) < whole


def test_the_perfect_submission_earns_exactly_everything(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME, control2=VOLUME[::-1])
    FAMILY.perfect(_job(capsule, submission), submission)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (1.0, 1.0)
    assert verdict.strict_metrics["strict_betti_1_error"] == 0.0


def test_the_blank_submission_is_read_and_earns_nothing(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME)
    FAMILY.blank(_job(capsule, submission), submission)

    verdict = grade(capsule, submission)

    assert (verdict.result_score, verdict.strict) == (0.0, 0.0)
    assert verdict.items[0]["status"] == "scored"


def test_lengths_come_in_micrometres_where_the_size_of_a_voxel_is_known(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    tube = np.zeros((10, 20, 50), bool)
    tube[4:6, 8:12, 5:45] = True
    half = tube.copy()
    half[:, :, 25:] = False
    capsule = make_vessels(control1=tube)
    _write(submission / "control1_r_RA_mask.tif", half)

    rows = assess(capsule, submission).result.objects

    assert [(row["kind"], row["unit"]) for row in rows] == [("miss", "µm")]
    assert rows[0]["length"] == pytest.approx(20, abs=4)
    assert rows[0]["x"] == pytest.approx(35, abs=3)


def test_pictures_show_the_slab_with_the_errors(
    make_vessels: Callable[..., Path], submission: Path
) -> None:
    capsule = make_vessels(control1=VOLUME)
    (capsule / "input").mkdir()
    _write(capsule / "input" / "control1_r_RA.tiff", VOLUME * 900, np.uint16)
    _write(submission / "control1_r_RA_mask.tif", np.where(np.arange(60) < 30, VOLUME, False))

    pictures = grade(capsule, submission).pictures

    assert [picture.role for picture in pictures] == ["thumbnail", "overlay"]
    assert pictures[0].caption.startswith("control1_r_ra, planes 0 to 23 of cubes: clDice 0.")
    assert len(pictures[0].data) <= 40_000
