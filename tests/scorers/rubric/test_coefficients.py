from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from inspect_ai.scorer import SampleScore, Score
from inspect_ai.scorer import krippendorff_alpha as inspect_alpha
from sklearn.metrics import cohen_kappa_score

from scorers.rubric.coefficients import (
    brennan_prediger,
    cohen_kappa,
    coincidences,
    krippendorff_alpha,
    observed_agreement,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

# J. Cohen, Educ. Psychol. Meas. 20, 37-46, 1960, table 1: proportions of 200 cases.
COHEN = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
# K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011, examples A and C.
TWO_OBSERVERS = ["0100000010", "1110010000"]
FOUR_OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]

TABLES = arrays(np.int64, (3, 3), elements=st.integers(0, 30))
COUNTS = arrays(np.int64, st.tuples(st.integers(1, 12), st.just(4)), elements=st.integers(0, 3))
ORDERED = st.booleans()


def counted(observers: Sequence[str], categories: str) -> Counts:
    """Count answers by unit and category; a dot is a missing one."""
    units = zip(*observers, strict=True)
    return np.array([[unit.count(name) for name in categories] for unit in units])


def alpha(counts: Counts, *, ordered: bool = False) -> float:
    return float(krippendorff_alpha(coincidences(counts).sum(0), ordered=ordered))


def kappa(table: Counts, *, ordered: bool = False) -> float:
    return float(cohen_kappa(table, ordered=ordered))


def test_kappa_is_that_of_cohens_own_example() -> None:
    # (.70 - .41) / (1 - .41)
    assert kappa(COHEN) == pytest.approx(0.29 / 0.59)
    assert observed_agreement(COHEN) == pytest.approx(0.70)


def test_kappa_with_linear_weights_is_that_of_a_case_worked_by_hand() -> None:
    # One step apart in 1 of 5; margins 3 1 1 and 2 2 1 give 21 steps among 25 pairs.
    table = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert kappa(table, ordered=True) == pytest.approx(1 - (1 / 5) / (21 / 25))


def test_kappa_of_independent_answers_is_zero() -> None:
    assert kappa(np.outer([1, 2, 3], [5, 1, 2])) == pytest.approx(0, abs=1e-12)


def test_kappa_is_undefined_only_if_both_gave_one_and_the_same_answer() -> None:
    assert np.isnan(kappa(np.diag([7, 0, 0])))
    assert kappa(np.array([[0, 0, 0], [4, 2, 0], [0, 0, 0]])) == 0


def test_brennan_prediger_shows_the_paradox_of_kappa() -> None:
    # 90 of 100 alike, but by chance 90.5 would be.
    table = np.array([[90, 5], [5, 0]])
    assert kappa(table) == pytest.approx((0.9 - 0.905) / (1 - 0.905))
    assert brennan_prediger(table, ordered=False) == pytest.approx((0.9 - 0.5) / 0.5)


def test_brennan_prediger_of_levels_counts_steps() -> None:
    # Ten pairs 2 steps in all; by chance 8 steps in 9 pairs.
    table = np.array([[4, 2, 0], [0, 3, 0], [0, 0, 1]])
    assert brennan_prediger(table, ordered=True) == pytest.approx(1 - (2 / 10) / (8 / 9))


def test_alpha_of_two_observers_is_that_of_krippendorffs_example() -> None:
    assert alpha(counted(TWO_OBSERVERS, "01")) == pytest.approx(1 - 19 * 4 / (14 * 6))


@pytest.mark.parametrize(("ordered", "published"), [(False, 0.743), (True, 0.815)])
def test_alpha_of_four_observers_with_gaps_is_that_of_krippendorffs_example(
    ordered: bool, published: float
) -> None:
    assert round(alpha(counted(FOUR_OBSERVERS, "12345"), ordered=ordered), 3) == published


def test_alpha_does_not_see_units_with_one_answer() -> None:
    counts = counted(FOUR_OBSERVERS, "12345")
    lone = np.array([[0, 0, 0, 0, 1]])
    assert alpha(np.concatenate([counts, lone])) == alpha(counts)


def test_nothing_is_defined_without_answers() -> None:
    nothing = np.zeros((3, 3), int)
    assert np.isnan(observed_agreement(nothing))
    assert np.isnan(kappa(nothing))
    assert np.isnan(brennan_prediger(nothing, ordered=False))
    assert np.isnan(alpha(nothing))


def test_alpha_is_undefined_if_all_answers_are_the_same() -> None:
    assert np.isnan(alpha(np.array([[2, 0], [3, 0]])))


def test_tables_are_treated_one_by_one() -> None:
    both = np.stack([COHEN, np.diag([1, 2, 3])])
    assert cohen_kappa(both, ordered=False) == pytest.approx([kappa(COHEN), 1.0])
    assert observed_agreement(both) == pytest.approx([0.70, 1.0])


@given(TABLES, ORDERED)
def test_kappa_is_that_of_scikit_learn(table: Counts, ordered: bool) -> None:
    assume(not np.isnan(kappa(table, ordered=ordered)))
    first, second = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0).T
    weights: Literal["linear"] | None = "linear" if ordered else None
    theirs = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=weights)
    assert kappa(table, ordered=ordered) == pytest.approx(theirs, abs=1e-9)


@settings(deadline=None)
@given(COUNTS, ORDERED)
def test_alpha_is_that_of_inspect(counts: Counts, ordered: bool) -> None:
    ours = alpha(counts, ordered=ordered)
    assume(not np.isnan(ours))
    answers = [np.repeat(np.arange(4.0), unit).tolist() for unit in counts if unit.sum() > 1]
    scores = [SampleScore(score=Score(value=unit)) for unit in answers]
    theirs = inspect_alpha("ordinal" if ordered else "nominal")(scores)  # type: ignore[call-arg, arg-type]
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(TABLES, ORDERED)
def test_which_rater_is_first_does_not_matter(table: Counts, ordered: bool) -> None:
    for coefficient in (cohen_kappa, brennan_prediger):
        one, other = (coefficient(t, ordered=ordered) for t in (table, table.T))
        assert one == pytest.approx(other, nan_ok=True)


@given(arrays(np.int64, 3, elements=st.integers(1, 30)), ORDERED)
def test_perfect_agreement_is_one(diagonal: Counts, ordered: bool) -> None:
    table = np.diag(diagonal)
    assert observed_agreement(table) == 1
    assert kappa(table, ordered=ordered) == 1
    assert brennan_prediger(table, ordered=ordered) == 1
    assert alpha(2 * table, ordered=ordered) == 1


@given(TABLES, COUNTS, st.permutations(range(3)), st.permutations(range(4)))
def test_names_of_unordered_answers_do_not_matter(
    table: Counts, counts: Counts, of_three: list[int], of_four: list[int]
) -> None:
    renamed = table[np.ix_(of_three, of_three)]
    assert kappa(renamed) == pytest.approx(kappa(table), nan_ok=True, abs=1e-9)
    assert alpha(counts[:, of_four]) == pytest.approx(alpha(counts), nan_ok=True, abs=1e-9)


@given(TABLES, COUNTS)
def test_levels_may_be_told_from_either_end(table: Counts, counts: Counts) -> None:
    turned = kappa(table[::-1, ::-1], ordered=True)
    assert turned == pytest.approx(kappa(table, ordered=True), nan_ok=True, abs=1e-9)
    reverse = alpha(counts[:, ::-1], ordered=True)
    assert reverse == pytest.approx(alpha(counts, ordered=True), nan_ok=True, abs=1e-9)


@given(TABLES)
def test_kappa_is_at_most_one(table: Counts) -> None:
    assume(not np.isnan(kappa(table)))
    assert -1 - 1e-9 <= kappa(table) <= 1
