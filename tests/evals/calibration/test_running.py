from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest
import typer
from typer.testing import CliRunner

from evals.calibration.command import calibrate as command
from evals.calibration.records import Record, read_records
from evals.calibration.running import RECORDS, Plan, calibrate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    # What multiprocessing leaves to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def strict(rows: list[Record], agent: str, **wanted: object) -> list[float | None]:
    return [
        row.strict
        for row in rows
        if row.agent == agent and all(getattr(row, k) == v for k, v in wanted.items())
    ]


def test_every_agent_is_scored_once_and_not_again(tasks_root: Path, tmp_path: Path) -> None:
    plan = Plan(seeds=2, difficulties=(0.0, 1.0), damaged="middle", tasks_root=tasks_root)
    rows = calibrate(plan, tmp_path / "out")
    assert all(row.outcome is not None for row in rows), rows
    assert strict(rows, "oracle") == [1.0] * 4
    assert strict(rows, "naive", kind="blank") == [0.0] * 4
    assert strict(rows, "baseline", difficulty=0.0) == [1.0] * 2
    assert strict(rows, "baseline", difficulty=1.0) == [pytest.approx(2 / 3, abs=1e-6)] * 2
    damaged = [row for row in rows if row.agent == "perturbed"]
    assert {row.difficulty for row in damaged} == {1.0}
    assert len({row.key for row in rows}) == len(rows)
    content = (tmp_path / "out" / RECORDS).read_bytes()
    assert calibrate(plan, tmp_path / "out") == rows
    assert (tmp_path / "out" / RECORDS).read_bytes() == content

    script = tasks_root / "cells" / "solution" / "solve.py"
    script.write_text("print('nothing found')\n", encoding="utf-8")
    added = calibrate(plan, tmp_path / "out")[len(rows) :]
    assert [(row.agent, row.strict) for row in added] == [("baseline", 0.0)] * 4


def test_a_run_is_taken_up_where_it_stopped(tasks_root: Path, tmp_path: Path) -> None:
    plan = Plan(seeds=1, difficulties=(0.5,), damaged="none", tasks_root=tasks_root)
    whole = calibrate(plan, tmp_path / "out")
    path = tmp_path / "out" / RECORDS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:20], encoding="utf-8")
    again = calibrate(plan, tmp_path / "out")
    assert {row.key for row in again} == {row.key for row in whole}
    assert [row.seconds for row in again[:2]] == [row.seconds for row in whole[:2]]


def test_a_solution_that_hangs_or_fails_is_graded_on_what_it_left(
    tasks_root: Path, tmp_path: Path
) -> None:
    script = tasks_root / "cells" / "solution" / "solve.py"
    plan = Plan(seeds=1, difficulties=(0.5,), damaged="none", tasks_root=tasks_root)
    solves = script.read_text(encoding="utf-8")
    script.write_text(solves + "import time; time.sleep(600)\n", encoding="utf-8")
    [row] = [r for r in calibrate(plan, tmp_path / "a", seconds=4) if r.agent == "baseline"]
    assert row.note == "the solution did not end within 4 s"
    assert row.strict == pytest.approx(6 / 7, abs=1e-6)
    script.write_text("raise SystemExit('no cells')\n", encoding="utf-8")
    [row] = [r for r in calibrate(plan, tmp_path / "b") if r.agent == "baseline"]
    assert row.note == "the solution failed with exit code 1: no cells"
    assert row.outcome == 0.0


SCRIPT = """
import sys
from pathlib import Path
from evals.calibration.running import Plan, calibrate
if __name__ == "__main__":
    plan = Plan(seeds=1, difficulties=(0.5,), damaged="none", tasks_root=Path(sys.argv[1]))
    calibrate(plan, Path(sys.argv[2]))
"""


def test_ctrl_c_leaves_no_process_and_no_folder(tasks_root: Path, tmp_path: Path) -> None:
    marker = tmp_path / "started"
    solution = f"import pathlib, time; pathlib.Path({str(marker)!r}).touch(); time.sleep(600)\n"
    (tasks_root / "cells" / "solution" / "solve.py").write_text(solution, encoding="utf-8")
    (tmp_path / "run.py").write_text(SCRIPT, encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py"), str(tasks_root), str(tmp_path / "out")],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not marker.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marker.exists()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert list(scratch.glob("evals-calibrate-*")) == []
    own = str(tasks_root)
    left = [p for p in psutil.process_iter(["cmdline"]) if own in " ".join(p.info["cmdline"] or [])]
    assert left == []
    assert {row.agent for row in read_records(tmp_path / "out" / RECORDS)} <= {"oracle", "naive"}


def test_the_command_runs_a_plan_and_writes_its_summary(
    tasks_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.edition.assets", lambda: tasks_root.parent)
    suite = tasks_root.parent / "tasks" / "biaa"
    suite.mkdir()
    (tasks_root / "cells").rename(suite / "cells")
    app = typer.Typer()
    app.command()(command)
    arguments = ["--seeds", "2", "--steps", "1", "--damaged", "none", "--output"]
    told = CliRunner().invoke(app, [*arguments, str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert "fluo-cell-counting-2d-cellfmcount" in told.output
    assert (tmp_path / "out" / "calibration.png").stat().st_size > 10_000
    wrong = CliRunner().invoke(app, [*arguments, str(tmp_path / "out"), "--scale", "huge"])
    assert wrong.exit_code != 0
