"""The three solvers that need no model, each through a real evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evals.errors import UnknownNameError
from evals.harness.baseline import baseline
from evals.harness.naive import naive
from evals.harness.oracle import oracle
from scorers.contract import Family, Job, Result

if TYPE_CHECKING:
    from pathlib import Path


def _perfect(job: Job, folder: Path) -> None:
    assert job.reference_dir is not None
    truth = (job.reference_dir / "a.csv").read_text(encoding="utf-8")
    (folder / "deep").mkdir()
    (folder / "deep" / "a.csv").write_text(truth, encoding="utf-8")


def _blank(job: Job, folder: Path) -> None:
    (folder / "a.csv").write_text("image,count\n", encoding="utf-8")


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every capsule be of a family whose perfect submission is the reference's text."""
    dots = Family("dots", lambda job: Result(1.0), _perfect, _blank)
    monkeypatch.setattr("scorers.graders.family_for", lambda spec, rubric: dots)


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    folder: Path = make_capsule(tmp_path)
    return folder


def solution(capsule: Path, program: str) -> None:
    (capsule / "solution").mkdir()
    (capsule / "solution" / "solve.py").write_text(program, encoding="utf-8")


@pytest.mark.usefixtures("family")
def test_the_oracle_hands_in_the_reference(capsule: Path, run: Any) -> None:
    ran = run(capsule, oracle())
    assert ran.files == {"deep/a.csv": "evaluation of dots"}
    assert ran.sample.output.completion == "Handed in the reference, files: 1."


@pytest.mark.usefixtures("family")
def test_the_oracle_calls_no_model(capsule: Path, run: Any) -> None:
    ran = run(capsule, oracle())
    assert ran.sample.error is None
    assert not [event for event in ran.sample.events if event.event == "model"]


def test_the_oracle_says_that_it_needs_a_reference(capsule: Path, run: Any) -> None:
    rubric = capsule / "evaluation_rubric.yaml"
    without = "\nevaluation_metadata: {structure: none, ground_truth_present: false}\n"
    rubric.write_text(rubric.read_text(encoding="utf-8") + without, encoding="utf-8")
    (capsule / "evaluation" / "a.csv").unlink()
    (capsule / "evaluation").rmdir()
    ran = run(capsule, oracle())
    assert "has no evaluation/ folder" in ran.sample.error.message


def test_naive_empty_leaves_nothing(capsule: Path, run: Any) -> None:
    assert run(capsule, naive()).files == {}


def test_naive_bluff_claims_every_deliverable_and_leaves_none(capsule: Path, run: Any) -> None:
    ran = run(capsule, naive("bluff"))
    assert sorted(ran.files) == ["analysis.log", "overview.png", "report.md"]
    assert "`counts`: written" in ran.files["report.md"]


def test_the_picture_of_a_bluff_is_a_png(capsule: Path, run: Any) -> None:
    import io

    from PIL import Image

    picture = run(capsule, naive("bluff")).files["overview.png"].encode("latin-1")
    with Image.open(io.BytesIO(picture)) as image:
        image.load()
        assert image.size == (1, 1)


@pytest.mark.usefixtures("family")
def test_naive_blank_leaves_the_blank_deliverables_of_the_family(capsule: Path, run: Any) -> None:
    assert run(capsule, naive("blank")).files == {"a.csv": "image,count\n"}


def test_an_unknown_kind_of_naive_is_refused_with_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="'blnk'; expected one of empty, bluff, blank"):
        naive("blnk")


def test_the_baseline_runs_the_solution_with_input_and_output(capsule: Path, run: Any) -> None:
    solution(
        capsule,
        "import sys, pathlib, helper\n"
        "into = pathlib.Path(sys.argv[2])\n"
        "(into / 'out.txt').write_text(helper.read(sys.argv[1]))\n",
    )
    helper = "import pathlib\ndef read(folder): return (pathlib.Path(folder)/'a.txt').read_text()\n"
    (capsule / "solution" / "helper.py").write_text(helper, encoding="utf-8")
    ran = run(capsule, baseline())
    assert ran.files == {"out.txt": "input of dots"}
    assert ran.sample.output.completion == "The capsule's solution ran to its end."


def test_a_failing_solution_is_told_and_graded_on_what_it_left(capsule: Path, run: Any) -> None:
    solution(
        capsule,
        "import sys\nopen(sys.argv[2] + '/half.txt', 'w').close()\nraise ValueError('no cells')\n",
    )
    ran = run(capsule, baseline())
    assert sorted(ran.files) == ["half.txt"]
    assert ran.sample.error is None
    assert "exit code 1: ValueError: no cells" in ran.sample.output.completion
    [report] = [event.data for event in ran.sample.events if event.event == "info"]
    assert "ValueError: no cells" in report["stderr"]


def test_a_solution_that_does_not_end_is_stopped(capsule: Path, run: Any) -> None:
    solution(
        capsule,
        "import sys, time\nopen(sys.argv[2] + '/half.txt', 'w').close()\ntime.sleep(600)\n",
    )
    ran = run(capsule, baseline(timeout=5))
    assert "did not end within 5 s" in ran.sample.output.completion
    assert sorted(ran.files) == ["half.txt"]


def test_a_capsule_without_solution_is_a_clear_error(capsule: Path, run: Any) -> None:
    ran = run(capsule, baseline())
    assert "there is no solution/solve.py in it" in ran.sample.error.message


def test_a_solution_does_not_lie_in_the_output(capsule: Path, run: Any) -> None:
    solution(capsule, "print('nothing to do')\n")
    assert run(capsule, baseline()).files == {}
