"""Tables of single objects, joined with the label image and the raw image they come from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.rubric.checks import headings
from scorers.rubric.checks.file_checks import tokens_of
from scorers.rubric.checks.results import file_refs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.files.columns import Columns
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

    Floats = NDArray[np.float64]

LEAST_OBJECTS = 3
_MOST_PIXELS = 24_000_000
_MOST_IMAGES = 12
_MOST_CHANNELS = 8
_WORDS = frozenset({"seg", "mask", "masks", "label", "labels", "nuclei", "cells"})


@dataclass(frozen=True)
class Linked:
    """A table whose rows are objects of one label image.

    Attributes
    ----------
    rows
        The rows of the table that belong to this image.
    named_label
        Whether the heading says that the numbers are labels.
    n_in_image
        Labels that the image has.
    sizes
        Pixels of each of those objects, 0 where the image has no such label.
    means
        Mean of each raw channel over each object; empty where no raw image fits.
    """

    table_file: SubmittedFile
    image_file: SubmittedFile
    table: Columns
    rows: NDArray[np.int64]
    named_label: bool
    n_in_image: int
    sizes: Floats
    means: list[Floats]

    @property
    def refs(self) -> tuple[str, ...]:
        """References to both."""
        return file_refs([self.table_file], "table") + file_refs([self.image_file])


def linked(scene: Scene) -> list[Linked]:
    """Return the tables of objects with their label images and what the raw images say."""
    key = "linked tables"
    if key not in scene.submission.memo:
        scene.submission.memo[key] = list(_linked(scene))
    found: list[Linked] = scene.submission.memo[key]
    return found


def _linked(scene: Scene) -> Iterator[Linked]:
    images = [file for file, form in scene.masks if form == "instance"][:_MOST_IMAGES]
    for table_file, table in scene.tables:
        at = headings.label_column(table)
        if at is None or not len(table):
            continue
        names = table.numbers(at)
        for image_file in images:
            rows = _rows_of(table, table_file, image_file, images)
            rows = rows[np.isfinite(names[rows]) & (np.abs(names[rows]) < 2**31)]
            labels = _labels(scene, image_file)
            if labels is None or len(rows) < LEAST_OBJECTS:
                continue
            sizes = np.bincount(labels.ravel())
            own = names[rows].astype(np.int64)
            yield Linked(
                table_file=table_file,
                image_file=image_file,
                table=table,
                rows=rows,
                named_label=headings.plain(table.names[at]).startswith("label"),
                n_in_image=int((sizes[1:] > 0).sum()),
                sizes=_at(sizes.astype(float), own),
                means=[_at(mean, own) for mean in _means(scene, image_file, labels)],
            )


def _rows_of(
    table: Columns, file: SubmittedFile, image: SubmittedFile, images: list[SubmittedFile]
) -> NDArray[np.int64]:
    """Return the rows of a table that belong to an image, by a column or the table's name."""
    everything = np.arange(len(table))
    if len(images) == 1 or file.stem == image.stem:
        return everything
    wanted = tokens_of(str(image.path))
    shared = frozenset.intersection(*(tokens_of(str(each.path)) for each in images))
    telling = wanted - shared
    for at, counts in headings.groupings(table).items():
        if len(counts) <= len(images) and not np.isfinite(table.numbers(at)).all():
            texts = table.texts(at)
            mine = {name for name in counts if telling and tokens_of(name) >= telling - _WORDS}
            if mine:
                return np.flatnonzero(np.isin(np.array(texts), list(mine)))
    return everything[:0]


def _labels(scene: Scene, file: SubmittedFile) -> NDArray[np.int64] | None:
    try:
        with open_stack(file, scene.limits) as stack:
            if math.prod(stack.shape) > _MOST_PIXELS or stack.dtype.kind not in "iu":
                return None
            labels = stack.asarray()
    except SubmissionFault:
        return None
    if labels.size == 0 or labels.min() < 0 or labels.max() > _MOST_PIXELS:
        return None
    return labels.astype(np.int64)


def _means(scene: Scene, file: SubmittedFile, labels: NDArray[np.int64]) -> list[Floats]:
    """Return means over each label of the channels of the raw image that is named alike."""
    own = tokens_of(file.name)
    alike = sorted(scene.input_images, key=lambda each: len(tokens_of(each.name) - own))[:1]
    for raw_file in alike:
        try:
            with open_stack(raw_file, scene.limits.for_references()) as stack:
                if math.prod(stack.shape) > 4 * _MOST_PIXELS:
                    return []
                raw = stack.asarray()
        except SubmissionFault:
            return []
        counts = np.maximum(np.bincount(labels.ravel()), 1)
        return [
            np.bincount(labels.ravel(), channel.ravel().astype(float)) / counts
            for channel in _channels(raw, labels.shape)
        ]
    return []


def _channels(raw: NDArray[Any], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    if raw.shape == shape:
        return [raw]
    if raw.ndim != len(shape) + 1:
        return []
    for axis, length in enumerate(raw.shape):
        if length <= _MOST_CHANNELS and raw.shape[:axis] + raw.shape[axis + 1 :] == shape:
            return [raw.take(channel, axis=axis) for channel in range(length)]
    return []


def _at(values: Floats, places: NDArray[np.int64]) -> Floats:
    inside = (places > 0) & (places < len(values))
    return np.where(inside, values[np.where(inside, places, 0)], 0.0)
