from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scorers.rubric.checks import comparisons

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene

GROUPS = ("control", "low", "high")
PAIRS = [("control", "low"), ("control", "high"), ("low", "high")]


def measured(shift: float = 1.0) -> pd.DataFrame:
    random = np.random.default_rng(0)
    values = [random.normal(at * shift, 1, 12) for at in range(3)]
    return pd.DataFrame({"condition": np.repeat(GROUPS, 12), "ratio": np.concatenate(values)})


def compared(cells: pd.DataFrame) -> pd.DataFrame:
    groups = {name: part["ratio"].to_numpy() for name, part in cells.groupby("condition")}
    p = [stats.mannwhitneyu(groups[a], groups[b], method="asymptotic").pvalue for a, b in PAIRS]
    differences = [groups[a].mean() - groups[b].mean() for a, b in PAIRS]
    table = pd.DataFrame(PAIRS, columns=["condition_1", "condition_2"])
    return table.assign(n_1=12, n_2=12, p_value=p, difference=differences)


@pytest.fixture
def cells(out: Path) -> pd.DataFrame:
    table = measured()
    table.to_csv(out / "cells.csv", index=False)
    return table


def write(out: Path, table: pd.DataFrame) -> None:
    table.to_csv(out / "tests.csv", index=False)


def test_p_values_that_follow_from_the_table_pass(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells).round(4))
    finding = comparisons.p_recomputed(scene())
    assert finding.verdict == "pass"
    assert "Mann-Whitney test" in finding.says
    assert finding.refs == ("table:tests.csv", "table:cells.csv")


def test_invented_significance_fails(out: Path, scene: MakeScene) -> None:
    flat = measured(shift=0)
    flat.to_csv(out / "cells.csv", index=False)
    write(out, compared(flat).assign(p_value=1e-9))
    assert comparisons.p_recomputed(scene()).verdict == "fail"


def test_p_values_of_a_test_that_is_not_known_are_weak(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells).assign(p_value=0.77))
    assert comparisons.p_recomputed(scene()).verdict == "unknown"


def test_p_values_without_measurements_are_weak(out: Path, scene: MakeScene) -> None:
    write(out, compared(measured()))
    assert comparisons.p_recomputed(scene()).verdict == "unknown"


@pytest.mark.parametrize("p", [np.nan, np.inf, -0.1, 1.5, "<0.001"])
def test_p_values_that_are_no_probabilities_decide_nothing(
    out: Path, scene: MakeScene, cells: pd.DataFrame, p: object
) -> None:
    write(out, compared(cells).assign(p_value=p))
    opened = scene()
    assert comparisons.p_recomputed(opened).verdict == "unknown"
    assert comparisons.p_adjusted(opened).verdict == "unknown"


def test_holms_correction_passes(out: Path, scene: MakeScene, cells: pd.DataFrame) -> None:
    table = compared(cells)
    order = table["p_value"].rank().to_numpy()
    holm = np.maximum.accumulate(np.sort(table["p_value"]) * (3, 2, 1))[order.astype(int) - 1]
    write(out, table.assign(p_holm=np.minimum(holm, 1)))
    finding = comparisons.p_adjusted(scene())
    assert finding.verdict == "pass"
    assert "Holm" in finding.says


def test_a_correction_that_makes_p_smaller_fails(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    table = compared(cells)
    write(out, table.assign(p_adj=table["p_value"] / 2))
    assert comparisons.p_adjusted(scene()).verdict == "fail"


def test_a_correction_that_changes_nothing_fails(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    table = compared(cells)
    write(out, table.assign(p_adj=table["p_value"]))
    assert comparisons.p_adjusted(scene()).verdict == "fail"


def test_larger_p_values_of_no_known_method_are_weak(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    table = compared(cells)
    write(out, table.assign(p_adj=np.minimum(table["p_value"] * 1.7, 1)))
    assert comparisons.p_adjusted(scene()).verdict == "unknown"


def test_one_comparison_needs_no_correction(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells).head(1))
    assert comparisons.p_adjusted(scene()).verdict == "not_applicable"


def test_no_table_of_tests_decides_nothing(scene: MakeScene, cells: pd.DataFrame) -> None:
    opened = scene()
    checks = (comparisons.p_recomputed, comparisons.p_adjusted, comparisons.effect_size)
    assert {check(opened).verdict for check in checks} == {"unknown"}


def test_numbers_of_values_equal_to_rows_pass(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells))
    finding = comparisons.n_is_rows(scene())
    assert (finding.verdict, finding.says[:7]) == ("pass", "6 of 6 ")


def test_other_numbers_of_values_fail(out: Path, scene: MakeScene, cells: pd.DataFrame) -> None:
    write(out, compared(cells).assign(n_1=120))
    assert comparisons.n_is_rows(scene()).verdict == "fail"


def test_numbers_may_count_what_no_table_lists(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells).assign(n_1=120, p_value=0.77))
    assert comparisons.n_is_rows(scene()).verdict == "unknown"


def test_p_values_that_no_correction_changes_are_weak(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells).assign(p_value=0.02, p_fdr=0.02))
    assert comparisons.p_adjusted(scene()).verdict == "unknown"


def test_a_summary_by_group_is_compared_too(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    cells.groupby("condition")["ratio"].agg(["count", "mean"]).to_csv(out / "summary.csv")
    assert comparisons.n_is_rows(scene()).verdict == "pass"


def test_numbers_in_a_report_are_weak(out: Path, scene: MakeScene, cells: pd.DataFrame) -> None:
    (out / "report.md").write_text("n = 36 cells, N = 7 plates", encoding="utf-8")
    finding = comparisons.n_is_rows(scene())
    assert finding.verdict == "unknown"
    assert "1 of 2 numbers" in finding.says


def test_effects_that_follow_from_the_table_pass(
    out: Path, scene: MakeScene, cells: pd.DataFrame
) -> None:
    write(out, compared(cells))
    opened = scene()
    assert comparisons.effect_size(opened).verdict == "pass"
    assert comparisons.effect_interval(opened).verdict == "unknown"


def test_effects_with_intervals_pass(out: Path, scene: MakeScene, cells: pd.DataFrame) -> None:
    write(out, compared(cells).assign(ci_low=-1.0, ci_high=1.0))
    assert comparisons.effect_interval(scene()).verdict == "pass"


def test_invented_effects_are_weak(out: Path, scene: MakeScene, cells: pd.DataFrame) -> None:
    write(out, compared(cells).assign(difference=42.0))
    assert comparisons.effect_size(scene()).verdict == "unknown"


def test_tables_that_are_none_decide_nothing(out: Path, scene: MakeScene) -> None:
    (out / "empty.csv").touch()
    (out / "heading.csv").write_text("condition_1,condition_2,p_value\n", encoding="utf-8")
    (out / "ragged.csv").write_text("condition_1,p\na\nb,1,2,3\n", encoding="utf-8")
    (out / "book.xlsx").write_bytes(b"PK no workbook")
    opened = scene()
    checks = (comparisons.p_recomputed, comparisons.p_adjusted, comparisons.n_is_rows)
    assert {check(opened).verdict for check in checks} == {"unknown"}
