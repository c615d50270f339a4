from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.metrics.classes import confusion
from scorers.metrics.points import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "microglia-phenotype-progression-bbbc054"
LABELS = ("round", "amoeboid", "stratified")
Row = dict[str, str]


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


@pytest.fixture(scope="module")
def rows(made: Made) -> list[Row]:
    path = made.evaluation / "Replicate1annotation.csv"
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.fixture(scope="module")
def movie(made: Made) -> np.ndarray:
    names = (made.input / "filelist.txt").read_text(encoding="utf-8").split()
    return np.stack([tifffile.imread(made.input / name) for name in names])


def shares(rows: list[Row], label: str) -> np.ndarray:
    frame = np.array([int(row["axis-0"]) for row in rows])
    kind = np.array([row["label"] == label for row in rows])
    return np.bincount(frame, kind, minlength=60) / np.bincount(frame, minlength=60)


def test_60_grey_frames_are_listed_in_order(made: Made, movie: np.ndarray) -> None:
    names = (made.input / "filelist.txt").read_text(encoding="utf-8").split()
    assert names == sorted(names)
    assert {path.name for path in made.input.iterdir()} == {*names, "filelist.txt"}
    assert (movie.shape, movie.dtype) == ((60, 288, 320), np.uint8)
    with tifffile.TiffFile(made.input / names[0]) as file:
        assert not file.pages[0].description


def test_the_annotation_has_the_released_columns_and_classes(rows: list[Row]) -> None:
    assert [*rows[0]] == ["index", "axis-0", "axis-1", "axis-2", "label"]
    assert [int(row["index"]) for row in rows] == [*range(len(rows))]
    assert {row["label"] for row in rows} == set(LABELS)
    assert len(rows) > 1200


def test_no_frame_holds_one_class_only(rows: list[Row]) -> None:
    assert min(len({r["label"] for r in rows if int(r["axis-0"]) == f}) for f in range(60)) > 1


def test_points_lie_in_the_field_and_on_cells(rows: list[Row], movie: np.ndarray) -> None:
    frame = np.array([int(row["axis-0"]) for row in rows])
    y, x = (np.array([float(row[axis]) for row in rows]) for axis in ("axis-1", "axis-2"))
    assert y.min() >= 0
    assert x.min() >= 0
    assert (y.max(), x.max()) <= (287.0, 319.0)
    field = np.median(movie, axis=(1, 2))
    away = np.abs(movie[frame, np.rint(y).astype(int), np.rint(x).astype(int)] - field[frame])
    assert np.mean(away > 0.15 * field[frame]) > 0.85


def test_ramified_cells_turn_round_over_30_hours(rows: list[Row]) -> None:
    branched, balls = shares(rows, "stratified"), shares(rows, "round")
    assert branched[:10].mean() > 0.5 > 0.25 > branched[-10:].mean()
    assert balls[-10:].mean() > 0.4 > 0.1 > balls[:10].mean()


def test_two_annotators_agree_with_a_kappa_of_about_0_7(simulate: ModuleType) -> None:
    film = simulate.Movie((288, 320), simulate.microscope(0.5), 0.5, 0.4)
    life = simulate.Life()
    course = simulate.courses(3, "canonical")
    seen = list(
        simulate.population(simulate.stream(3, 0), film.wide, simulate.DENSITY_PX, course, life)
    )
    kinds = [
        np.array([LABELS.index(row[3]) for row in simulate.annotate(3, who, film, seen, still)])
        for still in [np.zeros((60, 2))]
        for who in (0, 1)
    ]
    every = np.arange(len(kinds[0]))
    table = confusion(*kinds, Pairs(every, every, np.zeros(len(every))), 3)[:3, :3]
    table = table / table.sum()
    chance = float(table.sum(axis=0) @ table.sum(axis=1))
    assert 0.6 < (np.trace(table) - chance) / (1 - chance) < 0.8


def test_balls_are_bright_inside_and_a_bright_halo_surrounds_dark_cells(
    simulate: ModuleType,
) -> None:
    optics = simulate.microscope(0.0)
    y, x = np.indices((160, 160)) - 80
    away = np.hypot(y, x)

    def disc(radius: float, height: float) -> np.ndarray:
        cap = height * np.sqrt(np.clip(1 - (away / radius) ** 2, 0, None))
        return np.asarray(optics.intensity(cap))

    flat, ball = disc(10.0, 3.6), disc(7.6, 13.0)
    assert flat[away < 5].mean() < 0.6
    assert 1.02 < flat[(away > 12) & (away < 16)].mean() < 1.3
    assert ball[away < 3].mean() > 1.0 > ball[(away > 5.5) & (away < 7.5)].mean()


def test_noise_is_that_of_the_photons(simulate: ModuleType) -> None:
    for difficulty in (0.0, 1.0):
        optics = simulate.microscope(difficulty)
        empty = np.ones((200, 200))
        grey = optics.record(empty, empty, simulate.stream(1)).astype(float)
        gain = (optics.grey - 6) / optics.photons
        expected = gain**2 * (optics.photons + 1.5**2) + 1 / 12
        assert grey.var() == pytest.approx(expected, rel=0.05)


def test_difficulty_keeps_the_reference_and_takes_contrast(
    simulate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(simulate.FIELD_PX, "quick", (96, 96))
    tables, contrast = [], []
    for difficulty in (0.0, 1.0):
        out = tmp_path / str(difficulty)
        simulate.simulate(out, seed=2, difficulty=difficulty)
        tables.append((out / "evaluation" / "Replicate1annotation.csv").read_bytes())
        frame = tifffile.imread(out / "input" / "frame_30.tif").astype(float)
        contrast.append(1 - np.percentile(frame, 1) / np.median(frame))
    assert tables[0] == tables[1]
    assert contrast[0] > 1.3 * contrast[1]


def test_randomised_biology_changes_the_course(simulate: ModuleType) -> None:
    first = [simulate.courses(seed, "randomised") for seed in range(40)]
    change = {round(float(course[0, -1] - course[0, 0]), 1) for course in first}
    assert {-0.6, 0.0, 0.6} <= change
    assert {len(course) for course in first} == {1, 2}
    assert all(simulate.courses(seed, "canonical")[0, -1] < 0.2 for seed in range(40))


def test_the_reference_scores_one_and_an_empty_table_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert blank.outcome == 0.0
    assert not blank.strict


def test_the_solution_lies_between_floor_and_ceiling_and_shows_its_work(made: Made) -> None:
    grade = made.grade("solution")
    assert grade.outcome is not None
    assert grade.strict is not None
    assert 0.65 < grade.strict < 0.9
    assert 0.8 < grade.outcome < 0.97
    folder = made.submission("solution")
    assert {p.name for p in (folder / "figures").iterdir()} == {
        "shares_over_time.png",
        "features_by_phenotype.png",
        "frames_0_10_20_30h.png",
    }
    assert "watershed" in (folder / "methods.md").read_text(encoding="utf-8")
