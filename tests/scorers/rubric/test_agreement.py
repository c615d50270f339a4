from __future__ import annotations

import numpy as np
import pytest

from scorers.rubric.agreement import MISSING, Agreement, Scale, agreement
from scorers.rubric.bootstrap import Bootstrap

YES_OR_NO = Scale(("pass", "fail"))
LEVELS = Scale(("A", "B", "C"), ordered=True)
FEW = Bootstrap(resamples=200)


def compared(
    *raters: str,
    samples: str | None = None,
    scale: Scale = YES_OR_NO,
    pairs: list[tuple[int, int]] | None = None,
    how: Bootstrap = FEW,
) -> Agreement:
    """Compare answers written as first letters, one rater a text; a dot is a missing one."""
    letters = [name[0] for name in scale.categories]
    ratings = np.array([[MISSING if c == "." else letters.index(c) for c in r] for r in raters]).T
    units = np.array(list(samples)) if samples else np.arange(len(ratings))
    return agreement(ratings, units, scale, pairs=pairs, how=how)


def test_two_raters_have_cohens_kappa_and_their_confusion() -> None:
    # 4 of 6 alike; by chance (4 x 4 + 2 x 2) / 36.
    found = compared("ppppff", "pppfpf")
    assert found.n == 6
    assert found.observed.value == pytest.approx(4 / 6)
    assert found.kappa.value == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))
    assert found.brennan_prediger.value == pytest.approx(2 * 4 / 6 - 1)
    assert found.confusion == ((3, 1), (1, 1))


def test_levels_count_by_their_distance() -> None:
    near, far = (compared("AABBCC", second, scale=LEVELS) for second in ("AABBCB", "AABBCA"))
    assert near.observed.value == far.observed.value
    for name in ("kappa", "alpha", "brennan_prediger"):
        assert getattr(near, name).value > getattr(far, name).value


def test_missing_answers_count_nowhere() -> None:
    whole = compared("pppf", "ppff")
    gaps = compared("pppf.p", "ppfff.")
    assert gaps.confusion == whole.confusion
    assert gaps.alpha.value == whole.alpha.value


def test_several_raters_have_the_mean_kappa_of_their_pairs() -> None:
    raters = ("ppppff", "pppfpf", "ppffff")
    found = compared(*raters)
    pairs = [compared(raters[a], raters[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found.n == 18
    assert found.kappa.value == pytest.approx(np.mean([pair.kappa.value for pair in pairs]))
    assert found.observed.value == pytest.approx(np.mean([pair.observed.value for pair in pairs]))


def test_a_pair_with_undefined_kappa_is_left_out_of_the_mean() -> None:
    raters = ("pppp", "pppp", "ppff")
    assert compared(*raters).kappa.value == 0
    assert compared(*raters[:2]).kappa.value is None


def test_only_the_pairs_that_are_asked_for_are_compared() -> None:
    raters = ("ppppff", "pppfpf", "ppffff")
    found = compared(*raters, pairs=[(0, 2), (1, 2)])
    assert found.n == 12
    assert found.kappa.value == pytest.approx(
        np.mean([compared(raters[a], raters[2]).kappa.value for a in (0, 1)])
    )


def test_one_answer_throughout_leaves_what_is_corrected_for_chance_undefined() -> None:
    found = compared("pppp", "pppp")
    assert found.observed.value == 1
    assert found.brennan_prediger.value == 1
    for estimate in (found.kappa, found.alpha):
        assert (estimate.value, estimate.reason) == (None, "all answers are the same")


def test_without_a_common_unit_nothing_is_compared() -> None:
    found = compared("p.", ".f")
    assert (found.n, found.samples) == (0, 0)
    for estimate in (found.observed, found.kappa, found.alpha, found.brennan_prediger):
        assert (estimate.value, estimate.reason) == (None, "nothing was compared")


def test_samples_are_drawn_with_all_their_units() -> None:
    # Within a sample all units agree or none does: six samples, not 60 units, carry the interval.
    first, second = "pf" * 30, "pf" * 15 + "fp" * 15
    clustered = compared(first, second, samples="".join(c * 10 for c in "abcdef"))
    single = compared(first, second)
    assert clustered.samples == 6
    assert clustered.observed.value == single.observed.value == 0.5
    for found, wide in ((clustered, True), (single, False)):
        assert found.observed.low is not None
        assert found.observed.high is not None
        assert (found.observed.high - found.observed.low > 0.5) == wide


def test_the_seed_decides_the_interval() -> None:
    raters = ("ppppffpfpfpp", "pppfpfpfppfp")
    one, same, other = (compared(*raters, how=Bootstrap(99, seed)) for seed in (1, 1, 2))
    assert one == same
    assert one.alpha != other.alpha


def test_the_interval_holds_the_value() -> None:
    found = compared("ppppffpfpfpp", "pppfpfpfppfp")
    for estimate in (found.observed, found.kappa, found.alpha, found.brennan_prediger):
        assert estimate.value is not None
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < estimate.value < estimate.high


def test_a_single_rater_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two raters"):
        compared("pf")
