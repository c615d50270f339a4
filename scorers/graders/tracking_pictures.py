"""Pictures of a tracking grade: the lineage with its errors, and the frame with most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.movies import Movie
from scorers.files.tree import reference_tree
from scorers.metrics.nodes import as_labels
from scorers.pictures import lineage, masks
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.graders.tracking_strict import Tracks
    from scorers.metrics.nodes import Nodes


def pictures(tracks: Tracks, truth: Movie, guess: Movie, job: Job) -> list[Picture]:
    """Return the lineage as thumbnail and large, and an overlay of the worst frame."""
    tree = _tree(tracks)
    frame = _worst_frame(tracks, truth.n_frames)
    caption = "Lineage of the reference with what the prediction missed; bars: errors over time"
    small, large = lineage.draw(tree, THUMBNAIL_SIDE), lineage.draw(tree, OVERLAY_SIDE)
    made = [
        as_picture("tracking-lineage", caption, small, job.limits, "thumbnail"),
        as_picture("tracking-lineage-large", caption, large, job.limits),
    ]
    reference, predicted = truth.frame(frame), guess.frame(frame)
    if reference is None:
        return made
    if predicted is None:
        predicted = np.zeros_like(reference)
    matching = tracks.matching
    sides = (
        _objects(reference, matching.reference, matching.to_predicted, frame, "miss"),
        _objects(predicted, matching.predicted, matching.to_reference, frame, "false hit"),
    )
    image = masks.draw(_ground(job, truth, frame), sides[1], sides[0], OVERLAY_SIDE)
    made.append(as_picture("tracking-frame", f"Frame {frame}, with most errors", image, job.limits))
    return made


def _tree(tracks: Tracks) -> lineage.Tree:
    matching, reference = tracks.matching, tracks.lineages[0]
    nodes, links = matching.reference, tracks.links
    row = reference.rows(nodes.label)
    unmatched = (matching.to_predicted < 0) & (row >= 0)
    edges = tracks.edges[0]
    # A link is missing beside every missed object; only others are mistakes of their own.
    seen = (matching.to_predicted[edges.source] >= 0) & (matching.to_predicted[edges.target] >= 0)
    broken = links.missed & ~edges.parental & seen
    lost = edges.parental & (links.missed | links.wrong_kind)
    divisions = tracks.divisions[0].mother
    found = tracks.division_score.found
    return lineage.Tree(
        start=reference.start,
        end=np.minimum(reference.end, matching.n_frames - 1),
        parent=reference.parent_rows(),
        missed=_points(nodes, row, np.flatnonzero(unmatched)),
        broken=_points(nodes, row, edges.source[broken]),
        lost=row[edges.target[lost]],
        found=_points(nodes, row, divisions[found]),
        unfound=_points(nodes, row, divisions[~found]),
    )


def _points(nodes: Nodes, row: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([row[which], nodes.frame[which]], axis=1)


def _worst_frame(tracks: Tracks, n_frames: int) -> int:
    """Return the frame with most wrong objects and links; of equals the last, the most crowded."""
    matching, links = tracks.matching, tracks.links
    frames = [
        matching.reference.frame[matching.to_predicted < 0],
        matching.predicted.frame[matching.to_reference < 0],
        matching.reference.frame[tracks.edges[0].target[links.missed]],
        matching.predicted.frame[tracks.edges[1].target[~links.confirmed]],
    ]
    errors = np.bincount(np.concatenate(frames), minlength=n_frames)[:n_frames]
    return int(n_frames - 1 - errors[::-1].argmax())


def _objects(
    plane: NDArray[Any], nodes: Nodes, match: NDArray[np.int64], frame: int, otherwise: str
) -> masks.Objects:
    labels = as_labels(plane).astype(np.int64)
    here = nodes.frame == frame
    kinds = np.where(match[here] >= 0, "hit", otherwise)
    return masks.Objects(labels, nodes.label[here], kinds)


def _ground(job: Job, truth: Movie, frame: int) -> NDArray[Any] | None:
    """Return the input's frame, None if no file there has the reference's shape."""
    if job.input_dir is None:
        return None
    for file in reference_tree(job.input_dir, job.limits).files:
        try:
            with Movie(file, job.limits.for_references()) as movie:
                if (movie.n_frames, movie.frame_shape) == (truth.n_frames, truth.frame_shape):
                    return movie.frame(frame)
        except SubmissionFault:
            continue
    return None
