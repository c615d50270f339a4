from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from evals.simulation.bacteria import Colony, Growth, found_colony, live
from evals.simulation.lineage import TrackBook
from evals.simulation.movie import PackedFrames
from evals.simulation.phase_contrast import PhaseContrast
from evals.simulation.quantise import stream
from evals.simulation.rods import Drawing, draw_rods

GROWTH = Growth()
BOUNDS = (np.full(2, -200.0), np.full(2, 400.0))
OPTICS = PhaseContrast(pixel_um=0.072, index_step=0.035, photons=2000, psf_px=1.5)


@pytest.fixture(scope="module")
def history() -> list[Colony]:
    life = stream(5, 0)
    founders = found_colony(life, GROWTH, (100.0, 100.0))
    return list(islice(live(founders, life, GROWTH, BOUNDS), 330))


def rod(row: float, column: float, ident: int = 1, length: float = 20.0, turn: int = 0) -> Colony:
    heading = [[0.0, 1.0], [1.0, 0.0]][turn]
    one = np.ones(1)
    return Colony(
        np.array([ident]),
        np.array([0]),
        np.array([[row, column]]),
        np.array([heading]),
        length * one,
        6 * one,
        0 * one,
        28 * one,
        0.01 * one,
    )


def test_biomass_doubles_in_84_minutes(history: list[Colony]) -> None:
    size = [float((colony.length + 2 * colony.radius).sum()) for colony in history]
    assert size[300] / size[132] == pytest.approx(4, rel=0.12)


def test_cells_keep_apart(history: list[Colony]) -> None:
    drawing = draw_rods(history[-1], (260, 260), (-30.0, -30.0))
    body = 2 * history[-1].radius * history[-1].length + np.pi * history[-1].radius ** 2
    assert (drawing.idents > 0).sum() > 0.96 * body.sum()


def test_daughters_replace_their_mother_within_a_frame(history: list[Colony]) -> None:
    for before, after in pairwise(history):
        born = after.ident > before.ident.max()
        mothers = np.unique(after.mother[born])
        assert born.sum() == 2 * len(mothers)
        assert np.isin(mothers, before.ident).all()
        assert not np.isin(mothers, after.ident).any()


def test_sisters_bend_into_a_v_when_they_part(history: list[Colony]) -> None:
    angles = []
    for before, after in pairwise(history):
        for mother in np.unique(after.mother[after.ident > before.ident.max()]):
            one, other = after.heading[after.mother == mother]
            angles.append(np.degrees(np.arccos(np.clip(one @ other, -1, 1))))
    assert len(angles) > 10
    assert 15 < np.median(angles) < 90


def test_newborns_are_half_as_long_as_dividing_cells(history: list[Colony]) -> None:
    late = history[-1]
    assert (late.length + 2 * late.radius).min() > 0.6 * GROWTH.birth_px
    assert (late.length + 2 * late.radius).max() < 2.8 * GROWTH.birth_px


def test_a_colony_is_the_same_for_the_same_seed() -> None:
    def last(seed: int) -> Colony:
        life = stream(seed, 0)
        founders = found_colony(life, GROWTH, (50.0, 50.0))
        return list(islice(live(founders, life, GROWTH, BOUNDS), 120))[-1]

    np.testing.assert_array_equal(last(1).position, last(1).position)
    assert last(1).position.tolist() != last(2).position.tolist()


def test_cells_that_pass_the_bounds_are_gone() -> None:
    life = stream(1, 0)
    founders = found_colony(life, GROWTH, (50.0, 50.0))
    bounds = (np.full(2, 30.0), np.full(2, 70.0))
    for colony in islice(live(founders, life, GROWTH, bounds), 1, 250):
        assert (colony.position >= 30).all()
        assert (colony.position <= 70).all()


def test_a_drawn_rod_has_the_area_and_thickness_of_a_spherocylinder() -> None:
    drawing = draw_rods(rod(20.3, 30.4), (40, 60))
    assert (drawing.idents == 1).sum() == pytest.approx(20 * 12 + np.pi * 36, rel=0.02)
    volume = np.pi * 36 * 20 + 4 / 3 * np.pi * 216
    assert drawing.thickness.sum() == pytest.approx(volume, rel=0.01)


def test_the_thicker_of_two_overlapping_rods_keeps_a_pixel() -> None:
    pair = rod(20, 30).join(rod(30, 30, ident=2))
    idents = draw_rods(pair, (50, 60)).idents
    assert idents[24, 30] == 1
    assert idents[26, 30] == 2


def test_a_rod_beyond_the_field_leaves_no_trace() -> None:
    drawing = draw_rods(rod(-50, 30), (40, 60))
    assert not drawing.idents.any()
    assert not drawing.thickness.any()


def test_a_cell_is_dark_and_its_halo_bright() -> None:
    drawing = draw_rods(rod(64, 64), (128, 128))
    light = OPTICS.intensity(drawing.thickness)
    assert light[64, 64] < 0.75
    assert light[64 - 12, 64] > 1.02
    assert light[2, 2] == pytest.approx(1, abs=0.01)


def test_wide_objects_lose_contrast_in_their_middle() -> None:
    slab = np.zeros((256, 256))
    slab[96:160, 96:160] = 10.0
    light = OPTICS.intensity(slab)
    assert light[128, 128] > light[100, 128] + 0.05


def test_the_camera_adds_shot_noise_round_the_light() -> None:
    flat = np.ones((100, 100))
    image = OPTICS.record(flat, flat, stream(0, 9)).astype(float)
    assert image.mean() == pytest.approx(OPTICS.grey, abs=0.5)
    assert image.std() == pytest.approx(114 / np.sqrt(2000), rel=0.15)


def label(book: TrackBook, colony: Colony, shape: tuple[int, int] = (40, 60)) -> list[int]:
    drawing = draw_rods(colony, shape)
    return np.unique(book.label(colony, drawing))[1:].tolist()


def test_daughters_start_a_frame_after_their_mothers_end() -> None:
    book = TrackBook()
    mother = rod(20, 30)
    daughters = rod(20, 18, ident=2, length=5).join(rod(20, 42, ident=3, length=5))
    daughters.mother[:] = 1
    assert label(book, mother) == [1]
    assert label(book, mother) == [1]
    assert label(book, daughters) == [2, 3]
    assert book.tracks.tolist() == [[1, 0, 1, 0], [2, 2, 2, 1], [3, 2, 2, 1]]


def test_a_cell_less_than_half_in_the_field_does_not_enter() -> None:
    book = TrackBook()
    assert label(book, rod(20, -5)) == []
    assert label(book, rod(20, 5)) == [1]


def test_a_leaving_cell_is_followed_until_a_sliver_is_left() -> None:
    book = TrackBook()
    seen = [label(book, rod(20, column)) for column in (20, 0, -8, -12, 20)]
    assert seen == [[1], [1], [1], [], [2]]
    assert book.tracks.tolist() == [[1, 0, 2, 0], [2, 4, 4, 0]]


def test_a_daughter_seen_late_has_no_parent() -> None:
    book = TrackBook()
    daughter = rod(20, -20, ident=2)
    daughter.mother[:] = 1
    assert label(book, rod(20, 12)) == [1]
    assert label(book, daughter) == []
    assert label(book, daughter.moved(np.array([[20.0, 20.0]]), daughter.heading)) == [2]
    assert book.tracks.tolist() == [[1, 0, 0, 0], [2, 2, 2, 0]]


def test_a_crop_cuts_the_margin_off() -> None:
    drawing = draw_rods(rod(20, 30), (40, 60))
    assert isinstance(drawing.crop(5), Drawing)
    np.testing.assert_array_equal(drawing.crop(5).idents, drawing.idents[5:-5, 5:-5])


def test_packed_frames_come_back_in_order() -> None:
    packed = PackedFrames()
    frames = [np.full((3, 4), k, np.uint16) for k in (7, 300)]
    for frame in frames:
        packed.append(frame)
    np.testing.assert_array_equal(np.stack(list(packed)), np.stack(frames))


def test_blur_of_a_missed_focus_adds_to_the_lens_s_own_in_squares() -> None:
    assert OPTICS.defocused(2.0).psf_px == 2.5
    assert OPTICS.defocused(0.0) is OPTICS
