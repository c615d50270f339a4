"""Make a folder that is there whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Give a folder to fill, which gets its name at the end; on an error it is removed.

    Raises:
        DataMissingError: `out` exists already and is no empty folder.
    """
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise DataMissingError(
            f"{out}: expected no such folder or an empty one, got something that is there already."
            " Mend: give another folder; nothing is written over."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
        bench = Path(name) / out.name
        bench.mkdir()
        yield bench
        if out.exists():
            out.rmdir()
        shutil.move(bench, out)
