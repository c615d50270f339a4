"""The size of a voxel: where a capsule says it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.calibration import voxel_size
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scorers.contract import Job

Spacing = tuple[float, float, float]

KEY = "voxel_size_um"
PIXEL_KEY = "pixel_size_um"
_SUFFIXES = frozenset({".tif", ".tiff"})
# As an instruction says it: "XY (lateral) pixel size: 0.975 µm", "Z (axial) pixel size: 2 µm".
_IN_WORDS = r"\b{axis}\b[^\n:]{{0,40}}size: {{0,3}}([0-9]{{1,6}}(?:\.[0-9]{{1,6}})?) {{0,3}}[µμu]m"


def spacing_of(job: Job) -> Spacing | None:
    """Return the size of a voxel in µm along planes, rows and columns, or None if nothing says it.

    Looked for in the rubric (`metric_config.voxel_size_um`, a list of three numbers), in the
    specification (`input.voxel_size_um`), in the TIFF metadata of the reference, in those of the
    input, and in the instructions.

    Raises
    ------
    CapsuleFault
        The rubric's `voxel_size_um` is no list of three numbers above 0.
    """
    value = job.rubric.metric_config.get(KEY)
    if value is not None:
        return _checked(value)
    size = _three_sizes(job.spec.input.get(KEY))
    if size is not None:
        return size
    folders = [folder for folder in (job.reference_dir, job.input_dir) if folder is not None]
    return _measured(folders, job) or _told(job)


def pixel_um_of(job: Job) -> float | None:
    """Return the width of a pixel in µm that the specification states, or None.

    It stands in `input.pixel_size_um`; what is no number above 0 is as good as nothing.
    """
    value: Any = job.spec.input.get(PIXEL_KEY)
    fit = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
    return float(value) if fit else None


def _checked(value: Any) -> Spacing:
    size = _three_sizes(value)
    if size is None:
        raise CapsuleFault(
            f"evaluation_rubric.yaml: metric_config.{KEY}: expected the three sizes of a voxel in "
            f"µm along planes, rows and columns, such as [2, 0.975, 0.975], got {value!r}"
        )
    return size


def _three_sizes(value: Any) -> Spacing | None:
    """Return three numbers above 0, None for anything else (such as a size in words)."""
    numbers = value if isinstance(value, list | tuple) else []
    sizes = [float(size) for size in numbers if isinstance(size, int | float)]
    if len(sizes) != 3 or len(numbers) != 3 or not all(0 < size < math.inf for size in sizes):
        return None
    return sizes[0], sizes[1], sizes[2]


def _measured(folders: Iterable[Path], job: Job) -> Spacing | None:
    """Return what the first image says that says anything."""
    for folder in folders:
        images = [f for f in reference_tree(folder, job.limits).files if f.suffix in _SUFFIXES]
        for file in images[:1]:
            try:
                size = voxel_size(file, job.limits.for_references())
            except SubmissionFault:
                continue
            if size is not None:
                return size
    return None


def _told(job: Job) -> Spacing | None:
    for text in (job.spec.task_logic.basic_instructions, job.spec.task_logic.expert_instructions):
        lateral = re.search(_IN_WORDS.format(axis="XY"), text)
        axial = re.search(_IN_WORDS.format(axis="Z"), text)
        if lateral and axial:
            z, xy = float(axial.group(1)), float(lateral.group(1))
            if z > 0 and xy > 0:
                return z, xy, xy
    return None
