"""Submissions: what is found, what is rejected and why, without rubric and reference."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.cli import main
from scorers.files.limits import Limits
from scorers.linting.submissions import check_submission

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.linting.submissions import Checked

LABELS = np.full((20, 24), 3, np.uint16)


@pytest.fixture
def whole(submission: Path) -> Path:
    """A submission with which nothing is wrong."""
    tifffile.imwrite(submission / "a_seg.tif", LABELS)
    (submission / "cells.csv").write_text("Image,area\na,9\n", encoding="utf-8")
    return submission


def check(task: Path, submission: Path) -> Checked:
    return check_submission(task, submission, Limits())


def only(checked: Checked, severity: str = "error") -> str:
    [finding] = checked.findings
    assert finding.severity == severity
    return finding.text


def test_what_is_delivered_is_listed(sound: Path, whole: Path) -> None:
    checked = check(sound, whole)
    assert checked.complete
    assert checked.findings == []
    assert {entry.id: entry.found for entry in checked.deliverables} == {
        "segmentation_masks": ("a_seg.tif",),
        "cell_table": ("cells.csv",),
    }


def test_neither_rubric_nor_reference_is_needed(sound: Path, whole: Path) -> None:
    told = check(sound, whole).to_json()
    shutil.rmtree(sound / "evaluation")
    (sound / "evaluation_rubric.yaml").write_text("no: [rubric", encoding="utf-8")
    assert check(sound, whole).to_json() == told


def test_an_empty_output_lacks_what_is_required(sound: Path, submission: Path) -> None:
    checked = check(sound, submission)
    assert not checked.complete
    assert "segmentation_masks: expected a file whose name fits *_seg.tif*" in only(checked)


def test_a_near_name_is_pointed_at(sound: Path, submission: Path) -> None:
    (submission / "a_seg.png").write_bytes(b"x")
    assert "got at the nearest 'a_seg.png'. Mend: rename it" in only(check(sound, submission))


def test_a_file_in_supporting_is_pointed_at(sound: Path, whole: Path) -> None:
    (whole / "supporting").mkdir()
    (whole / "a_seg.tif").rename(whole / "supporting" / "a_seg.tif")
    assert "move it out of supporting/" in only(check(sound, whole))


def test_a_colour_image_is_rejected_with_the_mend(sound: Path, whole: Path) -> None:
    tifffile.imwrite(whole / "a_seg.tif", np.zeros((9, 9, 3), np.uint8), photometric="rgb")
    checked = check(sound, whole)
    assert not checked.complete
    assert "got a colour image" in only(checked)
    assert "save one channel" in only(checked)


def test_one_rejected_file_of_several_is_a_warning(sound: Path, whole: Path) -> None:
    tifffile.imwrite(whole / "b_seg.tif", np.linspace(0, 1, 81, dtype="f4").reshape(9, 9))
    checked = check(sound, whole)
    assert checked.complete
    assert "threshold them" in only(checked, "warning")


def test_lacking_columns_are_told_beside_those_that_are_there(sound: Path, whole: Path) -> None:
    (whole / "cells.csv").write_text("image,areas\na,9\n", encoding="utf-8")
    told = only(check(sound, whole), "warning")
    assert "got image, areas" in told
    assert "add or rename 'area' (did you mean 'areas'?)" in told


def test_a_file_that_is_found_by_its_ending_only_is_a_warning(sound: Path, whole: Path) -> None:
    (whole / "a_seg.tif").rename(whole / "a.tif")
    checked = check(sound, whole)
    assert checked.complete
    assert "found by their ending only, such as a.tif" in only(checked, "warning")


def test_the_file_of_another_deliverable_is_no_fault_of_an_optional_one(
    sound: Path, whole: Path
) -> None:
    other = '  - {id: other, description: Another table., filename_pattern: "*wells*.csv"}\n'
    with (sound / "task_spec.yaml").open("a", encoding="utf-8") as spec:
        spec.write(other)
    (whole / "cells.csv").unlink()
    (whole / "wells.csv").write_text("well\nA1\n", encoding="utf-8")
    checked = check(sound, whole)
    assert [entry.count for entry in checked.deliverables] == [1, 0, 1]
    assert checked.findings == []


def test_the_file_of_another_deliverable_is_told_where_a_required_one_takes_it(
    sound: Path, whole: Path
) -> None:
    other = '  - {id: other, description: Another table., filename_pattern: "*wells*.csv"}\n'
    with (sound / "task_spec.yaml").open("a", encoding="utf-8") as spec:
        spec.write(other)
    told = only(check(sound, whole), "warning")
    assert "other: expected names that fit *wells*.csv" in told


def test_of_several_files_for_one_it_is_told_which_is_read(sound: Path, whole: Path) -> None:
    shutil.copy(whole / "cells.csv", whole / "more_cells.csv")
    assert "of which only cells.csv is read" in only(check(sound, whole), "warning")


def test_far_more_files_than_inputs_are_a_warning(sound: Path, whole: Path) -> None:
    for number in range(4):
        shutil.copy(whole / "a_seg.tif", whole / f"{number}_seg.tif")
    assert "about as many files as the 1 input images, got 5" in only(
        check(sound, whole), "warning"
    )


@pytest.mark.parametrize(
    ("content", "told"), [(b"", "an empty file"), (b"II*\0", "an image that can be read")]
)
def test_a_file_without_content_is_told(
    sound: Path, whole: Path, content: bytes, told: str
) -> None:
    (whole / "a_seg.tif").write_bytes(content)
    assert told in only(check(sound, whole))


def test_a_link_is_told_and_not_followed(sound: Path, whole: Path) -> None:
    (whole / "a_seg.tif").unlink()
    (whole / "a_seg.tif").symlink_to(sound / "evaluation" / "a_seg.tif")
    checked = check(sound, whole)
    assert not checked.complete
    assert any("a link, not a regular file" in finding.got for finding in checked.findings)


def test_a_packed_submission_is_read_below_artifacts(sound: Path, whole: Path) -> None:
    (whole / "artifacts").mkdir()
    (whole / "a_seg.tif").rename(whole / "artifacts" / "a_seg.tif")
    (whole / "submission.json").write_text("{}", encoding="utf-8")
    checked = check(sound, whole)
    assert checked.complete
    assert checked.deliverables[1].count == 0


def test_the_command_ends_well_for_a_bad_submission(
    sound: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(sound), str(submission), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is False


def test_the_command_tells_a_broken_task_by_its_exit_code(
    sound: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(sound)]) == 0
    (sound / "task_spec.yaml").unlink()
    assert main(["check", str(sound)]) == 3
    assert "error: task_spec.yaml" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_wrong_usage(
    sound: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(sound), str(sound / "nowhere")]) == 2
    assert "expected a folder" in capsys.readouterr().err
