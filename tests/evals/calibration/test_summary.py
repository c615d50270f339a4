from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evals.calibration import report
from evals.calibration.figure import draw
from evals.calibration.intervals import estimate, slope
from evals.calibration.records import Record
from evals.calibration.summary import Summary, summarise

if TYPE_CHECKING:
    from pathlib import Path

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)


def record(agent: str, difficulty: float, seed: int, strict: float, **more: object) -> Record:
    values = {
        "task": "cells",
        "family": "filaments",
        "dims": "",
        "kind": "",
        "dose": None,
        "outcome": min(1.0, strict + 0.1),
        "seconds": 1.0,
        "scale": "quick",
        "data": "",
    }
    return Record(
        agent=agent,
        difficulty=difficulty,
        seed=seed,
        strict=strict,
        **(values | more),  # type: ignore[arg-type]
    )


@pytest.fixture
def records() -> list[Record]:
    """Three seeds, a baseline that falls by 0.4, damage that is noticed and some that is not."""
    rows = []
    for seed in range(3):
        for step in STEPS:
            rows += [
                record("oracle", step, seed, 1.0),
                record("baseline", step, seed, 0.9 - 0.4 * step + 0.02 * seed),
                record("naive", step, seed, 0.0, kind="blank"),
                record("naive", step, seed, 0.3, kind="prior"),
            ]
        for dose in (0.05, 0.1, 0.2):
            damaged = {"agent": "perturbed", "difficulty": 0.5, "seed": seed, "dose": dose}
            rows += [
                record(**damaged, kind="drop", strict=1 - dose),  # type: ignore[arg-type]
                record(**damaged, kind="dilate", strict=1.0),  # type: ignore[arg-type]
            ]
    return rows


@pytest.fixture
def summary(records: list[Record]) -> Summary:
    return summarise(records)


def test_an_interval_is_that_of_students_t() -> None:
    found = estimate([0.2, 0.4, 0.6])
    half = 4.302653 * 0.2 / math.sqrt(3)
    assert found.mean == pytest.approx(0.4)
    assert (found.low, found.high) == pytest.approx((0.4 - half, 0.4 + half))
    assert estimate([0.5]).low is None


def test_the_interval_of_a_slope_covers_the_true_one_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        # Seeds differ in level and in slope, which is what makes them blocks.
        ladders = []
        for level, own in zip(rng.normal(0.5, 0.2, 5), rng.normal(-0.3, 0.1, 5), strict=True):
            noise = rng.normal(0, 0.05, len(STEPS))
            ladders.append({s: level + own * s + e for s, e in zip(STEPS, noise, strict=True)})
        found = slope(ladders)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= -0.3 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_slope_needs_two_difficulties() -> None:
    assert slope([{0.5: 1.0}]) is None


def test_means_and_slopes_are_told_for_each_agent(summary: Summary) -> None:
    rows = {(row["agent"], row["difficulty"]): row for row in summary.by_difficulty}
    assert rows["baseline", 1.0]["strict"] == pytest.approx(0.52)
    assert rows["baseline", 1.0]["published"] == pytest.approx(0.62)
    assert rows["baseline", 1.0]["strict_n"] == 3
    slopes = {row["agent"]: row for row in summary.slopes}
    assert slopes["baseline"]["strict_slope"] == pytest.approx(-0.4)
    assert slopes["oracle"]["strict_slope_high"] == pytest.approx(0, abs=1e-9)


def test_damage_that_does_not_lower_a_score_is_named(summary: Summary) -> None:
    [row] = summary.discrimination
    assert row["strict_unnoticed"] == "dilate"
    assert list(row["forgiven"]) == ["dilate"]
    assert row["kinds"] == 2
    assert row["strict_floor_agent"] == "naive(prior)"
    assert row["strict_oracle_minus_baseline"] == pytest.approx(0.28)
    assert row["strict_baseline_minus_floor"] == pytest.approx(0.42)
    drop = next(row for row in summary.damage if row["kind"] == "drop")
    assert drop["strict_by_dose"] == {"0.05": 0.95, "0.1": 0.9, "0.2": 0.8}


def test_tables_figure_and_text_are_made(summary: Summary, tmp_path: Path) -> None:
    report.write(summary, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "by_difficulty.csv",
        "calibration.png",
        "calibration.svg",
        "damage.csv",
        "discrimination.csv",
        "slopes.csv",
    ]
    text = report.render(summary)
    assert "strict does not fall with dilate: centre lines do not see" in text
    assert "-0.400 [-0.400, -0.400]" in text


def test_a_figure_holds_one_legend_whatever_the_number_of_tasks(
    summary: Summary, tmp_path: Path
) -> None:
    rows = [{**row, "task": f"task-{at}"} for at in range(16) for row in summary.by_difficulty]
    draw(rows, [tmp_path / "a.svg"])
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text.count('id="legend_1"') == 1
    assert 'id="legend_2"' not in text
    assert 'id="axes_16"' in text


def test_nothing_scored_gives_empty_tables(tmp_path: Path) -> None:
    summary = summarise([])
    report.write(summary, tmp_path)
    assert not (tmp_path / "calibration.png").exists()
