from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from evals.simulation.dic import Dic
from evals.simulation.quantise import stream
from evals.simulation.wound import (
    DEPTH_FASTEST,
    Motion,
    Texture,
    Wound,
    cut_wound,
    flow,
    optical_paths,
    swirls,
)

SHAPE, PIXEL_UM, HOURS = (220, 90), 1.24, 14.5 / 60
UNIT = HOURS / PIXEL_UM


def cut(motion: Motion, closing: int = 6) -> tuple[Wound, float]:
    moves = swirls(stream(1, 1), SHAPE, PIXEL_UM, HOURS)
    return cut_wound(stream(1, 0), moves, motion, SHAPE, closing, UNIT)


def velocities(motion: Motion, count: int) -> tuple[Wound, list[np.ndarray]]:
    wound, nominal = cut(motion)
    fields = flow(stream(1, 1), motion, wound, nominal, PIXEL_UM, HOURS)
    return wound, list(islice(fields, count))


def test_the_edges_touch_first_after_the_frames_asked_for() -> None:
    wound, fields = velocities(Motion(18.0), 6)
    upper, lower = wound.upper.copy(), wound.lower.copy()
    columns, gaps = np.arange(SHAPE[1]), []
    for field in fields:
        for edge in (upper, lower):
            edge += UNIT * field[0, np.rint(edge).astype(int), columns]
        gaps.append((lower - upper).min())
    assert gaps[-2] > 1
    assert gaps[-1] == pytest.approx(0, abs=0.5)


def test_velocities_point_at_the_gap_and_fall_with_distance() -> None:
    wound, fields = velocities(Motion(18.0), 1)
    down = fields[0][0]
    near = int(wound.upper.min()) - 5
    assert down[near].mean() == pytest.approx(18, abs=4)
    assert down[int(wound.lower.max()) + 5].mean() == pytest.approx(-18, abs=4)
    assert abs(down[5].mean()) < 0.75 * abs(down[near].mean())


def test_a_sheet_can_be_fastest_in_its_depth() -> None:
    wound, fields = velocities(Motion(18.0, profile=DEPTH_FASTEST, swirl=0.0), 1)
    assert fields[0][0][5].mean() > 1.5 * fields[0][0][int(wound.upper.min()) - 3].mean()


def test_the_wave_runs_backwards_from_the_edge() -> None:
    _, fields = velocities(Motion(18.0, swirl=0.0), 5)
    deep = [field[0][10].mean() for field in fields]
    assert deep == sorted(deep)
    assert deep[-1] > deep[0] + 0.3


def test_swirls_last_for_hours_and_reach_over_a_hundred_micrometres() -> None:
    first, _, third = islice(swirls(stream(3), (500, 500), PIXEL_UM, HOURS), 3)
    assert first.std() == pytest.approx(1, abs=0.3)
    flat = np.corrcoef(first[0].ravel(), third[0].ravel())[0, 1]
    assert flat == pytest.approx(np.exp(-2 * HOURS / 2), abs=0.12)
    apart = int(150 / PIXEL_UM)
    likeness = np.corrcoef(first[0][:-apart].ravel(), first[0][apart:].ravel())[0, 1]
    assert likeness < 0.6


def test_texture_fills_the_sheet_and_spares_the_gap() -> None:
    motion = Motion(18.0)
    wound, nominal = cut(motion)
    fields = flow(stream(1, 1), motion, wound, nominal, PIXEL_UM, HOURS)
    scene = optical_paths(stream(2), wound, fields, Texture(13.7, 7, 15.0, 0.1), UNIT)
    path, _ = next(scene)
    rows = np.arange(SHAPE[0])[:, None]
    gap = (rows > wound.upper + 12) & (rows < wound.lower - 12)
    assert path[wound.cells()].std() > 20 * path[gap].std()
    later = next(islice(scene, 8, None))[0]
    assert later[gap].std() > 5 * path[gap].std()


def test_relief_is_lit_from_the_upper_left() -> None:
    y, x = np.mgrid[-34:34, -34:34]
    bump = 6 * np.exp(-(y**2 + x**2) / 100.0)
    microscope = Dic(contrast=0.5, photons=1e5, dirt=0.0, flicker=0.0)
    image = microscope.record(bump, np.ones((64, 64)), stream(0)).astype(float)
    assert image[27, 27] > 125
    assert image[37, 37] < 111
    assert image[2, 60] == pytest.approx(118, abs=2)
