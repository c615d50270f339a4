"""What the solvers without a model earn on segmentation, counting and tracking tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inspect_ai import eval

from evals.biaa.task import biaa
from evals.harness.baseline import baseline
from evals.harness.naive import naive
from evals.harness.oracle import oracle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inspect_ai.scorer import Score
    from inspect_ai.solver import Solver

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # What Inspect and multiprocessing leave to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

COUNTING = "fluo-cell-counting-2d-cellfmcount"
TASKS = [
    "3d-fluo-cell-segmentation-lateral-line-idr0079",
    COUNTING,
    "he-nuinsseg-nuclear-segmentation",
    "phase-contrast-bacteria-tracking-toiam",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder for the edition, made once for all tests here, and for the logs."""
    place = tmp_path_factory.mktemp("ceiling-and-floor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALS_CACHE", str(place / "cache"))
        yield place


def scores(folder: Path, solver: Solver) -> dict[str, Score]:
    task = biaa(tasks=TASKS, sandbox="local", solver=solver, submissions=str(folder / "kept"))
    [log] = eval(task, model="none/none", display="none", log_dir=str(folder / "logs"))
    assert log.status == "success", log.error
    assert not [sample.error for sample in log.samples or [] if sample.error]
    return {str(sample.id): (sample.scores or {})["grade"] for sample in log.samples or []}


def outcomes(found: dict[str, Score], key: str = "outcome") -> dict[str, float]:
    values = {}
    for name, score in found.items():
        assert isinstance(score.value, dict)
        values[name] = float(score.value[key])  # type: ignore[arg-type]  # our scorer's are floats
    return values


def share_of_empty_images(found: Score) -> float:
    items = (found.metadata or {})["items"]
    return sum(item["gt_count"] == 0 for item in items) / len(items)


def test_the_oracle_earns_exactly_one_everywhere(folder: Path) -> None:
    found = scores(folder, oracle())
    assert sorted(found) == sorted(TASKS)
    assert set(outcomes(found).values()) == {1.0}
    assert set(outcomes(found, "strict").values()) == {1.0}
    assert set(outcomes(found, "passed").values()) == {1.0}


@pytest.mark.parametrize("kind", ["empty", "bluff"])
def test_what_delivers_nothing_earns_nothing(folder: Path, kind: str) -> None:
    assert set(outcomes(scores(folder, naive(kind))).values()) == {0.0}


@pytest.fixture(scope="module")
def blank(folder: Path) -> dict[str, Score]:
    return scores(folder, naive("blank"))


def test_blank_deliverables_earn_their_floor(blank: dict[str, Score]) -> None:
    by_task = outcomes(blank)
    empty = share_of_empty_images(blank[COUNTING])
    assert by_task.pop(COUNTING) == pytest.approx(empty, abs=1e-4)
    assert max(by_task.values()) <= 0.05
    assert max(outcomes(blank, "strict").values()) <= 0.05


def test_the_baseline_lies_clearly_between_floor_and_ceiling(
    folder: Path, blank: dict[str, Score]
) -> None:
    floor = outcomes(blank)
    for name, value in outcomes(scores(folder, baseline())).items():
        assert floor[name] + 0.1 < value < 0.99, name
