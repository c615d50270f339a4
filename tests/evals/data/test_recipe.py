"""What a synthetic instance is made from."""

from __future__ import annotations

from evals.data.recipe import Recipe


def test_without_a_salt_the_simulator_starts_from_the_seed() -> None:
    assert Recipe(seed=5).options()["seed"] == 5


def test_a_salt_moves_the_start_and_keeps_it_the_same_each_time() -> None:
    salted = Recipe(seed=5, salt="pepper")
    assert salted.entropy != 5
    assert salted.entropy == Recipe(seed=5, salt="pepper").entropy
    assert len({Recipe(seed=seed, salt=salt).entropy for seed in (5, 6) for salt in "ab"}) == 4


def test_a_salt_shows_neither_in_the_options_nor_in_the_words() -> None:
    salted = Recipe(salt="pepper")
    assert "pepper" not in repr(salted)
    assert "pepper" not in str(salted.options())
