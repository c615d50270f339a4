"""One figure of a submission as a PNG, drawn where nothing can come of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scorers
from scorers.errors import SubmissionFault
from scorers.files.limits import MIB

if TYPE_CHECKING:
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".gif": "GIF",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".svg": "SVG",
    ".pdf": "PDF",
}
_LARGEST = {"SVG": 24 * MIB}
_USUAL_LARGEST = 96 * MIB
_SECONDS = 30
_MODULE = "scorers.rubric.rendering"
_LONGEST_HEADER = 4096


@dataclass(frozen=True)
class Drawn:
    """A PNG with its size, and the facts of the file that it was drawn from."""

    png: bytes
    size: tuple[int, int]
    facts: dict[str, Any]
    note: str = ""


def draw(file: SubmittedFile, limits: Limits, side: int, most_bytes: int, page: int = 0) -> Drawn:
    """Draw a file by its suffix.

    Parameters
    ----------
    file
        Of a suffix in `FORMATS`, or a TIFF.
    limits
        Bounds on what is read.
    side, most_bytes
        Longer side and size of the PNG at most.
    page
        Of a PDF, from 0 on.

    Raises
    ------
    SubmissionFault
        It cannot be drawn; the message says why.
    """
    if file.suffix not in FORMATS:
        from scorers.rubric.rendering.stacks import draw_stack

        return draw_stack(file, limits, side, most_bytes)
    kind = FORMATS[file.suffix]
    content = file.read_bytes(_LARGEST.get(kind, _USUAL_LARGEST))
    return _drawn(str(file.path), content, [kind, str(side), str(most_bytes), str(page)])


def smaller(name: str, png: bytes, side: int, most_bytes: int) -> bytes:
    """Draw a PNG anew so that it fits; the arguments and what is raised are those of `draw`."""
    return _drawn(name, png, ["PNG", str(side), str(most_bytes), "0"]).png


def _drawn(name: str, content: bytes, arguments: list[str]) -> Drawn:
    command = [sys.executable, "-m", _MODULE, *arguments]
    try:
        done = subprocess.run(
            command,
            input=content,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=_environment(),
        )
    except subprocess.TimeoutExpired as fault:
        raise SubmissionFault(f"{name} takes longer than {_SECONDS} s to draw") from fault
    if done.returncode == 1 and done.stderr:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1]
        raise SubmissionFault(f"{name} cannot be drawn: {said}")
    if done.returncode:
        raise SubmissionFault(f"{name} cannot be drawn: its reader broke down")
    header, _, png = done.stdout.partition(b"\n")
    told = json.loads(header[:_LONGEST_HEADER])
    return Drawn(png, (told["size"][0], told["size"][1]), told["facts"])


def _environment() -> dict[str, str]:
    parent = str(Path(scorers.__file__).resolve().parents[1])
    known = os.environ.get("PYTHONPATH")
    paths = os.pathsep.join([parent, known] if known else [parent])
    return {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
