"""Agreement on the classes of detected objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.correlation import pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.points import Pairs


def confusion(
    reference: NDArray[np.int64], predicted: NDArray[np.int64], pairs: Pairs, n_classes: int
) -> NDArray[np.int64]:
    """Count objects by their reference and predicted class.

    Parameters
    ----------
    reference, predicted
        Class of every object, shapes (n,) and (m,); -1 for none.
    pairs
        Which objects are the same.
    n_classes
        The number k of classes.

    Returns
    -------
    NDArray
        Int64, shape (k + 2, k + 2), rows by reference and columns by prediction: the classes,
        then objects without a class, then (last row and column) objects without a partner.
    """
    lone_g = np.ones(len(reference), bool)
    lone_p = np.ones(len(predicted), bool)
    lone_g[pairs.reference] = False
    lone_p[pairs.predicted] = False
    alone = n_classes + 1
    rows = np.concatenate(
        [reference[pairs.reference], reference[lone_g], np.full(lone_p.sum(), alone)]
    )
    columns = np.concatenate(
        [predicted[pairs.predicted], np.full(lone_g.sum(), alone), predicted[lone_p]]
    )
    side = n_classes + 2
    rows, columns = (np.where(side_ < 0, n_classes, side_) for side_ in (rows, columns))
    return np.bincount(rows * side + columns, minlength=side * side).reshape(side, side)


def matched_f1(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each class's F1 among matched objects whose reference has a class, shape (k,).

    In [0, 1], higher better; 0 for a class without a true positive, even one that does not occur.
    """
    part = table[:-2, :-1]
    hits = np.diagonal(part).astype(float)
    total = part.sum(axis=1) + part[:, :-1].sum(axis=0)
    return _ratio(2 * hits, total, 0.0)


def detected_f1(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each class's F1 among all objects, shape (k,): one not found is one not classified.

    In [0, 1], higher better. An object is a true positive if it was found and is of this class on
    both sides; a false negative is every other reference object of the class, missed ones
    included; a false positive every other predicted one, those at no object included. Predictions
    at a reference object without a class do not count. NaN for a class that occurs on neither
    side. With missed and false objects under a class of their own this is the F1 of
    `sklearn.metrics.f1_score`.
    """
    hits = np.diagonal(table)[:-2].astype(float)
    total = table[:-2].sum(axis=1) + np.delete(table, -2, axis=0)[:, :-2].sum(axis=0)
    return _ratio(2 * hits, total, np.nan)


def macro(values: NDArray[np.float64]) -> float:
    """Return the mean of the values that are defined; 1 where none is."""
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else 1.0


def class_fractions(
    frame: NDArray[np.float64], kind: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the frames that hold an object with a class, and each class's share of them there.

    Parameters
    ----------
    frame
        Float64, shape (n,).
    kind
        Class of every object, -1 for none, shape (n,).
    n_classes
        The number k of classes.

    Returns
    -------
    frames, fractions
        Shapes (f,), ascending, and (f, k) with rows that sum to 1.
    """
    known = kind >= 0
    frames, row = np.unique(frame[known], return_inverse=True)
    count = np.bincount(row * n_classes + kind[known], minlength=len(frames) * n_classes)
    table = count.reshape(len(frames), n_classes)
    return frames, table / table.sum(axis=1, keepdims=True)


def trend_correlation(
    reference: tuple[NDArray[np.float64], NDArray[np.float64]],
    predicted: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float | None:
    """Return the mean over classes of Pearson's r of the shares over time, in [-1, 1].

    Only frames on both sides count. None with fewer than two, or if r is undefined (a share that
    never changes on either side) for every class.

    Parameters
    ----------
    reference, predicted
        As `class_fractions` returns them.
    """
    frames, one, other = np.intersect1d(reference[0], predicted[0], return_indices=True)
    if len(frames) < 2:
        return None
    columns = zip(reference[1][one].T, predicted[1][other].T, strict=True)
    defined = [r for r in (pearson(true, guess) for true, guess in columns) if r is not None]
    return float(np.mean(defined)) if defined else None


def fraction_error(
    reference: tuple[NDArray[np.float64], NDArray[np.float64]],
    predicted: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Return the mean over reference frames of the share of objects in the wrong class.

    Half the sum of the absolute differences of the shares (their total variation distance), in
    [0, 1], lower better; 1 for a frame that the prediction lacks, 0 without reference frames.
    """
    error = np.ones(len(reference[0]))
    _, one, other = np.intersect1d(reference[0], predicted[0], return_indices=True)
    error[one] = np.abs(reference[1][one] - predicted[1][other]).sum(axis=1) / 2
    return float(error.mean()) if len(error) else 0.0


def _ratio(
    part: NDArray[np.float64], whole: NDArray[np.int64], undefined: float
) -> NDArray[np.float64]:
    result = np.full(len(part), undefined)
    np.divide(part, whole, out=result, where=whole > 0)
    return result
