"""The strict value of tracking, and what became of each object, link and division."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.chota import chota

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.contract import Scalar
    from scorers.metrics.ctc import EdgeComparison, Edges
    from scorers.metrics.divisions import Divisions, DivisionScore
    from scorers.metrics.lineage import Lineage
    from scorers.metrics.nodes import Matching

HIT, MISS, FALSE_HIT = "hit", "miss", "false hit"
MISSED_LINK, FALSE_LINK, WRONG_LINK = "missed link", "false link", "wrong kind of link"
MISSED_DIVISION, FALSE_DIVISION = "missed division", "false division"


@dataclass(frozen=True)
class Tracks:
    """Both sides of one movie and how they compare; pairs are (reference, predicted)."""

    matching: Matching
    lineages: tuple[Lineage, Lineage]
    edges: tuple[Edges, Edges]
    links: EdgeComparison
    divisions: tuple[Divisions, Divisions]
    division_score: DivisionScore


def strict_metrics(tracks: Tracks, *, outlined: bool) -> dict[str, Scalar]:
    """Return the strict value, CHOTA with its parts, and the errors that make it up.

    `strict_chota_localised`, in [0, 1], is CHOTA times `strict_localisation`, the mean IoU of the
    matched nodes (LocA of Luiten et al. 2021): CHOTA alone does not see outlines once two objects
    are matched. It is CHOTA where the reference only marks objects.

    `strict_div` is the F1 of divisions in the exact frame, 1 where neither side has any;
    `strict_div_n` counts the reference's. `strict_detection_n` are the nodes of both sides,
    `strict_association_n` the matched ones, over which association and localisation are means.

    Parameters
    ----------
    tracks
        Both sides.
    outlined
        Whether the reference outlines its objects, so that an IoU means something.
    """
    matching, score = tracks.matching, tracks.division_score
    value = chota(matching, *tracks.lineages)
    matched = matching.iou[matching.to_predicted >= 0]
    localisation = float(matched.mean()) if outlined and len(matched) else None
    localised = value.score if localisation is None else value.score * localisation
    no_divisions = not len(score.found) and not len(score.confirmed)
    return {
        "strict_chota_localised": round(localised, 6),
        "strict_chota": round(value.score, 6),
        "strict_chota_n": value.n,
        "strict_detection": round(value.detection, 6),
        "strict_detection_n": value.n,
        "strict_association": round(value.association, 6),
        "strict_association_n": matching.n_matched,
        "strict_localisation": None if localisation is None else round(localisation, 6),
        "strict_div": 1.0 if no_divisions else round(score.f1, 6),
        "strict_div_n": len(score.found),
        "strict_hits": matching.n_matched,
        "strict_misses": len(matching.reference) - matching.n_matched,
        "strict_false_hits": len(matching.predicted) - matching.n_matched,
        "strict_missed_links": tracks.links.added,
        "strict_false_links": int(np.count_nonzero(~tracks.links.confirmed)),
        "strict_missed_divisions": int(np.count_nonzero(~score.found)),
        "strict_false_divisions": int(np.count_nonzero(~score.confirmed)),
    }


def object_rows(tracks: Tracks, item: str, most: int) -> list[dict[str, Scalar]]:
    """Return one row for each object, wrong link and wrong division, errors before hits."""
    matching, edges, links = tracks.matching, tracks.edges, tracks.links
    divisions, score = tracks.divisions, tracks.division_score
    matched = matching.to_predicted >= 0
    everything = chain(
        _divisions(tracks, 0, divisions[0].mother[~score.found], MISSED_DIVISION),
        _divisions(tracks, 1, divisions[1].mother[~score.confirmed], FALSE_DIVISION),
        _links(tracks, 0, edges[0], links.missed, MISSED_LINK),
        _links(tracks, 1, edges[1], ~links.confirmed, FALSE_LINK),
        _links(tracks, 0, edges[0], links.wrong_kind, WRONG_LINK),
        _nodes(tracks, 0, np.flatnonzero(~matched), MISS),
        _nodes(tracks, 1, np.flatnonzero(matching.to_reference < 0), FALSE_HIT),
        _nodes(tracks, 0, np.flatnonzero(matched), HIT),
    )
    return [{"item": item, **row} for row in islice(everything, most)]


def _nodes(
    tracks: Tracks, side: int, nodes: NDArray[np.int64], kind: str
) -> Iterator[dict[str, Scalar]]:
    frame, label, match = _described(tracks, side, nodes)
    overlap = tracks.matching.iou[nodes].tolist() if kind == HIT else [None] * len(frame)
    for at, own, other, iou in zip(frame, label, match, overlap, strict=True):
        yield _row(side, kind, (at, own, other), iou=iou)


def _divisions(
    tracks: Tracks, side: int, mothers: NDArray[np.int64], kind: str
) -> Iterator[dict[str, Scalar]]:
    for node in zip(*_described(tracks, side, mothers), strict=True):
        yield _row(side, kind, node)


def _links(
    tracks: Tracks, side: int, edges: Edges, wanted: NDArray[np.bool_], kind: str
) -> Iterator[dict[str, Scalar]]:
    sources = zip(*_described(tracks, side, edges.source[wanted]), strict=True)
    targets = zip(*_described(tracks, side, edges.target[wanted]), strict=True)
    for source, target in zip(sources, targets, strict=True):
        yield _row(side, kind, source, target)


Node = tuple[int, int, int | None]


def _row(
    side: int, kind: str, node: Node, target: Node | None = None, iou: float | None = None
) -> dict[str, Scalar]:
    frame, *labels = node
    to_frame, *to_labels = target or (None, None, None)
    mine, other = ("predicted", "reference") if side else ("reference", "predicted")
    values = {mine: labels[0], other: labels[1], f"to_{mine}": to_labels[0]}
    values[f"to_{other}"] = to_labels[1]
    return {
        "kind": kind,
        "frame": frame,
        "reference_label": values["reference"],
        "predicted_label": values["predicted"],
        "to_frame": to_frame,
        "to_reference_label": values["to_reference"],
        "to_predicted_label": values["to_predicted"],
        "iou": iou,
    }


def _described(
    tracks: Tracks, side: int, nodes: NDArray[np.int64]
) -> tuple[list[int], list[int], list[int | None]]:
    """Return frame, label and the matched label of the other side for nodes of one side."""
    matching = tracks.matching
    own, other = matching.reference, matching.predicted
    match = matching.to_predicted
    if side:
        own, other, match = other, own, matching.to_reference
    partner = match[nodes]
    labels = np.append(other.label, 0)[partner].tolist()  # -1 takes the 0 at the end
    return (
        own.frame[nodes].tolist(),
        own.label[nodes].tolist(),
        [label or None for label in labels],
    )
