"""Listing, verifying and removing what was pulled."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from evals.edition import edition_facts, open_edition
from evals.errors import DataMissingError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]


@pytest.fixture
def pulled(data: Data, root: Path) -> Path:
    """Give the folder of a revision that was pulled."""
    data("pull", "biaa")
    return root


def test_the_list_tells_what_is_here_and_what_could_be(data: Data, pulled: Path, hub: Any) -> None:
    told = data("list")
    assert f"v1.0 (commit {hub.revisions['v1.0'][:12]}): 3 tasks, 0 more" in told
    assert "biomnibench_da  phylobio/BiomniBench-DA" in told
    (held,) = json.loads(data("list", "--json"))["here"]
    assert (held["source"], held["revision"]) == ("biaa", "v1.0")
    assert held["whole"] == ["dots", "lines", "planes"]


def test_the_list_tells_data_that_were_put_there(data: Data, root: Path) -> None:
    root.mkdir(parents=True)
    (root / "manifest.json").write_text('{"tasks": {}}')
    assert "v1.0 (not pulled, but put there)" in data("list")


def test_the_path_of_a_revision_and_of_a_task(data: Data, pulled: Path) -> None:
    assert data("path", "biaa") == f"{pulled}\n"
    assert data("path", "biaa", "--task", "dots") == f"{pulled / 'dots'}\n"
    assert "did you mean 'dots'" in data("path", "biaa", "--task", "dot", code=1)


def test_the_path_of_what_is_not_here_is_an_error(data: Data) -> None:
    told = data("path", "biaa", "--revision", "v3", code=1)
    assert "Unknown revision of biaa on this machine 'v3'" in told


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda file: file.unlink(), "missing"),
        (lambda file: file.write_bytes(b"short"), "expected 4000 bytes, got 5"),
        (lambda file: file.write_bytes(bytes(4000)), "expected the SHA-256"),
        (lambda file: (file.unlink(), file.symlink_to("001.bin")), "expected a file, got a link"),
    ],
)
def test_a_harmed_file_is_found(
    data: Data, pulled: Path, harm: Callable[[Path], object], told: str
) -> None:
    harm(pulled / "dots" / "input" / "0" / "000.bin")
    said = data("verify", "biaa", code=1)
    assert f"dots: input/0/000.bin: {told}" in said
    assert "2 of 3 tasks are as they were pulled" in said
    assert list(json.loads(data("verify", "biaa", "--json", code=1))["faults"]) == ["dots"]


def test_a_file_that_was_not_pulled_is_found(data: Data, pulled: Path) -> None:
    (pulled / "lines" / "evaluation" / "more.csv").write_text("x")
    assert "lines: evaluation/more.csv: was not pulled" in data("verify", "biaa", code=1)


def test_a_private_part_that_others_may_read_is_found(data: Data, pulled: Path) -> None:
    (pulled / "dots" / "evaluation").chmod(0o755)
    assert "dots: evaluation: others than its owner" in data("verify", "biaa", code=1)


def test_a_changed_manifest_is_found(data: Data, pulled: Path) -> None:
    (pulled / "manifest.json").write_text('{"tasks": {}}')
    assert "manifest.json: changed or missing" in data("verify", "biaa", code=1)


def test_verifying_goes_by_task(data: Data, pulled: Path) -> None:
    (pulled / "dots" / "input" / "0" / "000.bin").unlink()
    assert "1 of 1 tasks" in data("verify", "biaa", "--task", "lines")


def test_a_removed_task_can_be_pulled_again(data: Data, pulled: Path, hub: Any) -> None:
    assert data("rm", "biaa", "--revision", "v1.0", "--task", "dots", "-y") == "removed dots\n"
    assert not (pulled / "dots").exists()
    with pytest.raises(DataMissingError, match=r"for dots\. Mend: fetch them with `evals data"):
        open_edition("v1.0")
    hub.served.clear()
    data("pull", "biaa")
    assert {path.split("/")[0] for path in hub.served} == {"dots"}
    assert "3 of 3" in data("verify", "biaa")


def test_a_removed_revision_is_gone(data: Data, pulled: Path) -> None:
    data("rm", "biaa", "--revision", "v1.0", "--yes")
    assert os.listdir(pulled.parent) == []


def test_what_a_killed_removal_left_is_not_seen_and_goes_with_the_next(
    data: Data, pulled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda path: None)
        data("rm", "biaa", "--revision", "v1.0", "-y")
    assert json.loads(data("list", "--json"))["here"] == []
    with pytest.raises(UnknownNameError, match="Unknown edition"):
        open_edition("v1.0")
    data("pull", "biaa")
    data("rm", "biaa", "--revision", "v1.0", "-y")
    assert os.listdir(pulled.parent) == []


def test_nothing_is_removed_without_a_yes(data: Data, pulled: Path) -> None:
    data("rm", "biaa", "--revision", "v1.0", code=1)
    assert "3 of 3" in data("verify", "biaa")


def test_what_somebody_put_there_is_not_removed(data: Data, root: Path) -> None:
    root.mkdir(parents=True)
    (root / "manifest.json").write_text('{"tasks": {}}')
    assert "remove the folder yourself" in data("rm", "biaa", "--revision", "v1.0", "-y", code=1)
    assert (root / "manifest.json").exists()


def test_logs_are_told_the_commit_and_the_manifests_digest(pulled: Path, hub: Any) -> None:
    facts = edition_facts("v1.0")
    assert facts is not None
    assert (facts["revision"], facts["repo"]) == ("v1.0", hub.repo)
    assert facts["commit"] == hub.revisions["v1.0"]
    assert len(facts["manifest_sha256"]) == 64
    assert edition_facts("synthetic") is None
