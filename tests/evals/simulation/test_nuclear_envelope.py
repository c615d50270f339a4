from __future__ import annotations

import numpy as np
import pytest

from evals.simulation.mitosis import Division, draw_division
from evals.simulation.nuclear_envelope import Light, Optics, add_cell, dark_field
from evals.simulation.nuclear_regions import CORE_SHARE, measure_regions
from evals.simulation.nup_uptake import PATTERNS, Uptake, draw_uptakes, hill, saturation
from evals.simulation.quantise import stream

OPTICS = Optics(0.25, 1.0, 1.0, 4.0, 8.0, 0.05, 0.1, 0.2)
EMPTY = Uptake((1e9, 1e9), (1e9, 1e9), (0.0, 0.0))
RIM_ONLY = Uptake((1e-3, 1e-3), (1e9, 1e9), (0.0, 0.0))
CORE_ONLY = Uptake((1e9, 1e9), (1e-3, 1e-3), (0.0, 0.0))
FIELD = (12, 56, 76)


@pytest.fixture(scope="module")
def division() -> Division:
    return draw_division(stream(2), 0.8, (5.5, 7.0, 9.5), 0.0)


def shine(division: Division, uptake: Uptake) -> Light:
    return add_cell(dark_field(FIELD), division, uptake, OPTICS, minute=40.0, since_onset=38.0)


def test_without_uptake_nuclei_are_dark_in_the_cytoplasm(division: Division) -> None:
    light = shine(division, EMPTY)
    nuclei = light.nuclei > 0
    assert light.gfp[light.body == 1].max() == 1
    assert light.gfp[nuclei].mean() < 0.6
    assert light.dna[nuclei].mean() > 4 * light.dna[~nuclei & (light.body == 1)].mean()


def test_rim_and_core_light_up_where_the_recipe_looks(division: Division) -> None:
    totals = []
    for uptake in (EMPTY, RIM_ONLY, CORE_ONLY):
        light = shine(division, uptake)
        regions = measure_regions(light.gfp, light.nuclei, light.body, (4.0, 1.0, 1.0))
        totals.append([regions[0].core, regions[0].rim])
    nothing, rim, core = np.array(totals)
    assert rim[1] - nothing[1] > 2 * abs(rim[0] - nothing[0])
    assert core[0] - nothing[0] > 2 * abs(core[1] - nothing[1])


def test_photons_are_counted_without_offset() -> None:
    counts = OPTICS.expose(np.full((60, 60, 6), 1.0), OPTICS.gfp_photons, stream(3)).astype(float)
    assert counts.mean() == pytest.approx(4.05, rel=0.02)
    assert counts.var() == pytest.approx(counts.mean(), rel=0.05)


def test_core_of_a_disc_is_what_lies_a_quarter_deep() -> None:
    y, x = np.ogrid[:60, :60]
    nuclei = np.zeros((60, 60), np.uint8)
    nuclei[(y - 30) ** 2 + (x - 15) ** 2 <= 100] = 1
    nuclei[(y - 30) ** 2 + (x - 44) ** 2 <= 100] = 2
    light = np.where(nuclei > 0, 3.0, 1.0)
    one, other = measure_regions(light, nuclei, np.ones((60, 60)), (1.0, 1.0))
    assert one == other
    assert one.cytoplasm == 1
    share = one.core / (3 - 0.25) / one.voxels
    assert share == pytest.approx((1 - CORE_SHARE) ** 2, abs=0.08)


def test_curves_rise_to_half_at_their_half_times() -> None:
    minutes = np.array([-3.0, 0.0, 8.0, 1e6])
    assert hill(minutes, 8.0, 3) == pytest.approx([0, 0, 0.5, 1])
    assert saturation(minutes, 8.0) == pytest.approx([0, 0, 0.5, 1])


def test_patterns_are_drawn_only_when_asked() -> None:
    plain = {draw_uptakes(stream(seed), 2, randomised=False)[0].core_full for seed in range(30)}
    drawn = {draw_uptakes(stream(seed), 2, randomised=True)[0].core_full for seed in range(30)}
    assert plain == {(1.0, 1.0)}
    assert len(drawn) == 3 < len(PATTERNS)
