"""What a label image shows by itself: objects, their pieces, holes, touching neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Labels = NDArray[np.int32]

# Pieces that the border of the image cuts may be small by right.
_SPECK_PIXELS = 9
_SPECK_SHARE = 0.02
_THIN_SHARE = 0.98
_MOST_COUNTED = 2**22


@dataclass(frozen=True)
class LabelFacts:
    """Counts over one label image, or over several together.

    Attributes
    ----------
    objects
        Distinct values above 0, image by image.
    components
        Connected components of the foreground (by faces, not corners).
    scattered
        Objects of several pieces that do not even meet at a corner.
    touching
        Objects with a pixel face to face with another object.
    holed
        Objects that enclose background.
    inner_sizes
        Pixels of each piece that the border does not cut.
    one_value
        Images with foreground of a single value; `of_several`: of which so many have several
        components.
    filled
        Images with any foreground.
    whole
        Whether all values are finite whole numbers from 0 on.
    """

    objects: int = 0
    components: int = 0
    scattered: int = 0
    touching: int = 0
    holed: int = 0
    inner_sizes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    images: int = 0
    filled: int = 0
    one_value: int = 0
    of_several: int = 0
    whole: bool = True

    def __add__(self, other: LabelFacts) -> LabelFacts:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return LabelFacts(
            **sums,
            inner_sizes=np.concatenate([self.inner_sizes, other.inner_sizes]),
            whole=self.whole and other.whole,
        )

    def specks(self, *, alike: bool) -> int:
        """Return how many pieces are too small to see or, of objects alike, far below others."""
        if not self.inner_sizes.size:
            return 0
        usual = float(np.median(self.inner_sizes)) if alike else 0.0
        return int((self.inner_sizes < max(_SPECK_PIXELS, _SPECK_SHARE * usual)).sum())


_COUNTS = (
    "objects", "components", "scattered", "touching", "holed",
    "images", "filled", "one_value", "of_several",
)  # fmt: skip


def look_at(image: NDArray[Any]) -> LabelFacts:
    """Count what one label image of two or three axes shows.

    A binary mask is a label image of one object; its connected components are then the pieces.
    """
    from scipy import ndimage
    from skimage.measure import label as label_pieces

    labels, whole = _compact(image)
    foreground = labels > 0
    if not foreground.any():
        return LabelFacts(images=1, whole=whole)
    n_objects = int(labels.max())
    pieces = label_pieces(labels, background=0, connectivity=labels.ndim)  # type: ignore[no-untyped-call]  # no types
    places = np.unique(pieces, return_index=True)
    owner = labels.ravel()[places[1][places[0] > 0]]
    components = int(ndimage.label(foreground)[1])
    return LabelFacts(
        objects=n_objects,
        components=components,
        scattered=int((np.bincount(owner, minlength=n_objects + 1) > 1).sum()),
        touching=len(_touching(labels)),
        holed=_holed(labels),
        inner_sizes=_inner_sizes(pieces),
        images=1,
        filled=1,
        one_value=int(n_objects == 1),
        of_several=int(n_objects == 1 and components > 1),
        whole=whole,
    )


def one_pixel_wide(mask: NDArray[Any]) -> bool:
    """Return whether a mask of two axes is made of lines one pixel wide."""
    from skimage.morphology import skeletonize

    lines = np.nan_to_num(mask) > 0
    total = int(lines.sum())
    thinned = skeletonize(lines)  # type: ignore[no-untyped-call]  # no types
    return total > 0 and int((thinned & lines).sum()) >= _THIN_SHARE * total


def _compact(image: NDArray[Any]) -> tuple[Labels, bool]:
    """Return labels renumbered from 1 on, and whether all were whole numbers from 0 on."""
    if image.dtype.kind == "f":
        known = np.isfinite(image)
        image = np.where(known, image, 0)
        whole = bool(known.all() and (image == np.floor(image)).all())
    else:
        whole = True
    if not image.size:
        return np.zeros(image.shape, np.int32), whole
    least, most = int(image.min()), int(image.max())
    whole = whole and least >= 0
    if least >= 0 and most <= _MOST_COUNTED:
        present = np.bincount(image.ravel().astype(np.intp)) > 0
        present[0] = False
        return np.cumsum(present, dtype=np.int32)[image.astype(np.intp)] * (image > 0), whole
    values, places = np.unique(image, return_inverse=True)
    numbers = np.cumsum(values > 0, dtype=np.int32) * (values > 0)
    return numbers[places.reshape(image.shape)], whole


def _faces(labels: NDArray[Any]) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield the values on both sides of all faces, axis by axis."""
    for axis in range(labels.ndim):
        moved = np.moveaxis(labels, axis, 0)
        yield moved[:-1].ravel(), moved[1:].ravel()


def _touching(labels: Labels) -> Labels:
    found = [np.zeros(0, np.int32)]
    for one, other in _faces(labels):
        meet = (one != other) & (one > 0) & (other > 0)
        found += [one[meet], other[meet]]
    return np.unique(np.concatenate(found))


def _holed(labels: Labels) -> int:
    """Count objects that alone surround a piece of background."""
    from scipy import ndimage

    holes, count = ndimage.label(labels == 0)
    if not count:
        return 0
    open_ones = np.unique(np.concatenate([edge.ravel() for edge in _edges(holes)]))
    # The piece and each label that it meets, as one number.
    width = int(labels.max()) + 1
    meetings = [np.zeros(0, np.int64)]
    for (here, there), (one, other) in zip(_faces(holes), _faces(labels), strict=True):
        for hole, owner in ((here, other), (there, one)):
            meet = (hole > 0) & (owner > 0)
            meetings.append(np.unique(hole[meet].astype(np.int64) * width + owner[meet]))
    met = np.unique(np.concatenate(meetings))
    hole, owner = met // width, met % width
    alone = (np.bincount(hole, minlength=count + 1) == 1)[hole] & ~np.isin(hole, open_ones)
    return len(np.unique(owner[alone]))


def _inner_sizes(pieces: NDArray[Any]) -> Ints:
    sizes = np.bincount(pieces.ravel())
    sizes[0] = 0
    for edge in _edges(pieces):
        sizes[np.unique(edge)] = 0
    return sizes[sizes > 0]


def _edges(image: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the outermost rows, columns and planes; an axis of one pixel has none."""
    return [
        image.take(place, axis=axis)
        for axis in range(image.ndim)
        if image.shape[axis] > 1
        for place in (0, -1)
    ]
