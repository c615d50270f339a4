"""Stacks of several channels and slices: their axes told apart, read page by page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.axes import geometry_of
from scorers.files.images import TIFF_SUFFIXES, Stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile


class Mosaic(Stack):
    """A TIFF of several channels and slices, read page by page.

    Attributes
    ----------
    path
        Of the file, relative to its folder.
    axes
        One letter an axis, as the file declares them (Q where it does not say).
    geometry
        What these mean.
    page_shape
        Of what is read at once: the last axes of the image, all of them if need be.
    """

    def __init__(self, file: SubmittedFile, limits: Limits) -> None:
        if file.suffix not in TIFF_SUFFIXES:
            raise SubmissionFault(f"{file.path} is unreadable: expected a TIFF file")
        self.path = str(file.path)
        super().__init__(file, limits)
        self._kept: tuple[int, NDArray[Any]] | None = None
        try:
            assert self._series is not None
            self.axes: str = self._series.axes
            self.geometry = geometry_of(self.axes, self.shape)
            self.page_shape = self._page_shape()
            self._fits(math.prod(self.page_shape) * self.dtype.itemsize)
        except BaseException as fault:
            self.close()
            raise self._told(fault) from fault

    @property
    def n_pages(self) -> int:
        """Number of pages."""
        return math.prod(self.shape[: len(self.shape) - len(self.page_shape)])

    @property
    def leading_axes(self) -> str:
        """Letters of the axes in front of those of a page."""
        return self.axes[: len(self.shape) - len(self.page_shape)]

    @property
    def page_axes(self) -> tuple[int | None, int, int]:
        """Positions of channel (None if it leads), rows and columns among the axes of a page."""
        first = len(self.shape) - len(self.page_shape)
        at = self.geometry
        channel = None if at.channel is None or at.channel < first else at.channel - first
        return channel, at.y - first, at.x - first

    def page(self, index: int) -> NDArray[Any]:
        """Return one page; the leading axes are counted through in C order."""
        if not 0 <= index < self.n_pages:
            raise IndexError(f"page {index} of {self.n_pages}")
        if self._kept is None or self._kept[0] != index:
            # The last page is let go before the next is read.
            self._kept = None
            try:
                page = self._read_page(index)
            except Exception as fault:
                raise self._told(fault) from fault
            self._kept = (index, page)
        return self._kept[1]

    def pages(self) -> Iterator[NDArray[Any]]:
        """Yield all pages in order."""
        for index in range(self.n_pages):
            yield self.page(index)

    def release(self) -> None:
        """Let the last page go, which is kept for those who want it again."""
        self._kept = None

    def image(self, channel: int, z: int) -> NDArray[Any]:
        """Return one channel of one slice as (rows, columns).

        Only that is read where pages are stored as they are. Further axes, such as time, are taken
        at their first position.
        """
        at = self.geometry
        place: list[int | slice] = [0] * len(self.shape)
        place[at.y] = place[at.x] = slice(None)
        if at.channel is not None:
            place[at.channel] = channel
        if at.z is not None:
            place[at.z] = z
        first = len(self.shape) - len(self.page_shape)
        lead = [index for index in place[:first] if isinstance(index, int)]
        number = int(np.ravel_multi_index(lead, self.shape[:first])) if lead else 0
        within = [index for index in place[first:] if isinstance(index, int)]
        if within and (at.y, at.x) == (len(self.shape) - 2, len(self.shape) - 1):
            start = self._stored_at(number)
            if start is not None:
                before = int(np.ravel_multi_index(within, self.page_shape[:-2]))
                return self._block(start, before, self.page_shape[-2:])
        image: NDArray[Any] = self.page(number)[tuple(place[first:])]
        return image if at.y < at.x else image.T

    def _page_shape(self) -> tuple[int, ...]:
        """Return the shape of one page if rows and columns are in it and all pages are alike."""
        assert self._series is not None
        page = tuple(int(length) for length in self._series.keyframe.shape)
        first = len(self.shape) - len(page)
        at = self.geometry
        if page != self.shape[max(first, 0) :] or min(at.y, at.x) < first:
            return self.shape
        whole = len(self._series) == math.prod(self.shape[:first]) or self._offset is not None
        return page if whole else self.shape

    def _read_page(self, index: int) -> NDArray[Any]:
        if self.page_shape == self.shape:
            return self._read_whole()
        assert self._series is not None
        if self._offset is not None:
            return self._block(self._offset, index, self.page_shape)
        page = self._series[index]
        if page is None:
            return np.zeros(self.page_shape, self.dtype)
        self._prepare(page)
        array = page.asarray(maxworkers=1)
        if array.shape != self.page_shape or array.dtype.newbyteorder("=") != self.dtype:
            raise SubmissionFault(f"has a page {index} of {array.shape} {array.dtype}")
        native: NDArray[Any] = array.astype(self.dtype, copy=False)
        return native

    def _stored_at(self, number: int) -> int | None:
        """Return where a page begins in the file if it is stored neither packed nor in pieces."""
        if self.page_shape == self.shape:
            return self._offset
        if self._offset is not None:
            return self._offset + number * math.prod(self.page_shape) * self.dtype.itemsize
        assert self._series is not None
        page = self._series[number]
        return int(page.dataoffsets[0]) if page is not None and page.is_final else None

    def _block(self, start: int, number: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return one of several blocks that lie behind each other in the file."""
        assert self._tiff is not None
        stored = self.dtype.newbyteorder(self._tiff.byteorder)
        size = math.prod(shape) * stored.itemsize
        self._budget.decode(size)
        try:
            self._file.seek(start + number * size)
            block = np.frombuffer(self._file.read(size), stored).reshape(shape)
        except (OSError, ValueError) as fault:
            raise SubmissionFault(f"{self.path} is cut short") from fault
        return block.astype(self.dtype, copy=False)


def open_mosaic(file: SubmittedFile, limits: Limits) -> Mosaic:
    """Open a TIFF of several channels and slices.

    Raises
    ------
    SubmissionFault
        The file is unreadable or beyond the limits; also while pages are read.
    """
    return Mosaic(file, limits)


def write_mosaic(
    path: Path, shape: tuple[int, int, int, int], dtype: np.dtype[Any], planes: Iterable[Any]
) -> None:
    """Write planes in the order of `shape` (Z, C, Y, X), one page each, as compressed TIFF."""
    import tifffile

    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(planes),
        shape=shape,
        dtype=dtype,
        bigtiff=math.prod(shape) * dtype.itemsize > 2**31,
        compression="zlib",
        photometric="minisblack",
        metadata={"axes": "ZCYX"},
        software=False,
    )
