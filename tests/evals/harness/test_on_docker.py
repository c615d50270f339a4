"""The solvers in the images that ship, on a real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile

from evals.harness.baseline import baseline
from evals.harness.naive import naive
from evals.harness.oracle import oracle
from evals.harness.react import react
from scorers.contract import Family, Job, Result

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    # Inspect passes it to a library that has renamed it.
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    folder: Path = make_capsule(tmp_path)
    volume = np.zeros((5, 40, 40), np.uint16)
    volume[2, 10:20, 10:20] = np.arange(100, 200).reshape(10, 10)
    tifffile.imwrite(folder / "input" / "volume.tif", volume)
    return folder


def test_the_oracle_hands_in_the_reference_on_docker(
    capsule: Path, run_on_docker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def perfect(job: Job, folder: Path) -> None:
        assert job.reference_dir is not None
        (folder / "a.csv").write_bytes((job.reference_dir / "a.csv").read_bytes())

    dots = Family("dots", lambda job: Result(1.0), perfect, perfect)
    monkeypatch.setattr("scorers.graders.family_for", lambda spec, rubric: dots)
    assert run_on_docker(capsule, oracle()).files == {"a.csv": "evaluation of dots"}


def test_a_bluff_reaches_the_output_on_docker(capsule: Path, run_on_docker: Any) -> None:
    files = run_on_docker(capsule, naive("bluff")).files
    assert sorted(files) == ["analysis.log", "overview.png", "report.md"]


def test_the_baseline_runs_as_the_agent_and_sees_no_reference(
    capsule: Path, run_on_docker: Any
) -> None:
    (capsule / "solution").mkdir()
    program = """import getpass, pathlib, sys
seen = [p.name for p in pathlib.Path(sys.argv[1]).parent.rglob("*") if p.suffix == ".csv"]
pathlib.Path(sys.argv[2], "who.txt").write_text(f"{getpass.getuser()} {seen}")
raise SystemExit("that is all")
"""
    (capsule / "solution" / "solve.py").write_text(program, encoding="utf-8")
    ran = run_on_docker(capsule, baseline())
    assert ran.files == {"who.txt": "agent []"}
    assert "exit code 1: that is all" in ran.sample.output.completion


def test_an_agent_works_and_looks_on_docker(
    capsule: Path, run_on_docker: Any, scripted: Any
) -> None:
    model = scripted(
        ("view_image", {"path": "volume.tif", "plane": 2, "contrast": "full"}),
        ("python", {"code": "import skimage; open('/workspace/output/x', 'w').write('y')"}),
        ("bash", {"command": "python3 -c 'import skimage' && ls /workspace/output"}),
        ("submit", {"answer": "done"}),
    )
    ran = run_on_docker(capsule, react(), model)
    look, _, listing = [message for message in ran.sample.messages if message.role == "tool"][:3]
    assert "/workspace/input/volume.tif: 5 x 40 x 40" in look.text
    assert [part.type for part in look.content] == ["text", "image"]
    assert listing.text.split() == ["x"]
    assert ran.files == {"x": "y"}
