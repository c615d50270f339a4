"""p-values in texts of a submission."""

from __future__ import annotations

import time

import pytest

from scorers.graders.golgi_pvalues import written_p


@pytest.mark.parametrize(
    "line",
    [
        "Stage 1 vs Stage 2: p-value = 0.003",
        "STAGE 2 and stage 1, P Value:0.003 (Holm)",
        "Stage 1 Stage 2 p-value pvalue=3e-3",
        "Stage 1   Stage 2 0.003",
        "Stage 2\tStage 1\t3e-3 **",
    ],
)
def test_a_line_with_both_names_and_a_p_value_gives_it(line: str) -> None:
    assert written_p(f"Report\n{line}\nend", "Stage 1", "Stage 2") == 0.003


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Stage 1 vs Stage 2: p = 0.003",
        "Stage 1 vs Stage 2: pvalue = 0.003",
        "Stage 1 p-value = 0.003",
        "Stage 1\nStage 2 p-value = 0.003",
        "Stage 1 Stage 2\n0.003",
        "Stage 1 vs Stage 2: p-value < 0.003",
    ],
)
def test_what_is_not_on_one_line_or_not_assigned_gives_none(text: str) -> None:
    assert written_p(text, "Stage 1", "Stage 2") is None


def test_a_line_that_does_not_parse_leaves_it_to_the_next() -> None:
    text = "A B p-value: 0.1.2\nA B p-value: 0.2\n"
    assert written_p(text, "A", "B") == 0.2


def test_assigned_values_go_before_listed_ones() -> None:
    assert written_p("A B 0.5\nB A p-value: 0.1", "A", "B") == 0.1


@pytest.mark.parametrize(
    "text",
    [
        "p-value" * 300_000,
        "p-value" + " " * 2_000_000,
        "p-value\n" * 300_000,
        ("Control" + " " * 50) * 40_000,
        "Control Stage 1 " * 120_000,
        "Control Stage 1 p-value: " + "1" * 2_000_000,
        "Control" + " " * 2_000_000 + "Stage 1",
    ],
    ids=["mentions", "blanks", "lines", "names", "pairs", "digits", "gap"],
)
def test_long_texts_take_time_in_proportion_to_their_length(text: str) -> None:
    started = time.perf_counter()
    written_p(text, "Control", "Stage 1")
    assert time.perf_counter() - started < 3
