from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evals.simulation.light_sheet import Sheet, Volume, record
from evals.simulation.tubes import Tubes
from evals.simulation.vasculature import Vessels

CLEAR = Sheet(
    photons=20_000,
    background=0.001,
    lateral_um=0.7,
    waist_um=5.0,
    flare=1.0,
    depth_loss=0.0,
    sheet_loss=0.0,
    stripes=0.0,
    haze=0.0,
    specks=0.0,
)
VOLUME = Volume((24, 64, 64), (2.0, 1.0, 1.0))


def line(axis: int) -> Tubes:
    """A thin vessel through the middle of the volume."""
    along = np.arange(-10, 74, 0.3)
    place = np.full((len(along), 3), (24.0, 32.0, 32.0))
    place[:, axis] = along
    return Tubes(Vessels(place, np.full(len(along), 0.9), np.ones(len(along))))


def seen(tubes: Tubes, sheet: Sheet) -> np.ndarray:
    return np.stack(list(record(tubes, VOLUME, sheet, 1))).astype(float) - 100


def width(profile: np.ndarray) -> float:
    """Full width at half maximum in samples, between interpolated crossings."""
    fine = np.interp(np.linspace(0, len(profile) - 1, 4000), np.arange(len(profile)), profile)
    over = np.flatnonzero(fine > fine.max() / 2)
    return float((over[-1] - over[0]) * (len(profile) - 1) / 3999)


def test_a_thin_vessel_is_as_tall_as_the_sheet_is_thick() -> None:
    stack = seen(line(2), CLEAR)
    profile = stack[:, 32, 20:44].mean(axis=1) - np.median(stack)
    # The point spread, a vessel 1.8 µm wide and planes 2 µm thick, one after the other.
    assert width(profile) * 2 == pytest.approx(np.sqrt(5.0**2 + 1.5**2 + 1.6**2), rel=0.1)
    across = stack[12, :, 20:44].mean(axis=1) - np.median(stack)
    assert width(across) == pytest.approx(np.sqrt((2.35 * 0.7) ** 2 + 1.5**2 + 0.8**2), rel=0.15)


def test_the_sheet_is_thicker_at_its_sides() -> None:
    stack = seen(line(2), replace(CLEAR, flare=2.0))
    middle, side = (
        width(stack[:, 32, at].mean(axis=1) - np.median(stack)) for at in (slice(28, 36), slice(3))
    )
    assert side > 1.5 * middle


def test_light_is_lost_on_the_way_of_the_sheet_and_to_the_camera() -> None:
    bright = replace(CLEAR, background=0.5)
    stack = seen(line(2), replace(bright, depth_loss=0.5, sheet_loss=0.3))
    other = seen(line(2), bright)
    rows = np.r_[0:20, 44:64]
    ratio = stack[:, rows].mean(axis=1) / other[:, rows].mean(axis=1)
    assert ratio[0, 0] == pytest.approx(1, abs=0.05)
    assert ratio[-1, 0] == pytest.approx(0.5, abs=0.05)
    assert ratio[0, -1] == pytest.approx(0.7, abs=0.05)


def test_shadows_run_along_the_sheet() -> None:
    stack = seen(line(2), replace(CLEAR, background=0.5, stripes=0.3))
    plane = np.log(stack[6])
    along = np.abs(np.diff(plane, axis=1)).mean()
    across = np.abs(np.diff(plane, axis=0)).mean()
    assert across > 3 * along


def test_another_sheet_finds_the_same_grains() -> None:
    few, many = (seen(line(2), replace(CLEAR, specks=density)) for density in (100_000, 400_000))
    none = seen(line(2), CLEAR)
    spots = np.argsort((few - none).ravel())[-5:]
    assert (many.ravel()[spots] > none.ravel()[spots] + 500).all()
