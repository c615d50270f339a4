"""Opening of editions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evals.data.recipe import Recipe
from evals.edition import capsule_for, edition_label, open_edition
from evals.errors import CapsuleInvalidError, DataMissingError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")


def ids(edition: str, **options: Any) -> list[str]:
    """Return the task ids of an edition."""
    return [capsule.task_id for capsule in open_edition(edition, **options)]


@pytest.fixture
def folder(tmp_path: Path, make_capsule: Any) -> Path:
    """Give a folder of two capsules and something else."""
    for name in ("dots", "lines"):
        make_capsule(tmp_path / "mine", name)
    (tmp_path / "mine" / "notes").mkdir()
    (tmp_path / "mine" / "README.md").touch()
    return tmp_path / "mine"


@pytest.fixture
def revision(own_cache: Path, make_capsule: Any) -> Path:
    """Give a released revision on disk, one of its three tasks absent."""
    root = own_cache / "data" / "v1.0"
    for name in ("dots", "lines"):
        make_capsule(root, name)
    tasks = {name: {"input": {"zip_sha256": "00"}} for name in ("dots", "lines", "planes")}
    (root / "manifest.json").write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
    return root


def test_a_folder_of_capsules_is_an_edition(folder: Path) -> None:
    assert ids(str(folder)) == ["dots", "lines"]


def test_one_capsule_is_an_edition(folder: Path) -> None:
    assert ids(str(folder / "lines")) == ["lines"]


def test_a_relative_path_is_an_edition(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert ids("mine", tasks="l*") == ["lines"]


def test_the_label_of_a_folder_is_its_base_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert edition_label(".") == "mine"
    assert edition_label("synthetic") == "synthetic"


def test_an_unknown_task_is_told_with_near_matches(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'dot': expected one of: dots, lines.*'dots'"):
        ids(str(folder), tasks="dot")


def test_a_folder_without_capsules_is_no_edition(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    with pytest.raises(DataMissingError, match=r"is no edition: expected .*got images\. Mend"):
        ids(str(tmp_path))


def test_a_name_that_is_neither_revision_nor_folder_is_unknown(revision: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'v1\.1': expected 'synthetic', 'v1\.0'"):
        ids("v1.1")


def test_a_file_is_no_edition(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="got a file of this name"):
        ids(str(folder / "README.md"))


def test_a_capsule_that_lacks_its_specification_is_told_not_skipped(folder: Path) -> None:
    (folder / "lines" / "task_spec.yaml").unlink()
    with pytest.raises(CapsuleInvalidError, match=r"lines/task_spec\.yaml: expected this file"):
        ids(str(folder))


def test_a_broken_capsule_that_was_not_asked_for_does_not_disturb(folder: Path) -> None:
    (folder / "lines" / "task_spec.yaml").write_text("{", encoding="utf-8")
    assert ids(str(folder), tasks="dots") == ["dots"]


def test_two_capsules_of_one_id_are_refused(folder: Path, make_capsule: Any) -> None:
    (folder / "copy").mkdir()
    make_capsule(folder / "copy", "dots").rename(folder / "more")
    (folder / "copy").rmdir()
    with pytest.raises(CapsuleInvalidError, match="expected an id of its own, got 'dots'"):
        ids(str(folder))


def test_a_revision_on_disk_is_an_edition(revision: Path) -> None:
    assert ids("v1.0", tasks=["dots", "lines"]) == ["dots", "lines"]


def test_a_task_of_a_revision_that_is_not_on_disk_is_told(revision: Path) -> None:
    with pytest.raises(DataMissingError, match=r"none for planes.*-T tasks=dots,lines"):
        ids("v1.0")


def test_a_broken_manifest_is_told(revision: Path) -> None:
    (revision / "manifest.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataMissingError, match=r"manifest\.json: expected JSON with an object"):
        ids("v1.0")


def test_the_synthetic_edition_is_made_of_task_folders(tmp_path: Path, make_task: Any) -> None:
    make_task(tmp_path, "dots")
    make_task(tmp_path, "lines")
    (capsule,) = open_edition("synthetic", tasks="dots", recipe=Recipe(3), tasks_root=tmp_path)
    assert (capsule.input_dir / "n.txt").read_text(encoding="utf-8") == "3 0.5 quick"
    assert capsule.solution_dir is not None


def test_an_opened_capsule_is_found_by_its_data_hash(folder: Path) -> None:
    (capsule,) = open_edition(str(folder), tasks="dots")
    assert capsule_for(capsule.data_hash) == capsule


def test_a_data_hash_that_was_not_opened_is_told() -> None:
    with pytest.raises(DataMissingError, match="No capsule with the data hash 'abc'"):
        capsule_for("abc")
