from __future__ import annotations

import numpy as np
import pytest

from evals.simulation.condensates import (
    Droplets,
    add_droplets,
    condense,
    droplet_mask,
    express,
)
from evals.simulation.nuclei3d import Nuclei, inside, place_nuclei
from evals.simulation.quantise import stream

APART = (0.5, 1.3)


@pytest.fixture(scope="module")
def nuclei() -> Nuclei:
    return place_nuclei(stream(2, 0), (9.0, 60.0, 60.0), 3.5)


def one(radius: float = 0.5) -> Droplets:
    return Droplets(np.full((1, 3), 4.0), np.array([radius]), np.array([0]))


def test_expression_varies_by_about_its_mean_and_a_fifth_has_none() -> None:
    level = express(stream(1), 20_000)
    on = level[level > 0.03]
    assert 1 - len(on) / len(level) == pytest.approx(0.2, abs=0.02)
    assert np.median(on) == pytest.approx(1, abs=0.05)
    assert on.std() / on.mean() == pytest.approx(1, abs=0.2)


def test_there_are_no_droplets_below_saturation_and_more_the_farther_above(
    nuclei: Nuclei,
) -> None:
    level = np.linspace(0.1, 3.0, len(nuclei))
    droplets = condense(stream(4), nuclei, level, 1.0, APART)
    count = np.bincount(droplets.owner, minlength=len(nuclei))
    assert not count[level <= 1].any()
    high, middle = count[level > 2.2], count[(level > 1.1) & (level <= 2.2)]
    assert high.mean() > 1.5 * middle.mean() > 0


def test_a_lower_saturation_adds_droplets_and_moves_none(nuclei: Nuclei) -> None:
    level = np.full(len(nuclei), 2.0)
    few = condense(stream(4), nuclei, level, 1.6, APART)
    many = condense(stream(4), nuclei, level, 1.0, APART)
    assert len(many) > len(few) > 0
    places = {tuple(row) for row in many.place_um.tolist()}
    assert {tuple(row) for row in few.place_um.tolist()} <= places


def test_droplets_lie_in_their_nucleus_and_apart(nuclei: Nuclei) -> None:
    droplets = condense(stream(5), nuclei, np.full(len(nuclei), 3.0), 1.0, APART)
    for index in range(len(nuclei)):
        place = droplets.place_um[droplets.owner == index]
        assert (inside(nuclei, index, place) < 0.9).all()
        scaled = place / (APART[1], APART[0], APART[0])
        gap = np.sqrt(((scaled[:, None] - scaled[None]) ** 2).sum(axis=2))
        assert len(gap) < 2 or gap[np.triu_indices(len(gap), 1)].min() >= 0.999


def test_a_droplet_brings_its_volume_whatever_the_grid() -> None:
    total = []
    for step in ((0.4, 0.13, 0.13), (0.2, 0.065, 0.065)):
        volume = np.zeros([round(8 / s) for s in step], np.float32)
        add_droplets(volume, one(), step, density=10.0)
        total.append(float(volume.sum()) * np.prod(step))
    np.testing.assert_allclose(total, 10 * 4 / 3 * np.pi * 0.5**3, rtol=0.02)


def test_the_mask_of_a_droplet_is_as_wide_as_it_is() -> None:
    mask = droplet_mask((80, 80, 80), one(), (0.1, 0.1, 0.1))
    for axis in range(3):
        wide = np.flatnonzero(mask.any(axis=tuple(k for k in range(3) if k != axis)))
        assert wide[-1] - wide[0] + 1 == pytest.approx(10, abs=1)
