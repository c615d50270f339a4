"""The pictures of a puncta grade: counted against true numbers, and the worst image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.nuclei import condition_key, image_key
from scorers.files.tree import reference_tree
from scorers.pictures.canvas import FALSE_HIT, OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture, fitted
from scorers.pictures.plots import strips
from scorers.pictures.points import Dots, Window, draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.graders.puncta_strict import Verdict
    from scorers.graders.spacing import Spacing
    from scorers.pictures.canvas import Image

_CHANNELS = 2
_GFP = 1
_MOST_PLANES = 1000
_MOST_LABELS = 400
_MOST_GROUPS = 8
_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)


def pictures(verdicts: Sequence[Verdict], spacing: Spacing, job: Job) -> list[Picture]:
    """Show the numbers of matched nuclei, and the nuclei of the worst image with their numbers."""
    parts = [
        as_picture(
            "puncta-numbers",
            "Submitted number of puncta of matched nuclei, by their true number",
            _numbers(verdicts),
            job.limits,
            "thumbnail",
        )
    ]
    worst = min(verdicts, key=lambda v: v.score)
    if len(worst.known) or len(worst.own):
        caption = f"Worst image, {worst.key[0]}/{worst.name}: submitted / true number of puncta"
        parts.append(as_picture("puncta-worst", caption, _map(worst, spacing, job), job.limits))
    return parts


def _numbers(verdicts: Sequence[Verdict]) -> Image:
    known = np.concatenate([v.counts.known for v in verdicts])
    own = np.concatenate([v.counts.own for v in verdicts])
    known, own = known[~np.isnan(own)], own[~np.isnan(own)]
    last = int(min(known.max(initial=0), _MOST_GROUPS - 1))
    groups = []
    for number in range(last + 1):
        of_group = known >= number if number == last else np.floor(known) == number
        name = f"{number}+" if number == _MOST_GROUPS - 1 else str(number)
        groups.append((name, [(FALSE_HIT, own[of_group])]))
    top = max(float(known.max(initial=0)), 1.0) * 2
    title = "submitted number, by true number"
    return strips(groups, (0.0, top), THUMBNAIL_SIDE, title, {"one nucleus each": FALSE_HIT})


def _map(verdict: Verdict, spacing: Spacing, job: Job) -> Image:
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    known, own, pairs = verdict.known, verdict.own, verdict.pairs
    step = np.array(spacing[:0:-1])
    # Columns x and y in pixels.
    there, here = known.place[:, :0:-1] / step, own.place[:, :0:-1] / step
    missed = np.setdiff1d(np.arange(len(known)), pairs.reference)
    false = np.setdiff1d(np.arange(len(own)), pairs.predicted)
    false = false[np.isfinite(here[false]).all(axis=1)]
    dots = Dots(hit=there[pairs.reference], miss=there[missed], false_hit=here[false])
    ground = _projection(verdict.key, job)
    if ground is None:
        last = np.concatenate([np.zeros((1, 2)), there]).max(axis=0)
        columns, rows = (int(end) + 2 for end in np.clip(last, 0, 20_000))
    else:
        rows, columns = ground.shape
    window = Window(0, 0, rows, columns)
    picture = Pillow.fromarray(draw(ground, dots, window, OVERLAY_SIDE))
    scale = fitted((rows, columns), OVERLAY_SIDE)[0] / rows
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=13)
    told = zip(
        (there[pairs.reference][:_MOST_LABELS] * scale).tolist(),
        own.count[pairs.predicted].tolist(),
        known.count[pairs.reference].tolist(),
        strict=False,
    )
    for (x, y), mine, true in told:
        text = f"{mine:.3g}/{true:.3g}"
        pen.text((x + 9, y - 8), text, _WHITE, font, stroke_width=2, stroke_fill=_BLACK)
    return np.asarray(picture)


def _projection(key: tuple[str, str], job: Job) -> NDArray[Any] | None:
    """Return the maximum of GFP over the slices of an input image, None where there is none."""
    if job.input_dir is None:
        return None
    for file in reference_tree(job.input_dir, job.limits).files:
        folder = file.path.parent.name
        if (condition_key(folder), image_key(file.name)) != key:
            continue
        try:
            with open_stack(file, job.limits.for_references()) as stack:
                leading = stack.shape[:-2]
                if _CHANNELS not in leading or stack.n_planes > _MOST_PLANES:
                    return None
                axis = leading.index(_CHANNELS)
                places = np.arange(stack.n_planes).reshape(leading).take(_GFP, axis=axis)
                highest = stack.plane(int(places.flat[0]))
                for place in places.ravel()[1:].tolist():
                    highest = np.maximum(highest, stack.plane(place))
                return highest
        except SubmissionFault:
            return None
    return None
