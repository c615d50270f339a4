"""Submissions that exist already, scored as they are."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai import eval
from inspect_ai.log import resolve_sample_attachments

from evals.biaa.task import biaa
from evals.errors import DataMissingError
from evals.harness.ready import ready

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalSample

CELLS = ["17,93", "40,40", "60,20", "80,80"]
DELIVERABLE = {
    "id": "centroids_per_image",
    "description": "One CSV file of cell centres for each image.",
    "filename_pattern": "*.csv",
}
RUN = "run_20260901_080000"


@pytest.fixture
def edition(make_capsule: Any, tmp_path: Path, own_cache: Path) -> Path:
    """Give two capsules whose four cells are to be found."""
    for name in ("one", "two"):
        folder = make_capsule(tmp_path / "edition", name, {"deliverables": [DELIVERABLE]})
        text = "\n".join(["X,Y", *CELLS, ""])
        (folder / "evaluation" / "a.csv").write_text(text, encoding="utf-8")
        rubric = {"grader": "counting", "metric_config": {"distance_threshold_px": 10}}
        (folder / "evaluation_rubric.yaml").write_text(yaml.safe_dump(rubric), encoding="utf-8")
    return tmp_path / "edition"


@pytest.fixture
def hand_in(make_submission: Any) -> Callable[..., Path]:
    """Give the writer of a submission in which so many cells are found."""

    def write(folder: Path, task_id: str, found: int, **changes: Any) -> Path:
        made: Path = make_submission(folder, task_id=task_id, **changes)
        text = "\n".join(["X,Y", *CELLS[:found], ""])
        (made / "artifacts" / "counts" / "a.csv").write_text(text, encoding="utf-8")
        return made

    return write


@pytest.fixture
def score(edition: Path, tmp_path: Path) -> Callable[..., list[EvalSample]]:
    """Give the runner of both capsules on what lies somewhere."""

    def run(path: Path, epochs: int = 1, **options: Any) -> list[EvalSample]:
        task = biaa(
            edition=str(edition),
            sandbox="local",
            solver=ready(str(path), **options),
            submissions=str(tmp_path / "kept"),
        )
        logs = str(tmp_path / "logs")
        [log] = eval(task, model="none/none", display="none", log_dir=logs, epochs=epochs)
        assert log.status == "success", log.error
        read = [resolve_sample_attachments(sample, "full") for sample in log.samples or []]
        samples = sorted(read, key=lambda each: (each.epoch, str(each.id)))
        assert [sample.error for sample in samples] == [None] * 2 * epochs
        return samples

    return run


def grade_of(sample: EvalSample) -> tuple[float, str]:
    found = (sample.scores or {})["grade"]
    assert isinstance(found.value, dict)
    return found.value["outcome"], (found.metadata or {})["status"]  # type: ignore[return-value]  # our scorer's are floats


def report_of(sample: EvalSample) -> Any:
    told = [event for event in sample.events if event.event == "info"]
    [report] = [each.data for each in told if each.source == "evals/ready"]
    return report


def graded(capsule: Path, submission: Path) -> Any:
    command = [sys.executable, "-m", "scorers", "grade", str(capsule), str(submission), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def test_a_score_is_the_graders_own_on_the_same_folder(
    score: Any, hand_in: Any, edition: Path, tmp_path: Path
) -> None:
    folder = hand_in(tmp_path / "all" / RUN / "one", "one", 3)
    # A helper file that fits the pattern too, beside what is declared.
    (folder / "a.csv").write_text("X,Y\n", encoding="utf-8")
    one, _ = score(tmp_path / "all")
    expected = graded(edition / "one", folder)
    found = (one.scores or {})["grade"]
    assert 0 < expected["outcome"] < 1
    assert found.value["outcome"] == round(expected["outcome"], 4)
    assert found.metadata["metrics"] == expected["metrics"]
    assert found.metadata["deliverables"] == expected["deliverables"]


def packed(kind: str, folders: dict[str, Path], tmp_path: Path, make_zip: Any) -> Path:
    if kind == "zips":
        for name, folder in folders.items():
            make_zip(tmp_path / "zips" / f"counter__{RUN}__{name}.zip", [(folder, "")])
        return tmp_path / "zips"
    if kind == "zip of all":
        pairs = [(folder, f"counter/{RUN}/{name}") for name, folder in folders.items()]
        return make_zip(tmp_path / "all.zip", pairs)  # type: ignore[no-any-return]  # a path
    return tmp_path / "all"


@pytest.mark.parametrize("kind", ["folder", "zips", "zip of all"])
def test_submissions_are_scored_however_they_are_packed(
    kind: str, score: Any, hand_in: Any, make_zip: Any, tmp_path: Path
) -> None:
    folders = {
        name: hand_in(tmp_path / "all" / RUN / name, name, found)
        for name, found in (("one", 4), ("two", 0))
    }
    samples = score(packed(kind, folders, tmp_path, make_zip))
    assert [grade_of(sample) for sample in samples] == [(1.0, "delivered"), (0.0, "delivered")]


def test_plain_folders_are_scored_too(score: Any, tmp_path: Path) -> None:
    (tmp_path / "plain" / "two" / "tables").mkdir(parents=True)
    text = "\n".join(["X,Y", *CELLS, ""])
    (tmp_path / "plain" / "two" / "tables" / "a.csv").write_text(text, encoding="utf-8")
    samples = score(tmp_path / "plain")
    assert [grade_of(each) for each in samples] == [(0.0, "no_deliverable"), (1.0, "delivered")]


def test_a_task_without_submission_is_told(score: Any, hand_in: Any, tmp_path: Path) -> None:
    hand_in(tmp_path / "all" / "two", "two", 4)
    one, two = score(tmp_path / "all")
    assert grade_of(one) == (0.0, "no_deliverable")
    assert report_of(one) == {
        "reason": "There is no submission for one; what there is, is for two."
    }
    assert grade_of(two) == (1.0, "delivered")


def test_the_kth_run_is_scored_in_the_kth_epoch(score: Any, hand_in: Any, tmp_path: Path) -> None:
    for number, found in ((2, 0), (1, 4)):
        for name in ("one", "two")[:number]:
            run = f"run_{number}"
            hand_in(tmp_path / "all" / run / name, name, found, run_id=run)
    samples = score(tmp_path / "all", epochs=2)
    assert [(each.epoch, each.id, grade_of(each)[0]) for each in samples] == [
        (1, "one", 1.0),
        (1, "two", 0.0),
        (2, "one", 0.0),
        (2, "two", 0.0),
    ]
    assert report_of(samples[0])["submission"] == "run_1/one"
    assert "no submission for epoch 2 of two: its runs are 1" in report_of(samples[3])["reason"]


def climb(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("submission.json", "{}")
        made.writestr("../../evil.csv", "X,Y\n")


def link(path: Path) -> None:
    info = zipfile.ZipInfo("artifacts/counts/a.csv")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(info, "/etc/passwd")


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("artifacts/counts/a.csv", bytes(1 << 20))
    content = bytearray(path.read_bytes())
    # Both headers claim 3 GiB instead.
    claimed, real = (3 << 30).to_bytes(4, "little"), (1 << 20).to_bytes(4, "little")
    path.write_bytes(bytes(content).replace(real, claimed))


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (climb, "member '../../evil.csv': its name leads elsewhere"),
        (link, "member 'artifacts/counts/a.csv': it is a link"),
        (bomb, "more than 200 times its size"),
        (lambda path: path.write_bytes(b"PK"), "no sound zip archive"),
    ],
)
def test_a_hostile_zip_is_refused_and_the_others_go_on(
    write: Any, reason: str, score: Any, hand_in: Any, make_zip: Any, tmp_path: Path
) -> None:
    folder = hand_in(tmp_path / "made", "two", 4)
    make_zip(tmp_path / "zips" / "two.zip", [(folder, "")])
    write(tmp_path / "zips" / "one.zip")
    one, two = score(tmp_path / "zips")
    assert grade_of(one) == (0.0, "no_deliverable")
    assert "one.zip is refused: " in report_of(one)["reason"]
    assert reason in report_of(one)["reason"]
    assert grade_of(two) == (1.0, "delivered")
    assert not list(tmp_path.rglob("evil.csv"))


def test_a_zip_that_breaks_while_it_is_unpacked_is_refused(
    score: Any, hand_in: Any, tmp_path: Path
) -> None:
    folder = hand_in(tmp_path / "made", "one", 4)
    path = tmp_path / "one.zip"
    with zipfile.ZipFile(path, "w") as made:
        for file in sorted(folder.rglob("*")):
            made.write(file, file.relative_to(folder))
    path.write_bytes(path.read_bytes().replace(b"40,40", b"41,41"))
    one, _ = score(path)
    assert grade_of(one) == (0.0, "no_deliverable")
    assert "is refused: it is no sound zip archive" in report_of(one)["reason"]


def test_what_a_submission_claims_is_kept_and_changes_no_score(
    score: Any, hand_in: Any, tmp_path: Path
) -> None:
    folder = hand_in(tmp_path / "all" / "one", "one", 0, runtime_seconds=-1, result_score=1.0)
    told = {"total_token_count": 1200, "cost_usd": 0.5, "cost_regime": "openrouter"}
    metrics = folder / "artifacts" / "supporting" / "run_metrics.json"
    metrics.write_text(json.dumps(told), encoding="utf-8")
    one, _ = score(tmp_path / "all")
    report = report_of(one)
    assert grade_of(one)[0] == 0.0
    assert (report["claims"]["agent_name"], report["claims"]["run_id"]) == ("counter", RUN)
    assert [fault.partition(":")[0] for fault in report["faults_of_claims"]] == [
        "runtime_seconds",
        "result_score",
    ]
    assert report["run_metrics"] == told


def test_nothing_is_run_and_no_model_is_called(score: Any, hand_in: Any, tmp_path: Path) -> None:
    hand_in(tmp_path / "all" / "one", "one", 4)
    one, _ = score(tmp_path / "all")
    assert not [event for event in one.events if event.event in ("model", "tool")]


def test_a_place_that_does_not_exist_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="expected a folder or a zip of submissions"):
        ready(str(tmp_path / "nowhere"))


@pytest.mark.docker
@pytest.mark.slow
def test_a_submission_reaches_the_output_on_docker(
    hand_in: Any, make_capsule: Any, run_on_docker: Any, make_zip: Any, tmp_path: Path
) -> None:
    folder = hand_in(tmp_path / "made", "dots", 4)
    path = make_zip(tmp_path / "dots.zip", [(folder, "dots")])
    ran = run_on_docker(make_capsule(tmp_path / "capsules"), ready(str(path)))
    assert sorted(ran.files) == [
        "artifacts/counts/a.csv",
        "artifacts/supporting/notes.csv",
        "submission.json",
    ]
