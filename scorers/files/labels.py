"""Label images: a reference or a submitted one, or both side by side, plane by plane."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import open_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.files.images import Stack
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile


class LabelImage:
    """A label image, plane by plane.

    A two-dimensional label image that was saved in colour (8 bits, last axis of 3 or 4) is read
    by the channel with most distinct values, the first of equals, as the published evaluator does.

    Parameters
    ----------
    file
        TIFF, PNG, JPEG or BMP.
    limits
        Bounds on what is read.
    flat
        Whether images are two-dimensional; in volumes no axis is taken for colour.
    """

    def __init__(self, file: SubmittedFile, limits: Limits, *, flat: bool) -> None:
        self._stack: Stack = open_stack(file, limits)
        self._channel: NDArray[Any] | None = None
        shape = self._stack.shape
        if flat and len(shape) == 3 and shape[-1] in {3, 4} and self._stack.dtype == np.uint8:
            with self._stack:
                self._channel = _busiest(self._stack.asarray())
            shape = shape[:2]
        self.shape = shape

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the stored values."""
        return self._stack.dtype

    def planes(self) -> Iterator[NDArray[Any]]:
        """Yield the planes of the last two axes in order."""
        if self._channel is not None:
            yield self._channel
        else:
            yield from self._stack.planes()

    def plane(self, index: int) -> NDArray[Any]:
        """Return one plane; -1 is the middle one."""
        if self._channel is not None:
            return self._channel
        return self._stack.plane(self._stack.n_planes // 2 if index < 0 else index)

    def asarray(self) -> NDArray[Any]:
        """Return the whole image."""
        return self._stack.asarray() if self._channel is None else self._channel


class LabelPair:
    """A predicted and its reference label image.

    What goes wrong with the reference is raised as `CapsuleFault`, with the prediction as
    `SubmissionFault`; both also while planes are read.
    """

    def __init__(
        self, prediction: SubmittedFile, reference: SubmittedFile, limits: Limits, *, flat: bool
    ) -> None:
        with ExitStack() as opened:
            try:
                self.reference = opened.enter_context(
                    LabelImage(reference, limits.for_references(), flat=flat)
                )
            except SubmissionFault as fault:
                raise CapsuleFault(f"reference {fault}") from fault
            self.prediction = opened.enter_context(LabelImage(prediction, limits, flat=flat))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def planes(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield (prediction, reference) plane by plane."""
        predicted = self.prediction.planes()
        for reference in _of_reference(self.reference):
            yield next(predicted), reference

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return both as a whole."""
        try:
            reference = self.reference.asarray()
        except SubmissionFault as fault:
            raise CapsuleFault(f"reference {fault}") from fault
        return self.prediction.asarray(), reference


def reference_planes(file: SubmittedFile, limits: Limits, *, flat: bool) -> Iterator[NDArray[Any]]:
    """Yield a reference's planes, raising `CapsuleFault` for what goes wrong."""
    try:
        image = LabelImage(file, limits.for_references(), flat=flat)
    except SubmissionFault as fault:
        raise CapsuleFault(f"reference {fault}") from fault
    with image:
        yield from _of_reference(image)


def _of_reference(image: LabelImage) -> Iterator[NDArray[Any]]:
    try:
        yield from image.planes()
    except SubmissionFault as fault:
        raise CapsuleFault(f"reference {fault}") from fault


def _busiest(image: NDArray[Any]) -> NDArray[Any]:
    distinct = [len(np.unique(image[..., channel])) for channel in range(image.shape[-1])]
    channel: NDArray[Any] = image[..., int(np.argmax(distinct))]
    return channel
