from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree

from evals.simulation.monolayer import Form, Monolayer, grow_monolayer, hold_ground
from evals.simulation.quantise import stream
from evals.simulation.shapes import draw_blobs

FORM = Form(10.0, 0.08, (1.0, 1.3), (1.7, 2.3), (1.0, 1.8), 0.08, 1.3, 0.1)
SHAPE = (150, 180)


def round_cells(
    *centres: tuple[float, float], nucleus: float = 6.0, body: float = 14.0
) -> Monolayer:
    y, x = np.array(centres).T
    nuclei, bodies = (
        draw_blobs(stream(0), y, x, radius=radius, roughness=0.0) for radius in (nucleus, body)
    )
    return Monolayer(nuclei, bodies)


def grown(cover: float = 0.9) -> Monolayer:
    return grow_monolayer(stream(3), SHAPE, FORM, cover=cover, margin=30.0)


def test_nuclei_keep_their_distance() -> None:
    nuclei = grown().nuclei
    points = np.stack([nuclei.y, nuclei.x], axis=1)
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    assert nearest.min() > 1.6 * nuclei.radius.min()
    assert np.median(nearest) == pytest.approx(2 * 1.3 * 10, rel=0.2)


def test_more_cover_means_more_cells() -> None:
    assert len(grown(0.3)) < 0.6 * len(grown(0.9))


def test_equal_neighbours_meet_halfway() -> None:
    ground = hold_ground(round_cells((20, 20), (20, 40)), (40, 61), 3)
    row = ground.cell[1::3, 1::3][20]
    assert row[8:30].tolist() == [0] * 22
    assert row[31:53].tolist() == [1] * 22


def test_the_middle_sample_of_a_pixel_is_its_centre() -> None:
    cells = round_cells((20, 20))
    fine, coarse = hold_ground(cells, (40, 40), 3), hold_ground(cells, (40, 40), 1)
    assert np.array_equal(fine.cell[1::3, 1::3], coarse.cell)


def test_depth_falls_to_nothing_at_the_edge() -> None:
    ground = hold_ground(round_cells((20, 20), (20, 40)), (40, 61), 3)
    assert ground.depth[61, 61] > 0.95
    assert ground.depth[61, 1 + 3 * 30] < 0.05
    assert not ground.depth[ground.cell < 0].any()


def test_a_nucleus_belongs_to_its_own_cell_and_a_body_is_one_piece() -> None:
    cells = grown()
    ground = hold_ground(cells, SHAPE, 3)
    inside = ground.nucleus >= 0
    assert np.array_equal(ground.cell[inside], ground.nucleus[inside])
    assert (ground.inner[inside] < 1).all()
    assert (ground.inner[~inside] == 1).all()
    # A neighbour's nucleus may lie across a nucleus; a body hangs together with one of its parts.
    several = sum(ndimage.label(ground.cell == k)[1] > 1 for k in range(len(cells)))
    assert several <= 0.03 * len(cells)


def test_a_subset_keeps_rows_together() -> None:
    cells = grown()
    some = cells.take(slice(5))
    assert len(some) == 5
    assert some.bodies.radius.tolist() == cells.bodies.radius[:5].tolist()
