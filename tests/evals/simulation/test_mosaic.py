from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from evals.simulation.cytometry import moments, whole_regions
from evals.simulation.mosaic import (
    Fusion,
    Grid,
    Stage,
    blend_weights,
    shift_by_fraction,
    true_places,
)
from evals.simulation.quantise import stream
from evals.simulation.shapes import draw_blobs
from evals.simulation.smear import MCF7, Biology, spread_cells


def test_a_serpentine_turns_round_at_each_row() -> None:
    assert Grid(2, 10, 1).serpentine().tolist() == [[0, 0], [0, 1], [1, 1], [1, 0]]


def test_an_exact_stage_stands_where_it_is_sent() -> None:
    grid = Grid(3, 50, 5)
    places = true_places(stream(0), grid, Stage(0.0, 0.0, skew=0.0))
    assert np.array_equal(places, grid.serpentine() * 45)


def test_tiles_cut_from_a_picture_make_that_picture_again() -> None:
    rng = np.random.default_rng(0)
    picture = np.rint(500 + 400 * ndimage.gaussian_filter(rng.normal(size=(80, 80)), 2))
    places = np.array([[0, 0], [0, 31], [30, 1], [29, 30]], float)
    tiles = [picture[int(y) : int(y) + 48, int(x) : int(x) + 48] for y, x in places]
    light = np.linspace(0.7, 1, 48)[:, None] * np.ones(48)
    dimmed = [np.rint(4 * tile * light).astype(np.uint16) for tile in tiles]
    fusion = Fusion(places, (78, 79), blend_weights(48, 17))
    fused = fusion.plane(lambda index: dimmed[index], light).astype(float) / 4
    shown = fusion.covered()
    assert np.abs(fused - picture[:78, :79])[shown].max() < 1
    assert (fused[~shown] == 0).all()


def test_a_fraction_of_a_pixel_leaves_noise_white() -> None:
    noise = np.random.default_rng(1).normal(size=(64, 64))
    moved = shift_by_fraction(noise, (0.5, 0.25))
    assert moved.std() == pytest.approx(1, abs=0.05)
    assert (moved[:, 1:] * moved[:, :-1]).mean() == pytest.approx(0, abs=0.08)
    wave = np.sin(np.arange(64) / 5)[None, :] * np.ones((64, 1))
    expected = np.sin((np.arange(64) - 0.25) / 5)
    assert shift_by_fraction(wave, (0.0, 0.25))[5, 12:-12] == pytest.approx(
        expected[12:-12], abs=0.02
    )


def test_a_disc_has_its_radius_over_root_two_as_size() -> None:
    disc = draw_blobs(stream(0), np.array([40.0]), np.array([41.0]), radius=20.0, roughness=0.0)
    labels, chosen = whole_regions(disc, (80, 80), np.ones((80, 80), bool))
    image = np.where(labels > 0, 100, 7).astype(np.uint16)
    image[::2] += np.uint16(1)
    values = moments(image, labels, disc, chosen, 0.5)
    assert values[0, 0] == pytest.approx(10 * np.log10(np.pi * 400 * 100.5), abs=0.06)
    assert values[0, 1] == pytest.approx(20 * 0.5 / np.sqrt(2), rel=0.01)
    # Rows that alternate have a period of two pixels, a frequency of 1 / µm.
    assert values[0, 2] == pytest.approx(1, abs=0.05)
    assert values[0, 3] == pytest.approx(values[0, 1] * values[0, 2])


def test_a_region_that_is_cut_is_not_measured() -> None:
    discs = draw_blobs(stream(0), np.array([5.0, 40.0]), np.array([40.0, 40.0]), radius=12.0)
    assert whole_regions(discs, (80, 80), np.ones((80, 80), bool))[1].tolist() == [1]


def test_half_of_the_cells_are_leukocytes_and_none_lie_on_each_other() -> None:
    smear = spread_cells(4, 900, 40, 500, 0.415, Biology())
    assert 0.35 < (smear.kind == MCF7).mean() < 0.6
    assert 300 < len(smear.kind) < 900
    radius = smear.nuclei.radius * 0.415
    assert 1.4 < np.median(radius[smear.kind == MCF7]) / np.median(radius[smear.kind != MCF7]) < 2
