from __future__ import annotations

import json
from typing import Any

import pytest

from scorers.rubric.decisions import Decision
from scorers.rubric.level_totals import DimensionTotal, level_score, published_total
from scorers.rubric.levels import parse_levels

RUBRIC = parse_levels(
    """\
Criterion 1: Cohort
Levels: A=60 B=30 C=0
[A]: Good.
[B]: Fair.
[C]: Bad.
Criterion 2: Test
Levels: A=40 B=18 C=0
[A]: Good.
[B]: Fair.
[C]: Bad.
Criterion 3: Source Reliability
Levels: A=0 B=-5 C=-10
[A]: Good.
[B]: Fair.
[C]: Bad.
""",
    "rubric.txt",
).with_dimensions(
    {
        "criterion_1": "data handling",
        "criterion_2": "data handling",
        "criterion_3": "source reliability",
    }
)


def decided(*statuses: str | None) -> list[Decision]:
    return [Decision(f"criterion_{n}", status) for n, status in enumerate(statuses, start=1)]


def published(criteria: Any, *, signed: bool = False) -> float:
    return published_total(json.dumps({"criteria": criteria}), RUBRIC, signed=signed).score


def test_points_are_added_with_and_without_penalties() -> None:
    # 60 + 18, and 10 less.
    score = level_score(RUBRIC, decided("A", "B", "C"))
    assert (score.unsigned, score.signed, score.strict, score.strict_upper) == (78, 68, 68, 68)
    assert score.share_decided == 1.0


def test_a_total_is_never_below_zero() -> None:
    assert level_score(RUBRIC, decided("C", "C", "C")).signed == 0


def test_an_unknown_criterion_adds_nothing_and_in_the_strict_total_its_worst_level() -> None:
    # 60 + 18; strict 60 + 18 - 10; decided 100 of 110 points.
    score = level_score(RUBRIC, decided("A", "B", "unknown"))
    assert (score.unsigned, score.signed, score.strict, score.strict_upper) == (78, 78, 68, 68)
    assert score.share_decided == 0.9091


def test_an_unscored_criterion_leaves_the_strict_total_a_range() -> None:
    # 40 + 0; criterion 1 is worth 0 to 60.
    score = level_score(RUBRIC, decided(None, "A", "A"))
    assert (score.signed, score.strict, score.strict_upper) == (40, 40, 100)


@pytest.mark.parametrize("status", [None, "unknown"])
def test_without_a_decided_criterion_there_is_no_total(status: str | None) -> None:
    score = level_score(RUBRIC, decided(status, status, status))
    assert (score.unsigned, score.signed, score.strict, score.strict_upper) == (None,) * 4
    assert score.share_decided == 0.0
    assert score.dimensions == {}


def test_dimensions_count_points_above_the_worst_level() -> None:
    # (30 + 40) / (60 + 40), and a penalty of 5 of 10.
    dimensions = level_score(RUBRIC, decided("B", "A", "B")).dimensions
    assert dimensions == {
        "data handling": DimensionTotal(70, 100),
        "source reliability": DimensionTotal(5, 10),
    }
    assert [total.share for total in dimensions.values()] == [0.7, 0.5]


def test_a_dimension_holds_its_decided_criteria_only() -> None:
    dimensions = level_score(RUBRIC, decided("B", "unknown", None)).dimensions
    assert dimensions == {"data handling": DimensionTotal(30, 60)}


def test_a_dimension_without_points_to_gain_has_no_share() -> None:
    assert DimensionTotal(0, 0).share is None


@pytest.mark.parametrize(
    ("decisions", "complaint"),
    [
        (decided("A", "A"), r"none for \['criterion_3'\]"),
        (decided("A", "A", "A", "A"), r"too many for \['criterion_4'\]"),
        (decided("A", "A", "D"), "expected A, B, C, unknown or None, got 'D'"),
    ],
)
def test_each_criterion_needs_exactly_one_level(decisions: list[Decision], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        level_score(RUBRIC, decisions)


@pytest.mark.parametrize(("signed", "total"), [(False, 78), (True, 68)])
def test_the_published_total_applies_penalties_only_with_signs(signed: bool, total: int) -> None:
    criteria = {
        "criterion_1": {"level": "A"},
        "criterion_2": {"level": " b"},
        "criterion_3": {"level": "C"},
    }
    assert published(criteria, signed=signed) == total


@pytest.mark.parametrize(
    ("criteria", "total"),
    [
        ({"criterion_1": {"level": "B"}}, 30),
        ({"criterion_1": {"level": "D"}}, 0),
        ({"criterion_1": {"score": 44}}, 30),
        ({"criterion_1": {"score": "46"}}, 60),
        ({"criterion_1": {"level": "D", "score": 45}}, 60),
        ({"criterion_1": {"score": True}}, 0),
        ({"criterion_1": "A"}, 0),
        ({"invented": {"level": "A", "score": 12}}, 12),
        ({"invented": {"level": "A"}}, 0),
        ({"invented": {"score": 1000}}, 100),
        ({"invented": {"score": -3}}, 0),
        ({}, 0),
    ],
)
def test_the_published_total_of_gaps_and_inventions(criteria: Any, total: float) -> None:
    assert published(criteria) == total


def test_the_published_total_tells_the_points_of_each_criterion() -> None:
    text = json.dumps({"criteria": {"criterion_2": {"level": "B"}, "x": {"score": 1.5}}})
    assert published_total(text, RUBRIC).points == {"criterion_2": 18, "x": 1.5}


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ('{"total_score": 61, "score": 5}', 61),
        ('{"score": 61}', 61),
        ('{"criteria": [], "total_score": 250}', 100),
        ('Fine. {"criteria": {"criterion_1": {"level": "A"}}} And {more}.', 60),
        ('{"criteria": {"criterion_1": {"level": "A", "reason": "a } b"}}, "score": 7}', 7),
        ('"total_score": 42, "score": 3', 42),
        ('{"score": 3, "total_score": 42', 42),
        ('{"score": 3', 3),
        ('{"total_score": Infinity}', 0),
        ("I cannot judge this.", 0),
        ("", 0),
        ("{" * 100_000 + "}" * 100_000, 0),
    ],
)
def test_the_published_total_of_an_answer_without_criteria(text: str, total: float) -> None:
    assert published_total(text, RUBRIC).score == total
