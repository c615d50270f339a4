"""Which axis of an image is rows, columns, slices or channels."""

from __future__ import annotations

from dataclasses import dataclass

from scorers.errors import SubmissionFault


@dataclass(frozen=True)
class Geometry:
    """Which axis of an image is which, and how long they are.

    Attributes
    ----------
    y, x
        Positions of the axes of rows and columns.
    z, channel
        Positions of the axes of slices and channels, None where there is none.
    """

    shape: tuple[int, ...]
    y: int
    x: int
    z: int | None
    channel: int | None

    @property
    def n_channels(self) -> int:
        """Number of channels, 1 without such an axis."""
        return 1 if self.channel is None else self.shape[self.channel]

    @property
    def n_slices(self) -> int:
        """Number of slices, 1 without such an axis."""
        return 1 if self.z is None else self.shape[self.z]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.shape[self.x]

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.shape[self.y]


def geometry_of(axes: str, shape: tuple[int, ...]) -> Geometry:
    """Tell the axes of an image by their letters and, where these fail, by their order.

    Y, X and Z are told by letter, the channel is the first axis lettered C or S. Without Y or X
    the last two axes are rows and columns. Of the axes that are left, the first is the channel if
    only that is unknown, or the slices if only these are; if both are, one axis is the channel, two
    are slices and channel.

    >>> geometry_of("QQYX", (3, 4, 9, 9)).n_channels
    4
    """
    if len(shape) < 2:
        raise SubmissionFault(f"holds an image of shape {shape}, expected rows and columns")
    y, x = axes.find("Y"), axes.find("X")
    if min(y, x) < 0:
        y, x = len(shape) - 2, len(shape) - 1
    z = next((at for at, letter in enumerate(axes) if letter == "Z" and at not in {y, x}), None)
    channel = next((at for at, sign in enumerate(axes) if sign in "CS" and at not in {y, x}), None)
    left = [at for at in range(len(shape)) if at not in {y, x, z, channel}]
    if channel is None and z is None:
        if len(left) == 1:
            channel = left[0]
        elif len(left) > 1:
            z, channel = left[:2]
    elif channel is None and left:
        channel = left[0]
    elif z is None and left:
        z = left[0]
    return Geometry(shape, y, x, z, channel)
