from __future__ import annotations

from scorers.rubric.checks.combining import combine
from scorers.rubric.decisions import Decision


def check(name: str, status: str) -> Decision:
    return Decision(name, status, 1.0, "Measured.", by="check")


def test_a_check_goes_before_the_judge() -> None:
    combined = combine([check("a", "fail")], [Decision("a", "pass"), Decision("b", "pass")])
    assert [(one.item_id, one.status, one.by) for one in combined.decisions] == [
        ("a", "fail", "check"),
        ("b", "pass", "judge"),
    ]
    assert combined.decisions[0].judge_status == "pass"


def test_where_check_and_judge_differ_is_told() -> None:
    (found,) = combine([check("a", "fail")], [Decision("a", "pass")]).disagreements
    assert (found.item_id, found.check, found.judge, found.says) == (
        "a",
        "fail",
        "pass",
        "Measured.",
    )


def test_what_both_say_is_no_disagreement() -> None:
    combined = combine([check("a", "pass")], [Decision("a", "pass")])
    assert combined.disagreements == ()
    assert combined.decisions[0].judge_status is None


def test_a_judge_that_does_not_know_contradicts_nothing() -> None:
    judged = [Decision("a", "unknown"), Decision("b", None, by="nobody")]
    combined = combine([check("a", "fail"), check("b", "pass")], judged)
    assert combined.disagreements == ()
    assert [one.status for one in combined.decisions] == ["fail", "pass"]


def test_what_does_not_apply_may_pass_but_not_fail() -> None:
    checked = [check("a", "not_applicable"), check("b", "not_applicable")]
    combined = combine(checked, [Decision("a", "pass"), Decision("b", "fail")])
    assert [one.item_id for one in combined.disagreements] == ["b"]


def test_checks_alone_stand_without_a_judge() -> None:
    assert combine([check("a", "pass")], []).decisions[0].by == "check"
