from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from evals.simulation import skin
from evals.simulation.cells3d import Cells, cut_slab, place_cells
from evals.simulation.membranes import Dye, Imaging, expose, image_slabs, stain
from evals.simulation.primordium import envelope, grow_tissue
from evals.simulation.quantise import stream

SHAPE = (48, 96, 200)
VOXEL_UM = (0.225, 0.15, 0.15)
CLEAR = Imaging(photons=60, decay_um=14, haze=0.02)


@pytest.fixture(scope="module")
def cells() -> Cells:
    tissue = grow_tissue(stream(3, 0), SHAPE, VOXEL_UM)
    return place_cells(tissue, stream(3, 1), volume_um3=90.0)


@pytest.fixture(scope="module")
def dye(cells: Cells) -> Dye:
    return stain(cells, stream(3, 2))


@pytest.fixture(scope="module")
def scene(cells: Cells, dye: Dye) -> tuple[np.ndarray, np.ndarray]:
    slabs = list(image_slabs(cells, dye, CLEAR, stream(3, 3)))
    return np.concatenate([a for a, _ in slabs]), np.concatenate([b for _, b in slabs])


def test_every_cell_is_present_under_its_number(
    cells: Cells, scene: tuple[np.ndarray, np.ndarray]
) -> None:
    assert np.unique(scene[1]).tolist() == list(range(len(cells.seeds) + 1))


def test_a_cell_is_one_connected_body(scene: tuple[np.ndarray, np.ndarray]) -> None:
    for label, box in enumerate(ndimage.find_objects(scene[1]), start=1):
        parts, count = ndimage.label(scene[1][box] == label)
        assert np.bincount(parts.ravel())[1:].max() / np.count_nonzero(parts) > 0.97, (label, count)


def test_cells_have_about_the_volume_that_was_asked_for(
    scene: tuple[np.ndarray, np.ndarray],
) -> None:
    volumes = np.bincount(scene[1].ravel())[1:] * np.prod(VOXEL_UM)
    assert 60 < volumes.mean() < 120
    assert 0.1 < volumes.std() / volumes.mean() < 0.6


def test_the_tissue_lies_in_dark_surroundings(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, labels = scene
    faces = [np.take(labels, end, axis=axis) for axis in range(3) for end in (0, -1)]
    assert not any(face.any() for face in faces)
    assert 0.15 < (labels > 0).mean() < 0.5
    assert image[-3:, :4].mean() < 0.1 * image[labels > 0].mean()


def test_membranes_are_brighter_than_what_they_enclose(
    scene: tuple[np.ndarray, np.ndarray],
) -> None:
    image, labels = scene
    upper = slice(12, 30)
    inside = ndimage.distance_transform_edt(
        np.pad(labels[upper] == ndimage.grey_erosion(labels[upper], (1, 3, 3)), 0)
    )
    wall = inside == 0
    assert image[upper][wall].mean() > 5 * image[upper][(inside > 4) & (labels[upper] > 0)].mean()


def test_light_fades_with_depth(scene: tuple[np.ndarray, np.ndarray]) -> None:
    image, labels = scene
    bright = [np.percentile(image[z][labels[z] > 0], 95) for z in (18, 28, 38)]
    assert bright == sorted(bright, reverse=True)


def test_a_tenth_of_the_walls_is_weak(dye: Dye) -> None:
    walls = dye.walls[1:, 1:][np.triu_indices(len(dye.walls) - 1, 1)]
    assert 0.05 < (walls < 0.4).mean() < 0.15
    np.testing.assert_array_equal(dye.walls, dye.walls.T)


def test_slabs_of_any_height_give_the_same_stack(
    cells: Cells, dye: Dye, scene: tuple[np.ndarray, np.ndarray]
) -> None:
    slabs = list(image_slabs(cells, dye, CLEAR, stream(3, 3), planes=17))
    np.testing.assert_array_equal(np.concatenate([a for a, _ in slabs]), scene[0])
    np.testing.assert_array_equal(np.concatenate([b for _, b in slabs]), scene[1])


def test_the_nearest_two_cells_are_those_of_a_full_search(cells: Cells) -> None:
    slab = cut_slab(cells, 20, 24)
    points = np.stack([grid[1:-1, 1:-1, 1:-1].ravel() for grid in slab.warped], axis=1)
    inside = np.flatnonzero(slab.depth.ravel() > 0)[::97]
    seeds = cells.seeds.astype(np.float32)
    squared = ((points[inside, None] - seeds[None]) ** 2).sum(axis=2)
    order = np.argsort(squared, axis=1)
    agree = slab.first.ravel()[inside] == order[:, 0] + 1
    assert agree.mean() > 0.999
    assert (slab.second.ravel()[inside] == order[:, 1] + 1).mean() > 0.99


def test_rosettes_draw_apices_together(cells: Cells) -> None:
    row, column = cells.tissue.rosettes[0] / np.array(VOXEL_UM[1:])
    window = (slice(int(row) - 12, int(row) + 13), slice(int(column) - 12, int(column) + 13))
    apical, basal = (len(np.unique(cut_slab(cells, z, z + 1).first[0][window])) for z in (15, 36))
    assert apical > basal


def test_depth_is_a_distance_in_micrometres(cells: Cells) -> None:
    tissue = cells.tissue
    z = np.array([tissue.centre[0]], dtype=np.float32)[:, None, None]
    x = np.array([tissue.centre[2]], dtype=np.float32)[None, None, :]
    edge = tissue.centre[1] - tissue.half_um[1]
    y = np.array([edge + 0.2, edge - 0.2], dtype=np.float32)[None, :, None]
    depth, upright = envelope(tissue, z, y, x)
    np.testing.assert_allclose(depth.ravel(), [0.2, -0.2], atol=0.02)
    np.testing.assert_allclose(upright.ravel(), 0, atol=1e-6)


def test_a_sheet_that_lies_flat_is_dimmer_than_one_that_stands(cells: Cells, dye: Dye) -> None:
    start = 30
    slab = cut_slab(cells, start, start + 4)
    bright = expose(cells, dye, CLEAR, slab, start)[1]
    sharp = Imaging(photons=60, decay_um=14, haze=0.02, fwhm_um=(0.14, 0.14))
    assert expose(cells, dye, sharp, slab, start)[1].max() >= bright.max()


def test_difficulty_leaves_the_reference_alone(cells: Cells, dye: Dye) -> None:
    slab = cut_slab(cells, 20, 24)
    dim = Imaging(photons=12, decay_um=6, haze=0.12)
    np.testing.assert_array_equal(
        expose(cells, dye, CLEAR, slab, 20)[0], expose(cells, dye, dim, slab, 20)[0]
    )


def test_a_coarser_focus_leaves_planes_out_and_changes_none(
    cells: Cells, dye: Dye, scene: tuple[np.ndarray, np.ndarray]
) -> None:
    coarse = replace(CLEAR, step=5)
    labels = [part for _, part in image_slabs(cells, dye, coarse, stream(3, 3), planes=8)]
    np.testing.assert_array_equal(np.concatenate(labels), scene[1][::5])


def test_the_skin_is_the_same_in_one_piece_and_in_strips(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = skin.grow_skin(cells.tissue, stream(4))
    monkeypatch.setattr(skin, "_PAIRS", 5000)
    np.testing.assert_array_equal(skin.grow_skin(cells.tissue, stream(4)).border, whole.border)
