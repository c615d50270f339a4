"""Near matches and patterns."""

from __future__ import annotations

import pytest

from evals.errors import UnknownNameError
from evals.names import near_matches, select, unknown

TASKS = ["5D-npc-assembly", "fluo-cell-counting", "fluo-golgi", "he-nuclei"]


def test_a_misspelt_name_gets_the_near_one_as_a_hint() -> None:
    message = str(unknown("task id", "he-nuclie", TASKS))
    assert "Unknown task id 'he-nuclie'" in message
    assert "did you mean 'he-nuclei'" in message
    assert "fluo-golgi" in message


def test_a_part_of_a_name_in_another_case_is_near_to_it() -> None:
    assert near_matches("NPC", TASKS) == ["5D-npc-assembly"]


def test_a_name_near_to_nothing_gets_the_choices_alone() -> None:
    assert "Mend: choose one of them." in str(unknown("task id", "qqq", TASKS))


def test_a_name_where_there_is_nothing_to_choose_from_says_so() -> None:
    assert "there is none to choose from" in str(unknown("task id", "a", []))


def test_none_selects_all() -> None:
    assert select("task id", None, TASKS) == TASKS


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ("fluo-*", ["fluo-cell-counting", "fluo-golgi"]),
        ("he-nuclei,fluo-golgi", ["fluo-golgi", "he-nuclei"]),
        (["he-nuclei", "*-nuclei"], ["he-nuclei"]),
        ("5D-npc-assembly", ["5D-npc-assembly"]),
    ],
)
def test_ids_and_patterns_select_in_the_order_of_the_choices(
    wanted: str | list[str], kept: list[str]
) -> None:
    assert select("task id", wanted, TASKS) == kept


@pytest.mark.parametrize("wanted", ["zebra*", ["he-nuclei", "nothing"], "", []])
def test_a_pattern_that_selects_nothing_is_an_error(wanted: str | list[str]) -> None:
    with pytest.raises(UnknownNameError, match="Unknown task id"):
        select("task id", wanted, TASKS)
