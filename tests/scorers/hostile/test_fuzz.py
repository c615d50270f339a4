"""Readers and graders on bytes that nobody thought of.

`FUZZ_SECONDS` is the time for all tests of this file together, a few seconds by default. Examples
depend on nothing but their number, so a longer run begins with the same ones.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import time
import unicodedata
import warnings
import zipfile
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from PIL import Image

from scorers.errors import SubmissionFault
from scorers.files.calibration import voxel_size
from scorers.files.columns import read_columns
from scorers.files.deliverables import resolve
from scorers.files.fields import read_field
from scorers.files.images import open_stack
from scorers.files.limits import MIB, Limits
from scorers.files.localisations import read_localisations
from scorers.files.mosaics import open_mosaic
from scorers.files.movies import Movie
from scorers.files.ome import refuse_endless_ome
from scorers.files.pairing import match_predictions
from scorers.files.phenotypes import SUBMITTED, InfiniteFrame, read_cells
from scorers.files.points import read_points
from scorers.files.tables import read_header, read_rows, read_text
from scorers.files.tree import Tree
from scorers.files.workbook_writing import write_workbook
from scorers.files.workbooks import read_workbook
from scorers.grading import grade
from scorers.metrics.lineage import parse_lineage
from scorers.specification import TaskSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

    from scorers.files.tree import SubmittedFile

SECONDS = float(os.environ.get("FUZZ_SECONDS", "5"))
_N_TESTS = 30
_LONG = 60
_AT_ONCE = 2
_LIMITS = Limits(
    array_bytes=32 * MIB,
    decoded_bytes=128 * MIB,
    total_decoded_bytes=512 * MIB,
    metadata_bytes=4 * MIB,
    text_bytes=4 * MIB,
    rows=20_000,
    cells=200_000,
    pages=2000,
    directories=500,
    elements=20_000,
)
_VOLUME = np.arange(3 * 10 * 12, dtype=np.uint16).reshape(3, 10, 12)
_NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    16,
    255,
    256,
    65535,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63,
    2**64 - 1,
)
_WORDS = (
    b",",
    b"\n",
    b"\r",
    b'"',
    b"\0",
    b";",
    b"\t",
    b" ",
    b"nan",
    b"-inf",
    b"1e999",
    b"-1",
    b"0",
    b"1e-320",
    b"99999999999999999999",
    b"\xef\xbb\xbf",
    b"\xff",
    b"=1+1",
    b"1,5",
    b"x" * 300,
    b"\xf0\x9f\x94\xac",
)

pytestmark = [pytest.mark.slow] if SECONDS > _LONG else []


def _fuzz(examples: SearchStrategy[Any], body: Callable[[Any], None]) -> None:
    """Call the body with example after example until its share of the time is over."""
    ends = time.monotonic() + SECONDS / _N_TESTS
    for number in count():
        run = settings(
            max_examples=_AT_ONCE,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(seed(number)(given(examples)(body)))
        with warnings.catch_warnings():
            # What numerical libraries remark on odd values is no failure.
            warnings.simplefilter("ignore")
            run()
        if time.monotonic() > ends:
            return


def _places(content: bytes) -> SearchStrategy[int]:
    # What counts stands at the beginning more often than its share.
    near = st.integers(0, min(len(content), 400))
    return near | st.integers(0, len(content))


def _change(content: bytes) -> SearchStrategy[Callable[[bytes], bytes]]:
    place = _places(content)
    number = st.builds(
        lambda value, width: (value % 2 ** (8 * width)).to_bytes(width, "little"),
        st.sampled_from(_NUMBERS),
        st.sampled_from([1, 2, 4, 8]),
    )
    piece = number | st.sampled_from(_WORDS) | st.binary(max_size=12)
    return st.one_of(
        st.builds(lambda at, new: lambda old: old[:at] + new + old[at:], place, piece),
        st.builds(lambda at, new: lambda old: old[:at] + new + old[at + len(new) :], place, piece),
        st.builds(lambda at: lambda old: old[:at], place),
        st.builds(lambda at, n: lambda old: old[:at] + old[at + n :], place, st.integers(1, 200)),
        st.builds(
            lambda at, n, to: lambda old: old[:to] + old[at : at + n] + old[to:],
            place,
            st.integers(1, 400),
            place,
        ),
    )


def _mutated(content: bytes, most: int = 6) -> SearchStrategy[bytes]:
    """Make the content wrong at one to a few places."""

    def apply(changes: list[Callable[[bytes], bytes]]) -> bytes:
        changed = content
        for change in changes:
            changed = change(changed)
        return changed

    return st.lists(_change(content), min_size=1, max_size=most).map(apply)


def _repacked(content: bytes) -> SearchStrategy[bytes]:
    """Make a member of an archive wrong, or the archive itself."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def pack(name: str, changed: bytes) -> bytes:
        stored = io.BytesIO()
        with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as target:
            for member, old in members.items():
                target.writestr(member, changed if member == name else old)
        return stored.getvalue()

    one = st.sampled_from(sorted(members)).flatmap(
        lambda name: st.builds(pack, st.just(name), _mutated(members[name]))
    )
    return st.one_of(one, one, _mutated(content))


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str, bytes, Callable[[SubmittedFile], object]], None]:
    """Have a reader read bytes under a name; all it may raise is the submission's fault."""

    def run(name: str, content: bytes, reader: Callable[[SubmittedFile], object]) -> None:
        (tmp_path / name).write_bytes(content)
        with Tree(tmp_path, _LIMITS) as tree, suppress(SubmissionFault):
            reader(tree.files[0])

    return run


def _tiffs() -> Iterator[bytes]:
    options: list[dict[str, Any]] = [
        {},
        {"compression": "zlib", "predictor": True},
        {"compression": "lzw"},
        {"compression": "packbits", "bigtiff": True},
        {"compression": "zstd", "rowsperstrip": 3},
        {"compression": "jpeg", "dtype": np.uint8},
        {"imagej": True},
        {"ome": True, "metadata": {"axes": "ZYX"}},
        {"tile": (16, 16), "compression": "zlib"},
        {"byteorder": ">", "metadata": None},
        {"dtype": np.float32, "compression": "zlib", "predictor": 3},
        {"dtype": bool},
    ]
    for option in options:
        stored = io.BytesIO()
        image = _VOLUME.astype(option.pop("dtype", np.uint16))
        tifffile.imwrite(stored, image, photometric="minisblack", **option)
        yield stored.getvalue()
    stored = io.BytesIO()
    with tifffile.TiffWriter(stored) as writer:
        writer.write(_VOLUME[0], subifds=1, metadata=None)
        writer.write(_VOLUME[0, ::2], metadata=None)
    yield stored.getvalue()


def _pictures() -> Iterator[tuple[str, bytes]]:
    for name in ("png", "bmp", "jpeg"):
        for mode in ("L", "RGB", "P" if name != "jpeg" else "CMYK"):
            if (name, mode) != ("bmp", "CMYK"):
                stored = io.BytesIO()
                Image.new("RGB", (9, 7), (9, 99, 200)).convert(mode).save(stored, name)
                yield f"a.{name}", stored.getvalue()


TIFFS = [*_tiffs()]


def _stack(file: SubmittedFile) -> None:
    with open_stack(file, _LIMITS) as stack:
        planes = [*stack.planes()]
        assert sum(plane.nbytes for plane in planes) == stack.asarray().nbytes


def _mosaic(file: SubmittedFile) -> None:
    with open_mosaic(file, _LIMITS) as mosaic:
        at = mosaic.geometry
        for page in mosaic.pages():
            assert page.shape == mosaic.page_shape
        assert mosaic.image(at.n_channels - 1, at.n_slices - 1).shape == (at.height, at.width)


def _movie(file: SubmittedFile) -> None:
    with Movie(file, _LIMITS) as movie:
        for index in range(movie.n_frames):
            frame = movie.frame(index)
            assert frame is not None
            assert frame.shape == movie.frame_shape


@pytest.mark.parametrize(
    "reader",
    [_stack, _mosaic, _movie, lambda f: read_field(f, _LIMITS), lambda f: voxel_size(f, _LIMITS)],
    ids=["stack", "mosaic", "movie", "field", "voxel"],
)
def test_a_broken_tiff_is_read_or_refused(reader: Callable[..., object], read: Any) -> None:
    broken = st.sampled_from(TIFFS).flatmap(_mutated)

    _fuzz(broken, lambda content: read("a.tif", content, reader))


def test_a_broken_picture_is_read_or_refused(read: Any) -> None:
    broken = st.sampled_from([*_pictures()]).flatmap(
        lambda known: st.tuples(st.just(known[0]), _mutated(known[1]))
    )

    _fuzz(broken, lambda known: read(known[0], known[1], _stack))


def test_ome_xml_is_passed_or_refused() -> None:
    text = tifffile.TiffFile(io.BytesIO(TIFFS[7])).pages.first.description.encode()

    def body(content: bytes) -> None:
        with suppress(SubmissionFault):
            refuse_endless_ome(content.decode("utf-8", "replace"), 3, 100, 100)

    _fuzz(_mutated(text), body)


_TABLE = b"frame,x,y,label\n1,2.5,3,round\n2,4,5.25,amoeboid\n" * 3


def _cells(file: SubmittedFile) -> None:
    with suppress(InfiniteFrame):
        read_cells(file, SUBMITTED, _LIMITS)


@pytest.mark.parametrize(
    "reader",
    [
        lambda file: read_rows(file, _LIMITS),
        lambda file: read_header(file, _LIMITS),
        lambda file: read_columns(file, _LIMITS),
        lambda file: read_points(file, _LIMITS),
        lambda file: read_localisations(file, _LIMITS),
        _cells,
        lambda file: parse_lineage(read_text(file, _LIMITS)),
    ],
    ids=["rows", "header", "columns", "points", "localisations", "cells", "lineage"],
)
def test_a_broken_table_is_read_or_refused(reader: Callable[..., object], read: Any) -> None:
    texts = st.text("0123456789.,;-+eEnaif \t\r\n\"'\0x\ufeff", max_size=300).map(str.encode)

    _fuzz(_mutated(_TABLE) | texts, lambda content: read("a.csv", content, reader))


def test_a_broken_workbook_is_read_or_refused(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "a.xlsx"
    write_workbook(path, {"one": [["a", "b"], [1.0, None], [2.5, "x"]], "two": [[True]]})

    _fuzz(
        _repacked(path.read_bytes()),
        lambda content: read("a.xlsx", content, lambda file: read_workbook(file, _LIMITS)),
    )


_NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
).filter(lambda name: name not in {".", ".."} and len(name.encode()) < 200)


def test_any_names_are_listed_or_refused(tmp_path: Path) -> None:
    spec = TaskSpec.model_validate(
        {
            "task_id": "t",
            "input": {},
            "task_logic": {"basic_instructions": "x", "expert_instructions": "x"},
            "deliverables": [
                {"id": "a", "description": "x", "filename_pattern": "*mask*.tif*", "multi": True},
                {"id": "b", "description": "x", "filename_pattern": "*.csv", "required": False},
            ],
        }
    )
    endings = st.sampled_from(["", ".tif", ".csv", "_mask.tif", "/x.csv", "/.csv", ".TIFF"])
    names = st.lists(st.builds(str.__add__, _NAMES, endings), max_size=5)

    def body(paths: list[str]) -> None:
        root = tmp_path / "tree"
        root.mkdir()
        for path in paths:
            try:
                (root / path).parent.mkdir(exist_ok=True)
                (root / path).touch()
            except OSError:  # a name that is a file's and a folder's
                continue
        with Tree(root, Limits(files=4)) as tree:
            told = resolve(spec, tree).to_json(tree)
            assert len(tree.files) <= 4
        shutil.rmtree(root)
        assert json.dumps(told).isascii()
        signs = {unicodedata.category(sign) for entry in told["refused"] for sign in entry["file"]}
        assert signs.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})

    _fuzz(names, body)


def test_any_stems_are_paired_one_to_one() -> None:
    stem = st.text("ab_01 maskpred-", max_size=12)

    def body(stems: tuple[list[str], list[str]]) -> None:
        pairs = match_predictions(*stems).pairs
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)

    _fuzz(st.tuples(st.lists(stem, max_size=9), st.lists(stem, max_size=9)), body)


def _broken(path: Path) -> SearchStrategy[bytes]:
    content = path.read_bytes()
    return _repacked(content) if path.suffix == ".xlsx" else _mutated(content)


def test_a_broken_submission_has_a_score_with_a_reason(
    any_task: str, honest: Callable[[str], Any], copied: Callable[[Any], Path]
) -> None:
    case = honest(any_task)
    submission = copied(case)
    files = sorted(path for path in submission.rglob("*") if path.is_file())
    content = {path: path.read_bytes() for path in files}

    def body(changed: tuple[Path, bytes]) -> None:
        changed[0].write_bytes(changed[1])
        verdict = grade(case.task, submission, _LIMITS)
        changed[0].write_bytes(content[changed[0]])
        assert verdict.outcome is not None, verdict.error
        assert 0 <= verdict.outcome <= 1
        assert verdict.strict is None or 0 <= verdict.strict <= 1
        assert verdict.result_score is not None or verdict.error
        json.dumps(verdict.to_json(), allow_nan=False)

    broken = st.sampled_from(files).flatmap(lambda path: st.tuples(st.just(path), _broken(path)))
    _fuzz(broken, body)
