"""Divisions and complete tracks: what a lineage is made for and node counts hardly see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.lineage import Lineage
    from scorers.metrics.nodes import Matching, Nodes


@dataclass(frozen=True)
class Divisions:
    """Divisions as nodes of one side, ascending in the mother.

    Attributes
    ----------
    mother
        Int64, shape (n,): the mother's node in her last frame.
    daughters
        Int64, shape (n, 2): the daughters' nodes in their first frames, ascending.
    """

    mother: NDArray[np.int64]
    daughters: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.mother)


@dataclass(frozen=True)
class DivisionScore:
    """Precision, recall and F1 of divisions, each 0 where undefined; in [0, 1], higher better.

    Attributes
    ----------
    found
        Boolean, one for each reference division.
    confirmed
        Boolean, one for each predicted division.
    """

    found: NDArray[np.bool_]
    confirmed: NDArray[np.bool_]

    @property
    def true_positive(self) -> int:
        """Reference divisions that were found."""
        return int(np.count_nonzero(self.found))

    @property
    def precision(self) -> float:
        """Share of predicted divisions that are real."""
        return self.true_positive / len(self.confirmed) if len(self.confirmed) else 0.0

    @property
    def recall(self) -> float:
        """Share of real divisions that were found."""
        return self.true_positive / len(self.found) if len(self.found) else 0.0

    @property
    def f1(self) -> float:
        """DIV, the harmonic mean of precision and recall."""
        total = len(self.found) + len(self.confirmed)
        return 2 * self.true_positive / total if total else 0.0


def find_divisions(nodes: Nodes, lineage: Lineage) -> Divisions:
    """Return the divisions of a lineage that its masks show.

    A division is a mother with exactly two daughters; she must be present in her last frame and
    each daughter in her first.
    """
    mother = lineage.rows(lineage.parent)
    daughter = np.flatnonzero((mother >= 0) & (lineage.parent != 0))
    order = daughter[np.argsort(mother[daughter], kind="stable")]
    row, first, count = np.unique(mother[order], return_index=True, return_counts=True)
    row, first = row[count == 2], first[count == 2]
    pair = np.stack([order[first], order[first + 1]], axis=1) if len(row) else np.zeros((0, 2), int)
    at = nodes.find(lineage.end[row], lineage.track[row])
    into = nodes.find(lineage.start[pair].ravel(), lineage.track[pair].ravel()).reshape(-1, 2)
    shown = (at >= 0) & (into >= 0).all(axis=1)
    by_mother = np.argsort(at[shown])
    return Divisions(at[shown][by_mother], np.sort(into[shown][by_mother], axis=1))


def compare_divisions(
    matching: Matching, reference: Divisions, predicted: Divisions
) -> DivisionScore:
    """Find the reference's divisions in the prediction: same frames, all three nodes matched."""
    confirmed = np.zeros(len(predicted), bool)
    if not len(reference) or not len(predicted):
        return DivisionScore(np.zeros(len(reference), bool), confirmed)
    mother = matching.to_predicted[reference.mother]
    daughters = np.sort(matching.to_predicted[reference.daughters], axis=1)
    place = np.minimum(np.searchsorted(predicted.mother, mother), len(predicted) - 1)
    found = (mother >= 0) & (daughters >= 0).all(axis=1) & (predicted.mother[place] == mother)
    found &= (predicted.daughters[place] == daughters).all(axis=1)
    confirmed[place[found]] = True
    return DivisionScore(found, confirmed)


def complete_tracks(
    matching: Matching, reference: Lineage, predicted: Lineage
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which reference tracks were followed from beginning to end.

    A track is complete if all its nodes within its span match nodes of one predicted track whose
    first and last frame are the same.

    Returns
    -------
    observed
        Boolean, one for each row of the reference: has at least one node. CT is the number of
        complete tracks over that of observed ones.
    complete
        Boolean, one for each row of the reference.
    """
    nodes = matching.reference
    row = reference.rows(nodes.label)
    own = row >= 0
    if len(reference):
        own &= (reference.start[row] <= nodes.frame) & (nodes.frame <= reference.end[row])
    row, match = row[own], matching.to_predicted[own]
    label = np.full(len(match), -1)
    label[match >= 0] = matching.predicted.label[match[match >= 0]]
    observed = np.bincount(row, minlength=len(reference)) > 0
    lowest = np.full(len(reference), np.iinfo(np.int64).max)
    highest = np.full(len(reference), -1)
    np.minimum.at(lowest, row, label)
    np.maximum.at(highest, row, label)
    taken = predicted.rows(highest)
    complete = observed & (lowest == highest) & (taken >= 0)
    if len(predicted):
        complete &= predicted.start[taken] == reference.start
        complete &= predicted.end[taken] == reference.end
    return observed, complete
