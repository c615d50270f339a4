"""Velocity fields and kymographs of a wound-healing submission, damaged in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.calibration.submission_files import found, read_image
from scorers.files.fields import write_field

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    Field = NDArray[np.floating[Any]]

KYMOGRAPH, X, Y = "_speedKymograph.tif", "_mf_dxs.tif", "_mf_dys.tif"
SUFFIXES = (KYMOGRAPH, X, Y)
KILO = 1000.0


def values(folder: Path, pick: Pick, change: Callable[[Field, Pick], Field]) -> int:
    """Change values of every field; return how many fields there were."""
    paths = [path for suffix in SUFFIXES for path in found(folder, f"*{suffix}")]
    for path in paths:
        write_field(path, change(read_image(path), pick))
    return len(paths)


def experiments(
    folder: Path, pick: Pick, change: Callable[[dict[str, Field]], dict[str, Field]]
) -> int:
    """Change all fields of some experiments, by their suffixes; return how many."""
    stems = _stems(folder)
    hit = [stem for stem, is_hit in zip(stems, pick.hits(len(stems)), strict=True) if is_hit]
    for stem in hit:
        paths = {suffix: stem.with_name(stem.name + suffix) for suffix in SUFFIXES}
        known = {suffix: read_image(path) for suffix, path in paths.items() if path.is_file()}
        for suffix, field in change(known).items():
            write_field(paths[suffix], field)
    return len(hit)


def omit(folder: Path, pick: Pick) -> int:
    """Remove all files of some experiments; return how many."""
    stems = _stems(folder)
    hit = [stem for stem, is_hit in zip(stems, pick.hits(len(stems)), strict=True) if is_hit]
    for stem in hit:
        for path in found(stem.parent, f"{stem.name}_*"):
            path.unlink()
    return len(hit)


def blotted(field: Field, pick: Pick) -> Field:
    """Leave values out."""
    return np.where(pick.hits(field.size).reshape(field.shape), np.nan, field)


def shuffled(field: Field, pick: Pick) -> Field:
    """Exchange values; what is not finite stays where it is."""
    flat = field.ravel().copy()
    known = np.flatnonzero(np.isfinite(flat))
    flat[known] = flat[known][pick.exchange(flat[known].astype(float))]
    return flat.reshape(field.shape)


def magnified(fields: dict[str, Field]) -> dict[str, Field]:
    """Tell speeds in a unit a thousand times too small."""
    return {suffix: field * KILO for suffix, field in fields.items()}


def against(fields: dict[str, Field]) -> dict[str, Field]:
    """Turn velocities round."""
    return {suffix: -field for suffix, field in fields.items() if suffix != KYMOGRAPH}


def turned(fields: dict[str, Field]) -> dict[str, Field]:
    """Exchange times and bands of a kymograph, x and y of velocities."""
    swapped = dict(zip((X, Y), (fields[name] for name in (Y, X) if name in fields), strict=False))
    return {KYMOGRAPH: fields[KYMOGRAPH].T, **swapped}


def _stems(folder: Path) -> list[Path]:
    return [path.with_name(path.name[: -len(KYMOGRAPH)]) for path in found(folder, f"*{KYMOGRAPH}")]
