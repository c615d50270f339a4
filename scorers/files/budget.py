"""What may still be read of one submission, over all its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault

if TYPE_CHECKING:
    from scorers.files.limits import Limits

_MARKUP = 4


class Budget:
    """Counts what is decoded and parsed, so that many files together cannot take forever.

    Bytes are counted and not seconds: the same submission comes to the same end on any machine.

    Parameters
    ----------
    limits
        `total_decoded_bytes` and `total_text_bytes` bind.
    unlimited
        For files of ours, which are not counted.
    """

    def __init__(self, limits: Limits, *, unlimited: bool = False) -> None:
        self._limits = limits
        self._unlimited = unlimited
        self._decoded = 0
        self._text = 0

    def decode(self, count: int) -> None:
        """Count bytes of pixels that are about to be decoded, or raise `SubmissionFault`."""
        self._decoded += count
        most = self._limits.total_decoded_bytes
        if self._decoded > most and not self._unlimited:
            raise SubmissionFault(
                f"is not read: all images together decode to more than {most} bytes"
            )

    def parse(self, count: int, *, markup: bool = False) -> None:
        """Count bytes of text that are about to be parsed, or raise `SubmissionFault`.

        Parameters
        ----------
        count
            How many.
        markup
            Whether it is XML, a byte of which takes the time of several others.
        """
        self._text += count * (_MARKUP if markup else 1)
        most = self._limits.total_text_bytes
        if self._text > most and not self._unlimited:
            raise SubmissionFault(f"is not read: all texts together have more than {most} bytes")
