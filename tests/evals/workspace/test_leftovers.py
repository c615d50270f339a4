from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from evals.workspace.compose import OWNER_LABEL, SANDBOX_LABEL
from evals.workspace.leftovers import Leftovers, find_leftovers, remove_leftovers, selected
from evals.workspace.local import MARK_FILE
from evals.workspace.owner import is_gone, owner_mark

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def dead_mark() -> str:
    code = "from evals.workspace.owner import owner_mark; print(owner_mark())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def labels(project: str, owner: str, **more: str) -> dict[str, str]:
    known = {"com.docker.compose.project": project, SANDBOX_LABEL: "1", OWNER_LABEL: owner}
    return known | more


def test_the_mark_of_a_running_process_is_not_gone() -> None:
    assert not is_gone(owner_mark())


def test_the_mark_of_an_ended_process_is_gone(dead_mark: str) -> None:
    assert is_gone(dead_mark)


def test_a_process_that_took_over_the_number_of_another_is_not_its_owner() -> None:
    machine, pid, started = owner_mark().split("-")
    assert is_gone(f"{machine}-{pid}-{int(started) - 1000}")


@pytest.mark.parametrize("mark", ["", "00000000-1-1", "nonsense", "a-b-c"])
def test_a_mark_of_another_machine_is_never_surely_gone(mark: str) -> None:
    assert not is_gone(mark)


def test_only_sandboxes_whose_owner_is_gone_are_selected(dead_mark: str) -> None:
    found = [labels("dead", dead_mark), labels("alive", owner_mark())]
    assert selected(found, everything=False) == ["dead"]


def test_everything_takes_running_ones_too(dead_mark: str) -> None:
    found = [labels("dead", dead_mark), labels("alive", owner_mark())]
    assert selected(found, everything=True) == ["alive", "dead"]


def test_volumes_of_other_packages_are_never_selected() -> None:
    foreign = {"com.docker.compose.project": "inspect-other-iabc123"}
    assert selected([foreign], everything=True) == []


@pytest.fixture
def left_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead_mark: str) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("evals.workspace.leftovers._projects", lambda everything: [])
    folder = tmp_path / "tmpabc"
    (folder / "workspace" / "input").mkdir(parents=True)
    (folder / "workspace" / "input" / "a.tif").write_bytes(b"x")
    (folder / "workspace" / "input").chmod(0o555)
    (folder / MARK_FILE).write_text(json.dumps({"owner": dead_mark}), encoding="utf-8")
    return folder


def test_the_folder_of_a_killed_local_run_is_found_and_removed(left_folder: Path) -> None:
    found = find_leftovers()
    assert found == Leftovers(folders=(left_folder,))
    remove_leftovers(found)
    assert not left_folder.exists()


def test_the_folder_of_a_running_local_run_stays(left_folder: Path) -> None:
    (left_folder / MARK_FILE).write_text(json.dumps({"owner": owner_mark()}), encoding="utf-8")
    assert find_leftovers() == Leftovers()


def test_a_mark_that_is_none_of_ours_is_passed_over(left_folder: Path) -> None:
    (left_folder / MARK_FILE).write_text(f"{os.getpid()}", encoding="utf-8")
    assert find_leftovers() == Leftovers()
