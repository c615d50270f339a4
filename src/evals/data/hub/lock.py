"""One at a time in a revision's folder."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a folder's lock; the system lets go of it when the process dies.

    Raises:
        DataMissingError: Somebody else holds it.
    """
    try:
        import fcntl
    except ImportError:  # not POSIX: two at once would do each other's work again
        yield
        return
    descriptor = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataMissingError(
                f"{root}: expected nobody else at work in it, got a pull or removal that is going "
                "on. Mend: wait for it."
            ) from None
        yield
    finally:
        os.close(descriptor)
