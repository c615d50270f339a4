import pytest

from scorers.files.pairing import Pairing, match_predictions, normalised, number_of


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("agent_nuclei_image_01_mask", "image_01"),
        ("kidney_01", "01"),
        ("label", "label"),
        ("a_SEG_cells_Prediction", "cells"),
        ("056F63395C_8bit_lynEGFP_seg", "8bit_lynegfp"),
        ("no-prefix", "no-prefix"),
    ],
)
def test_one_identifier_and_the_words_for_a_mask_are_taken_off(stem: str, expected: str) -> None:
    assert normalised(stem) == expected


@pytest.mark.parametrize(
    ("stem", "expected"), [("t1_frame007", 7), ("a12b34", 12), ("none", None), ("x٣", None)]
)
def test_the_longest_run_of_digits_is_the_number(stem: str, expected: int | None) -> None:
    assert number_of(stem) == expected


def test_equal_stems_pair() -> None:
    assert match_predictions(["a", "b"], ["b", "a"]) == Pairing(((0, 1), (1, 0)), "stem")


def test_a_stem_that_ends_with_a_reference_pairs() -> None:
    assert match_predictions(["run-7-x"], ["y", "x"]) == Pairing(((0, 1),), "stem")


def test_a_prediction_whose_reference_is_taken_gets_no_second_choice() -> None:
    pairing = match_predictions(["a", "q_a"], ["a", "q_a_mask"])

    assert pairing.pairs == ((0, 0),)


def test_numbers_decide_only_where_they_pair_strictly_more() -> None:
    by_number = match_predictions(["m1", "m2"], ["image_1", "image_2"])
    tie = match_predictions(["image_2"], ["image_2", "other_9"])

    assert (by_number.pairs, by_number.method) == (((0, 0), (1, 1)), "index")
    assert tie.method == "stem"


def test_a_number_that_two_references_bear_is_unusable() -> None:
    assert match_predictions(["m1"], ["a1", "b1", "c2"]).method == "none"


def test_as_many_files_without_common_names_pair_in_order_with_low_confidence() -> None:
    pairing = match_predictions(["x", "y", "m10"], ["q3", "p2", "r1"])

    # With digits first, by number; the rest by name.
    assert pairing == Pairing(((0, 1), (1, 0), (2, 2)), "sorted", low_confidence=True)


def test_in_the_last_resort_equal_numbers_stay_as_the_folder_lists_them() -> None:
    pairing = match_predictions(["x", "y"], ["a1", "b1"], listed=[1, 0])

    assert pairing.pairs == ((0, 1), (1, 0))


def test_unequal_numbers_of_unrelated_files_do_not_pair() -> None:
    assert match_predictions(["x"], ["p", "q"]) == Pairing((), "none")


def test_nothing_against_nothing_does_not_pair() -> None:
    assert match_predictions([], []) == Pairing((), "none")
