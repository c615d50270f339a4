from __future__ import annotations

import os
import sys
from functools import partial
from subprocess import Popen
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from inspect_ai.util import Store

from evals.errors import SandboxError
from evals.workspace.export import export
from evals.workspace.place import Workspace
from evals.workspace.settle import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for part in ("input", "output"):
        (tmp_path / "box" / "workspace" / part).mkdir(parents=True)
    output = tmp_path / "box" / "workspace" / "output"
    return Workspace(store=Store(), kind="local", output_dir=str(output), settled=True)


def bring_out(workspace: Workspace, dest: Path, **settings: Any) -> Any:
    return anyio.run(partial(export, workspace, dest, **{"keep": "all", **settings}))


def test_local_files_come_out_and_links_and_fifos_stay(
    workspace: Workspace, tmp_path: Path
) -> None:
    output = tmp_path / "box" / "workspace" / "output"
    (output / "sub").mkdir()
    (output / "sub" / "a.csv").write_text("1", encoding="utf-8")
    (output / "link.csv").symlink_to("/etc/passwd")
    (output / "folder").symlink_to("/etc")
    os.mkfifo(output / "pipe.csv")
    exported = bring_out(workspace, tmp_path / "dest")
    assert [file.path for file in exported.kept] == ["sub/a.csv"]
    assert {file.path for file in exported.dropped} == {"link.csv", "pipe.csv"}
    assert [path.name for path in (tmp_path / "dest").iterdir()] == ["sub"]


def test_only_deliverables_come_out_when_asked(workspace: Workspace, tmp_path: Path) -> None:
    output = tmp_path / "box" / "workspace" / "output"
    for name in ("a.csv", "b.csv"):
        (output / name).write_text(name, encoding="utf-8")
    exported = bring_out(workspace, tmp_path / "dest", keep="deliverables", found=["b.csv"])
    assert [file.path for file in exported.kept] == ["b.csv"]


def test_a_folder_that_holds_something_is_no_place_for_an_export(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "dest").mkdir()
    (tmp_path / "dest" / "old").touch()
    with pytest.raises(SandboxError, match="is not empty"):
        bring_out(workspace, tmp_path / "dest")


def test_a_workspace_that_may_still_change_is_not_exported(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.settled = False
    with pytest.raises(SandboxError, match="settle the workspace"):
        bring_out(workspace, tmp_path / "dest")


def test_a_sample_whose_setup_did_not_run_says_what_the_task_lacks(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="prepare_workspace"):
        bring_out(Workspace(store=Store()), tmp_path / "dest")


def test_local_processes_that_work_in_the_sandbox_end_with_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.settled = False
    inside = Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path / "box")
    outside = Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path)
    try:
        anyio.run(settle, workspace)
        assert inside.wait(timeout=10) == -9
        assert outside.poll() is None
    finally:
        for process in (inside, outside):
            process.kill()
            process.wait()
    assert workspace.settled


@pytest.mark.docker
def test_a_hostile_output_leaves_the_container_only_as_plain_files(
    bench: Any, cells: Callable[..., Path]
) -> None:
    hostile = (
        "cd /workspace/output && printf 'X,Y\\n1,1\\n2,2\\n' > a.csv && ln -s /etc/passwd b.csv && "
        "mkfifo c.csv && ln -s / everything && ln a.csv d.txt && touch \"$(printf 'x\\ny')\" && "
        "mkdir -p deep && ln -s ../../../capsule/evaluation deep/truth && chmod 000 a.csv"
    )
    sample = bench.shell(cells(), hostile)
    assert sample.error is None
    assert sample.scores["grade"].value["outcome"] == 0.5
    kept = sorted(path.name for path in bench.kept(sample).rglob("*"))
    assert kept == ["a.csv", "d.txt"]


@pytest.mark.docker
def test_without_a_grader_service_the_submission_is_exported_and_graded_here(
    bench: Any, cells: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evals.workspace import compose

    whole = compose.compose_for

    def lonely(*args: Any, **kwargs: Any) -> Any:
        config = whole(*args, **kwargs)
        del config.services["grader"]
        return config

    monkeypatch.setattr(compose, "compose_for", lonely)
    sample = bench.shell(cells(), "printf 'X,Y\\n1,1\\n2,2\\n' > /workspace/output/a.csv")
    assert sample.error is None
    assert sample.store["Workspace:grader_container"] == ""
    assert sample.scores["grade"].value["outcome"] == 0.5
