from __future__ import annotations

import numpy as np
import pytest

from evals.simulation import cell_stain
from evals.simulation.monolayer import Monolayer, Territories, hold_ground
from evals.simulation.quantise import stream
from evals.simulation.shapes import draw_blobs


@pytest.fixture(scope="module")
def ground() -> Territories:
    y, x = np.array([40.0, 40.0]), np.array([40.0, 90.0])
    nuclei, bodies = (
        draw_blobs(stream(0), y, x, radius=radius, roughness=0.0) for radius in (12.0, 30.0)
    )
    return hold_ground(Monolayer(nuclei, bodies), (80, 130), 3)


def test_values_of_cells_land_on_their_samples(ground: Territories) -> None:
    spread = cell_stain.of_cells(np.array([2.0, 5.0]), ground.cell)
    assert (spread[ground.cell == 1] == 5).all()
    assert not spread[ground.cell < 0].any()


def test_a_cell_rises_from_its_edge(ground: Territories) -> None:
    height = cell_stain.thickness(ground, 0.1)
    assert height.max() == pytest.approx(1, abs=0.05)
    assert height[(ground.depth > 0.08) & (ground.depth < 0.12)].mean() == pytest.approx(
        0.55, abs=0.05
    )


def test_chromatin_fills_nuclei_and_nothing_else(ground: Territories) -> None:
    dna = cell_stain.chromatin(stream(1), ground, 3)
    assert not dna[ground.nucleus < 0].any()
    inside = dna[ground.nucleus >= 0]
    assert inside.min() > 0
    assert 0.05 < inside.std() / inside.mean() < 0.5


def test_actin_is_brighter_at_the_edge_the_stronger_the_cortex(ground: Territories) -> None:
    edge = (ground.cell >= 0) & (ground.depth < 0.05)
    inner = (ground.cell >= 0) & (ground.depth > 0.3)
    ratios = []
    for cortex in (0.2, 1.2):
        stain = cell_stain.actin(stream(2), ground, 3, cortex=cortex, uneven=0.1)
        assert not stain[ground.cell < 0].any()
        ratios.append(stain[edge].mean() / stain[inner].mean())
    assert ratios[1] > 2 * ratios[0]


def test_fibres_run_along_one_way_within_a_cell() -> None:
    cell = np.zeros((120, 120), dtype=np.int32)
    streaks = cell_stain.fibres(stream(4), cell, (120, 120), 1)
    assert abs(streaks.mean()) < 0.1
    assert streaks.std() == pytest.approx(1, abs=0.3)
    alike = [
        float(np.mean(streaks * np.roll(streaks, shift, axis=(0, 1))))
        for shift in ((0, 4), (4, 4), (4, 0), (4, -4))
    ]
    assert max(alike) > 0.4 > sorted(alike)[0] + 0.1


def test_grain_is_a_factor_about_one() -> None:
    factor = cell_stain.grain(stream(5), (300, 300), 3, 0.1)
    assert factor.mean() == pytest.approx(1, abs=0.03)
    assert factor.std() == pytest.approx(0.1, abs=0.02)


def test_fewer_specks_are_the_first_of_many() -> None:
    looks = {"most": 20, "radius_px": (1.0, 3.0), "bright": (0.5, 2.0)}
    few, many = (
        cell_stain.litter(stream(6), (60, 60), 2, count=count, **looks) for count in (5, 20)
    )
    assert (many >= few).all()
    assert many.sum() > 1.5 * few.sum() > 0


def test_a_point_becomes_as_wide_as_the_optics_say() -> None:
    point = np.zeros((99, 99), dtype=np.float32)
    point[49, 49] = 9.0
    image = cell_stain.wide_field(point, 3, sigma_px=1.5, haze=0.0, haze_px=5.0)
    across = np.arange(33) - 16.0
    profile = image.sum(axis=0) / image.sum()
    # The pixel itself adds 1/12.
    assert np.sqrt((profile * across**2).sum()) == pytest.approx(1.5, abs=0.05)


def test_light_out_of_focus_is_added_and_lies_round_its_source() -> None:
    sheet = np.zeros((90, 120), dtype=np.float32)
    sheet[30:60, 45:75] = 1.0
    sharp, hazy = (
        cell_stain.wide_field(sheet, 1, sigma_px=0.5, haze=haze, haze_px=9.0) for haze in (0.0, 0.5)
    )
    assert hazy.sum() == pytest.approx(1.5 * sharp.sum(), rel=0.02)
    veil = hazy - sharp
    assert veil[15, 60] > 0.02
    y, x = (np.average(np.indices(veil.shape)[axis], weights=veil) for axis in (0, 1))
    assert (y, x) == (pytest.approx(44.5, abs=0.6), pytest.approx(59.5, abs=0.6))
