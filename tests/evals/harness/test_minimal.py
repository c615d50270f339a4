"""Generate, run, repair: BioXArena's loop through real evaluations with scripted models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evals.harness.minimal import SHOWN, minimal, program_in
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from pathlib import Path

# Inspect passes it to a library that has renamed it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

GOOD = "open('counts.csv', 'w').write('image,count\\n')"


def fenced(program: str) -> str:
    return f"```python\n{program}\n```"


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    folder: Path = make_capsule(tmp_path)
    return folder


def said(ran: Any, role: str) -> list[str]:
    return [message.text for message in ran.sample.messages if message.role == role]


def reports(ran: Any) -> list[Any]:
    return [
        event.data
        for event in ran.sample.events
        if event.event == "info" and event.source == "evals/minimal"
    ]


def test_a_program_that_works_is_the_last(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, minimal(), scripted(fenced(GOOD), "not asked for"))
    assert ran.files == {"counts.csv": "image,count\n", "solution.py": f"{GOOD}\n"}
    assert said(ran, "assistant") == [fenced(GOOD)]
    assert not said(ran, "system")
    assert "Input: " in said(ran, "user")[0]
    assert "single fenced block" in said(ran, "user")[0]


def test_a_program_that_fails_is_repaired_from_its_own_complaint(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, minimal(), scripted(fenced("raise ValueError('no cells')"), fenced(GOOD)))
    request = said(ran, "user")[1]
    assert "exit code 1" in request
    assert "ValueError: no cells" in request
    assert "counts.csv" in ran.files
    assert [(each["attempt"], each["exit_code"]) for each in reports(ran)] == [(1, 1), (2, 0)]


def test_a_program_that_leaves_files_out_is_asked_for_them(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, minimal(), scripted(fenced("print('done')"), fenced(GOOD)))
    assert "Missing files: *.csv" in said(ran, "user")[1]
    assert "counts.csv" in ran.files


def test_an_empty_file_is_a_missing_one(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, minimal(), scripted(fenced("open('a.csv', 'w')"), fenced(GOOD)))
    assert "Missing files: *.csv" in said(ran, "user")[1]


def test_three_programs_are_the_most(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, minimal(), scripted(*[fenced("raise SystemExit(2)")] * 9))
    assert len(said(ran, "assistant")) == 3
    assert len(said(ran, "user")) == 3
    assert ran.sample.error is None
    assert [each["exit_code"] for each in reports(ran)] == [2, 2, 2]


def test_an_answer_without_a_program_uses_up_an_attempt(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, minimal(attempts=2), scripted("I cannot do that.", fenced(GOOD), "more"))
    assert "holds no program" in said(ran, "user")[1]
    assert "counts.csv" in ran.files


def test_a_program_that_does_not_end_is_told_how_to_be_faster(
    capsule: Path, run: Any, scripted: Any
) -> None:
    model = scripted(fenced("import time; time.sleep(600)"), fenced(GOOD))
    ran = run(capsule, minimal(timeout=2), model)
    assert "did not end within 2 s" in said(ran, "user")[1]
    assert "Save files that can be handed in early" in said(ran, "user")[1]
    assert reports(ran)[0]["timed_out"] is True
    assert "counts.csv" in ran.files


def test_of_complaints_the_beginning_is_shown(capsule: Path, run: Any, scripted: Any) -> None:
    long = "import sys; sys.exit('first ' + 9999 * 'x' + ' last')"
    request = said(run(capsule, minimal(), scripted(fenced(long), fenced(GOOD))), "user")[1]
    assert "first xxx" in request
    assert "last" not in request
    assert len(request) < SHOWN + 500


def test_what_is_shown_of_complaints_can_be_set(capsule: Path, run: Any, scripted: Any) -> None:
    model = scripted(fenced("import sys; sys.exit(400 * 'x')"), fenced(GOOD))
    request = said(run(capsule, minimal(shown=50), model), "user")[1]
    assert request.count("x" * 50) == 1
    assert "x" * 51 not in request


def test_a_program_cannot_bar_its_successor(capsule: Path, run: Any, scripted: Any) -> None:
    bar = "import os; os.remove('solution.py'); os.makedirs('solution.py/deep')"
    ran = run(capsule, minimal(), scripted(fenced(bar), fenced(GOOD)))
    assert ran.sample.error is None
    assert ran.files["solution.py"] == f"{GOOD}\n"


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        ("First\n```python\na\n```\nBetter\n```py\nb\nc\n```\nDone", "b\nc\n"),
        ("```\nprint('''`''')\n```", "print('''`''')\n"),
        ("import numpy\nprint(numpy.pi)", "import numpy\nprint(numpy.pi)"),
        ("I cannot", None),
        ("", None),
    ],
)
def test_a_program_is_the_last_block_or_what_looks_like_one(
    answer: str, program: str | None
) -> None:
    assert program_in(answer) == program


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"timeout": "2h"}, {"shown": None}])
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionInvalidError, match=f"Option {next(iter(wrong))}"):
        minimal(**wrong)


@pytest.mark.docker
@pytest.mark.slow
def test_programs_run_as_the_agent_on_docker(
    capsule: Path, run_on_docker: Any, scripted: Any
) -> None:
    program = (
        "import getpass, pathlib, skimage\n"
        "text = pathlib.Path('/workspace/input/a.txt').read_text()\n"
        "pathlib.Path('counts.csv').write_text(f'{getpass.getuser()}: {text}')"
    )
    ran = run_on_docker(capsule, minimal(), scripted(fenced("import no_such"), fenced(program)))
    assert "ModuleNotFoundError" in said(ran, "user")[1]
    assert ran.files["counts.csv"] == "agent: input of dots"
