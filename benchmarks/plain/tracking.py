"""Tracking: a dense matrix of IoU for each frame, nodes and edges in sets and dictionaries."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import tifffile

from benchmarks.plain.instances import iou_matrix, labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Node = tuple[int, int]
Track = tuple[int, int, int]
Lineage = dict[int, Track]
Edges = dict[tuple[Node, Node], bool]
Event = tuple[Node, frozenset[Node]]


def score(evaluation: Path, submission: Path) -> dict[str, float]:
    """Score one movie and its lineage."""
    truth = _read(evaluation / "man_track.txt")
    guess = _read(submission / "res_track.txt")
    real, there, match, overlap = _nodes(
        tifffile.imread(evaluation / "00_GT.ome.tif"),
        tifffile.imread(submission / "00_RES.ome.tif"),
    )
    edges, other_edges = _edges(truth, real), _edges(guess, there)
    mapped = [
        (other_edges.get((match.get(source, _NOWHERE), match.get(target, _NOWHERE))), parental)
        for (source, target), parental in edges.items()
    ]
    added = sum(found is None for found, _ in mapped)
    changed = sum(found is not None and found != parental for found, parental in mapped)
    correct = len(edges) - added
    deleted = max(0, len(other_edges) - correct)
    missed, false = len(real) - len(match), len(there) - len(match)
    links = deleted + 1.5 * added + changed
    nothing = 10 * len(real) + 1.5 * len(edges)
    seg = overlap / len(real)
    tra = 1 - min(10 * missed + false + links, nothing) / nothing
    divisions, other_divisions = _divisions(truth, real), _divisions(guess, there)
    hits = sum(_mapped(event, match) in other_divisions for event in divisions)
    return {
        "result_score": round((seg + tra) / 2, 4),
        "seg": round(seg, 4),
        "tra": round(tra, 4),
        "lnk": round(1 - min(links, 1.5 * len(edges)) / (1.5 * len(edges)), 4),
        "div": round(2 * hits / (len(divisions) + len(other_divisions)), 4),
        "ct": round(_complete(truth, guess, real, match), 4),
        "gt_nodes": len(real),
        "pred_nodes": len(there),
        "matched_nodes": len(match),
        "edges_added": added,
        "edges_deleted": deleted,
        "edges_changed": changed,
        "division_tp": hits,
    }


_NOWHERE = (-1, -1)


def _read(path: Path) -> Lineage:
    rows = [tuple(map(int, line.split())) for line in path.read_text("utf-8").splitlines()]
    return {track: (start, end, parent) for track, start, end, parent in rows}


def _nodes(
    truth: NDArray[np.uint16], guess: NDArray[np.uint16]
) -> tuple[set[Node], set[Node], dict[Node, Node], float]:
    real: set[Node] = set()
    there: set[Node] = set()
    match: dict[Node, Node] = {}
    overlap = 0.0
    for frame, (reference, predicted) in enumerate(zip(truth, guess, strict=True)):
        reference, predicted = reference.astype(np.int64), predicted.astype(np.int64)
        ids, other_ids = labels_of(reference), labels_of(predicted)
        real.update((frame, int(label)) for label in ids)
        there.update((frame, int(label)) for label in other_ids)
        iou = iou_matrix(reference, predicted, ids, other_ids)
        row, column = np.nonzero(iou >= 0.5)
        taken: set[int] = set()
        for index in np.argsort(-iou[row, column], kind="stable"):
            one, other = (frame, int(ids[row[index]])), (frame, int(other_ids[column[index]]))
            if one not in match and other[1] not in taken:
                match[one] = other
                taken.add(other[1])
                overlap += float(iou[row[index], column[index]])
    return real, there, match, overlap


def _edges(lineage: Lineage, nodes: set[Node]) -> Edges:
    edges: Edges = {}
    for track, (start, end, parent) in lineage.items():
        for frame in range(start, end):
            if (frame, track) in nodes and (frame + 1, track) in nodes:
                edges[(frame, track), (frame + 1, track)] = False
        if parent in lineage and lineage[parent][1] < start:
            mother, daughter = (lineage[parent][1], parent), (start, track)
            if mother in nodes and daughter in nodes:
                edges[mother, daughter] = True
    return edges


def _divisions(lineage: Lineage, nodes: set[Node]) -> set[Event]:
    daughters: dict[int, list[int]] = defaultdict(list)
    for track, (_, _, parent) in lineage.items():
        if parent in lineage:
            daughters[parent].append(track)
    events = set()
    for mother, pair in daughters.items():
        at = (lineage[mother][1], mother)
        born = frozenset((lineage[track][0], track) for track in pair)
        if len(pair) == 2 and at in nodes and born <= nodes:
            events.add((at, born))
    return events


def _mapped(event: Event, match: dict[Node, Node]) -> Event:
    mother, daughters = event
    return match.get(mother, _NOWHERE), frozenset(match.get(node, _NOWHERE) for node in daughters)


def _complete(truth: Lineage, guess: Lineage, nodes: set[Node], match: dict[Node, Node]) -> float:
    observed = complete = 0
    for track, (start, end, _) in truth.items():
        own = [(frame, track) for frame in range(start, end + 1) if (frame, track) in nodes]
        labels = {match.get(node, _NOWHERE)[1] for node in own}
        observed += bool(own)
        if len(labels) == 1:
            row = guess.get(labels.pop())
            complete += row is not None and row[:2] == (start, end)
    return complete / observed
