"""Outlines of objects, and how far others lie off."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.outline import OutlineCounter, outline_error


def disc(radius: float, shift: float = 0.0, side: int = 161) -> np.ndarray:
    y, x = np.indices((side, side)) - side // 2
    return (np.hypot(y, x - shift) <= radius).astype(np.uint8)


def ball(radius_um: float, spacing: tuple[float, float, float], side: int = 61) -> np.ndarray:
    axes = [(np.arange(side) - side // 2) * size for size in spacing]
    z, y, x = np.meshgrid(*axes, indexing="ij")
    return (z**2 + y**2 + x**2 <= radius_um**2).astype(np.uint16)


def outline(planes: np.ndarray, spacing: tuple[float, float, float], *, flat: bool) -> float:
    counter = OutlineCounter(spacing, flat=flat)
    for plane in planes[None] if flat else planes:
        counter.add(plane)
    return float(counter.result(np.array([1]))[0])


def test_the_outline_of_a_disc_is_its_circumference() -> None:
    assert outline(disc(60), (1, 1, 1), flat=True) == pytest.approx(2 * np.pi * 60, rel=0.02)


def test_the_outline_of_a_ball_is_its_surface_in_voxels_that_are_not_cubes() -> None:
    spacing = (2.0, 1.0, 1.0)
    found = outline(ball(24, spacing), spacing, flat=False)
    assert found == pytest.approx(4 * np.pi * 24**2, rel=0.03)


def test_each_of_two_touching_squares_has_its_own_side_of_their_border() -> None:
    labels = np.zeros((8, 10), np.int32)
    labels[2:5, 2:5], labels[2:5, 5:8] = 4, 9
    counter = OutlineCounter((1, 1, 1), flat=True)
    counter.add(labels)
    assert counter.result(np.array([2, 4, 9])) == pytest.approx([0, 3 * np.pi, 3 * np.pi])


def test_the_edge_of_the_image_is_no_outline() -> None:
    assert outline(np.ones((5, 5), np.uint8), (1, 1, 1), flat=True) == 0


def error(reference: np.ndarray, prediction: np.ndarray) -> float:
    areas, others = (np.array([(image > 0).sum()]) for image in (reference, prediction))
    shared = np.array([((reference > 0) & (prediction > 0)).sum()])
    length = np.array([outline(reference, (1, 1, 1), flat=True)])
    return float(outline_error(areas, others, shared, length, 1.0)[0])


def test_an_outline_that_is_moved_out_everywhere_lies_off_by_that_much() -> None:
    assert error(disc(60), disc(63)) == pytest.approx(3, rel=0.06)


def test_a_shifted_disc_lies_off_by_two_pi_ths_of_the_shift() -> None:
    assert error(disc(60), disc(60, shift=4)) == pytest.approx(8 / np.pi, rel=0.05)


def test_the_same_outline_lies_off_by_nothing() -> None:
    assert error(disc(20), disc(20)) == 0


def test_an_object_without_outline_has_no_error() -> None:
    whole = np.array([25])
    assert np.isnan(outline_error(whole, whole, whole, np.zeros(1), 1.0)).all()
