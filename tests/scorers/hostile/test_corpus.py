"""Whatever lies in a submission, it is graded: a score with a reason, within bounds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPORT_BYTES = 8 * 2**20
SECRET = "an-unlikely-word-of-the-reference"


def _check(outcome: Any) -> dict[str, Any]:
    """Return the grade after checking what holds for every submission."""
    assert outcome.code is not None, f"hung for {outcome.seconds:.0f} s"
    assert outcome.code == 0, f"exit code {outcome.code}: {outcome.err}"
    assert len(outcome.out) < REPORT_BYTES
    assert SECRET not in outcome.out + outcome.err
    assert "pickle was run" not in outcome.out + outcome.err
    grade: dict[str, Any] = outcome.grade
    assert 0 <= grade["outcome"] <= 1
    assert grade["strict"] is None or 0 <= grade["strict"] <= 1
    return grade


def _has_reason(grade: dict[str, Any]) -> bool:
    """Return whether a reader learns why a score is low."""
    statuses = {str(item.get("status")) for item in grade["items"]}
    files = grade["deliverables"]
    return bool(
        grade["error"]
        or grade["outcome"] > 0
        or statuses - {"scored"}
        or files["rejected"]
        or files["missing"]
        or files["refused"]
        or grade["metrics"]
    )


def test_each_file_is_graded_within_bounds(
    task: str,
    deliverable: str,
    kind: str,
    builder: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    confined: Callable[..., Any],
    builders: Callable[[str], dict[str, Callable[..., None]]],
) -> None:
    case = honest(task)
    submission = copied(case)
    builders(kind)[builder](submission / case.deliverables[deliverable])

    grade = _check(confined(case, submission))

    assert _has_reason(grade)


@pytest.mark.parametrize(
    ("of_task", "of_kind", "repeated"),
    [
        ("he-nuinsseg-nuclear-segmentation", "tiffs", "tiff_of_nearly_too_many_pages"),
        ("he-nuinsseg-nuclear-segmentation", "tiffs", "tiff_of_noise"),
        ("fluo-cell-counting-2d-cellfmcount", "tables", "table_of_the_same_row_over_and_over"),
        ("fluo-cell-counting-2d-cellfmcount", "tables", "table_of_blank_lines"),
        (
            "5D-npc-assembly-kinetics-idr0115",
            "workbooks",
            "workbook_of_the_same_rows_over_and_over",
        ),
    ],
)
def test_many_such_files_take_no_longer_than_a_few(
    of_task: str,
    of_kind: str,
    repeated: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    confined: Callable[..., Any],
    builders: Callable[[str], dict[str, Callable[..., None]]],
    narrow: dict[str, int],
) -> None:
    case = honest(of_task)
    submission = copied(case)
    path = submission / next(iter(case.deliverables.values()))
    builders(of_kind)[repeated](path)
    for number in range(80):
        shutil.copy(path, path.with_name(f"cell {number} {path.name}"))
    limits = narrow | {"total_decoded_bytes": 2**30, "total_text_bytes": 8 * 2**20}

    _check(confined(case, submission, seconds=60, limits=limits))


@pytest.mark.slow
def test_the_largest_tables_are_graded_within_the_usual_bounds(
    large_builder: str,
    task: str,
    deliverable: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    confined: Callable[..., Any],
    builders: Callable[[str], dict[str, Callable[..., None]]],
) -> None:
    case = honest(task)
    submission = copied(case)
    builders("largest")[large_builder](submission / case.deliverables[deliverable])

    outcome = confined(case, submission, seconds=250, limits={})

    _check(outcome)
    assert outcome.peak_bytes < 2 * 2**30


def test_each_folder_is_graded_within_bounds(
    folder_builder: str,
    task: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    outside: Callable[[Any], Path],
    confined: Callable[..., Any],
    builders: Callable[[str], dict[str, Callable[..., None]]],
) -> None:
    case = honest(task)
    submission = copied(case)
    path = submission / next(iter(case.deliverables.values()))
    builders("trees")[folder_builder](path, outside(case))

    grade = _check(confined(case, submission))

    assert _has_reason(grade)
    if folder_builder.startswith(_NEVER_READ):
        assert grade["deliverables"]["refused"]
        assert grade["outcome"] == _without(
            path.relative_to(submission), case, confined, submission
        )
    if folder_builder.startswith("artifacts_"):
        assert grade["outcome"] == 0


_NEVER_READ = ("link_", "named_", "unix_", "device_", "name_")


def _without(path: Path, case: Any, confined: Callable[..., Any], submission: Path) -> float:
    """Return the outcome of the honest submission without one of its files."""
    lacking = submission.with_name("lacking")
    shutil.copytree(case.submission, lacking)
    (lacking / path).unlink()
    outcome: float = confined(case, lacking).grade["outcome"]
    return outcome
