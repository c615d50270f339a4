"""Pictures of a filament task: the worst images' centre lines over the input, gaps in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.masks import flat_mask
from scorers.files.tree import reference_tree
from scorers.metrics.stretches import stretches
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.lines import Lines, draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.graders.filaments_strict import Verdict
    from scorers.metrics.skeleton import LineAgreement

_SHOWN = 2


def pictures(job: Job, verdicts: Sequence[Verdict]) -> list[Picture]:
    """Return the thumbnail of the worst image and overlays of the worst two."""
    drawn = [(verdict, verdict.lines) for verdict in verdicts if verdict.lines]
    ranked = sorted(drawn, key=lambda pair: (not pair[0].scored, pair[0].score))
    made: list[Picture] = []
    for verdict, lines in ranked[: min(_SHOWN, job.limits.overlays)]:
        item = verdict.target.item
        caption = f"{item}: clDice × component ratio {verdict.score:.3f}"
        ground = _ground(job, verdict)
        view = _view(lines, verdict.shape)
        gaps = stretches(lines.reference[~lines.found], verdict.shape).centres.tolist()
        if not made:
            small = draw(ground, view, THUMBNAIL_SIDE, gaps)
            made.append(as_picture("thumbnail", caption, small, job.limits, "thumbnail"))
        large = draw(ground, view, OVERLAY_SIDE, gaps)
        made.append(as_picture(f"{item} lines", caption, large, job.limits))
    return made


def _view(lines: LineAgreement, shape: tuple[int, ...]) -> Lines:
    def points(places: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.stack(np.divmod(places, shape[1]), axis=-1)

    return Lines(
        (shape[0], shape[1]),
        points(lines.reference[lines.found]),
        points(lines.reference[~lines.found]),
        points(lines.predicted[~lines.right]),
    )


def _ground(job: Job, verdict: Verdict) -> NDArray[Any] | None:
    """Return the input image, None if there is none of that key and shape."""
    if job.input_dir is None or verdict.target.key is None:
        return None
    for file in reference_tree(job.input_dir, job.limits).files:
        if verdict.target.key in file.name.lower():
            try:
                with open_stack(file, job.limits.for_references()) as stack:
                    shape, planes = flat_mask(stack)
                    return next(planes) if shape == verdict.shape else None
            except SubmissionFault:
                return None
    return None
