"""Lin's concordance correlation: agreement in scale and offset as well as in shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def concordance(predicted: NDArray[Any], reference: NDArray[Any]) -> float | None:
    """Return Lin's concordance correlation coefficient of paired values.

    Pearson's r does not see a wrong unit or a constant offset; this coefficient does. It is
    2 s_xy / (s_x² + s_y² + (m_x - m_y)²) with moments divided by n (L. I. Lin, Biometrics 45,
    255-268, 1989).

    Parameters
    ----------
    predicted, reference
        Numbers of any shape, the same for both and in the same unit. All must be finite: what a
        missing value means is for the caller to say.

    Returns
    -------
    float or None
        In [-1, 1]; 1 for equal values, 0 for unrelated ones or a constant against varying ones,
        below 0 for opposed ones. Two equal constants agree: 1. None without any pair.

    Raises
    ------
    ValueError
        The shapes differ, or a value is not finite.
    """
    x = np.asarray(predicted, np.float64)
    y = np.asarray(reference, np.float64)
    if x.shape != y.shape:
        raise ValueError(f"expected pairs, got the shapes {x.shape} and {y.shape}")
    if not x.size:
        return None
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("expected finite values")
    # Scaled to at most 1, the squares cannot overflow whatever a submission holds.
    scale = max(float(np.abs(x).max()), float(np.abs(y).max())) or 1.0
    x, y = x / scale, y / scale
    x_mean, y_mean = float(x.mean()), float(y.mean())
    x_off, y_off = x - x_mean, y - y_mean
    apart = float((x_off**2).mean() + (y_off**2).mean()) + (x_mean - y_mean) ** 2
    if apart == 0:
        return 1.0
    return 2 * float((x_off * y_off).mean()) / apart
