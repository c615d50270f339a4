from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "phase-contrast-bacteria-tracking-toiam"


@pytest.fixture(scope="module")
def made(make: Callable[..., Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def stills(make: Callable[..., Made]) -> Made:
    return make(TASK, "2d")


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def masks(made: Made) -> np.ndarray:
    return tifffile.imread(made.evaluation / "00_GT.ome.tif")


@pytest.fixture(scope="module")
def tracks(made: Made) -> np.ndarray:
    return np.loadtxt(made.evaluation / "man_track.txt", dtype=int)


def test_files_bear_the_published_names(made: Made) -> None:
    assert {p.name for p in made.input.iterdir()} == {"00.ome.tif"}
    assert {p.name for p in made.evaluation.iterdir()} == {"00_GT.ome.tif", "man_track.txt"}


def test_the_movie_is_8_bit_with_a_page_a_frame_and_its_scale(made: Made) -> None:
    with tifffile.TiffFile(made.input / "00.ome.tif") as file:
        assert file.is_ome
        series = file.series[0]
        assert (series.axes, series.dtype) == ("TYX", np.dtype(np.uint8))
        assert len(file.pages) == series.shape[0]
        assert 'PhysicalSizeX="0.072"' in str(file.ome_metadata)
        assert 'TimeIncrement="60.0"' in str(file.ome_metadata)


def test_masks_are_16_bit_of_the_movie_s_shape(made: Made, masks: np.ndarray) -> None:
    assert masks.dtype == np.uint16
    assert masks.shape == tifffile.imread(made.input / "00.ome.tif").shape


def test_labels_occur_in_exactly_the_frames_of_their_track(
    masks: np.ndarray, tracks: np.ndarray
) -> None:
    present = np.stack([np.bincount(mask.ravel(), minlength=len(tracks) + 1) for mask in masks]) > 0
    frames = np.arange(len(masks))[:, None]
    expected = (frames >= tracks[:, 1]) & (frames <= tracks[:, 2])
    np.testing.assert_array_equal(tracks[:, 0], np.arange(1, len(tracks) + 1))
    np.testing.assert_array_equal(present[:, 1:], expected)


def test_daughters_start_a_frame_after_their_mother_s_end(tracks: np.ndarray) -> None:
    daughters = tracks[tracks[:, 3] > 0]
    assert np.isin(daughters[:, 3], tracks[:, 0]).all()
    np.testing.assert_array_equal(daughters[:, 1], tracks[daughters[:, 3] - 1, 2] + 1)


def test_a_mother_has_at_most_two_daughters_and_the_movie_thirty_divisions(
    tracks: np.ndarray,
) -> None:
    _, counts = np.unique(tracks[tracks[:, 3] > 0, 3], return_counts=True)
    assert counts.max() == 2
    assert (counts == 2).sum() >= 30


def test_no_sliver_of_a_cell_is_labelled(masks: np.ndarray) -> None:
    areas = np.concatenate([np.bincount(mask.ravel())[1:] for mask in masks])
    assert areas[areas > 0].min() >= 60


def test_cells_are_darker_than_what_surrounds_them(made: Made, masks: np.ndarray) -> None:
    movie = tifffile.imread(made.input / "00.ome.tif")
    assert movie[masks > 0].mean() < 0.9 * movie[masks == 0].mean()


def test_the_capsule_is_small(made: Made) -> None:
    files = [*made.input.iterdir(), *made.evaluation.iterdir()]
    assert sum(path.stat().st_size for path in files) < 4_000_000


def test_difficulty_takes_light_focus_and_contrast(simulate: ModuleType) -> None:
    views = [simulate.watch(difficulty) for difficulty in (0.0, 0.5, 1.0)]
    steps = [view.optics for view in views]
    assert [s.photons for s in steps] == sorted((s.photons for s in steps), reverse=True)
    assert [s.index_step for s in steps] == sorted((s.index_step for s in steps), reverse=True)
    assert [s.psf_px for s in steps] == sorted(s.psf_px for s in steps)
    assert [view.interval_min for view in views] == [1, 1, 5]
    assert [view.crowding for view in views] == [1.0, 1.0, 1.5]


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dims must be None, '2dt' or '2d', got '3d'"):
        simulate.simulate(tmp_path, seed=0, dims="3d")


def test_the_reference_scores_one(made: Made) -> None:
    grade = made.grade("perfect")
    assert (grade.outcome, grade.strict) == (1.0, 1.0)


def test_blank_masks_score_next_to_nothing(made: Made) -> None:
    grade = made.grade("blank")
    assert grade.outcome is not None
    assert grade.outcome <= 0.05


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.7 < grade.outcome < 0.97
    assert 0.6 < grade.strict < 0.95


def test_the_solution_keeps_to_the_lineage_format(made: Made) -> None:
    tracks = np.loadtxt(made.submission("solution") / "res_track.txt", dtype=int)
    daughters = tracks[tracks[:, 3] > 0]
    np.testing.assert_array_equal(daughters[:, 1], tracks[daughters[:, 3] - 1, 2] + 1)


def test_the_solution_leaves_figures_and_methods(made: Made) -> None:
    folder = made.submission("solution")
    assert {path.name for path in folder.glob("*.png")} == {
        "overlay_tracks.png",
        "lineage_tree.png",
        "growth.png",
        "robustness.png",
    }
    assert "laptrack" in (folder / "methods.md").read_text(encoding="utf-8")


def test_stills_are_single_pictures_of_the_same_colony(made: Made, stills: Made) -> None:
    names = sorted(path.stem for path in stills.input.iterdir())
    assert len(names) == 12
    assert sorted(path.stem for path in stills.evaluation.iterdir()) == [f"{n}_seg" for n in names]
    pictures = [tifffile.imread(stills.input / f"{name}.tif") for name in names]
    labels = [tifffile.imread(stills.evaluation / f"{name}_seg.tif") for name in names]
    movie = tifffile.imread(made.evaluation / "00_GT.ome.tif")
    for name, picture, label in zip(names, pictures, labels, strict=True):
        assert picture.dtype == np.uint8
        assert label.dtype == np.uint16
        assert np.unique(label).tolist() == list(range(int(label.max()) + 1))
        # What a still shows differs from the movie's frame in focus alone; a cell that is about to
        # leave the field is labelled in one and not in the other.
        minute = int(name.rsplit("t", 1)[1])
        assert ((label > 0) != (movie[minute] > 0)).mean() < 0.01
    assert sum(int(label.max()) for label in labels) >= 300


def test_above_the_published_data_frames_are_fewer_and_cells_more(simulate: ModuleType) -> None:
    views = [simulate.watch(difficulty) for difficulty in (0.0, 0.5, 0.75, 1.0)]
    assert [view.interval_min for view in views] == [1, 1, 2, 5]
    assert [round(48 * view.crowding) for view in views] == [48, 48, 59, 72]


def test_a_frame_out_of_focus_still_shows_neighbours_apart(simulate: ModuleType) -> None:
    # A pattern of period p keeps exp(-2 (pi sigma / p)^2) of its contrast.
    worst = np.hypot(simulate.watch(0.5).optics.psf_px, simulate.WORST_PX)
    assert np.exp(-2 * (np.pi * worst / 12.5) ** 2) > 0.05


def test_the_solution_scores_higher_on_stills_than_on_the_movie(made: Made, stills: Made) -> None:
    still, movie = stills.grade("solution").strict, made.grade("solution").strict
    assert still is not None
    assert movie is not None
    assert still > movie
    assert (stills.submission("solution") / "methods.md").is_file()
