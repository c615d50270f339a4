"""Single-plane images of measured numbers: velocity components, kymographs, masks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile


def read_field(file: SubmittedFile, limits: Limits) -> NDArray[np.float64]:
    """Read an image of two axes, others than those of length 1 not being allowed.

    Returns
    -------
    NDArray
        Shape (rows, columns), float64; not all values need be finite.

    Raises
    ------
    SubmissionFault
        The file is unreadable, beyond the limits, or of another number of axes.
    """
    with open_stack(file, limits) as stack:
        lengths = tuple(length for length in stack.shape if length != 1)
        if len(lengths) != 2:
            raise SubmissionFault(f"{file.path} has the shape {stack.shape}, expected two axes")
        # What is worked out of a field takes several times its size.
        most = limits.array_bytes // 64
        if math.prod(lengths) > most:
            raise SubmissionFault(f"{file.path} holds more than {most} values")
        return stack.asarray().reshape(lengths).astype(np.float64)


def write_field(path: Path, field: NDArray[np.floating]) -> None:
    """Write numbers of shape (rows, columns) as a compressed TIFF without date or software."""
    import tifffile

    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(path, field, compression="zlib", photometric="minisblack", software=False)
