"""Masks of lines: how an image file of one is read, plane by plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scorers.files.images import Stack

    Planes = Iterator[NDArray[Any]]
    # How one kind of mask is read: its shape, and its planes of the last two axes.
    Kind = Callable[[Stack], tuple[tuple[int, ...], Planes]]

_COLOURS = frozenset({3, 4})


def flat_mask(stack: Stack) -> tuple[tuple[int, ...], Planes]:
    """Read an image: of three axes the brightest colour or, without colours, the first column.

    The latter is what the published evaluator does to a stack of planes.
    """
    if len(stack.shape) != 3:
        return stack.shape, stack.planes()
    whole = stack.asarray()
    plane = whole.max(axis=-1) if whole.shape[-1] in _COLOURS else whole[..., 0]
    return plane.shape, iter((plane,))


def volume_mask(stack: Stack) -> tuple[tuple[int, ...], Planes]:
    """Read a volume: of four axes, the last of 3 or 4, the brightest colour.

    An image of two axes is a volume of one plane.
    """
    if len(stack.shape) == 2:
        return (1, *stack.shape), stack.planes()
    if len(stack.shape) != 4 or stack.shape[-1] not in _COLOURS:
        return stack.shape, stack.planes()
    planes = (plane.max(axis=-1) for plane in stack.asarray())
    return stack.shape[:3], planes
