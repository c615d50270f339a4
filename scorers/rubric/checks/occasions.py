"""Checks whether a task gives any occasion for an item at all.

They say `not_applicable` or nothing: that there is an occasion is no reason to pass or to fail.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.rubric.checks.results import Finding
from scorers.rubric.checks.scene import form_asked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

_MOST_OPENED = 60
_COUNTED_BYTES = 256 * 2**20
# Full scale of 8, 10, 12, 14 and 16 bits: cameras of fewer bits than the file clip below its own.
_CEILINGS = (255, 1023, 4095, 16383, 65535)
# That many pixels at full scale may be there by chance.
_CLIPPED_SHARE = 1e-6
_BACTERIA = re.compile(
    r"bacteri|microcolon|corynebact|escherichia|\be\. ?coli|bacillus|caulobacter|mycobact", re.I
)


def fusion(scene: Scene) -> Finding:
    """Bacteria divide but do not fuse."""
    told = f"{scene.tells('biological_target')} {scene.spec.task_id}"
    if _BACTERIA.search(told):
        return Finding("not_applicable", "The tracked objects are bacteria, which do not fuse.")
    return _occasion("The specification names no bacteria as what is tracked.")


def depth(scene: Scene) -> Finding:
    """Images without depth have no spread along z."""
    told = scene.tells("spatial_dimensions")
    if told.startswith("2d"):
        return Finding("not_applicable", "The images have two dimensions: nothing spreads along z.")
    return _occasion("The specification does not say that images have two dimensions.")


def planes(scene: Scene) -> Finding:
    """Single images show no spot in several planes or frames."""
    files = scene.input_images[:_MOST_OPENED]
    shapes = [shape for file in files if (shape := _shape(scene, file)) is not None]
    single = [len(shape) == 2 or (len(shape) == 3 and shape[-1] in {3, 4}) for shape in shapes]
    says = f"{sum(single)} of {len(files)} images looked at hold one plane."
    if files and all(single) and len(single) == len(files) and not scene.movies:
        return Finding("not_applicable", says)
    return _occasion(says)


def saturation(scene: Scene) -> Finding:
    """Without clipped pixels there is nothing to leave out."""
    clipped = pixels = 0
    room = _COUNTED_BYTES
    for file in scene.input_images:
        try:
            with open_stack(file, scene.limits.for_references()) as stack:
                room -= math.prod(stack.shape) * stack.dtype.itemsize
                if stack.dtype.kind not in "iu" or room < 0:
                    return _occasion("The input is too large, or not of whole numbers.")
                for plane in stack.planes():
                    clipped += clipped_pixels(plane)
                    pixels += plane.size
        except SubmissionFault:
            return _occasion("An image of the input cannot be read.")
    says = f"{clipped} of {pixels} pixels of the input are at full scale."
    if pixels and clipped <= _CLIPPED_SHARE * pixels:
        return Finding("not_applicable", says)
    return _occasion(says)


def channels(scene: Scene) -> Finding:
    """Images of one channel have none to choose or to split."""
    if scene.n_channels == 1:
        return Finding("not_applicable", "The images have one channel.")
    return _occasion(f"The images have {scene.n_channels or 'an untold number of'} channels.")


def bit_depth(scene: Scene) -> Finding:
    """Images of 8 bits cannot be read at less than their full depth."""
    files = scene.input_images[:_MOST_OPENED]
    types = {_dtype(scene, file) for file in files}
    if types == {np.dtype(np.uint8)}:
        return Finding("not_applicable", f"All {len(files)} images looked at have 8 bits.")
    return _occasion("Not all images that were looked at have 8 bits.")


def one_image(scene: Scene) -> Finding:
    """A single image cannot fail alone, nor be grouped."""
    count = len(scene.input_images)
    says = f"The input has {count} images."
    if count == 1 and scene.spec.task_logic.primary_task != "stitching":
        return Finding("not_applicable", says)
    return _occasion(says)


def scale(scene: Scene) -> Finding:
    """Without a known size of the pixel no scale bar can be drawn."""
    if scene.pixel_size_told or not scene.input_images:
        return _occasion("Files or specification may tell the size of a pixel.")
    return Finding("not_applicable", "Neither files nor specification tell the size of a pixel.")


def labels_and_table(scene: Scene) -> Finding:
    """A task that asks for label images or for a table alone has no labels to lead back."""
    images = [d for d in scene.spec.deliverables if form_asked(d) == "instance"]
    tables = [
        d
        for d in scene.spec.deliverables
        if d.filename_pattern.lower().rstrip("*?").endswith((".csv", ".xlsx", ".tsv"))
    ]
    says = f"The task asks for {len(images)} kinds of label images and {len(tables)} of tables."
    if images and tables:
        return _occasion(says)
    return Finding("not_applicable", says)


def clipped_pixels(plane: NDArray[np.integer]) -> int:
    """Return how many pixels are at the full scale that the largest value is at, if it is at one.

    >>> clipped_pixels(np.array([[3, 255], [255, 7]], np.uint8))
    2
    >>> clipped_pixels(np.array([[3, 250]], np.uint8))
    0
    """
    if not plane.size:
        return 0
    top = int(plane.max())
    ceilings = {int(np.iinfo(plane.dtype).max), *(_CEILINGS if plane.dtype.itemsize > 1 else ())}
    return int((plane == top).sum()) if top in ceilings else 0


def _occasion(says: str) -> Finding:
    return Finding("unknown", says)


def _shape(scene: Scene, file: SubmittedFile) -> tuple[int, ...] | None:
    with (
        suppress(SubmissionFault),
        open_stack(file, scene.limits.for_references()) as stack,
    ):
        return tuple(length for length in stack.shape if length != 1)
    return None


def _dtype(scene: Scene, file: SubmittedFile) -> np.dtype[np.generic] | None:
    with (
        suppress(SubmissionFault),
        open_stack(file, scene.limits.for_references()) as stack,
    ):
        return stack.dtype
    return None
