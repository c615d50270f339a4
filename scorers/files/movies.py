"""Label movies: one file of frames, read one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile


class Movie:
    """A file of frames (T, Y, X), or one frame (Y, X); axes of length 1 do not matter.

    Attributes
    ----------
    n_frames
        Number of frames.
    frame_shape
        (Y, X) of each.
    leading_unit_axis
        Whether the file keeps an axis of length 1 before several frames. The published evaluator
        takes that axis for time and falls over.

    Raises
    ------
    SubmissionFault
        The file is unreadable, in colour, or of another number of axes; also while frames are read.
    """

    def __init__(self, file: SubmittedFile, limits: Limits) -> None:
        self._stack = open_stack(file, limits)
        try:
            shape = self._stack.shape
            lengths = tuple(length for length in shape if length != 1)
            if len(lengths) not in {2, 3} or (len(lengths) == 3 and lengths[-1] in {3, 4}):
                raise SubmissionFault(
                    f"{file.path} has the shape {shape}, expected frames of labels (T, Y, X)"
                )
        except SubmissionFault:
            self._stack.close()
            raise
        self.n_frames = lengths[0] if len(lengths) == 3 else 1
        self.frame_shape = lengths[-2:]
        self.leading_unit_axis = len(shape) > 3 and shape[0] != self.n_frames

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def dtype(self) -> Any:
        """Of the stored values."""
        return self._stack.dtype

    def frame(self, index: int) -> NDArray[Any] | None:
        """Return one frame, None beyond the last."""
        if index >= self.n_frames:
            return None
        if self._stack.plane_shape == self.frame_shape:
            return self._stack.plane(index)
        frame: NDArray[Any] = self._stack.asarray().reshape(self.n_frames, *self.frame_shape)[index]
        return frame
