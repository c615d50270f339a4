from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scorers.rubric.checks.significance import agrees, corrected, effects, p_values

ONE = np.array([1.0, 2, 3, 4, 5, 6, 7])
OTHER = np.array([4.0, 5, 6, 7, 8, 9, 12])
BOTH = {"a": ONE, "b": OTHER}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("Mann-Whitney", stats.mannwhitneyu(ONE, OTHER, method="asymptotic").pvalue),
        ("Welch's t", stats.ttest_ind(ONE, OTHER, equal_var=False).pvalue),
        ("paired t", stats.ttest_rel(ONE, OTHER).pvalue),
    ],
)
def test_p_values_are_those_of_scipy(test: str, expected: float) -> None:
    assert p_values(ONE, OTHER, BOTH)[test] == pytest.approx(expected)


def test_dunns_test_of_two_groups_is_kruskal_wallis() -> None:
    found = p_values(ONE, OTHER, BOTH)
    assert found["Dunn's"] == pytest.approx(found["Kruskal-Wallis"])


def test_equal_values_give_no_invented_p() -> None:
    flat = np.full(5, 2.0)
    assert all(p > 0.05 for p in p_values(flat, flat, {"a": flat, "b": flat}).values())


def test_corrections_agree_with_hand_worked_values() -> None:
    found = corrected(np.array([0.01, 0.04, 0.03]))
    assert found["Holm"] == pytest.approx([0.03, 0.06, 0.06])
    assert found["Benjamini-Hochberg"] == pytest.approx([0.03, 0.04, 0.04])
    assert found["Bonferroni"] == pytest.approx([0.03, 0.12, 0.09])
    assert found["Hochberg"] == pytest.approx([0.03, 0.04, 0.04])


def test_benjamini_yekutieli_is_scipys() -> None:
    p = np.array([0.2, 0.001, 0.03, 0.03])
    expected = stats.false_discovery_control(p, method="by")
    assert corrected(p)["Benjamini-Yekutieli"] == pytest.approx(expected)


def test_a_p_value_of_one_can_be_corrected() -> None:
    assert corrected(np.array([1.0, 0.5]))["Holm-Šidák"] == pytest.approx([1, 0.75])


@pytest.mark.parametrize(("told", "computed", "same"), [
    (0.031, 0.0308, True), (0.0, 1e-9, True), (1.2e-6, 3.6e-6, False), (0.05, 0.06, False),
    (0.5, float("nan"), False),
])  # fmt: skip
def test_p_values_agree_but_for_rounding(told: float, computed: float, same: bool) -> None:
    assert agrees(told, computed) is same


def test_effects_agree_with_hand_worked_values() -> None:
    found = effects(np.array([1.0, 2, 3]), np.array([2.0, 3, 4]))
    assert found["difference of means"] == 1
    assert found["Cohen's d"] == pytest.approx(1)
    assert found["Cliff's delta"] == pytest.approx(5 / 9)


def test_effects_of_equal_values_are_left_out_where_they_are_undefined() -> None:
    flat = np.full(4, 3.0)
    assert "Cohen's d" not in effects(flat, flat)
