import numpy as np
import pytest

from evals.simulation.quantise import stream
from evals.simulation.shapes import deposit, draw_blobs, paint_labels, rasterise


def discs(*rows: tuple[float, float, float]) -> object:
    y, x, radius = np.array(rows).T
    return draw_blobs(stream(0), y, x, radius=radius, roughness=0.0)


def test_a_disc_covers_its_area() -> None:
    samples = rasterise(discs((30.0, 40.0, 12.0)), (70, 80), 4)
    assert samples.owner.size / 16 == pytest.approx(np.pi * 144, rel=0.005)


def test_rough_stretched_outlines_keep_their_area_about() -> None:
    y = x = np.full(200, 40.0)
    blobs = draw_blobs(stream(1), y, x, radius=12.0, elongation=2.0, roughness=0.05)
    areas = np.bincount(rasterise(blobs, (81, 81)).owner)
    assert areas.mean() == pytest.approx(np.pi * 144, rel=0.02)


def test_whole_numbers_are_pixel_centres() -> None:
    samples = rasterise(discs((5.0, 7.0, 1.2)), (12, 15))
    assert samples.place.tolist() == [4 * 15 + 7, 5 * 15 + 6, 5 * 15 + 7, 5 * 15 + 8, 6 * 15 + 7]


def test_samples_come_sorted_by_object_whatever_their_sizes() -> None:
    blobs = discs((20, 20, 9), (50, 50, 3), (30, 60, 18), (60, 20, 3))
    owner = rasterise(blobs, (80, 80)).owner
    assert (np.diff(owner) >= 0).all()
    assert np.unique(owner).tolist() == [0, 1, 2, 3]


def test_what_lies_outside_the_field_is_cut() -> None:
    samples = rasterise(discs((0.0, 0.0, 5.0), (100.0, 0.0, 5.0)), (20, 20))
    assert np.unique(samples.owner).tolist() == [0]
    assert samples.place.max() < 400


def test_later_objects_lie_on_top() -> None:
    samples = rasterise(discs((10, 10, 6), (10, 14, 6)), (21, 25))
    labels = paint_labels(samples, np.array([7, 9]), (21, 25))
    assert labels[10, 12] == 9
    assert labels[10, 6] == 7
    assert labels[0, 0] == 0


def test_weights_are_averaged_over_blocks() -> None:
    samples = rasterise(discs((3.5, 3.5, 2.0)), (8, 8), 4)
    light = deposit(samples, np.ones(samples.place.size), (8, 8), 4)
    assert light.sum() == pytest.approx(samples.place.size / 16)
    assert light[3, 3] == 1.0


def test_no_objects_cover_nothing() -> None:
    nothing = rasterise(draw_blobs(stream(0), np.empty(0), np.empty(0), radius=3.0), (5, 5))
    assert nothing.place.size == 0
    assert not deposit(nothing, np.empty(0), (5, 5)).any()
