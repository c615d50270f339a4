"""Nothing in a submission leads a grader to a file outside of it, or to a file half written."""

from __future__ import annotations

import os
import threading
import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SCHEMA = "http://www.openmicroscopy.org/Schemas/OME/2016-06"
_OWN, _OTHER = (f"urn:uuid:00000000-0000-0000-0000-00000000000{digit}" for digit in "12")


def _write_set(path: Path, reference: Path) -> None:
    """Write a multi-file OME-TIFF of little more than a kilobyte whose planes lie in another.

    That it does what it is meant to do where it is followed is made sure of.
    """
    image = tifffile.imread(reference)
    planes = image.reshape(-1, *image.shape[-2:])
    options: dict[str, Any] = {
        "metadata": None,
        "photometric": "minisblack",
        "compression": "zlib",
        "ome": False,
    }
    tifffile.imwrite(reference, planes, **options)
    told = os.path.relpath(reference, path.parent)
    data = "".join(
        f'<TiffData FirstZ="{z}" IFD="{z}" PlaneCount="1">'
        f'<UUID FileName="{told}">{_OTHER}</UUID></TiffData>'
        for z in range(len(planes))
    )
    rows, columns = planes.shape[1:]
    text = (
        f'<OME xmlns="{_SCHEMA}" UUID="{_OWN}"><Image ID="Image:0"><Pixels ID="Pixels:0" '
        f'DimensionOrder="XYZCT" Type="{image.dtype}" SizeX="{columns}" SizeY="{rows}" '
        f'SizeZ="{len(planes)}" SizeC="1" SizeT="1">{data}</Pixels></Image></OME>'
    )
    nothing = np.zeros((rows, columns), image.dtype)
    tifffile.imwrite(path, nothing, description=text, **options)
    with warnings.catch_warnings():
        # The library reopens files of a set that it has closed, and says so.
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(np.squeeze(tifffile.imread(path)), np.squeeze(planes))


def _write_blank(path: Path, reference: Path) -> None:
    image = np.squeeze(tifffile.imread(reference))
    tifffile.imwrite(path, np.zeros_like(image), photometric="minisblack", ome=False)


def test_planes_that_lie_in_the_reference_are_not_read(
    tiff_task: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    outside: Callable[[Any], Path],
    confined: Callable[..., Any],
) -> None:
    case = honest(tiff_task)
    submission, truth = copied(case), outside(case)
    images = [path for path in submission.rglob("*.tif*") if path.is_file()]
    before = confined(case, submission).grade["outcome"]

    for path in images:
        _write_set(path, truth / path.name)
    followed = confined(case, submission).grade["outcome"]

    for path in images:
        _write_blank(path, truth / path.name)
    blank = confined(case, submission).grade["outcome"]
    assert before > 0.6
    assert followed <= blank


@pytest.mark.parametrize("trick", ["grow", "shrink", "link", "vanish", "pipe"])
def test_a_file_that_changes_while_it_is_read_is_graded(
    trick: str,
    honest: Callable[[str], Any],
    copied: Callable[[Any], Path],
    outside: Callable[[Any], Path],
    confined: Callable[..., Any],
) -> None:
    case = honest("he-nuinsseg-nuclear-segmentation")
    submission, truth = copied(case), outside(case)
    path = submission / case.deliverables["segmentation_masks"]
    content = path.read_bytes()
    ended = threading.Event()

    def change() -> None:
        for honestly in cycle([True, False]):
            if ended.is_set():
                return
            path.unlink(missing_ok=True)
            if honestly or trick == "grow":
                path.write_bytes(content + (b"" if honestly else content))
            elif trick == "shrink":
                path.write_bytes(content)
                os.truncate(path, 100)
            elif trick == "link":
                path.symlink_to(truth / "secret")
            elif trick == "pipe":
                os.mkfifo(path)

    restless = threading.Thread(target=change)
    restless.start()
    try:
        outcomes = [confined(case, submission) for _ in range(4)]
    finally:
        ended.set()
        restless.join()

    assert [outcome.code for outcome in outcomes] == [0] * 4
    assert all(0.7 < outcome.grade["outcome"] <= 1 for outcome in outcomes)
    assert not any("unlikely-word" in outcome.out for outcome in outcomes)
