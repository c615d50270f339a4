from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scorers.rubric.answers import read_answers, unscored
from scorers.rubric.arithmetic import checklist_score
from scorers.rubric.checklist import Checklist
from scorers.rubric.decisions import Decision
from scorers.rubric.items import Item

if TYPE_CHECKING:
    from scorers.rubric.arithmetic import ChecklistScore

WEIGHTS = {"critical": 3.0, "major": 2.0, "minor": 1.0}


def score_of(
    *judged: tuple[str, str | None], auto_fail: bool = False, threshold: float = 0.75
) -> ChecklistScore:
    """Score items given as (severity, status), named i0, i1, …."""
    items = tuple(
        Item(f"i{index}", "?", severity, WEIGHTS.get(severity, 1.0))
        for index, (severity, _) in enumerate(judged)
    )
    decisions = [Decision(f"i{index}", status) for index, (_, status) in enumerate(judged)]
    return checklist_score(items, decisions, Checklist(items, WEIGHTS, threshold, auto_fail))


def test_the_score_is_the_weight_passed_of_the_weight_decided() -> None:
    # (3 + 1) / (3 + 2 + 1)
    score = score_of(("critical", "pass"), ("major", "fail"), ("minor", "pass"))
    assert score.score == 0.6667
    assert score.strict == 0.6667
    assert score.share_decided == 1.0


def test_unknown_leaves_the_published_score_and_earns_nothing_in_the_strict_one() -> None:
    # Published 3 / (3 + 2), strict 3 / (3 + 2 + 1 + 2), decided 5 of 8.
    score = score_of(
        ("critical", "pass"), ("major", "fail"), ("minor", "unknown"), ("major", "unknown")
    )
    assert (score.score, score.strict, score.strict_lower) == (0.6, 0.375, 0.375)
    assert score.share_decided == 0.625


def test_an_unscored_item_is_no_zero_in_either_score() -> None:
    # Published 2 / 2 and strict 2 / 2, at worst 2 / 5.
    score = score_of(("major", "pass"), ("critical", None))
    assert (score.score, score.strict, score.strict_lower) == (1.0, 1.0, 0.4)
    assert score.weights["unscored"] == 3


def test_what_does_not_apply_leaves_both_scores() -> None:
    # 2 / (2 + 1) in both; the critical item is in neither.
    score = score_of(("major", "pass"), ("minor", "fail"), ("critical", "not_applicable"))
    assert (score.score, score.strict) == (0.6667, 0.6667)
    assert score.share_decided == 1.0


@pytest.mark.parametrize("status", ["unknown", None, "not_applicable"])
def test_without_a_decided_item_there_is_no_score(status: str | None) -> None:
    score = score_of(("critical", status), ("minor", status))
    assert (score.score, score.passed, score.strict, score.strict_lower) == (None, None, None, None)
    assert score.share_decided == 0.0


def test_without_any_item_there_is_no_score() -> None:
    assert score_of().score is None


def test_all_failed_is_zero_and_not_nothing() -> None:
    score = score_of(("critical", "fail"))
    assert (score.score, score.passed, score.strict) == (0.0, False, 0.0)


def test_an_unknown_severity_weighs_one() -> None:
    # 1 / (1 + 3)
    assert score_of(("blocker", "pass"), ("critical", "fail")).score == 0.25


def test_items_without_weight_decide_nothing() -> None:
    item = Item("a", "?", "note", 0.0)
    assert (
        checklist_score([item], [Decision("a", "pass")], Checklist((item,), WEIGHTS)).score is None
    )


@pytest.mark.parametrize(
    ("status", "passed"),
    [("pass", True), ("fail", False)],
)
def test_the_threshold_itself_passes(status: str, passed: bool) -> None:
    # 3 / 4 = 0.75 against 0 / 4.
    assert score_of(("critical", status), ("minor", "fail")).passed is passed


def test_the_threshold_is_held_against_the_rounded_score() -> None:
    # 2 / 3 = 0.66666… is 0.6667.
    assert score_of(("major", "pass"), ("minor", "fail"), threshold=0.6667).passed


@pytest.mark.parametrize(("auto_fail", "passed"), [(True, False), (False, True)])
def test_a_failed_critical_item_fails_the_whole_only_where_the_file_says_so(
    auto_fail: bool, passed: bool
) -> None:
    # 12 / 15 = 0.8
    judged = [("critical", "pass")] * 4 + [("critical", "fail")]
    score = score_of(*judged, auto_fail=auto_fail)
    assert (score.score, score.passed) == (0.8, passed)
    assert score.failed_criticals == ("i4",)


@pytest.mark.parametrize("status", ["unknown", None, "not_applicable", "pass"])
def test_a_critical_item_that_did_not_fail_stops_nothing(status: str | None) -> None:
    score = score_of(("critical", status), ("major", "pass"), auto_fail=True)
    assert score.passed
    assert score.failed_criticals == ()


def test_confidence_votes_and_weak_evidence_change_no_score() -> None:
    item = Item("a", "?")
    checklist = Checklist((item,), WEIGHTS)
    weak = Decision("a", "pass", 0.1, weak=True, votes={"pass": 2, "fail": 1})
    sure = Decision("a", "pass", 1.0)
    assert checklist_score([item], [weak], checklist) == checklist_score([item], [sure], checklist)


def test_the_breakdown_has_the_published_keys_and_counts_the_open_ones_as_unknown() -> None:
    items = (Item("a", "?", "major", 2.0), Item("b", "?", "major", 2.0), Item("c", "?"))
    checklist = Checklist(items, WEIGHTS, 0.75, critical_auto_fail=False)
    decisions = [Decision("b", None), Decision("c", "not_applicable"), Decision("a", "pass")]
    assert checklist_score(items, decisions, checklist).breakdown(checklist) == {
        "aggregation": "decided_only",
        "severity_weights": WEIGHTS,
        "pass_threshold": 0.75,
        "critical_auto_fail": False,
        "earned_weighted": 2.0,
        "decided_weighted": 2.0,
        "total_weighted": 5.0,
        "by_severity": {
            "major": {"total": 2, "pass": 1, "fail": 0, "unknown": 1},
            "minor": {"total": 1, "pass": 0, "fail": 0, "unknown": 1},
        },
    }


@pytest.mark.parametrize(
    ("decisions", "complaint"),
    [
        ([], r"none for \['a'\]"),
        ([Decision("a", "pass"), Decision("a", "pass")], r"too many for \['a'\]"),
        ([Decision("a", "pass"), Decision("b", "pass")], r"too many for \['b'\]"),
        ([Decision("a", "maybe")], r"got \['maybe'\]"),
    ],
)
def test_each_asked_item_needs_exactly_one_decision_of_a_known_status(
    decisions: list[Decision], complaint: str
) -> None:
    item = Item("a", "?")
    with pytest.raises(ValueError, match=complaint):
        checklist_score([item], decisions, Checklist((item,), WEIGHTS))


def test_a_judge_that_answers_badly_is_added_up_by_the_same_rules() -> None:
    critical, major, minor = (Item(name, "?", name, weight) for name, weight in WEIGHTS.items())
    refused, cut = Item("refused", "?", "major", 2.0), Item("cut", "?", "critical", 3.0)
    answer = json.dumps(
        {
            "results": [
                {"item_id": "critical", "status": "pass"},
                {"item_id": "major", "status": "yes"},
                {"item_id": "nobody asked", "status": "pass"},
                {"item_id": "minor", "status": "fail"},
            ]
        }
    )
    decisions = [
        *read_answers(answer, (critical, major, minor), ()).decisions,
        *read_answers(answer[:20], (cut,), ()).decisions,
        unscored(refused, "the judge refused"),
    ]
    items = (critical, major, minor, refused, cut)
    score = checklist_score(items, decisions, Checklist(items, WEIGHTS))
    # Weakly passed 3, failed 1, without a valid answer 2 + 2 + 3.
    assert (score.score, score.strict, score.strict_lower) == (0.75, 0.75, 0.2727)
    assert score.share_decided == 0.3636
