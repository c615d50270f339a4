from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from scorers.errors import CapsuleFault
from scorers.files.deliverables import MissingDeliverable, Resolution, name_for, resolve
from scorers.files.tree import Tree
from scorers.specification import TaskSpec

Resolve = Callable[..., Resolution]


@pytest.fixture
def resolved(submission: Path, tree_of: Callable[..., Tree]) -> Resolve:
    def of(pattern: str, **options: Any) -> Resolution:
        deliverable = {"id": "out", "description": "d", "filename_pattern": pattern, **options}
        spec = TaskSpec.model_validate(
            {
                "task_id": "t",
                "input": {},
                "task_logic": {"basic_instructions": "x", "expert_instructions": "x"},
                "deliverables": [deliverable],
            }
        )
        return resolve(spec, tree_of(submission))

    return of


def _put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("X,Y\n1,2\n")


def _found(resolution: Resolution) -> list[str]:
    return [str(file.path) for file in resolution.found["out"]]


def test_names_and_patterns_are_compared_without_case(submission: Path, resolved: Resolve) -> None:
    _put(submission, "Cell_QUANTS.CSV")

    assert _found(resolved("*cell_quants*.csv")) == ["Cell_QUANTS.CSV"]


def test_a_pattern_may_be_met_by_a_folder_of_the_path(submission: Path, resolved: Resolve) -> None:
    _put(submission, "tracking/lineage.txt")

    assert _found(resolved("*track*.txt")) == ["tracking/lineage.txt"]


def test_all_files_count_for_a_deliverable_of_many(submission: Path, resolved: Resolve) -> None:
    _put(submission, "b.csv", "a/c.csv")

    assert _found(resolved("*.csv", multi=True)) == ["a/c.csv", "b.csv"]


def test_the_first_in_path_order_counts_for_a_deliverable_of_one(
    submission: Path, resolved: Resolve
) -> None:
    _put(submission, "out.csv", "out/part.csv")

    assert _found(resolved("*out*.csv")) == ["out/part.csv"]


def test_supporting_files_are_no_deliverables(submission: Path, resolved: Resolve) -> None:
    _put(submission, "supporting/a.csv", "deep/supporting/b.csv", "Supporting/c.csv")

    assert _found(resolved("*.csv", multi=True)) == ["Supporting/c.csv", "deep/supporting/b.csv"]


def test_files_of_the_ending_stand_in_where_no_name_fits(
    submission: Path, resolved: Resolve
) -> None:
    _put(submission, "anything.tiff", "other.TIF", "no.csv")

    assert _found(resolved("*_RES.ome.tif*", multi=True)) == ["anything.tiff", "other.TIF"]


def test_the_ending_does_not_reach_into_folders_of_input(
    submission: Path, resolved: Resolve
) -> None:
    _put(submission, "Raw/a.csv", "x/inputs/b.csv")

    assert resolved("*points*.csv").missing[0]["reason"] == "not found"


def test_one_unfit_file_of_the_right_name_keeps_the_ending_from_standing_in(
    submission: Path, resolved: Resolve
) -> None:
    _put(submission, "other.csv")
    (submission / "points.csv").write_text("a,b\n")

    resolution = resolved("points*.csv", required_columns=["X"])

    assert _found(resolution) == []
    assert resolution.missing[0]["reason"] == "no conforming file"


def test_required_columns_are_looked_for_without_case_and_blanks(
    submission: Path, resolved: Resolve
) -> None:
    (submission / "a.csv").write_text("\n x , Y,z\n1,2,3\n")

    assert _found(resolved("*.csv", required_columns=["X", "y"])) == ["a.csv"]


@pytest.mark.parametrize(
    "content", [b"", b"x\n1\n", b"\xef\xbb\xbfX,Y\n1,2\n"], ids=["empty", "lacks Y", "BOM"]
)
def test_a_table_without_a_required_column_is_rejected_with_its_name(
    content: bytes, submission: Path, resolved: Resolve
) -> None:
    (submission / "a.csv").write_bytes(content)

    (rejected,) = resolved("*.csv", required_columns=["X", "Y"]).rejected

    assert rejected["file"] == "a.csv"
    assert rejected["reason"].startswith("lacks the required columns")


def test_a_colour_image_is_no_mask(submission: Path, resolved: Resolve) -> None:
    Image.new("RGB", (5, 5)).save(submission / "mask.png")

    (rejected,) = resolved("*.png", format="Binary PNG").rejected

    assert "colour" in rejected["reason"]


@pytest.mark.parametrize(
    ("values", "is_mask"),
    [
        ([0.0, 0.4, 1.0], False),
        ([0.0, 1.0, np.nan], True),
        ([0.0, 0.5, 2.0], True),
        ([np.nan, np.inf, np.nan], True),
    ],
    ids=["probabilities", "two values", "labels", "nothing finite"],
)
def test_probabilities_are_no_mask(
    values: list[float], is_mask: bool, submission: Path, resolved: Resolve
) -> None:
    tifffile.imwrite(submission / "a.tif", np.array([values] * 3, np.float32))

    assert bool(_found(resolved("*.tif", format="instance labels"))) is is_mask


def test_an_image_is_screened_only_where_a_mask_is_asked_for(
    submission: Path, resolved: Resolve
) -> None:
    tifffile.imwrite(submission / "a.tif", np.zeros((5, 6, 3), np.uint8), photometric="rgb")

    assert _found(resolved("*.tif", format="float32 TIFF")) == ["a.tif"]


def test_an_unreadable_image_passes_the_screen_to_be_graded(
    submission: Path, resolved: Resolve
) -> None:
    (submission / "a.tif").write_bytes(b"broken")

    assert _found(resolved("*.tif", format="mask")) == ["a.tif"]


def test_a_missing_required_deliverable_raises_with_its_pattern(resolved: Resolve) -> None:
    resolution = resolved("*.tif")

    with pytest.raises(MissingDeliverable, match="deliverable 'out' not found") as caught:
        resolution.require("out")
    assert caught.value.to_json() == {
        "id": "out",
        "reason": "not found",
        "filename_pattern": "*.tif",
    }


def test_a_missing_optional_deliverable_is_silently_absent(resolved: Resolve) -> None:
    resolution = resolved("*.tif", required=False)

    assert resolution.require("out") == ()
    assert resolution.missing == []


def test_a_deliverable_that_the_specification_lacks_is_the_capsules_fault(
    resolved: Resolve,
) -> None:
    with pytest.raises(CapsuleFault, match="'masks', declared: out; add it"):
        resolved("*.tif").require("masks")


def test_refused_entries_are_told_beside_the_rejected(
    submission: Path, resolved: Resolve, tree_of: Callable[..., Tree]
) -> None:
    (submission / "a.tif").symlink_to("/etc/passwd")

    told = resolved("*.tif").to_json(tree_of(submission))

    assert told["refused"] == [{"file": "a.tif", "reason": "a link, not a regular file"}]


@pytest.mark.parametrize(
    ("pattern", "stem", "name"),
    [
        ("*.tif", "a", "a.tif"),
        ("*_seg.tif*", "a_seg", "a_seg.tif"),
        ("*_RES.ome.tif*", "00", "00_RES.ome.tif"),
        ("*nuclei*.tif*", "a", "a_nuclei.tif"),
        ("mask.tif", "a", "mask.tif"),
    ],
)
def test_a_name_is_made_that_fits_the_pattern(pattern: str, stem: str, name: str) -> None:
    assert name_for(pattern, stem) == name
