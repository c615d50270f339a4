from __future__ import annotations

import pytest

from scorers.rubric.decisions import Decision
from scorers.rubric.voting import mean_agreement, panel, vote


def said(*statuses: str | None, item_id: str = "a") -> list[Decision]:
    return [Decision(item_id, status) for status in statuses]


def test_the_majority_wins() -> None:
    decision = vote(said("fail", "pass", "pass"))
    assert (decision.status, decision.votes) == ("pass", {"fail": 1, "pass": 2})


def test_of_equally_common_statuses_the_one_seen_first_wins() -> None:
    assert vote(said("unknown", "pass", "pass", "unknown")).status == "unknown"


def test_unknown_is_a_vote_like_any_other() -> None:
    assert vote(said("pass", "unknown", "unknown")).status == "unknown"


def test_unscored_samples_have_no_vote() -> None:
    decision = vote(said(None, None, "fail"))
    assert (decision.status, decision.votes) == ("fail", {"fail": 1})


def test_the_most_confident_sample_of_the_majority_is_told() -> None:
    samples = [
        Decision("a", "pass", 0.4, "first"),
        Decision("a", "fail", 0.9, "other"),
        Decision("a", "pass", 0.6, "second"),
        Decision("a", "pass", 0.6, "third"),
    ]
    assert vote(samples).rationale == "second"


def test_without_a_valid_answer_an_item_stays_unscored() -> None:
    decision = vote([Decision("a", None, problem="refused"), Decision("a", None, problem="late")])
    assert (decision.status, decision.problem) == (None, "refused")


@pytest.mark.parametrize("samples", [[], [Decision("a", "pass"), Decision("b", "pass")]])
def test_votes_on_no_item_or_on_several_are_refused(samples: list[Decision]) -> None:
    with pytest.raises(ValueError, match="on one item"):
        vote(samples)


def test_a_panel_decides_each_item_by_majority_and_tells_its_agreement() -> None:
    verdicts = panel(
        {
            "one": [Decision("a", "pass"), Decision("b", "fail")],
            "two": [Decision("b", "fail"), Decision("a", "fail")],
            "three": [Decision("a", "fail"), Decision("b", None)],
        }
    )
    assert [verdict.decision.item_id for verdict in verdicts] == ["a", "b"]
    assert [verdict.decision.status for verdict in verdicts] == ["fail", "fail"]
    assert [verdict.agreement for verdict in verdicts] == [pytest.approx(1 / 3), 1.0]
    assert verdicts[0].by_judge == {"one": "pass", "two": "fail", "three": "fail"}
    assert mean_agreement(verdicts) == pytest.approx(2 / 3)


def test_each_judge_of_a_panel_has_one_vote_however_often_it_was_asked() -> None:
    often = Decision("a", "pass", votes={"pass": 5})
    (verdict,) = panel({"one": [often], "two": said("fail"), "three": said("fail")})
    assert verdict.decision.status == "fail"
    assert verdict.decision.votes == {"pass": 1, "fail": 2}


def test_one_valid_answer_agrees_with_nobody() -> None:
    (verdict,) = panel({"one": said("pass"), "two": said(None)})
    assert (verdict.decision.status, verdict.agreement) == ("pass", None)
    assert mean_agreement([verdict]) is None


@pytest.mark.parametrize("other", [[], said("pass", item_id="b"), said("pass", "pass")])
def test_judges_of_a_panel_decide_the_same_items(other: list[Decision]) -> None:
    with pytest.raises(ValueError, match="others from 'two'"):
        panel({"one": said("pass"), "two": other})
