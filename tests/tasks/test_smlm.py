from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage
from scipy.spatial import cKDTree

from scorers.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "smlm-localization-dnapaint"
LIST = "DNAPAINT_LocalizationList.txt"
MOVIE = "DNAPAINT_substack.tiff"


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def movie(made: Made) -> np.ndarray:
    return tifffile.imread(made.input / MOVIE).astype(float)


@pytest.fixture(scope="module")
def blinks(made: Made) -> np.ndarray:
    return np.loadtxt(made.evaluation / LIST, skiprows=1)


def test_the_movie_is_a_plain_stack_of_frames(made: Made) -> None:
    assert [p.name for p in made.input.iterdir()] == [MOVIE]
    with tifffile.TiffFile(made.input / MOVIE) as file:
        assert len(file.pages) == 256
        assert file.series[0].shape == (256, 96, 96)
        assert file.pages[0].dtype == np.uint16
        assert not file.pages[0].description


def test_the_list_has_the_published_heading_and_counts_frames_from_0(
    made: Made, blinks: np.ndarray
) -> None:
    assert [p.name for p in made.evaluation.iterdir()] == [LIST]
    assert (made.evaluation / LIST).read_text().startswith("frame\tx\ty\tintensity\n")
    assert blinks[:, 0].min() == 0
    assert blinks[:, 0].max() == 255
    assert 1000 < len(blinks) < 2500
    # Hardly two of the published intensities are alike.
    assert len(np.unique(blinks[:, 3])) > 0.9 * len(blinks)


def test_listed_blinks_shine_in_their_frame_at_their_place(
    movie: np.ndarray, blinks: np.ndarray
) -> None:
    frame, x, y = blinks[:, 0].astype(int), np.rint(blinks[:, 1]), np.rint(blinks[:, 2])
    light = movie - np.median(movie, axis=0)
    smooth = ndimage.gaussian_filter(light, (0, 1, 1))
    here = smooth[frame, y.astype(int), x.astype(int)]
    later = smooth[(frame + 60) % len(movie), y.astype(int), x.astype(int)]
    mirrored = smooth[frame, x.astype(int), y.astype(int)]
    assert np.median(here) > 5 * max(np.median(later), np.median(mirrored), 1.0)


def test_spots_are_as_wide_as_tirf_makes_them(movie: np.ndarray, blinks: np.ndarray) -> None:
    bright = blinks[np.argsort(-blinks[:, 3])[:300]]
    frame, x, y = bright[:, 0].astype(int), np.rint(bright[:, 1]), np.rint(bright[:, 2])
    light = movie - np.median(movie, axis=0)
    rows, columns = np.mgrid[-4:5, -4:5]
    y, x = y.astype(int)[:, None, None], x.astype(int)[:, None, None]
    windows = light[frame[:, None, None], y + rows, x + columns]
    offset = (y + rows - bright[:, 2, None, None]) ** 2 + (
        x + columns - bright[:, 1, None, None]
    ) ** 2
    # Light falls by exp(-1/2) per sigma²: a line in the logarithm of the mean over distance².
    bins = np.arange(0, 5.5, 0.5)
    group = np.digitize(offset.ravel(), bins)
    means = [windows.ravel()[group == k].mean() for k in range(1, len(bins))]
    slope = np.polyfit((bins[:-1] + bins[1:]) / 2, np.log(means), 1)[0]
    assert 1.0 < np.sqrt(-0.5 / slope) < 1.35


def test_marks_of_a_ruler_lie_80_nm_apart(simulate: ModuleType) -> None:
    docks, specks = simulate.lay_rulers(simulate.stream(3, 0), 96)
    assert len(specks) == 3
    # 27 rulers with three marks of four strands, a tenth of which is missing.
    assert len(docks) == pytest.approx(27 * 12 * 0.9, abs=25)
    pairs = np.array(sorted(cKDTree(docks).query_pairs(3.0)))
    distance_nm = 100 * np.linalg.norm(docks[pairs[:, 0]] - docks[pairs[:, 1]], axis=1)
    sizes = np.histogram(distance_nm, [0, 25, 60, 100, 140, 180])[0]
    assert sizes[1] == sizes[3] == 0
    assert sizes[2] > 1.5 * sizes[4]


def test_blinks_last_as_nine_bases_hold(simulate: ModuleType) -> None:
    events = simulate.bind(
        simulate.stream(4), 4000, frames=400, bound=1 / (1.6 * 0.1), unbound=330.0
    )
    whole = (events.start > 0) & (events.start < 300)
    assert np.mean((events.end - events.start)[whole]) * 0.1 == pytest.approx(1 / 1.6, rel=0.05)


def test_what_is_too_faint_in_a_frame_is_not_listed_there(simulate: ModuleType) -> None:
    happened = simulate.happen(3, 40, 96)
    imaging = simulate.Imaging.of(0.5)
    ground = simulate.background(simulate.stream(3, 5), happened, imaging)
    listed = simulate.reference(happened, ground, imaging)
    assert len(listed) > 60
    # 5 times the noise under the spot: at least this many photons on the palest background.
    least = 5 * 2 * np.sqrt(np.pi) * happened.sigma_px.min() * np.sqrt(2 * ground.min())
    assert min(row[3] for row in listed) > least
    dark = happened._replace(light=0.01 * happened.light)
    assert simulate.reference(dark, ground, imaging) == []


def test_difficulty_dims_the_same_blinks(simulate: ModuleType) -> None:
    happened = simulate.happen(3, 60, 96)
    lists = []
    for difficulty in (0.0, 0.5, 1.0):
        imaging = simulate.Imaging.of(difficulty)
        ground = simulate.background(simulate.stream(3, 5), happened, imaging)
        lists.append({row[:3] for row in simulate.reference(happened, ground, imaging)})
    easy, middle, hard = lists
    assert hard < middle < easy
    assert len(hard) > 0.7 * len(easy)


def test_the_reference_scores_one_and_nothing_scores_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.0, 0.0)


def test_half_a_pixel_and_frames_from_1_cost_what_they_should(
    made: Made, blinks: np.ndarray, tmp_path: Path
) -> None:
    moves = {"pixel": np.array([0, 0.5, 0.5, 0]), "frame": np.array([1, 0, 0, 0])}
    strict = {}
    for name, move in moves.items():
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / LIST, blinks + move, delimiter="\t")
        strict[name] = grade(made.capsule, tmp_path / name).strict
    assert strict["pixel"] == pytest.approx(1 - 0.5 * 2**0.5, abs=0.01)
    assert 0.2 < strict["frame"] < 0.8


def test_a_volume_is_refused(simulate: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="this movie is 2D, got dims='3D'"):
        simulate.simulate(tmp_path, seed=0, dims="3D")


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    result = made.grade("solution")
    assert result.outcome is not None
    assert result.strict is not None
    assert 0.8 < result.outcome < 0.99
    assert 0.6 < result.strict < 0.95
    folder = made.submission("solution")
    assert (folder / LIST).exists()
    assert "median" in (folder / "methods.md").read_text(encoding="utf-8")
    assert len([*(folder / "figures").iterdir()]) == 3
