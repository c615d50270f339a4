import numpy as np
import pytest

from scorers.metrics.points import Pairs
from scorers.metrics.punctate import Counts, log_concordance, punctate_f1

KNOWN = np.array([0.0, 0, 0, 0, 0, 0, 1, 2, 4, 8])


def counts(own: np.ndarray, extra: tuple[float, ...] = ()) -> Counts:
    return Counts(KNOWN, own, np.array(extra), int((~np.isnan(own)).sum()))


def test_the_truth_is_worth_one_in_all_parts() -> None:
    exact = counts(KNOWN.copy())
    assert (exact.nucleus_f1, punctate_f1(exact), log_concordance(exact)) == (1, 1, 1)


def test_counts_are_ordered_by_the_pairs() -> None:
    pairs = Pairs(np.array([0, 2]), np.array([1, 0]), np.zeros(2))
    found = Counts.of(np.array([5.0, 6, 7]), np.array([70.0, 50, -3]), pairs)
    np.testing.assert_array_equal(found.own, [50, np.nan, 70])
    np.testing.assert_array_equal(found.extra, [np.nan])
    assert found.nucleus_f1 == pytest.approx(2 / 3)


def test_all_empty_finds_no_nucleus_with_puncta() -> None:
    blank = counts(np.zeros(10))
    assert (punctate_f1(blank), log_concordance(blank)) == (0, 0)


def test_puncta_everywhere_cost_precision() -> None:
    assert punctate_f1(counts(KNOWN + 1)) == pytest.approx(2 * 4 / (4 + 10))


def test_false_nuclei_with_puncta_count_and_empty_ones_do_not() -> None:
    assert punctate_f1(counts(KNOWN.copy(), (3.0, 0.0))) == pytest.approx(8 / 9)


def test_a_constant_factor_lowers_the_concordance() -> None:
    tripled, half_more = (log_concordance(counts(KNOWN * factor)) for factor in (3, 1.5))
    assert tripled < half_more < 1


@pytest.mark.parametrize("row", range(10))
@pytest.mark.parametrize("said", [0.0, 1.0, 4.0, 16.0, 1e9, np.inf])
def test_a_nucleus_left_out_is_never_better_than_one_that_is_wrong(row: int, said: float) -> None:
    own = np.array([0.0, 2, 0, 0, 1, 0, 1, 0, 3, 9])
    own[row] = said
    gap = own.copy()
    gap[row] = np.nan
    wrong, left_out = counts(own), counts(gap)
    assert left_out.nucleus_f1 < wrong.nucleus_f1
    assert punctate_f1(left_out) <= punctate_f1(wrong)
    assert log_concordance(left_out) <= log_concordance(wrong) + 1e-12


def test_nothing_against_nothing_is_one() -> None:
    nobody = Counts.joined([])
    assert (nobody.nucleus_f1, punctate_f1(nobody), log_concordance(nobody)) == (1, 1, 1)


def test_of_complete_counts_scikit_learn_has_the_same_f1() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    own = np.array([0.0, 1, 0, 2, 0, 0, 0, 3, 1, 0])
    assert punctate_f1(counts(own)) == pytest.approx(metrics.f1_score(KNOWN > 0, own > 0))
