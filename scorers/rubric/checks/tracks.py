"""Checks of tracks: whether ids last, divisions, gaps, and masks against the lineage."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.movies import Movie
from scorers.files.tables import read_text
from scorers.metrics.lineage import Lineage, parse_lineage
from scorers.rubric.checks import headings
from scorers.rubric.checks.results import Finding, file_refs, weak

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene
    from scorers.specification import Deliverable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_MOST_PIXELS, _MOST_COUNTED = 1_000_000_000, 2**22
_LASTING_SHARE, _SAME_PLACE, _ELSEWHERE = 0.5, 0.5, 0.1
_AGREEING_SHARE = 0.99
_DIVIDES = re.compile(r"\bdivi(?:de|sion)|daughter|mother", re.IGNORECASE)
_NO_TRACKS = Finding("unknown", "No label movie with a lineage, nor a table of tracks, was read.")


@dataclass(frozen=True)
class Movement:
    """What a label movie shows of each label.

    Attributes
    ----------
    label, first, last, frames
        Its number, first and last frame, and in how many frames it is there.
    continued, in_place, covered
        Appearances of a label that was there in the frame before; how many of them overlap it,
        and how many overlap anything.
    """

    label: Ints
    first: Ints
    last: Ints
    frames: Ints
    continued: int
    in_place: int
    covered: int

    @property
    def gaps(self) -> int:
        """Labels that are away in between."""
        return int((self.frames < self.last - self.first + 1).sum())


def persistent_ids(scene: Scene) -> Finding:
    """Check that objects keep their ids from frame to frame, at the place where they were."""
    seen = _movie(scene)
    if seen is not None and len(seen[1].label):
        movie, movement = seen
        lasting = float((movement.frames > 1).mean())
        place = movement.in_place / movement.continued if movement.continued else 0.0
        says = (
            f"{lasting:.0%} of {len(movement.label)} ids last over several frames, half of all "
            f"over {np.median(movement.frames):.0f} or more; {place:.0%} of {movement.continued} "
            "continuations overlap the object of the frame before."
        )
        # Small objects may move farther than they are wide: then they lie where nothing was.
        swapped = place < _ELSEWHERE and movement.covered >= _SAME_PLACE * movement.continued
        if not movement.continued or swapped:
            return Finding("fail", says, file_refs([movie]))
        sure = lasting >= _LASTING_SHARE and place >= _SAME_PLACE
        return Finding("pass" if sure else "unknown", says, file_refs([movie]))
    for file, track, frame in _tables(scene):
        counts = np.unique(np.unique(np.stack([track, frame]), axis=1)[0], return_counts=True)[1]
        lasting = float((counts > 1).mean())
        says = f"{lasting:.0%} of {len(counts)} ids of a table last over several frames."
        refs = file_refs([file], "table")
        # Whether an id stays with its object cannot be seen from a table.
        return weak(says, refs) if lasting else Finding("fail", says, refs)
    return _NO_TRACKS


def lineage_matches_masks(scene: Scene) -> Finding:
    """Check that the lineage lists the labels of the movie with their first and last frames."""
    if not _asks_for_lineage(scene):
        return Finding("not_applicable", "The task asks for no lineage.")
    seen, told = _movie(scene), _lineage(scene)
    if seen is None or told is None or not len(seen[1].label):
        return _NO_TRACKS
    (movie, movement), (file, lineage) = seen, told
    rows = lineage.rows(movement.label)
    listed = rows >= 0
    same = np.zeros(len(rows), bool)
    if len(lineage):
        same = (
            listed & (lineage.start[rows] == movement.first) & (lineage.end[rows] == movement.last)
        )
    says = (
        f"{int(same.sum())} of {len(rows)} labels of the movie are listed with their first and "
        f"last frames; {int(listed.sum())} are listed; the lineage has {len(lineage)} tracks."
    )
    agree = same.sum() >= _AGREEING_SHARE * max(len(rows), len(lineage))
    return Finding("pass" if agree else "fail", says, file_refs([file, movie]))


def divisions(scene: Scene) -> Finding:
    """Check that divisions are recorded with a mother and two daughters or more."""
    told = _lineage(scene)
    if told is None:
        return _NO_TRACKS
    file, lineage = told
    parents = lineage.parent_rows()
    daughters = np.bincount(parents[parents >= 0], minlength=len(lineage))
    divided = int((daughters > 1).sum())
    says = (
        f"{divided} of {len(lineage)} tracks have two daughters or more that begin after they "
        f"end; {int((daughters == 1).sum())} have one."
    )
    if divided:
        return Finding("pass", says, file_refs([file]))
    logic = scene.spec.task_logic
    asked = _DIVIDES.search(f"{logic.basic_instructions} {logic.expert_instructions}")
    return Finding("fail" if asked else "unknown", says, file_refs([file]))


def gaps_bridged(scene: Scene) -> Finding:
    """Check for tracks that go on after frames in which their object was missed."""
    seen = _movie(scene)
    if seen is not None:
        movie, movement = seen
        says = f"{movement.gaps} of {len(movement.label)} labels are away for a while and return."
        return Finding("pass" if movement.gaps else "unknown", says, file_refs([movie]))
    for file, track, frame in _tables(scene):
        ids, place = np.unique(track, return_inverse=True)
        first, last = np.full(len(ids), np.inf), np.full(len(ids), -np.inf)
        np.minimum.at(first, place, frame)
        np.maximum.at(last, place, frame)
        pairs = np.unique(np.stack([place.astype(float), frame]), axis=1)
        there = np.bincount(pairs[0].astype(int), minlength=len(ids))
        bridged = int((there < last - first + 1).sum())
        says = f"{bridged} of {len(ids)} tracks of a table skip frames and go on."
        return Finding("pass" if bridged else "unknown", says, file_refs([file], "table"))
    return _NO_TRACKS


def follow(frames: Iterable[NDArray[np.integer]]) -> Movement:
    """Follow each label above 0 through frames of equal shape."""
    seen: list[NDArray[np.integer]] = []
    continued = in_place = covered = 0
    before: NDArray[np.integer] | None = None
    for frame in frames:
        here = _present(frame)
        if before is not None:
            known = np.intersect1d(here, seen[-1])
            continued += len(known)
            in_place += len(_present(frame[frame == before]))
            covered += len(np.intersect1d(_present(frame[before > 0]), known))
        seen.append(here)
        before = frame
    labels = np.concatenate([np.zeros(0, np.int64), *(here.astype(np.int64) for here in seen)])
    times = np.repeat(np.arange(len(seen)), [len(here) for here in seen])
    label, place, frames_of = np.unique(labels, return_inverse=True, return_counts=True)
    first, last = np.full(len(label), len(seen)), np.full(len(label), -1)
    np.minimum.at(first, place, times)
    np.maximum.at(last, place, times)
    return Movement(label, first, last, frames_of, continued, in_place, covered)


def _present(frame: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the labels above 0, ascending."""
    if frame.size and int(frame.min()) >= 0 and int(frame.max()) <= _MOST_COUNTED:
        found: NDArray[np.integer] = np.flatnonzero(np.bincount(frame.ravel().astype(np.intp)))
    else:
        found = np.unique(frame)
    return found[found > 0]


def _movie(scene: Scene) -> tuple[SubmittedFile, Movement] | None:
    """Return the delivered label movie, followed; None if there is none within reach."""
    key = "followed movie"
    if key not in scene.submission.memo:
        scene.submission.memo[key] = next(_movies(scene), None)
    found: tuple[SubmittedFile, Movement] | None = scene.submission.memo[key]
    return found


def _movies(scene: Scene) -> Iterator[tuple[SubmittedFile, Movement]]:
    for file, form in scene.masks:
        if form != "instance" or not scene.movies or scene.volumes:
            continue
        try:
            with Movie(file, scene.limits) as movie:
                size = movie.n_frames * math.prod(movie.frame_shape)
                if movie.n_frames > 1 and size <= _MOST_PIXELS and movie.dtype.kind in "iu":
                    yield file, follow(_frames(movie))
        except SubmissionFault:
            continue


def _frames(movie: Movie) -> Iterator[NDArray[np.integer]]:
    for at in range(movie.n_frames):
        frame = movie.frame(at)
        if frame is not None:
            yield frame


def _asks_for_lineage(scene: Scene) -> bool:
    return any(_is_lineage(deliverable) for deliverable in scene.spec.deliverables)


def _is_lineage(deliverable: Deliverable) -> bool:
    return "track" in deliverable.id.lower() and deliverable.filename_pattern.endswith(".txt")


def _lineage(scene: Scene) -> tuple[SubmittedFile, Lineage] | None:
    for deliverable in filter(_is_lineage, scene.spec.deliverables):
        for file in scene.delivered(deliverable):
            with suppress(SubmissionFault):
                return file, parse_lineage(read_text(file, scene.limits))
    return None


def _tables(
    scene: Scene,
) -> Iterator[tuple[SubmittedFile, Floats, Floats]]:
    """Yield tables that have a column of track ids and one of frames."""
    for file, table in scene.tables:
        track, frame = headings.track_column(table), headings.frame_column(table)
        if track is None or frame is None:
            continue
        ids, frames = table.numbers(track), table.numbers(frame)
        known = np.isfinite(ids) & np.isfinite(frames)
        if known.sum() > 1:
            yield file, ids[known], frames[known]
