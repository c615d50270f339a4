"""Nodes, edges and the challenge's measures, on strips of cells worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.ctc import (
    compare_edges,
    find_edges,
    linking_accuracy,
    segmentation_accuracy,
    tracking_accuracy,
)
from scorers.metrics.divisions import compare_divisions, complete_tracks, find_divisions
from scorers.metrics.lineage import parse_lineage
from scorers.metrics.nodes import as_labels, match_frames
from scorers.metrics.overlap import TooManyLabels

# Cell 1 divides into 2 and 3 after the second frame.
MOVIE = ([1, 1, 0, 0], [1, 1, 0, 0], [2, 0, 3, 0], [2, 0, 3, 0])
LINEAGE = "1 0 1 0\n2 2 3 1\n3 2 3 1"


def compared(strip, guess=MOVIE, lineage=LINEAGE, truth=MOVIE, truth_lineage=LINEAGE, **how):
    frames = zip(strip(*truth), strip(*guess), strict=True)
    matching = match_frames(frames, **how)
    lineages = parse_lineage(truth_lineage), parse_lineage(lineage)
    edges = (
        find_edges(matching.reference, lineages[0]),
        find_edges(matching.predicted, lineages[1]),
    )
    return matching, lineages, edges, compare_edges(matching, *edges)


def test_a_movie_against_itself_is_perfect(strip) -> None:
    matching, lineages, edges, links = compared(strip)
    assert (len(matching.reference), matching.n_matched) == (6, 6)
    assert (len(edges[0]), links.correct, links.deleted, links.changed) == (5, 5, 0, 0)
    assert segmentation_accuracy(matching) == tracking_accuracy(matching, links) == 1.0
    assert linking_accuracy(links) == 1.0
    observed, complete = complete_tracks(matching, *lineages)
    assert observed.all()
    assert complete.all()


def test_edges_lie_within_tracks_and_from_mother_to_daughters(strip) -> None:
    _, _, edges, _ = compared(strip)
    assert edges[0].source.tolist() == [0, 2, 3, 1, 1]
    assert edges[0].target.tolist() == [1, 4, 5, 2, 3]
    assert edges[0].parental.tolist() == [False, False, False, True, True]


def test_a_missing_lineage_row_costs_its_edges(strip) -> None:
    matching, _, edges, links = compared(strip, lineage="1 0 1 0\n2 2 3 1")
    assert len(edges[1]) == 3
    assert (links.added, links.deleted) == (2, 0)
    assert tracking_accuracy(matching, links) == pytest.approx(1 - 1.5 * 2 / (10 * 6 + 1.5 * 5))
    assert linking_accuracy(links) == pytest.approx(1 - 2 / 5)


def test_a_track_that_goes_on_through_a_division_changes_the_kind_of_an_edge(strip) -> None:
    guess = ([1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 3, 0], [1, 0, 3, 0])
    matching, _, _, links = compared(strip, guess, "1 0 3 0\n3 2 3 0")
    assert (links.correct, links.changed, links.added) == (4, 1, 1)
    assert tracking_accuracy(matching, links) == pytest.approx(1 - (1.5 + 1) / (60 + 7.5))


def test_edges_of_false_objects_are_redundant(strip) -> None:
    guess = tuple([*frame[:3], 9] for frame in MOVIE)
    matching, _, _, links = compared(strip, guess, LINEAGE + "\n9 0 3 0")
    assert (len(matching.predicted) - matching.n_matched, links.deleted) == (4, 3)
    assert tracking_accuracy(matching, links) == pytest.approx(1 - (4 + 3) / 67.5)
    assert linking_accuracy(links) == pytest.approx(1 - 3 / 7.5)


def test_frames_outside_the_span_of_a_track_make_no_edge(strip) -> None:
    _, _, edges, _ = compared(strip, lineage="1 0 0 0\n2 3 3 0\n3 -5 99 0")
    assert len(edges[1]) == 1


def test_a_mother_may_end_some_frames_before_her_daughter_starts(strip) -> None:
    movie = ([1], [0], [2])
    _, _, edges, _ = compared(strip, movie, "1 0 0 0\n2 2 2 1", movie, "1 0 0 0\n2 2 2 1")
    assert len(edges[0]) == 1


def test_an_empty_prediction_scores_zero(strip) -> None:
    empty = ([0, 0, 0, 0],) * 4
    matching, _, _, links = compared(strip, empty, "1 0 0 0")
    assert segmentation_accuracy(matching) == tracking_accuracy(matching, links) == 0.0
    assert linking_accuracy(links) == 0.0


def test_without_edges_linking_is_undefined(strip) -> None:
    _, _, _, links = compared(strip, ([1],), "1 0 0 0", ([1],), "1 0 0 0")
    assert linking_accuracy(links) is None


def test_seg_is_the_overlap_of_matched_nodes_over_all_reference_nodes(strip) -> None:
    matching, *_ = compared(strip, ([1, 1, 1, 0, 0],), "1 0 0 0", ([5, 5, 0, 0, 6],), "5 0 0 0")
    assert segmentation_accuracy(matching) == pytest.approx((2 / 3) / 2)


def test_overlap_equal_to_the_threshold_matches(strip) -> None:
    matching, *_ = compared(strip, ([1, 1],), "1 0 0 0", ([5, 0],), "5 0 0 0")
    assert matching.n_matched == 1
    matching, *_ = compared(strip, ([1, 1, 1],), "1 0 0 0", ([5, 0, 0],), "5 0 0 0")
    assert matching.n_matched == 0


def test_nodes_are_taken_in_descending_overlap(strip) -> None:
    guess, truth = ([1, 1, 1, 2, 2, 0],), ([5, 5, 6, 6, 6, 6],)
    matching, *_ = compared(strip, guess, "1 0 0 0", truth, "5 0 0 0", threshold=0.15)
    assert matching.to_predicted.tolist() == [0, 1]
    assert matching.iou.tolist() == pytest.approx([2 / 3, 2 / 4])


def test_coverage_matches_a_marker_inside_a_larger_object(strip) -> None:
    guess, truth = ([1, 1, 1, 1, 2, 2],), ([0, 5, 0, 0, 0, 6],)
    matching, *_ = compared(strip, guess, "1 0 0 0", truth, "5 0 0 0", rule="coverage")
    assert matching.n_matched == 2
    assert matching.iou.tolist() == pytest.approx([1 / 4, 1 / 2])


def test_one_object_over_many_markers_matches_only_one(strip) -> None:
    matching, *_ = compared(strip, ([1, 1, 1],), "1 0 0 0", ([5, 0, 6],), "", rule="coverage")
    assert matching.n_matched == 1


def test_a_side_that_ends_early_holds_nothing_afterwards(strip) -> None:
    truth = strip([1], [1])
    matching = match_frames([(truth[0], truth[0]), (truth[1], None), (None, truth[0])])
    assert matching.n_frames == 3
    assert (len(matching.reference), len(matching.predicted), matching.n_matched) == (2, 2, 1)


def test_more_objects_than_allowed_are_refused(strip) -> None:
    frames = strip([1, 2, 3, 4])
    with pytest.raises(TooManyLabels):
        match_frames(zip(frames, frames, strict=True), most_nodes=3)


def test_labels_beyond_32_bits_are_kept_apart(strip) -> None:
    big = 2**40
    frames = strip([big + 1, big + 2, 1])
    assert match_frames(zip(frames, frames, strict=True)).n_matched == 3


def test_floating_labels_are_rounded_and_what_is_no_label_is_background() -> None:
    plane = np.array([[0.4, 0.6, 2.5, -3.0, np.nan, np.inf]])
    assert as_labels(plane).tolist() == [[0, 1, 2, 0, 0, 0]]
    assert as_labels(np.array([[-1, 4]], np.int16)).tolist() == [[0, 4]]
    assert as_labels(np.array([[True, False]])).tolist() == [[1, 0]]
    assert as_labels(np.array([[2**64 - 1, 4]], np.uint64)).tolist() == [[0, 4]]


def division_score(strip, guess=MOVIE, lineage=LINEAGE):
    matching, lineages, *_ = compared(strip, guess, lineage)
    return compare_divisions(
        matching,
        find_divisions(matching.reference, lineages[0]),
        find_divisions(matching.predicted, lineages[1]),
    )


def test_a_division_found_in_its_frame_counts(strip) -> None:
    renamed = ([7, 7, 0, 0], [7, 7, 0, 0], [9, 0, 8, 0], [9, 0, 8, 0])
    score = division_score(strip, renamed, "7 0 1 0\n8 2 3 7\n9 2 3 7")
    assert (score.precision, score.recall, score.f1) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "lineage",
    [
        "1 0 1 0\n2 2 3 1\n3 2 3 0",  # one daughter only
        "1 0 1 0\n2 2 3 1\n3 3 3 1",  # one daughter a frame late
        "1 0 0 0\n2 2 3 1\n3 2 3 1",  # the mother ends a frame early
        "1 1 2 0\n2 3 4 1\n3 3 4 1",  # frames counted from one
        "1 0 1 0\n2 2 3 1\n3 2 3 1\n4 2 3 1",  # three daughters
    ],
)
def test_a_division_that_differs_in_frames_or_daughters_is_missed(strip, lineage: str) -> None:
    assert division_score(strip, lineage=lineage).true_positive == 0


def test_without_divisions_the_scores_are_zero(strip) -> None:
    score = division_score(strip, lineage="1 0 1 0")
    assert (score.precision, score.recall, score.f1) == (0.0, 0.0, 0.0)


def test_a_track_is_complete_only_with_the_same_span_and_one_id(strip) -> None:
    broken = ([1, 1, 0, 0], [4, 4, 0, 0], [2, 0, 3, 0], [2, 0, 3, 0])
    matching, lineages, *_ = compared(strip, broken, "1 0 0 0\n4 1 1 0\n2 2 3 0\n3 1 3 0")
    observed, complete = complete_tracks(matching, *lineages)
    assert observed.tolist() == [True, True, True]
    assert complete.tolist() == [False, True, False]


def test_a_listed_track_without_objects_is_not_observed(strip) -> None:
    matching, lineages, *_ = compared(strip, truth_lineage=LINEAGE + "\n9 0 3 0")
    observed, _ = complete_tracks(matching, *lineages)
    assert observed.tolist() == [True, True, True, False]
