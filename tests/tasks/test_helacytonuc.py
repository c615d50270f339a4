from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from scipy import ndimage
from scipy.spatial import cKDTree

from scorers.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.tasks.conftest import Made

TASK = "fluo-helacytonuc-cell-segmentation"
REAL = Path(__file__).parents[1] / "data" / "real" / "nuclei-fluo-2d"
FIELD = (130, 174)


@pytest.fixture(scope="module")
def made(make: Callable[[str], Made]) -> Made:
    return make(TASK)


@pytest.fixture(scope="module")
def simulate(simulator: Callable[[str], ModuleType]) -> ModuleType:
    return simulator(TASK)


def masks(made: Made, kind: str) -> list[np.ndarray]:
    folder = made.evaluation / f"{kind}_masks"
    return [tifffile.imread(path) for path in sorted(folder.iterdir())]


def whole_widths(labels: list[np.ndarray]) -> np.ndarray:
    """Widths in pixels of the discs of equal area, of objects that the border does not cut."""
    widths = []
    for label in labels:
        areas = np.bincount(label.ravel())
        areas[np.concatenate([label[[0, -1]].ravel(), label[:, [0, -1]].ravel()])] = 0
        areas[0] = 0
        widths.append(2 * np.sqrt(areas[areas > 0] / np.pi))
    return np.concatenate(widths)


def gaps(label: np.ndarray) -> np.ndarray:
    """Distance of each object to the next, in widths of an object."""
    y, x = np.nonzero(label)
    size = np.bincount(label[y, x])
    known = np.flatnonzero(size)
    centres = np.stack([np.bincount(label[y, x], at)[known] / size[known] for at in (y, x)], axis=1)
    width = 2 * np.sqrt(size[known] / np.pi)
    return cKDTree(centres).query(centres, k=2)[0][:, 1] / width


def test_each_numbered_picture_has_two_masks_of_its_name_and_size(made: Made) -> None:
    names = sorted(path.name for path in made.input.iterdir())
    assert all(Path(name).stem.isdigit() and name.endswith(".tif") for name in names)
    for folder in made.evaluation.iterdir():
        assert folder.name in ("nuclei_masks", "cytoplasm_masks")
        assert sorted(path.name for path in folder.iterdir()) == names
    for name in names:
        picture = tifffile.imread(made.input / name)
        label = tifffile.imread(made.evaluation / "nuclei_masks" / name)
        assert (picture.dtype, label.dtype) == (np.uint8, np.uint8)
        assert picture.shape == (*label.shape, 3)
        assert not picture[..., 1].any()


def test_a_picture_is_rgb_and_says_nothing_else(made: Made) -> None:
    for path in made.input.iterdir():
        with tifffile.TiffFile(path) as file:
            assert len(file.pages) == 1
            assert file.pages[0].photometric == tifffile.PHOTOMETRIC.RGB
            assert not file.pages[0].description


def test_a_body_holds_its_nucleus_and_bears_its_number(made: Made) -> None:
    total = 0
    for nuclei, bodies in zip(masks(made, "nuclei"), masks(made, "cytoplasm"), strict=True):
        assert np.array_equal(bodies[nuclei > 0], nuclei[nuclei > 0])
        count = int(nuclei.max())
        assert np.unique(bodies).tolist() == [*range(count + 1)]
        assert (np.bincount(nuclei.ravel())[1:] >= 60).all()
        total += count
    assert total >= 300


def test_nuclei_and_cells_are_as_large_as_hela(made: Made) -> None:
    low, middle, high = np.percentile(whole_widths(masks(made, "nuclei")), (10, 50, 90))
    assert 20 < low < middle < high < 33
    assert 23 < middle < 31
    body_um2 = np.pi / 4 * (whole_widths(masks(made, "cytoplasm")) * 0.645) ** 2
    assert 450 < np.median(body_um2) < 1200


def test_nuclei_lie_as_close_as_in_real_fields_of_cultured_cells(made: Made) -> None:
    real = [tifffile.imread(path).astype(int) for path in sorted(REAL.glob("*_label.tif"))]
    known = [float(np.median(gaps(label))) for label in real]
    ours = float(np.median(np.concatenate([gaps(label) for label in masks(made, "nuclei")])))
    assert min(known) - 0.1 < ours < max(known) + 0.1


def test_many_cells_touch_but_their_nuclei_hardly_do(made: Made) -> None:
    def pieces(labels: list[np.ndarray]) -> float:
        return sum(int(ndimage.label(label)[1]) for label in labels) / sum(
            int(label.max()) for label in labels
        )

    assert pieces(masks(made, "cytoplasm")) < 0.4
    assert 0.8 < pieces(masks(made, "nuclei")) < 1


def test_light_varies_more_where_there_is_more_of_it(simulate: ModuleType) -> None:
    rng = simulate.stream(5)
    light = np.repeat(np.float32([[20.0], [80.0], [240.0]]), 40_000, axis=1)
    counts = simulate.expose(rng, light).astype(float)
    mean, variance = counts.mean(axis=1) - 4.0, counts.var(axis=1) - 1 / 12
    gain = mean[:2] / light[:2, 0]
    assert variance[:2] == pytest.approx(gain**2 * (light[:2, 0] + 4.0), rel=0.05)


def test_difficulty_leaves_the_cells_where_they_are(simulate: ModuleType) -> None:
    made = [simulate.make_field(4, 2500, FIELD, d) for d in (0.0, 0.5, 1.0)]
    easy, hard = made[0], made[2]
    assert easy[2].max() >= hard[2].max() > 5
    both = (easy[2] > 0) & (hard[2] > 0)
    assert both.sum() == (hard[2] > 0).sum() > 0.8 * (easy[2] > 0).sum()
    contrast = []
    for picture, _, bodies in made:
        calm = ndimage.uniform_filter(picture[..., 0].astype(float), 7)
        contrast.append(np.median(calm[bodies > 0]) / calm.min())
    assert contrast[0] > 1.3 * contrast[1] > 1.3 * contrast[2]
    assert contrast[2] > 1


def test_a_cell_too_faint_to_be_seen_is_in_neither_mask(simulate: ModuleType) -> None:
    cells = simulate.grow(simulate.stream(4, 1, 2500), FIELD)
    ground = simulate.hold_ground(cells.layer, FIELD, simulate.FINE)
    owned = ground.cell[1::3, 1::3] >= 0
    strong, faint = (np.where(owned, np.float32(on), np.float32(20)) for on in (200, 22))
    assert simulate.reference(cells.layer, ground, (strong, strong))[0].max() > 5
    nuclei, bodies = simulate.reference(cells.layer, ground, (strong, faint))
    assert not nuclei.any()
    assert not bodies.any()


def test_the_reference_scores_one_and_blank_masks_nothing(made: Made) -> None:
    perfect, blank = made.grade("perfect"), made.grade("blank")
    assert (perfect.outcome, perfect.strict) == (1.0, 1.0)
    assert (blank.outcome, blank.strict) == (0.0, 0.0)


def test_shuffled_numbers_cost_the_strict_score_only(made: Made, tmp_path: Path) -> None:
    folder = shutil.copytree(made.submission("perfect"), tmp_path / "shuffled")
    for path in (folder / "cytoplasm_masks").iterdir():
        label = tifffile.imread(path)
        present = np.unique(label)[1:]
        order = np.zeros(256, np.uint8)
        order[present] = np.roll(present, 1)
        tifffile.imwrite(path, order[label])
    told = grade(made.capsule, folder)
    assert told.outcome == 1.0
    assert told.strict is not None
    assert told.strict < 0.05


def test_the_solution_lies_between_floor_and_ceiling(made: Made) -> None:
    told = made.grade("solution")
    assert told.outcome is not None
    assert told.strict is not None
    assert 0.8 < told.outcome < 0.98
    assert 0.45 < told.strict < 0.8
    folder = made.submission("solution")
    assert {p.name for p in (folder / "figures").iterdir()} >= {"overlays.png", "areas.png"}
    assert "watershed" in (folder / "methods.md").read_text(encoding="utf-8")
