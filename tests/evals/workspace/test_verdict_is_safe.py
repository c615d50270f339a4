"""Whatever an agent leaves running, the verdict is on what lay there when it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import eval
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.workspace import docker
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.docker

TWO_OF_FOUR = "printf 'X,Y\\n1,1\\n2,2\\n' > /workspace/output/a.csv"
# Each round writes one more point, then shows that it lives.
WRITER = (
    "n=0; while :; do n=$((n+1)); echo $n,$n >> /workspace/output/a.csv; "
    "date +%s%N > /workspace/output/alive; done"
)
STARTS = {
    "nohup": f"nohup bash -c '{WRITER}' > /dev/null 2>&1 &",
    "setsid": f"setsid bash -c '{WRITER}' > /dev/null 2>&1 < /dev/null & disown",
    "double fork": f"( (trap '' HUP TERM INT; {WRITER}) > /dev/null 2>&1 < /dev/null & ) & ",
}


def graded_points(sample: Any) -> int:
    [item] = sample.store["Graded:grade"]["items"]
    return int(item["pred_count"])


@pytest.mark.parametrize("way", STARTS)
def test_a_process_that_keeps_writing_is_dead_before_the_verdict(
    bench: Any, cells: Callable[..., Path], way: str
) -> None:
    sample = bench.shell(cells(), TWO_OF_FOUR, STARTS[way], "sleep 0.5")
    assert sample.error is None
    kept = (bench.kept(sample) / "a.csv").read_text(encoding="utf-8")
    # The copy is taken after grading: a line more would be one that a living process wrote.
    assert graded_points(sample) == len(kept.splitlines()) - 1 > 2


def test_a_reference_that_only_its_owner_reads_is_graded_against(
    bench: Any, cells: Callable[..., Path]
) -> None:
    points = "printf 'X,Y\\n17,94\\n40,40\\n60,20\\n80,80\\n' > /workspace/output/a.csv"
    sample = bench.shell(cells(), points)
    assert sample.scores["grade"].value["outcome"] == 1.0


def test_files_put_by_a_solver_are_the_agents_and_are_graded(
    bench: Any, cells: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "ready"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.csv").write_text("X,Y\n1,1\n2,2\n3,3\n4,4\n", encoding="utf-8")
    (folder / "link").symlink_to("/etc/passwd")
    [sample] = bench.run(cells(), solver=put(str(folder))).samples
    assert sample.error is None
    assert sample.scores["grade"].value["outcome"] == 1.0
    assert sample.store["owner"] == "1000:1000"
    assert [file["path"] for file in sample.store["Graded:kept_files"]] == ["sub/a.csv"]


@solver
def put(folder: str) -> Solver:
    from pathlib import Path

    from inspect_ai.util import sandbox

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await state.store_as(Workspace).put_tree(Path(folder))
        told = await sandbox().exec(["stat", "-c", "%u:%g", "/workspace/output/sub/a.csv"])
        state.store.set("owner", told.stdout.strip())
        return state

    return solve


@solver
def kill_grader_of(name: str) -> Solver:
    """Kill the grader's container of one sample; leave half of the cells in the others."""
    from inspect_ai.util import sandbox

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == name:
            await docker.arun("kill", state.store_as(Workspace).grader_container)
        await sandbox().exec(["sh", "-c", TWO_OF_FOUR])
        return state

    return solve


def test_a_killed_grader_is_an_error_of_its_sample_alone(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    log = bench.run(cells("bad", "good"), solver=kill_grader_of("bad"))
    bad, good = sorted(log.samples, key=lambda sample: sample.id)
    assert log.status == "success"
    assert bad.error is not None
    assert not bad.scores
    assert good.error is None
    assert good.scores["grade"].value["outcome"] == 0.5
    assert remaining(bad) == remaining(good) == []


def test_an_open_network_where_none_was_asked_for_is_an_error_of_the_sample(
    cells: Callable[..., Path], images: Any, tmp_path: Path
) -> None:
    from evals.biaa.task import biaa

    task = biaa(edition=str(cells()), sandbox="docker", submissions=str(tmp_path / "s"))
    for sample in task.dataset:
        sample.sandbox.config.services["default"].network_mode = "bridge"
    [log] = eval(task, model="none/none", solver=[], log_dir=str(tmp_path / "l"), display="none")
    [sample] = log.samples
    assert "sees a network where none was asked for" in sample.error.message
    assert not sample.scores


def test_an_input_that_the_agent_cannot_read_is_an_error_that_says_how_to_mend_it(
    bench: Any, cells: Callable[..., Path]
) -> None:
    edition = cells()
    (edition / "cells" / "input" / "a.txt").chmod(0o600)
    [sample] = bench.run(edition, solver=put(str(edition / "cells" / "input"))).samples
    assert "cannot read /workspace/input/a.txt" in sample.error.message
    assert "chmod" in sample.error.message
    assert not sample.scores
