"""Masks of a submission and of a reference, packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import EmptyImage, open_stack
from scorers.metrics.packed import PackedMask

if TYPE_CHECKING:
    from scorers.files.limits import Limits
    from scorers.files.masks import Kind
    from scorers.files.tree import SubmittedFile


class ShapeDiffers(SubmissionFault):
    """A mask can be read and has another shape than the reference."""


def read_mask(
    file: SubmittedFile, kind: Kind, limits: Limits, shape: tuple[int, ...]
) -> PackedMask:
    """Return a submitted mask.

    Parameters
    ----------
    file
        An image.
    kind
        `flat_mask` or `volume_mask`.
    limits
        Bounds on what is read.
    shape
        The reference's.

    Raises
    ------
    ShapeDiffers
        The mask has another shape, or is a TIFF without any image.
    SubmissionFault
        It cannot be read.
    """
    try:
        with open_stack(file, limits) as stack:
            found, planes = kind(stack)
            if found == shape:
                return PackedMask.of((plane > 0 for plane in planes), shape)
            # What cannot be read is told apart from what has the wrong shape.
            for _ in planes:
                pass
    except EmptyImage as fault:
        raise ShapeDiffers(f"{fault}, expected the shape {shape}") from fault
    raise ShapeDiffers(f"shape {found}, expected {shape}")


def read_reference_mask(file: SubmittedFile, kind: Kind, limits: Limits, axes: int) -> PackedMask:
    """Return a reference mask, raising `CapsuleFault` for what goes wrong."""
    try:
        with open_stack(file, limits.for_references()) as stack:
            shape, planes = kind(stack)
            if len(shape) != axes:
                raise CapsuleFault(
                    f"reference {file.path}: expected {axes} axes, got the shape {shape}"
                )
            return PackedMask.of((plane > 0 for plane in planes), shape)
    except SubmissionFault as fault:
        raise CapsuleFault(f"reference {fault}") from fault
