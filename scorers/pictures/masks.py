"""Outlines of predicted and reference objects over the input, coloured by what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.metrics.overlap import whole_labels
from scorers.pictures.canvas import COLOURS, fitted, resampled, resized, stretch, with_legend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from scorers.pictures.canvas import Colour, Image


@dataclass(frozen=True)
class Objects:
    """One side's objects in one view.

    Attributes
    ----------
    labels
        (rows, columns) of whole numbers, 0 for background.
    ids
        All labels of the image, ascending, shape (n,).
    kinds
        What became of each, shape (n,).
    """

    labels: NDArray[np.int64]
    ids: NDArray[np.int64]
    kinds: NDArray[np.str_]


def projected(planes: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return labels seen from the first plane on: at each place the first that is not 0."""
    seen: NDArray[np.int64] | None = None
    for plane in planes:
        labels = whole_labels(plane).reshape(plane.shape)
        if seen is None:
            seen = labels.astype(np.int64)
        else:
            np.copyto(seen, labels, casting="unsafe", where=seen == 0)
    if seen is None:
        raise ValueError("no planes to project")
    return seen


def brightest(planes: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the maximum projection of the planes of an image."""
    seen: NDArray[Any] | None = None
    for plane in planes:
        seen = np.array(plane) if seen is None else np.maximum(seen, plane, out=seen)
    if seen is None:
        raise ValueError("no planes to project")
    return seen


def draw(image: NDArray[Any] | None, prediction: Objects, reference: Objects, side: int) -> Image:
    """Return RGB bytes: the input in grey or colour with both sides' outlines and a legend.

    Reference outlines are white where the object was found, split or merged, and in the colour of
    a miss where not; above them the predicted ones in the colour of their kind.

    Parameters
    ----------
    image
        The input (rows, columns[, 3]), or None for a black ground.
    prediction, reference
        Objects in the same view.
    side
        Length of the picture's longer side in pixels, about.
    """
    shape = fitted(reference.labels.shape, side)
    if image is None or image.shape[:2] != reference.labels.shape:
        canvas = np.zeros((*shape, 3), np.uint8)
    else:
        canvas = resized(stretch(image), shape).copy()
    found = np.where(reference.kinds == "miss", "miss", "reference")
    width = max(1, max(shape) // 300)
    for objects, kinds in ((reference, found), (prediction, prediction.kinds)):
        labels = resampled(objects.labels, shape)
        edge = outline(labels, width)
        canvas[edge] = _colours(kinds)[np.searchsorted(objects.ids, labels[edge])]
    return with_legend(canvas, _legend(prediction, reference))


def outline(labels: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
    """Return the outermost pixels of each object, `width` deep."""
    edge = np.zeros(labels.shape, bool)
    for step in range(1, width + 1):
        down = labels[step:] != labels[:-step]
        across = labels[:, step:] != labels[:, :-step]
        edge[step:] |= down
        edge[:-step] |= down
        edge[:, step:] |= across
        edge[:, :-step] |= across
    inside: NDArray[np.bool_] = edge & (labels != 0)
    return inside


def _colours(kinds: NDArray[np.str_]) -> NDArray[np.uint8]:
    table = np.array([COLOURS[kind] for kind in kinds.tolist()], np.uint8)
    return table.reshape(-1, 3)


def _legend(prediction: Objects, reference: Objects) -> dict[str, Colour]:
    counts = {
        "hit": int((reference.kinds == "hit").sum()),
        "miss": int((reference.kinds == "miss").sum()),
        "false hit": int((prediction.kinds == "false hit").sum()),
        "split": int((reference.kinds == "split").sum()),
        "merge": int((prediction.kinds == "merge").sum()),
    }
    legend = {f"{count} {kind}": COLOURS[kind] for kind, count in counts.items()}
    return legend | {"reference": COLOURS["reference"]}
