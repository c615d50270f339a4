"""One picture a task: what its input looks like, and the reference drawn over it."""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.capsule import job_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evals.capsule import Capsule

_TILES = 4
_TILE_INCHES = 3.0
_DPI = 100
_JPEG_QUALITY = 82


@dataclass(frozen=True)
class Tile:
    """A picture with its caption."""

    picture: NDArray[Any]
    caption: str


def preview(capsule: Capsule, path: Path) -> None:
    """Draw a capsule's input above its reference and write the picture.

    The upper row shows what an agent sees when it looks at the files. The lower row is what the
    grader draws of the reference handed in as a submission. The picture therefore tells the answer.

    Args:
        capsule: The capsule.
        path: Where the picture goes, `.jpg` or `.png`.
    """
    rows = [input_tiles(capsule.input_dir), reference_tiles(capsule)]
    path.parent.mkdir(parents=True, exist_ok=True)
    _draw(capsule.task_id, [row for row in rows if row], path)


def input_tiles(folder: Path) -> list[Tile]:
    """Show up to four images of an input folder, or four planes of its only one."""
    from evals.harness.viewing.opening import FLAT, STACKED

    kinds = {*FLAT, *STACKED}
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    images = [path for path in files if path.suffix.lower() in kinds]
    by_folder = [list(group) for _, group in groupby(images, key=lambda path: path.parent)]
    if len(images) == 1:
        wanted = [(images[0], share) for share in (0.02, 0.35, 0.68, 1.0)]
    elif len(by_folder) > 1:
        each = max(1, _TILES // len(by_folder))
        wanted = [(path, 0.5) for group in by_folder[:_TILES] for path in spread(group, each)]
    else:
        wanted = [(path, 0.5) for path in spread(images, _TILES)]
    return [_look(path, folder, share) for path, share in wanted]


def spread(entries: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many entries, evenly spread from the first to the last."""
    if len(entries) <= most:
        return list(entries)
    last = len(entries) - 1
    return [entries[round(number * last / max(most - 1, 1))] for number in range(most)]


def reference_tiles(capsule: Capsule) -> list[Tile]:
    """Return what the grader draws of the reference handed in; none where there is no reference."""
    from scorers.graders import family_for
    from scorers.grading import grade

    if capsule.evaluation_dir is None:
        return []
    with tempfile.TemporaryDirectory(prefix="evals-preview-") as name:
        submission = Path(name)
        family_for(capsule.spec, capsule.rubric).perfect(job_for(capsule, submission), submission)
        pictures = grade(capsule.path, submission).pictures
    # The thumbnail often is a small copy of an overlay with the same caption.
    by_caption = {
        picture.caption: Tile(_decoded(picture.data), picture.caption) for picture in pictures
    }
    return list(by_caption.values())[:_TILES]


def _look(path: Path, root: Path, share: float) -> Tile:
    """Show an image as the agents' viewer does, at a place along its stack axes."""
    from evals.harness.viewing.answer import view
    from evals.harness.viewing.opening import open_source

    with ExitStack() as files:
        source = open_source(path, files)
        sizes = {axis: source.size(axis) for axis in source.stack_axes}
    places = ",".join(f"{axis}={round(share * (size - 1))}" for axis, size in sizes.items())
    request = {"path": str(path), **({"plane": places} if places else {})}
    _, png = view(request)
    shown = f"\n{places}" if places else ""
    return Tile(_decoded(png), f"{path.relative_to(root).as_posix()}{shown}")


def _decoded(data: bytes) -> NDArray[Any]:
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


def _draw(title: str, rows: Sequence[Sequence[Tile]], path: Path) -> None:
    from matplotlib.figure import Figure

    size = (_TILES * _TILE_INCHES, len(rows) * (_TILE_INCHES + 0.5) + 0.3)
    figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
    figure.suptitle(title)
    parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for row, part in zip(rows, parts, strict=True):
        axes = part.subplots(1, len(row), squeeze=False)[0]
        for tile, axis in zip(row, axes, strict=True):
            axis.imshow(tile.picture)
            axis.set_axis_off()
            axis.set_title(_wrapped(tile.caption), fontsize=7)
    with_quality = path.suffix.lower() in (".jpg", ".jpeg")
    figure.savefig(path, pil_kwargs={"quality": _JPEG_QUALITY} if with_quality else None)


def _wrapped(caption: str) -> str:
    import textwrap

    return "\n".join(textwrap.fill(line, 46) for line in caption.splitlines()[:3])
