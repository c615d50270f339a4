from __future__ import annotations

import os
from pathlib import Path

import pytest

from scorers.rubric.checklist import Checklist, load_checklist
from scorers.rubric.checks.code import CALLS
from scorers.rubric.checks.mapping import RULES, decide, rules_for
from scorers.rubric.checks.results import CheckResult, Verdict
from scorers.rubric.checks.running import CHECKS
from scorers.rubric.items import Item

OURS = Path(__file__).parents[4] / "tasks" / "biaa" / "checklist.yaml"


def item(text: str, group: str) -> Item:
    return Item("chk_0001", text, subsection=group)


def found(check: str, verdict: Verdict) -> CheckResult:
    return CheckResult(check, verdict, f"{check} says so.", (f"file:{check}",))


LINES = item("Did the agent generate a track ID that persists across frames?", "tracking")
NOISE = item("Things too small were removed by a stated rule.", "segmentation")
UNITS = item("Lengths take the size of the pixel into account.", "feature-extraction")


def test_rules_name_checks_that_exist() -> None:
    assert {name for rule in RULES for name in rule.checks} <= {*CHECKS, *CALLS}


def test_calls_in_code_never_decide() -> None:
    assert not [rule for rule in RULES if {*rule.checks} & {*CALLS} and rule.decides]


def test_no_rule_stands_for_two_items_of_the_shipped_checklist() -> None:
    checklist = load_checklist(OURS)
    taken = [rule for item in checklist.items for rule in rules_for(item)]
    assert len(taken) == len(set(taken))


def released() -> Checklist:
    root = os.environ.get("BIABENCH_DATA")
    if not root:
        pytest.skip("BIABENCH_DATA does not name the folder of the released checklist")
    return load_checklist(Path(root) / "Checklist.yaml")


def test_each_rule_stands_for_one_item_of_either_checklist() -> None:
    lists = (load_checklist(OURS), released())
    for rule in RULES:
        counts = [sum(rule in rules_for(item) for item in each.items) for each in lists]
        assert max(counts) == 1, (rule, counts)


def test_a_verdict_that_decides_is_a_decision_with_its_evidence() -> None:
    (decision,) = decide([UNITS], [found("area_units", "pass")])
    assert (decision.status, decision.by) == ("pass", "check")
    assert decision.rationale == "area_units says so."
    assert decision.refs == ("file:area_units",)


def test_not_applicable_is_a_decision() -> None:
    (decision,) = decide([UNITS], [found("area_units", "not_applicable")])
    assert decision.status == "not_applicable"


@pytest.mark.parametrize("results", [[], [found("area_units", "unknown")]])
def test_what_is_unknown_stays_open(results: list[CheckResult]) -> None:
    assert decide([UNITS], results) == ()


def test_a_verdict_that_is_no_reason_leaves_the_item_open() -> None:
    assert decide([NOISE], [found("no_specks", "pass")]) == ()
    assert decide([NOISE], [found("no_specks", "fail")])[0].status == "fail"


@pytest.mark.parametrize(("ids", "lineage", "status"), [
    ("pass", "pass", "pass"), ("pass", "fail", "fail"), ("pass", "not_applicable", "pass"),
    ("fail", "unknown", "fail"), ("pass", "unknown", None), ("unknown", "pass", None),
])  # fmt: skip
def test_two_checks_must_agree(ids: Verdict, lineage: Verdict, status: str | None) -> None:
    results = [found("persistent_ids", ids), found("lineage_matches_masks", lineage)]
    decisions = decide([LINES], results)
    assert [decision.status for decision in decisions] == ([status] if status else [])


def test_levels_are_no_matter_for_checks() -> None:
    level = Item("1", UNITS.text, subsection=UNITS.subsection, statuses=("A", "B", "unknown"))
    assert decide([level], [found("area_units", "pass")]) == ()
