"""Loading of capsules."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals.capsule import load_capsule
from evals.errors import CapsuleInvalidError, DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user of the machine may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_capsule_knows_its_parts(tmp_path: Path, make_capsule: Any) -> None:
    capsule = load_capsule(make_capsule(tmp_path))
    assert capsule.task_id == "dots"
    assert capsule.input_dir == tmp_path.resolve() / "dots" / "input"
    assert capsule.evaluation_dir == tmp_path.resolve() / "dots" / "evaluation"
    assert capsule.solution_dir is None


def test_the_data_hash_does_not_depend_on_the_place(tmp_path: Path, make_capsule: Any) -> None:
    here, there = make_capsule(tmp_path / "here"), make_capsule(tmp_path / "there")
    assert load_capsule(here).data_hash == load_capsule(there).data_hash


@pytest.mark.parametrize("name", ["input/a.txt", "evaluation/a.csv", "evaluation_rubric.yaml"])
def test_the_data_hash_follows_every_byte(tmp_path: Path, make_capsule: Any, name: str) -> None:
    folder = make_capsule(tmp_path)
    before = load_capsule(folder).data_hash
    with (folder / name).open("a", encoding="utf-8") as stream:
        stream.write("\n# more\n")
    assert load_capsule(folder).data_hash != before


def test_the_data_hash_follows_names(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    before = load_capsule(folder).data_hash
    (folder / "input" / "a.txt").rename(folder / "input" / "b.txt")
    assert load_capsule(folder).data_hash != before


def test_unchanged_files_are_hashed_once(
    tmp_path: Path, make_capsule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_capsule(tmp_path)
    first = load_capsule(folder).data_hash

    def refuse(path: Path) -> str:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr("evals.data.hashing.file_hash", refuse)
    assert load_capsule(folder).data_hash == first


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, make_capsule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_capsule(tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALS_CACHE", str(tmp_path / "file" / "below"))
    assert len(load_capsule(folder).data_hash) == 64


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"nowhere: expected a capsule's folder, got noth"):
        load_capsule(tmp_path / "nowhere")


def test_a_broken_specification_is_told_with_file_field_and_mend(
    tmp_path: Path, make_capsule: Any
) -> None:
    folder = make_capsule(tmp_path, spec={"deliverables": [{"id": "a b"}]})
    with pytest.raises(CapsuleInvalidError) as caught:
        load_capsule(folder)
    assert f"{folder.resolve()}/task_spec.yaml: deliverables[0].id: expected" in str(caught.value)
    assert "Mend: add 'filename_pattern:'" in str(caught.value)


def test_a_missing_input_folder_is_told(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    (folder / "input" / "a.txt").unlink()
    (folder / "input").rmdir()
    with pytest.raises(DataMissingError, match="input: expected the input files, got nothing"):
        load_capsule(folder)


def test_an_archive_that_was_not_unpacked_is_the_mend(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    (folder / "input" / "a.txt").unlink()
    (folder / "input.zip").touch()
    with pytest.raises(DataMissingError, match=r"got an empty folder. Mend: unpack .*input\.zip"):
        load_capsule(folder)


def test_a_missing_reference_is_told(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    (folder / "evaluation" / "a.csv").unlink()
    with pytest.raises(DataMissingError, match="evaluation: expected the reference, got an empty"):
        load_capsule(folder)


def test_a_task_without_reference_needs_none(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    (folder / "evaluation" / "a.csv").unlink()
    (folder / "evaluation").rmdir()
    (folder / "evaluation_rubric.yaml").write_text(
        "metric_config: {}\n"
        "evaluation_metadata: {structure: quality, ground_truth_present: false}\n",
        encoding="utf-8",
    )
    assert load_capsule(folder).evaluation_dir is None


def test_an_input_file_that_may_not_be_read_is_told(
    open_folder: Path, make_capsule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_capsule(open_folder)
    load_capsule(folder)  # what the check needs is imported before rights are given up
    secret = folder / "input" / "a.txt"
    secret.chmod(0)
    if os.geteuid() == 0:  # who may read everything
        os.seteuid(65534)
    try:
        with pytest.raises(DataMissingError) as caught:
            load_capsule(folder)
    finally:
        os.seteuid(os.getuid())
    assert f"{secret.resolve()}: expected a readable file, got Permission denied" in str(
        caught.value
    )
    assert "Mend: chmod u+r" in str(caught.value)


@pytest.mark.parametrize("kind", ["dangling link", "link outside", "folder link", "pipe"])
def test_an_input_that_is_no_plain_file_is_told(
    tmp_path: Path, make_capsule: Any, kind: str
) -> None:
    folder = make_capsule(tmp_path)
    odd = folder / "input" / "odd"
    (folder / "input" / "sub").mkdir()
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        target = {
            "dangling link": tmp_path / "none",
            "link outside": folder / "evaluation" / "a.csv",
            "folder link": folder / "input" / "sub",
        }[kind]
        odd.symlink_to(target)
    with pytest.raises(DataMissingError, match=re.escape(f"{odd.resolve().parent}") + "|input/odd"):
        load_capsule(folder)


def test_a_link_from_input_to_another_place_is_refused(tmp_path: Path, make_capsule: Any) -> None:
    folder = make_capsule(tmp_path)
    (folder / "input").rename(tmp_path / "elsewhere")
    (folder / "input").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CapsuleInvalidError, match="expected a folder inside the capsule"):
        load_capsule(folder)
