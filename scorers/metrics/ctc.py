"""Tracking against a reference as graphs: the Cell Tracking Challenge's measures.

A node is one object in one frame (see `nodes`), an edge the link of two nodes, either within a
track or from a mother to a daughter. AOGM is the price of the operations that turn the predicted
graph into the reference (Matula et al. 2015, doi:10.1371/journal.pone.0144959). Matching of nodes
and the set of edges follow BIABench, which differs from the challenge: nodes match by intersection
over union, no node counts as split, and every predicted edge beyond the correct ones is redundant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.lineage import Lineage
    from scorers.metrics.nodes import Matching, Nodes

COST_MISSED_NODE = 10.0
COST_FALSE_NODE = 1.0
COST_FALSE_EDGE = 1.0
COST_MISSED_EDGE = 1.5
COST_WRONG_EDGE = 1.0


@dataclass(frozen=True)
class Edges:
    """Links between nodes: indices into the nodes of one side, and whether they join generations.

    Attributes
    ----------
    source, target
        Int64, shape (n,).
    parental
        Boolean, shape (n,): mother to daughter, not within a track.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    parental: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.source)


def find_edges(nodes: Nodes, lineage: Lineage) -> Edges:
    """Return the edges that a lineage draws between nodes.

    Within a track: between consecutive frames that both lie in the track's span and both hold its
    label. Between tracks: from the mother's node in her last frame to the daughter's node in her
    first, where the mother ends before the daughter starts (frames may lie between) and both
    nodes exist.
    """
    after = nodes.find(nodes.frame + 1, nodes.label)
    row = lineage.rows(nodes.label)
    linked = (after >= 0) & (row >= 0)
    if len(lineage):
        linked &= (lineage.start[row] <= nodes.frame) & (nodes.frame < lineage.end[row])
    mother = lineage.parent_rows()
    daughter = np.flatnonzero(mother >= 0)
    mother = mother[daughter]
    source = nodes.find(lineage.end[mother], lineage.track[mother])
    target = nodes.find(lineage.start[daughter], lineage.track[daughter])
    real = (source >= 0) & (target >= 0)
    within = np.flatnonzero(linked)
    return Edges(
        np.concatenate([within, source[real]]),
        np.concatenate([after[linked], target[real]]),
        np.concatenate([np.zeros(len(within), bool), np.ones(np.count_nonzero(real), bool)]),
    )


@dataclass(frozen=True)
class EdgeComparison:
    """Which edges agree.

    Attributes
    ----------
    missed
        Boolean, one for each reference edge: an end has no match or the mapped edge is absent.
    wrong_kind
        Boolean, one for each reference edge: present, but of the other kind.
    confirmed
        Boolean, one for each predicted edge: it maps to a reference edge.
    """

    missed: NDArray[np.bool_]
    wrong_kind: NDArray[np.bool_]
    confirmed: NDArray[np.bool_]

    @property
    def added(self) -> int:
        """Edges that have to be added."""
        return int(np.count_nonzero(self.missed))

    @property
    def correct(self) -> int:
        """Edges that are there, whatever their kind."""
        return len(self.missed) - self.added

    @property
    def changed(self) -> int:
        """Edges whose kind has to be changed."""
        return int(np.count_nonzero(self.wrong_kind))

    @property
    def deleted(self) -> int:
        """Edges that have to go."""
        return max(0, len(self.confirmed) - self.correct)

    @property
    def cost(self) -> float:
        """Weighted number of operations on edges."""
        return (
            COST_FALSE_EDGE * self.deleted
            + COST_MISSED_EDGE * self.added
            + COST_WRONG_EDGE * self.changed
        )


def compare_edges(matching: Matching, reference: Edges, predicted: Edges) -> EdgeComparison:
    """Map the reference's edges through the matched nodes and look for them in the prediction."""
    source = matching.to_predicted[reference.source]
    target = matching.to_predicted[reference.target]
    width = len(matching.predicted) + 1
    key = predicted.source * width + predicted.target
    order = np.argsort(key)
    wanted = np.where((source >= 0) & (target >= 0), source * width + target, -1)
    place = np.searchsorted(key[order], wanted)
    place = np.minimum(place, max(len(key) - 1, 0))
    at = order[place] if len(key) else np.zeros(len(wanted), np.int64)
    there = (key[at] == wanted) if len(key) else np.zeros(len(wanted), bool)
    confirmed = np.zeros(len(key), bool)
    confirmed[at[there]] = True
    wrong = there.copy()
    wrong[there] = predicted.parental[at[there]] != reference.parental[there]
    return EdgeComparison(~there, wrong, confirmed)


def segmentation_accuracy(matching: Matching) -> float:
    """Return SEG: the summed overlap of matched nodes over the number of reference nodes.

    In [0, 1], higher better. The reference must hold at least one node.
    """
    return float(matching.iou.sum() / len(matching.reference))


def tracking_accuracy(matching: Matching, edges: EdgeComparison) -> float:
    """Return TRA = 1 - min(AOGM, AOGM0) / AOGM0, in [0, 1], higher better.

    AOGM0 is the price of making the reference from nothing; it must hold at least one node.
    """
    missed = len(matching.reference) - matching.n_matched
    false = len(matching.predicted) - matching.n_matched
    price = COST_MISSED_NODE * missed + COST_FALSE_NODE * false + edges.cost
    nothing = COST_MISSED_NODE * len(matching.reference) + COST_MISSED_EDGE * len(edges.missed)
    return 1 - min(price, nothing) / nothing


def linking_accuracy(edges: EdgeComparison) -> float | None:
    """Return LNK: as TRA with edges alone; None where the reference has no edges."""
    nothing = COST_MISSED_EDGE * len(edges.missed)
    return 1 - min(edges.cost, nothing) / nothing if nothing else None
