"""Nothing of a reference shows in what an agent is given, whatever the task.

Pixels must tell where the objects are: that is the task. Anything else about the input must be the
same whether there are many objects or few, here or there: names, order, tags, tables, and how large
a file is. A compressed file's size follows from its pixels; so the criterion for sizes is that no
byte of a file is anything but the coding of its pixels or a header of constant length.
"""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals import assets
from evals.data.recipe import Recipe
from evals.edition import open_edition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.tasks.conftest import Made

TASKS = [path.parent.name for path in sorted((assets() / "tasks" / "biaa").glob("*/simulate.py"))]
# Those with a file of their own for each of many references.
MANY_FILES = [
    "fluo-cell-counting-2d-cellfmcount",
    "fluo-helacytonuc-cell-segmentation",
    "he-nuinsseg-nuclear-segmentation",
]
TIFFS = {".tif", ".tiff", ".lsm"}
TEXTS = {".txt", ".csv"}
# Sizes, types, codings, place of the pixels, description, resolution; Zeiss' own block in LSM.
TAGS = {
    *(254, 256, 257, 258, 259, 262, 270, 273, 277, 278, 279, 282, 283, 284, 296, 317),
    *(320, 322, 323, 324, 325, 338, 339),
}
LSM_TAGS = {*TAGS, 34412}
IMAGEJ_KEYS = {
    *("ImageJ", "images", "channels", "slices", "frames", "hyperstack", "mode", "loop"),
    *("unit", "spacing", "finterval", "tunit"),
}
OME_PARTS = {"OME", "Image", "Pixels", "Channel", "TiffData", "UUID"}
BYTES_A_RUN = 48


@pytest.fixture(scope="module", params=TASKS, name="made")
def _made(request: pytest.FixtureRequest, make: Callable[[str], Made]) -> Made:
    return make(request.param)


def files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def pages(path: Path) -> Iterator[np.ndarray]:
    """Yield a picture's planes; none for a file that is no picture."""
    if path.suffix in TIFFS:
        with tifffile.TiffFile(path) as file:
            yield from (page.asarray() for page in file.pages)
    elif path.suffix in {".png", ".bmp"}:
        with Image.open(path) as picture:
            yield np.asarray(picture)


def runs(path: Path) -> list[bytes]:
    """Return stretches of a file, spread over it, that hardly occur anywhere by chance."""
    content = path.read_bytes()
    starts = np.linspace(0, max(0, len(content) - BYTES_A_RUN), 40).astype(int)
    stretches = [content[start : start + BYTES_A_RUN] for start in starts]
    text = path.suffix in TEXTS  # words in a picture's header are the same everywhere
    return [
        stretch
        for stretch in stretches
        if len(set(stretch)) > BYTES_A_RUN // (4 if text else 2)
        and (text or not stretch[: BYTES_A_RUN // 2].isascii())
    ]


def long_numbers(text: str) -> set[str]:
    """Return the numbers of at least five digits' precision."""
    found = re.findall(r"\d+\.\d+", text)
    return {number for number in found if len(number.replace(".", "").strip("0")) >= 5}


def described(path: Path) -> str:
    """Return what a picture says of itself in words."""
    if path.suffix in TIFFS:
        with tifffile.TiffFile(path) as file:
            return file.pages[0].description
    return ""


def object_counts(made: Made) -> list[tuple[Path, int]]:
    """Pair input files, in the order of their names, with the number of objects in them."""
    references = files(made.evaluation)
    counts = []
    for path in files(made.input):
        stem = path.stem
        own = [r for r in references if r.stem == stem or r.stem.startswith(f"{stem}_")]
        if own and own[0].suffix in TIFFS:
            labels = tifffile.imread(own[0])
            if labels.dtype.kind in "iu":
                counts.append((path, len(np.unique(labels)) - 1))
        elif own and own[0].suffix in TEXTS:
            counts.append((path, len(own[0].read_text("utf-8").splitlines()) - 1))
    return counts


def test_there_are_sixteen_tasks_to_look_at() -> None:
    assert len(TASKS) == 16


def test_a_simulator_writes_input_and_reference_and_nothing_else(made: Made) -> None:
    kept = {"input", "evaluation", "task_spec.yaml", "evaluation_rubric.yaml"}
    assert {path.name for path in made.capsule.iterdir()} == kept


def test_no_stretch_of_a_reference_file_occurs_in_the_input(made: Made) -> None:
    given = [path.read_bytes() for path in files(made.input)]
    references = files(made.evaluation)
    some = references[:: max(1, len(references) // 12)]
    wanted = [run for path in some for run in runs(path)]
    assert not [run for run in wanted if any(run in content for content in given)]


def test_no_plane_of_the_input_is_a_plane_of_the_reference(made: Made) -> None:
    def digests(folder: Path) -> set[str]:
        planes = (page for path in files(folder) for page in pages(path) if np.ptp(page))
        return {hashlib.sha256(np.ascontiguousarray(page)).hexdigest() for page in planes}

    assert not digests(made.input) & digests(made.evaluation)


def test_no_number_of_a_reference_table_stands_in_the_input(made: Made) -> None:
    texts = [path.read_text("utf-8") for path in files(made.input) if path.suffix in TEXTS]
    words = [described(path) for path in files(made.input)]
    names = [path.name for path in files(made.input)]
    given = set().union(*(long_numbers(text) for text in [*texts, *words, *names]))
    for path in files(made.evaluation):
        if path.suffix in TEXTS:
            assert not given & long_numbers(path.read_text("utf-8"))


def test_no_name_speaks_of_truth(made: Made) -> None:
    names = [path.relative_to(made.input).as_posix().lower() for path in files(made.input)]
    words = {word for name in names for word in re.split(r"[^a-z]+", name)}
    assert not words & {"gt", "truth", "label", "labels", "mask", "masks", "seg", "reference"}


def test_pictures_carry_the_promised_tags_and_no_others(made: Made) -> None:
    for path in files(made.input):
        if path.suffix in TIFFS:
            with tifffile.TiffFile(path) as file:
                for page in (file.pages[0], file.pages[len(file.pages) - 1]):
                    codes = {tag.code for tag in page.aspage().tags}
                    assert codes <= (LSM_TAGS if file.is_lsm else TAGS), path.name
        elif path.suffix in {".png", ".bmp"}:
            with Image.open(path) as picture:
                assert set(picture.info) <= {"dpi", "compression"}, path.name
                assert not picture.getexif(), path.name


def test_descriptions_hold_sizes_and_nothing_else(made: Made) -> None:
    for path in files(made.input):
        text = described(path)
        if text.startswith("ImageJ"):
            assert {line.split("=")[0] for line in text.splitlines()} <= IMAGEJ_KEYS
        elif text.startswith("<?xml"):
            assert set(re.findall(r"<(\w+)[ >]", text)) <= OME_PARTS
        else:
            assert text in ("", '{"shape": null}') or re.fullmatch(
                r'\{"shape": \[[\d, ]+\]\}', text
            )


def test_a_picture_is_its_pixels_and_a_header_of_constant_length(made: Made) -> None:
    rest: dict[tuple[int, ...], list[int]] = {}
    for path in files(made.input):
        if path.suffix in TIFFS:
            with tifffile.TiffFile(path) as file:
                coded = sum(sum(page.databytecounts) for page in file.pages)
                words = len(file.pages[0].description.encode())
                # The length of a header depends on how many strips there are, and on alignment.
                strips = sum(len(page.databytecounts) for page in file.pages)
                key = (len(file.pages), strips, *file.pages[0].shape)
            spare = path.stat().st_size - coded - words
            assert spare < 1024 + 200 * key[0] + 10 * strips, path.name
            rest.setdefault(key, []).append(spare)
        elif path.suffix == ".bmp":
            with Image.open(path) as picture:
                width, height = picture.size
            assert path.stat().st_size < width * height + 1100 + 4 * height
        elif path.suffix == ".png":
            assert set(png_chunks(path.read_bytes())) <= {b"IHDR", b"IDAT", b"IEND"}
    for (count, *_), spares in rest.items():
        assert max(spares) - min(spares) <= 8 + 4 * count


def png_chunks(content: bytes) -> Iterator[bytes]:
    """Yield the kinds of a PNG's chunks, which must fill the file."""
    at = 8
    while at < len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        yield content[at + 4 : at + 8]
        at += size + 12


@pytest.mark.parametrize("task", MANY_FILES)
def test_files_are_not_in_the_order_of_their_number_of_objects(
    task: str, make: Callable[[str], Made]
) -> None:
    counts = [count for _, count in object_counts(make(task))]
    assert len(counts) >= 8
    assert len(set(counts)) >= 3
    steps = np.array([then - now for now, then in pairwise(counts)])
    # By chance as many steps go up as down; one way throughout would be an order.
    assert 0.15 < np.mean(steps > 0) < 0.85
    ranks = np.argsort(np.argsort(counts))
    assert abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) < 0.85


def test_names_do_not_tell_the_number_of_objects(made: Made) -> None:
    counts = object_counts(made)
    told = [count in map(int, re.findall(r"\d+", path.stem)) for path, count in counts]
    assert not told or np.mean(told) <= 0.25


@pytest.mark.parametrize("task", ["fluo-cell-counting-2d-cellfmcount"])
def test_files_do_not_tell_when_and_for_how_long_they_were_made(task: str) -> None:
    [capsule] = open_edition(tasks=task, recipe=Recipe(11))
    times = {path.stat().st_mtime_ns for path in files(capsule.path / "input")}
    assert len(times) == 1
