"""Making of the synthetic edition."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from evals.data.recipe import Recipe
from evals.data.synthetic import make_capsules
from evals.errors import CapsuleInvalidError
from scorers.canary import canaries_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

SLOW = """\
import time
from pathlib import Path


def simulate(out, **options):
    (Path(out) / "input").mkdir()
    with open(Path(__file__).parent / "calls.log", "a") as calls:
        calls.write("call\\n")
    time.sleep({seconds})
    (Path(out) / "input" / "a.txt").write_text("made")
"""

MAKE = """\
import signal
import sys
from pathlib import Path

from evals.data.recipe import Recipe
from evals.data.synthetic import make_capsules

# Whoever runs the tests in the background may have switched it off.
signal.signal(signal.SIGINT, signal.default_int_handler)
print(*make_capsules([(Path(sys.argv[1]), Recipe())]))
"""


def maker(task: Path) -> subprocess.Popen[str]:
    """Start another process that makes the task's capsule."""
    return subprocess.Popen(
        [sys.executable, "-c", MAKE, str(task)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def slow_task(parent: Path, make_task: Any, seconds: float) -> Path:
    """Return a task folder whose simulator takes its time and counts its calls."""
    task: Path = make_task(parent)
    (task / "simulate.py").write_text(SLOW.format(seconds=seconds), encoding="utf-8")
    return task


def left(cache: Path) -> list[str]:
    """Return what lies in the cache beside lock files."""
    return sorted(
        path.name for path in (cache / "synthetic").iterdir() if not path.name.startswith(".lock-")
    )


def test_a_made_capsule_is_whole(tmp_path: Path, make_task: Any) -> None:
    (made,) = make_capsules([(make_task(tmp_path), Recipe(seed=4))])
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert names == {
        "task_spec.yaml",
        "evaluation_rubric.yaml",
        "input/n.txt",
        "evaluation/square.txt",
        "evaluation/CANARY.txt",
        "solution/solve.py",
    }
    assert (made / "evaluation" / "square.txt").read_text(encoding="utf-8") == "16"


def test_the_reference_is_for_its_owner_alone(tmp_path: Path, make_task: Any) -> None:
    (made,) = make_capsules([(make_task(tmp_path), Recipe())])
    names = ("evaluation", "evaluation_rubric.yaml", "input", "task_spec.yaml")
    modes = [(made / name).stat().st_mode & 0o777 for name in names]
    assert modes == [0o700, 0o600, 0o755, 0o644]


def test_a_second_call_takes_what_is_there(tmp_path: Path, make_task: Any) -> None:
    task = slow_task(tmp_path, make_task, 0)
    assert make_capsules([(task, Recipe())]) == make_capsules([(task, Recipe())])
    assert (task / "calls.log").read_text(encoding="utf-8") == "call\n"


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(seed=1),
        Recipe(difficulty=0.7),
        Recipe(scale="standard"),
        Recipe(biology="randomised"),
        Recipe(salt="pepper"),
    ],
)
def test_another_recipe_makes_another_capsule(
    tmp_path: Path, make_task: Any, recipe: Recipe
) -> None:
    task = make_task(tmp_path)
    assert make_capsules([(task, recipe)]) != make_capsules([(task, Recipe())])


@pytest.mark.parametrize("name", ["simulate.py", "task_spec.yaml", "solution/solve.py"])
def test_a_changed_source_makes_another_capsule(tmp_path: Path, make_task: Any, name: str) -> None:
    task = make_task(tmp_path)
    before = make_capsules([(task, Recipe())])
    with (task / name).open("a", encoding="utf-8") as stream:
        stream.write("\n# changed\n")
    assert make_capsules([(task, Recipe())]) != before


def test_two_runs_at_once_make_it_once(tmp_path: Path, make_task: Any, own_cache: Path) -> None:
    task = slow_task(tmp_path, make_task, 1.5)
    runs = [maker(task), maker(task)]
    said = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert said[0][0] == said[1][0]
    assert (task / "calls.log").read_text(encoding="utf-8") == "call\n"
    assert len(left(own_cache)) == 1


def test_an_interrupted_run_leaves_nothing(tmp_path: Path, make_task: Any, own_cache: Path) -> None:
    task = slow_task(tmp_path, make_task, 60)
    run = maker(task)
    deadline = time.monotonic() + 30
    while not (task / "calls.log").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, complaint = run.communicate(timeout=30)
    assert "KeyboardInterrupt" in complaint
    assert left(own_cache) == []


def test_a_killed_run_is_taken_up_by_the_next(
    tmp_path: Path, make_task: Any, own_cache: Path
) -> None:
    task = slow_task(tmp_path, make_task, 2)
    run = maker(task)
    deadline = time.monotonic() + 30
    while not (task / "calls.log").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.kill()
    run.communicate(timeout=30)
    (made,) = make_capsules([(task, Recipe())])
    assert (made / "input" / "a.txt").read_text(encoding="utf-8") == "made"
    assert left(own_cache) == [made.name]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("def simulate(out, **o):\n    raise ValueError('too small')\n", "too small"),
        ("def simulate(out, **o):\n    pass\n", "wrote no input/"),
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
    ],
)
def test_a_failing_simulator_is_told_and_leaves_nothing(
    tmp_path: Path, make_task: Any, own_cache: Path, script: str, expected: str
) -> None:
    task = make_task(tmp_path)
    (task / "simulate.py").write_text(script, encoding="utf-8")
    with pytest.raises(CapsuleInvalidError, match=expected):
        make_capsules([(task, Recipe())])
    assert left(own_cache) == []


def test_the_canary_of_an_instance_stands_in_its_whole_private_part_and_nowhere_else(
    tmp_path: Path, make_task: Any
) -> None:
    (made,) = make_capsules([(make_task(tmp_path), Recipe(seed=4))])
    suite, own = canaries_of(made)
    assert own != suite
    holding = {
        path.relative_to(made).as_posix()
        for path in made.rglob("*")
        if path.is_file() and own in path.read_text(encoding="utf-8")
    }
    assert holding == {"evaluation/CANARY.txt", "evaluation_rubric.yaml"}


def test_instances_have_canaries_of_their_own(tmp_path: Path, make_task: Any) -> None:
    task = make_task(tmp_path)
    places = make_capsules([(task, Recipe(seed=1)), (task, Recipe(seed=1, salt="pepper"))])
    assert canaries_of(places[0])[1] != canaries_of(places[1])[1]


def test_a_simulator_without_biology_is_not_given_any(tmp_path: Path, make_task: Any) -> None:
    (made,) = make_capsules([(make_task(tmp_path), Recipe(seed=4, biology="randomised"))])
    assert (made / "input" / "n.txt").read_text(encoding="utf-8").startswith("4 ")


def test_a_task_without_simulator_is_told(tmp_path: Path, make_task: Any) -> None:
    task = make_task(tmp_path)
    (task / "simulate.py").unlink()
    with pytest.raises(CapsuleInvalidError, match="expected the task's simulator, got nothing"):
        make_capsules([(task, Recipe())])


def test_making_leaves_no_compiled_files_among_the_sources(tmp_path: Path, make_task: Any) -> None:
    task = make_task(tmp_path)
    make_capsules([(task, Recipe())])
    assert [name for _, folders, _ in os.walk(task) for name in folders] == ["solution"]
