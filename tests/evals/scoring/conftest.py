"""Reports of a grader, as the tests need them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import eval
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.biaa.task import biaa
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 8


def picture(role: str = "thumbnail", raw: bytes = PNG, **changes: Any) -> dict[str, Any]:
    return {
        "name": "p.png",
        "caption": "prediction against reference",
        "role": role,
        "media_type": "image/png",
        "data": base64.b64encode(raw).decode(),
        **changes,
    }


@pytest.fixture
def make_picture() -> Callable[..., dict[str, Any]]:
    return picture


@pytest.fixture
def make_report() -> Callable[..., dict[str, Any]]:
    def make(**changes: Any) -> dict[str, Any]:
        report: dict[str, Any] = {
            "task_id": "tiny",
            "result_score": 0.75,
            "outcome": 0.75,
            "passed": True,
            "strict": 0.5,
            "metrics": {"mean_dice": 0.75},
            "strict_metrics": {"strict_pq": 0.5},
            "items": [{"item": "a.tif", "status": "scored", "dice": 0.75}],
            "deliverables": {"found": {"masks": ["a.tif"]}, "rejected": [], "missing": []},
            "pictures": [picture()],
            "error": None,
            "canary": [],
        }
        return report | changes

    return make


# Stands in for the package `scorers`: what it does is written in the capsule's reference.
FAKE_GRADER = """
import base64, json, os, pathlib, signal, sys, time

_, command, task, submission, flag = sys.argv
assert (command, flag) == ("grade", "--json")
kind = pathlib.Path(task, "evaluation", "a.csv").read_text().split()[0]
files = sorted(p.name for p in pathlib.Path(submission).rglob("*") if p.is_file())
png = b"\\x89PNG\\r\\n\\x1a\\n" + b"\\0" * 300
picture = lambda role: {
    "name": role, "caption": role, "role": role, "media_type": "image/png",
    "data": base64.b64encode(png).decode(),
}
if kind == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if kind == "nonsense":
    print("{")
    sys.exit()
if kind == "broken":
    sys.exit(f"cannot read {task}/evaluation/a.csv: it is broken")
outcome = OUTCOME if files else 0.0
print(json.dumps({
    "task_id": pathlib.Path(task).name, "result_score": outcome, "outcome": outcome,
    "passed": outcome >= 0.5, "strict": None if kind == "lax" else outcome / 2,
    "metrics": {"files": len(files)}, "strict_metrics": {},
    "items": [{"item": name, "status": "scored"} for name in files],
    "deliverables": {"found": {"counts": files}, "rejected": [], "missing": [], "refused": []},
    "pictures": [picture("thumbnail"), picture("overlay")],
    "error": None if files else "deliverable 'counts' not found",
}))
"""


@pytest.fixture
def set_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Replace the grader by one that gives this outcome to whatever was submitted."""

    def install(outcome: float) -> None:
        package = tmp_path / "fake" / "scorers"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("", encoding="utf-8")
        main = FAKE_GRADER.replace("OUTCOME", str(outcome))
        (package / "__main__.py").write_text(main, encoding="utf-8")
        monkeypatch.setattr("evals.scoring.run_grader._scorers_parent", lambda: str(package.parent))

    return install


SECRET = "the-reference-says-42"


@pytest.fixture
def make_edition(
    tmp_path: Path, make_capsule: Callable[..., Path], own_cache: Path
) -> Callable[..., Path]:
    """Give the writer of an edition: names of tasks, and what the grader does on each."""

    def make(**kinds: str) -> Path:
        for name, kind in kinds.items():
            folder = make_capsule(tmp_path / "edition", name)
            text = f"{kind} {SECRET} {name}"
            (folder / "evaluation" / "a.csv").write_text(text, encoding="utf-8")
        return tmp_path / "edition"

    return make


@solver
def leave(files: dict[str, str] | None = None, fail: bool = False) -> Solver:
    """Leave files in the output, then perhaps crash."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        output = state.store_as(Workspace).output_dir
        for name, text in (files or {}).items():
            await sandbox().write_file(f"{output}/{name}", text)
        if fail:
            raise RuntimeError("the harness broke")
        return state

    return solve


@pytest.fixture
def run_biaa(tmp_path: Path) -> Callable[..., EvalLog]:
    """Give the runner of `evals/biaa` on an edition, in the local sandbox."""

    def run(
        edition: Path,
        files: dict[str, str] | None = None,
        *,
        fail: bool = False,
        solver: Solver | None = None,
        model: Model | str = "none/none",
        options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> EvalLog:
        given = {"submissions": str(tmp_path / "submissions"), **(options or {})}
        task = biaa(edition=str(edition), sandbox="local", **given)
        [log] = eval(
            task,
            model=model,
            solver=solver or leave(files or {}, fail),
            log_dir=str(tmp_path / "logs"),
            display="none",
            **settings,
        )
        return log

    return run
