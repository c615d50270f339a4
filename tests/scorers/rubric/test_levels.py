from __future__ import annotations

import pytest

from scorers.errors import CapsuleFault
from scorers.rubric.levels import parse_levels

RUBRIC = """\
Total Points: 100/100

Criterion 1: Cohort definition
Description: Checks that only adult plots
enter the comparison.
Levels: A=60 B=30 C=0
[A]: Keeps 412 of 530 plots.
  Excluding by date [B] instead of the flag is fine.
[B]: One exclusion is missing.
[C]: Uses all plots.

Criterion 2: Test (40 points)
  Description: Checks the test.
  [A] (40 points): Rank-based.
  [B] (20 points): Without correction.
  [C] (0 points): None.

Criterion 3: Source Reliability
Description: Checks that numbers trace to files.
Levels: A=0 B=-5 C=-10
[A]: All do.
[B]: Most do.
[C]: Invented numbers.
"""


def one(levels: str, texts: str = "[A]: Yes.\n[B]: No.") -> str:
    return f"Criterion 1: Only\nDescription: It.\n{levels}\n{texts}\n"


def test_criteria_are_read_with_points_and_texts() -> None:
    first = parse_levels(RUBRIC, "rubric.txt").criteria[0]
    assert (first.id, first.title) == ("criterion_1", "Cohort definition")
    assert first.description == "Checks that only adult plots enter the comparison."
    assert first.points == {"A": 60, "B": 30, "C": 0}


def test_the_text_of_a_level_may_span_lines_and_name_other_levels() -> None:
    first = parse_levels(RUBRIC, "rubric.txt").criteria[0]
    assert first.texts["A"] == (
        "Keeps 412 of 530 plots. Excluding by date [B] instead of the flag is fine."
    )
    assert first.texts["C"] == "Uses all plots."


def test_the_older_form_has_its_points_behind_the_letters() -> None:
    second = parse_levels(RUBRIC, "rubric.txt").criteria[1]
    assert second.title == "Test"
    assert second.description == "Checks the test."
    assert second.points == {"A": 40, "B": 20, "C": 0}
    assert second.texts["B"] == "Without correction."


def test_penalties_keep_their_sign_and_are_unseen_without_signs() -> None:
    third = parse_levels(RUBRIC, "rubric.txt").criteria[2]
    assert third.points == {"A": 0, "B": -5, "C": -10}
    assert third.unsigned_points == {"A": 0}
    assert third.span == 10


def test_the_preamble_is_kept() -> None:
    assert parse_levels(RUBRIC, "rubric.txt").preamble == "Total Points: 100/100"


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    windows = "\ufeff" + RUBRIC.removeprefix("Total Points: 100/100\n\n").replace("\n", "\r\n")
    assert (
        parse_levels(windows, "rubric.txt").criteria == parse_levels(RUBRIC, "rubric.txt").criteria
    )


def test_a_criterion_becomes_an_item_that_does_not_tell_its_points() -> None:
    item = parse_levels(RUBRIC, "rubric.txt").items()[1]
    assert (item.id, item.weight) == ("criterion_2", 40.0)
    assert item.statuses == ("A", "B", "C", "unknown")
    assert item.text == "Test. Checks the test."
    assert item.hint == "[A] Rank-based.\n[B] Without correction.\n[C] None."


def test_a_dimension_is_given_by_id() -> None:
    rubric = parse_levels(RUBRIC, "rubric.txt").with_dimensions(
        {"criterion_2": "statistical rigor"}
    )
    assert [criterion.dimension for criterion in rubric.criteria] == ["", "statistical rigor", ""]
    assert rubric.items()[1].subsection == "statistical rigor"


@pytest.mark.parametrize(
    ("dimensions", "complaint"),
    [
        ({"criterion_9": "data handling"}, "got 'criterion_9'"),
        ({"criterion_1": "data handing"}, "did you mean 'data handling'"),
    ],
)
def test_a_dimension_that_is_none_is_told(dimensions: dict[str, str], complaint: str) -> None:
    with pytest.raises(CapsuleFault, match=complaint):
        parse_levels(RUBRIC, "rubric.txt").with_dimensions(dimensions)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Total Points: 100/100", "expected lines that start with 'Criterion 1:'"),
        (" " + one("Levels: A=100 B=0"), "expected lines that start with 'Criterion 1:'"),
        (one("Levels: A=90 B=0"), "best levels that add up to 100, got 90"),
        (one("Levels: A=100 B=0") * 2, "a number of its own for each criterion"),
        (one("Levels: A=100 C=0"), "got points for A C, texts for A B"),
        (one(""), "got points for none, texts for A B"),
        (one("Levels: A=100 B=0", ""), "got points for A B, texts for none"),
        (one("Levels: A=100", "[A]: Yes.\n[A]: No."), "expected each level once, got A A"),
        (one("", "[A] (100 points): Yes.\n[B]: No."), "got points for A, texts for A B"),
    ],
)
def test_a_broken_rubric_is_told(text: str, complaint: str) -> None:
    with pytest.raises(CapsuleFault) as told:
        parse_levels(text, "rubric.txt")
    assert str(told.value).startswith("rubric.txt: ")
    assert complaint in str(told.value)
