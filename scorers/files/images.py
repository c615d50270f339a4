"""Images of a submission or a reference, read plane by plane and never followed elsewhere."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.tiffs import cost_of_page, open_tiff, refuse_larger_jpegs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from tifffile import TiffFile, TiffFrame, TiffPage, TiffPageSeries

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
# A confocal microscope's LSM file is a TIFF with one table of metadata more.
TIFF_SUFFIXES = frozenset({".tif", ".tiff", ".lsm"})
_PLAIN_FORMATS = ("PNG", "JPEG", "BMP")


class EmptyImage(SubmissionFault):
    """A TIFF without a single page, which the published evaluators read as an array of nothing."""


class Stack:
    """An image file as planes of its last two axes, read one at a time where the file allows it.

    Attributes
    ----------
    shape
        As the file declares it, axes in the file's order (usually Z or T, Y, X; colour last).
    dtype
        Of every plane, in native byte order.
    lazy
        Whether a plane is read without the others.
    """

    def __init__(self, file: SubmittedFile, limits: Limits) -> None:
        self._name = str(file.path)
        self._limits = limits
        self._budget = file.budget
        self._file: BinaryIO = file.open(max(limits.at_once, limits.metadata_bytes))
        self._tiff: TiffFile | None = None
        self._series: TiffPageSeries | None = None
        self._whole: NDArray[Any] | None = None
        try:
            if file.suffix in TIFF_SUFFIXES:
                self._open_tiff(file)
            else:
                self._open_plain(file.size)
        except BaseException as fault:
            self.close()
            raise self._told(fault) from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; the stack is of no use afterwards."""
        if self._tiff is not None:
            self._tiff.close()
        self._file.close()

    @property
    def n_planes(self) -> int:
        """Number of planes: the product of all axes but the last two."""
        return math.prod(self.shape[:-2])

    @property
    def plane_shape(self) -> tuple[int, int]:
        """Shape of one plane; a one-dimensional image is one row."""
        rows, columns = (1, 1, *self.shape)[-2:]
        return rows, columns

    def plane(self, index: int) -> NDArray[Any]:
        """Return one plane; the leading axes are counted through in C order."""
        if not 0 <= index < self.n_planes:
            raise IndexError(f"plane {index} of {self.n_planes}")
        if not self.lazy:
            planes: NDArray[Any] = self.asarray().reshape(-1, *self.plane_shape)
            return np.asarray(planes[index])
        try:
            return self._page(index)
        except Exception as fault:
            raise self._told(fault) from fault

    def planes(self) -> Iterator[NDArray[Any]]:
        """Yield all planes in order."""
        for index in range(self.n_planes):
            yield self.plane(index)

    def asarray(self) -> NDArray[Any]:
        """Return the whole image, within `limits.at_once`."""
        if self._whole is not None:
            return self._whole
        self._fits(self._decoded)
        try:
            whole = self._read_whole()
        except Exception as fault:
            raise self._told(fault) from fault
        self._whole = whole
        return whole

    def _open_tiff(self, file: SubmittedFile) -> None:
        self._tiff = tiff = open_tiff(self._file, self._limits, file.budget, trusted=file.trusted)
        if not tiff.pages:
            raise EmptyImage("holds no image")
        if not tiff.series:
            raise SubmissionFault("holds no image")
        self._series = series = tiff.series[0]
        self.shape: tuple[int, ...] = tuple(int(length) for length in series.shape)
        self.dtype: np.dtype[Any] = np.dtype(series.dtype).newbyteorder("=")
        pages = len(series)
        self._offset = None if series.dataoffset is None else int(series.dataoffset)
        self.lazy = series.keyframe.shape == self.shape[-2:] and (
            pages == self.n_planes or self._offset is not None
        )
        self._check(pages)
        if self._offset is not None and self._offset + self._decoded > file.size:
            raise SubmissionFault("is cut short")

    def _open_plain(self, size: int) -> None:
        from PIL import Image

        # Only the size is read here; pillow decodes on demand.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(self._file, formats=_PLAIN_FORMATS)
        self._fits(image.width * image.height * 8)
        self._budget.decode(size + image.width * image.height * 8)
        if image.mode == "P":
            image = image.convert(image.palette.mode if image.palette else "L")
        self._whole = np.asarray(image)
        self.shape = self._whole.shape
        self.dtype = self._whole.dtype
        self.lazy = False
        self._check(1)

    def _check(self, pages: int) -> None:
        if self.dtype.kind not in "biuf":
            raise SubmissionFault(f"holds values of type {self.dtype}, not numbers")
        if 0 in self.shape:
            raise SubmissionFault(f"holds an empty image of shape {self.shape}")
        if max(pages, self.n_planes if self.lazy else 1) > self._limits.pages:
            raise SubmissionFault(f"has more than {self._limits.pages} pages")
        self._decoded = math.prod(self.shape) * self.dtype.itemsize
        if self._decoded > self._limits.decoded_bytes:
            raise SubmissionFault(
                f"decodes to {self._decoded} bytes, more than {self._limits.decoded_bytes}"
            )
        if self.lazy:
            self._fits(math.prod(self.plane_shape) * self.dtype.itemsize)

    def _fits(self, count: int) -> None:
        if count > self._limits.at_once:
            raise SubmissionFault(
                f"needs {count} bytes of memory at once, more than {self._limits.at_once}"
            )

    def _page(self, index: int) -> NDArray[Any]:
        assert self._tiff is not None
        assert self._series is not None
        if self._offset is not None:
            count = math.prod(self.plane_shape)
            stored = self.dtype.newbyteorder(self._tiff.byteorder)
            self._file.seek(self._offset + index * count * stored.itemsize)
            self._budget.decode(count * stored.itemsize)
            content = self._file.read(count * stored.itemsize)
            return np.frombuffer(content, stored).reshape(self.plane_shape).astype(self.dtype)
        page = self._series[index]
        if page is None:
            return np.zeros(self.plane_shape, self.dtype)
        self._prepare(page)
        array = page.asarray(maxworkers=1)
        native: NDArray[Any] = array.astype(array.dtype.newbyteorder("="), copy=False)
        if native.shape != self.plane_shape or native.dtype != self.dtype:
            raise SubmissionFault(f"has a page {index} of {native.shape} {native.dtype}")
        return native

    def _prepare(self, page: TiffPage | TiffFrame) -> None:
        """See that what is decoded for a page is bounded, and count it."""
        self._budget.decode(cost_of_page(page, self._limits))
        refuse_larger_jpegs(self._file, page)

    def _read_whole(self) -> NDArray[Any]:
        if self.lazy:
            return np.stack([self._page(index) for index in range(self.n_planes)]).reshape(
                self.shape
            )
        assert self._tiff is not None
        assert self._series is not None
        if self._offset is not None:
            self._budget.decode(self._decoded)
        else:
            for page in self._series:
                if page is not None:
                    self._prepare(page)
        array = self._tiff.asarray(series=0, maxworkers=1)
        if array.shape != self.shape:
            raise SubmissionFault(f"declares {self.shape} and holds {array.shape}")
        native: NDArray[Any] = array.astype(self.dtype, copy=False)
        return native

    def _told(self, fault: BaseException) -> BaseException:
        # Decoders raise whatever their C libraries and parsers meet; of a file that an agent wrote
        # all of it means the same. What is no `Exception` (Ctrl-C) stays what it is.
        if isinstance(fault, SubmissionFault):
            said = str(fault)
            return fault if self._name in said else type(fault)(f"{self._name} {said}")
        # Nor is it the file's fault that memory is exhausted: what can be foreseen is refused.
        if isinstance(fault, MemoryError) or not isinstance(fault, Exception):
            return fault
        reason = f"{type(fault).__name__}: {fault}".strip(": ")[:200]
        return SubmissionFault(f"{self._name} is unreadable: {reason}")


def open_stack(file: SubmittedFile, limits: Limits = DEFAULT) -> Stack:
    """Open an image; TIFF by its first series, PNG, JPEG and BMP as one image.

    Raises
    ------
    SubmissionFault
        The file is unreadable or beyond the limits; also while planes are read.
    """
    return Stack(file, limits)


def write_labels(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], planes: Iterable[NDArray[Any]]
) -> None:
    """Write a compressed TIFF plane by plane, one page each, without date or software."""
    import tifffile

    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(planes),
        shape=shape,
        dtype=dtype,
        compression="zlib",
        photometric="minisblack",
        software=False,
    )
