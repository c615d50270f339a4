from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from evals.errors import DataMissingError, UnknownNameError
from evals.options import OptionInvalidError
from evals.submissions.collection import collect

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = "run_20260901_080000", "run_20260902_080000"


def names(path: Path, task_id: str = "dots", agent: str | None = None) -> list[str]:
    return [each.name for each in collect(path, agent).runs_of(task_id)]


def test_a_submission_itself_is_found(make_submission: Any, tmp_path: Path) -> None:
    assert names(make_submission(tmp_path / "mine")) == ["mine"]


def test_runs_are_found_below_agent_session_and_task_in_the_order_of_their_ids(
    make_submission: Any, tmp_path: Path
) -> None:
    for run in (SECOND, FIRST):
        make_submission(tmp_path / "counter" / run / "dots", run_id=run)
        make_submission(tmp_path / "counter" / run / "other", run_id=run, task_id="other")
    assert names(tmp_path) == [f"counter/{FIRST}/dots", f"counter/{SECOND}/dots"]
    assert collect(tmp_path).tasks() == ["dots", "other"]


def test_of_a_run_that_was_exported_twice_the_newest_counts(
    make_submission: Any, tmp_path: Path
) -> None:
    make_submission(tmp_path / "dots_20260903_090000", timestamp_utc="2026-09-03T09:00:00Z")
    make_submission(tmp_path / "dots")
    assert names(tmp_path) == ["dots_20260903_090000"]


def test_a_folder_and_the_zip_beside_it_are_one_run(
    make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    folder = make_submission(tmp_path / "counter" / FIRST / "dots")
    make_zip(folder.parent / f"counter__{FIRST}__dots.zip", [(folder, "")])
    assert names(tmp_path) == [f"counter/{FIRST}/dots"]


@pytest.mark.parametrize("wrapper", ["", "dots", "a/b/c/d/dots"])
def test_a_zip_of_one_is_opened_whatever_wraps_it(
    wrapper: str, make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    path = make_zip(tmp_path / "x.zip", [(make_submission(tmp_path / "mine"), wrapper)])
    assert names(path) == [f"x.zip/{wrapper}".rstrip("/")]


def test_zips_of_one_each_are_found_in_a_folder(
    make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    for task_id in ("dots", "other"):
        folder = make_submission(tmp_path / "made" / task_id, task_id=task_id)
        make_zip(tmp_path / "zips" / f"counter__{FIRST}__{task_id}.zip", [(folder, "")])
    assert names(tmp_path / "zips", "other") == [f"counter__{FIRST}__other.zip"]


def test_a_zip_of_all_holds_many(make_submission: Any, make_zip: Any, tmp_path: Path) -> None:
    made = [
        (make_submission(tmp_path / run / task_id, run_id=run, task_id=task_id), f"{run}/{task_id}")
        for run in (FIRST, SECOND)
        for task_id in ("dots", "other")
    ]
    path = make_zip(tmp_path / "all.zip", made)
    assert names(path, "other") == [f"all.zip/{FIRST}/other", f"all.zip/{SECOND}/other"]


def test_a_plain_folder_is_called_as_its_task(tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    (tmp_path / "dots" / "a.csv").write_text("x")
    assert names(tmp_path) == ["dots"]


def test_a_plain_folder_in_a_zip_is_called_as_its_task(make_zip: Any, tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    (tmp_path / "dots" / "a.csv").write_text("x")
    assert names(make_zip(tmp_path / "x.zip", [(tmp_path / "dots", "dots")])) == ["x.zip/dots"]


@pytest.mark.parametrize("stem", ["dots", f"counter__{FIRST}__dots", f"dots__counter__{FIRST}"])
def test_a_zip_that_tells_no_task_goes_by_its_name(
    stem: str, make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    folder = make_submission(tmp_path / "made", task_id=None)
    path = make_zip(tmp_path / f"{stem}.zip", [(folder, "")])
    assert names(path) == [f"{stem}.zip"]


def test_a_manifest_that_cannot_be_read_is_told(make_submission: Any, tmp_path: Path) -> None:
    folder = make_submission(tmp_path / "all" / "dots")
    (folder / "submission.json").write_bytes(b"{" * 10)
    [found] = collect(tmp_path / "all").runs_of("dots")
    assert found.faults[0].startswith("no JSON object")


def test_a_manifest_that_is_a_link_is_not_followed(make_submission: Any, tmp_path: Path) -> None:
    folder = make_submission(tmp_path / "all" / "dots")
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"agent_name": "root"}))
    (folder / "submission.json").unlink()
    (folder / "submission.json").symlink_to(secret)
    [found] = collect(tmp_path / "all").runs_of("dots")
    assert found.manifest.agent_name is None
    assert "cannot be opened" in found.faults[0]


def test_linked_folders_are_not_entered(make_submission: Any, tmp_path: Path) -> None:
    make_submission(tmp_path / "outside" / "dots")
    make_submission(tmp_path / "all" / "other", task_id="other")
    (tmp_path / "all" / "dots").symlink_to(tmp_path / "outside" / "dots")
    assert collect(tmp_path / "all").tasks() == ["other"]


def test_links_and_pipes_of_a_submission_stay_behind(make_submission: Any, tmp_path: Path) -> None:
    folder = make_submission(tmp_path / "dots")
    (folder / "artifacts" / "counts" / "b.csv").symlink_to("/etc/passwd")
    os.mkfifo(folder / "artifacts" / "counts" / "c.csv")
    [found] = collect(folder).runs_of("dots")
    (tmp_path / "out").mkdir()
    taken = found.take(tmp_path / "out")
    assert [file.path for file in taken.kept] == [
        "artifacts/counts/a.csv",
        "artifacts/supporting/notes.csv",
        "submission.json",
    ]
    assert [file.path for file in taken.dropped] == [
        "artifacts/counts/b.csv",
        "artifacts/counts/c.csv",
    ]


def test_an_archive_that_is_refused_leaves_the_others(
    make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    make_zip(tmp_path / "all" / "a.zip", [(make_submission(tmp_path / "made"), "")])
    (tmp_path / "all" / "b.zip").write_bytes(b"no zip")
    found = collect(tmp_path / "all")
    assert [each.name for each in found.submissions] == ["a.zip"]
    [(name, reason)] = found.refused
    assert (name, "no sound zip" in reason) == ("b.zip", True)


def test_several_agents_need_a_choice(make_submission: Any, tmp_path: Path) -> None:
    make_submission(tmp_path / "one", agent_name="one")
    make_submission(tmp_path / "two", agent_name="two")
    with pytest.raises(OptionInvalidError, match="those of 2: one/some-model, two/some-model"):
        collect(tmp_path)
    assert names(tmp_path, agent="two") == ["two"]
    assert names(tmp_path, agent="one/*") == ["one"]


def test_an_unknown_agent_is_refused_with_near_ones(make_submission: Any, tmp_path: Path) -> None:
    make_submission(tmp_path / "one")
    with pytest.raises(UnknownNameError, match="did you mean 'counter'"):
        collect(tmp_path, "countr")


def test_one_agent_with_two_models_needs_a_choice(make_submission: Any, tmp_path: Path) -> None:
    for model in ("large", "small"):
        make_submission(tmp_path / model, model_name=model)
    with pytest.raises(OptionInvalidError, match="counter/large, counter/small"):
        collect(tmp_path, "counter")


@pytest.mark.parametrize("kind", ["missing", "empty"])
def test_a_place_without_submissions_is_told(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if kind == "empty":
        place.mkdir()
    with pytest.raises(DataMissingError, match=r"expected (a folder or a zip of )?submissions"):
        collect(place)
