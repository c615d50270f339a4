"""Pictures of tasks: input above, reference below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from evals.cli import app
from evals.edition import open_edition
from evals.preview import input_tiles, preview, reference_tiles, spread

if TYPE_CHECKING:
    from pathlib import Path

    from evals.capsule import Capsule

COUNTING = "fluo-cell-counting-2d-cellfmcount"


@pytest.fixture(scope="module", name="capsule")
def _capsule() -> Capsule:
    [capsule] = open_edition(tasks=COUNTING)
    return capsule


def test_a_preview_shows_input_above_reference(capsule: Capsule, tmp_path: Path) -> None:
    preview(capsule, tmp_path / "new" / "counting.png")
    with Image.open(tmp_path / "new" / "counting.png") as picture:
        assert picture.size == (1200, 730)
        assert np.asarray(picture.convert("L")).std() > 40


def test_the_input_is_shown_as_an_agent_sees_it(capsule: Capsule) -> None:
    tiles = input_tiles(capsule.input_dir)
    assert len(tiles) == 4
    assert all(tile.caption.endswith(".tiff") and tile.picture.ndim == 3 for tile in tiles)


def test_the_reference_is_shown_as_the_grader_draws_it(capsule: Capsule) -> None:
    [densest, *_] = reference_tiles(capsule)
    assert "F1 1.00" in densest.caption


def test_the_only_file_is_shown_at_places_from_its_first_to_its_last_plane(tmp_path: Path) -> None:
    import tifffile

    stack = np.zeros((50, 20, 20), np.uint8)
    stack[:, 5:9, 5:9] = np.arange(50)[:, None, None]
    tifffile.imwrite(tmp_path / "movie.tif", stack, imagej=True, metadata={"axes": "TYX"})
    captions = [tile.caption for tile in input_tiles(tmp_path)]
    assert [caption.split("\n")[1] for caption in captions] == ["T=1", "T=17", "T=33", "T=49"]


def test_each_folder_of_an_input_is_shown(tmp_path: Path) -> None:
    # A folder may be called like an image.
    for folder in ("a", "b.tif", "c"):
        (tmp_path / folder).mkdir()
        for name in ("1.png", "2.png"):
            Image.new("L", (30, 30), 90).save(tmp_path / folder / name)
    captions = [tile.caption for tile in input_tiles(tmp_path)]
    assert captions == ["a/1.png", "b.tif/1.png", "c/1.png"]


def test_entries_are_spread_from_first_to_last() -> None:
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread("ab", 4) == ["a", "b"]


def test_the_command_says_where_the_pictures_are(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    done = CliRunner().invoke(app, ["preview", COUNTING, "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / f"{COUNTING}.jpg").is_file()
    assert f"{COUNTING}.jpg" in done.stdout
