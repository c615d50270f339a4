import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile

from scorers.cli import main

MakeCapsule = Callable[..., Path]

LABELS = np.zeros((20, 24), np.uint16)
LABELS[2:8, 2:8], LABELS[10:18, 5:15] = 1, 2


@pytest.fixture
def capsule(make_capsule: MakeCapsule) -> Path:
    folder = make_capsule()
    tifffile.imwrite(folder / "evaluation" / "a.tif", LABELS)
    return folder


def _pairs(file: Path, *pairs: tuple[Path, Path]) -> Path:
    lines = [json.dumps({"task_dir": str(t), "submission_dir": str(s)}) for t, s in pairs]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_a_grade_is_one_json_object_on_standard_output(capsule: Path, submission: Path) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    run = subprocess.run(
        [sys.executable, "-m", "scorers", "grade", capsule, submission, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["outcome"] == 1.0


def test_a_bad_submission_is_graded_with_exit_code_0(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (submission / "a.tif").write_bytes(b"no image")

    assert main(["grade", str(capsule), str(submission), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outcome"] == 0.0
    assert told["items"][0]["status"] == "unreadable"


def test_without_json_the_grade_is_a_table(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    assert main(["grade", str(capsule), str(submission)]) == 0
    shown = capsys.readouterr().out
    assert "strict_pq" in shown
    assert "1.0000" in shown


def test_a_missing_reference_ends_with_exit_code_3(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (capsule / "evaluation" / "a.tif").unlink()

    assert main(["grade", str(capsule), str(submission), "--json"]) == 3
    told = capsys.readouterr()
    assert json.loads(told.out)["outcome"] is None
    assert "expected reference masks" in told.err


def test_a_broken_capsule_ends_with_exit_code_3(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (capsule / "task_spec.yaml").unlink()

    assert main(["grade", str(capsule), str(submission), "--json"]) == 3
    assert "task_spec.yaml" in capsys.readouterr().err


def test_a_folder_that_does_not_exist_is_wrong_usage(capsule: Path, tmp_path: Path) -> None:
    assert main(["grade", str(capsule), str(tmp_path / "nowhere")]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grade"], "TASK_DIR and SUBMISSION_DIR are needed"),
        (["grade", "a", "b", "--limit", "rows"], "expected NAME=VALUE"),
        (["grade", "a", "b", "--limit", "row=5"], "unknown limit 'row'"),
        (["grade", "a", "b", "--many", "c"], "--many takes neither"),
        (["grade", "--many", "c", "--processes", "0"], "expected a whole number above 0"),
    ],
)
def test_wrong_usage_is_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_limit_can_be_set(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)

    main(["grade", str(capsule), str(submission), "--json", "--limit", "file_bytes=10"])

    told = json.loads(capsys.readouterr().out)
    assert told["outcome"] == 0.0
    assert "more than 10" in told["deliverables"]["refused"][0]["reason"]


def test_objects_are_written_as_csv(
    capsule: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(submission / "a.tif", np.where(LABELS == 2, 0, LABELS))

    main(["grade", str(capsule), str(submission), "--objects", str(tmp_path / "objects.csv")])

    with (tmp_path / "objects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], row["kind"], row["area"]) for row in rows] == [
        ("a", "hit", "36"),
        ("a", "miss", "80"),
    ]


def test_many_are_graded_in_their_order_and_a_broken_one_stops_none(
    capsule: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)
    empty = tmp_path / "empty"
    empty.mkdir()
    pairs = _pairs(
        tmp_path / "pairs.jsonl",
        (capsule, submission),
        (tmp_path / "no capsule", submission),
        (capsule, empty),
    )

    assert main(["grade", "--many", str(pairs), "--processes", "2"]) == 3

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("outcome") for line in lines] == [1.0, None, 0.0]
    assert "no capsule" in lines[1]["fault"]
    assert [line["submission_dir"] for line in lines] == [str(submission)] * 2 + [str(empty)]


def test_many_good_ones_end_with_exit_code_0(
    capsule: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = _pairs(tmp_path / "pairs.jsonl", (capsule, submission))

    assert main(["grade", "--many", str(pairs), "--processes", "1"]) == 0


def test_a_line_that_is_no_pair_is_wrong_usage_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pairs.jsonl").write_text('\n{"task_dir": "x"}\n')

    assert main(["grade", "--many", str(tmp_path / "pairs.jsonl")]) == 2
    assert "line 2: expected" in capsys.readouterr().err


def test_no_pictures_are_drawn_if_none_are_wanted(
    capsule: Path, submission: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(submission / "a.tif", LABELS)
    command = ["grade", str(capsule), str(submission), "--json"]

    assert main(command) == main([*command, "--no-pictures"]) == 0
    drawn, plain = map(json.loads, capsys.readouterr().out.splitlines())
    assert drawn.pop("pictures")
    assert not plain.pop("pictures")
    assert drawn == plain
