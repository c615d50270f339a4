"""Tracking: one movie of labels and one lineage table, in the Cell Tracking Challenge's form.

The published score is the mean of SEG and TRA, which hardly sees links. The strict value is CHOTA,
with the F1 of divisions beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.ahead import ahead
from scorers.files.deliverables import resolve
from scorers.files.movies import Movie
from scorers.files.tables import read_text
from scorers.graders.tracking_files import LINEAGE, MASKS, blank, perfect, reference_files
from scorers.graders.tracking_pictures import pictures
from scorers.graders.tracking_strict import Tracks, object_rows, strict_metrics
from scorers.metrics.ctc import (
    compare_edges,
    find_edges,
    linking_accuracy,
    segmentation_accuracy,
    tracking_accuracy,
)
from scorers.metrics.divisions import compare_divisions, complete_tracks, find_divisions
from scorers.metrics.lineage import Lineage, parse_lineage
from scorers.metrics.nodes import Matching, Rule, match_frames
from scorers.metrics.overlap import TooManyLabels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile

_DEFAULT_IOU = 0.5


def grade(job: Job) -> Result:
    """Grade the movie and the lineage of a submission.

    A rubric may set `metric_config.iou_threshold` (default 0.5) and, ours, `node_matching`: `iou`
    as published or `coverage` for references that mark objects without outlining them.
    """
    movie_file, lineage_file = reference_files(job)
    resolution = resolve(job.spec, job.submission, job.limits)
    masks, table = resolution.require(MASKS)[0], resolution.require(LINEAGE)[0]
    reference = _reference_lineage(lineage_file, job)
    predicted = parse_lineage(read_text(table, job.limits))
    if not len(predicted) and not predicted.infinite_rows:
        raise SubmissionFault(
            f"{table.path} holds no row of a lineage: expected track, first frame, last frame and "
            "parent on each line"
        )
    threshold, rule = _settings(job)
    with _reference_movie(movie_file, job) as truth, Movie(masks, job.limits) as guess:
        if truth.frame_shape != guess.frame_shape:
            raise SubmissionFault(
                f"{masks.path} has frames of {guess.frame_shape}, expected {truth.frame_shape}"
            )
        try:
            matching = match_frames(
                ahead(_frames(truth, guess)), threshold, rule, most_nodes=job.limits.labels
            )
        except TooManyLabels as fault:
            raise SubmissionFault(f"{masks.path} has {fault}") from fault
        if not len(matching.reference):
            raise CapsuleFault(f"evaluation/{movie_file.path}: expected labels above 0, found none")
        tracks = _tracks(matching, reference, predicted)
        result = _published(tracks, threshold)
        result.strict_metrics = strict_metrics(tracks, outlined=rule == "iou")
        result.strict = cast("float", result.strict_metrics["strict_chota_localised"])
        result.objects = object_rows(tracks, movie_file.stem, job.limits.objects)
        result.items = [_item(movie_file.stem, result)]
        result.pictures = pictures(tracks, truth, guess, job) if job.draws else []
    reasons = []
    if predicted.infinite_rows:
        reasons.append(f"{table.path} holds infinite numbers")
    if guess.leading_unit_axis:
        reasons.append(f"{masks.path} has an axis of length 1 before its frames")
    return _unscored(result, "; ".join(reasons)) if reasons else result


FAMILY = Family("tracking", grade, perfect, blank)


def _unscored(result: Result, reason: str) -> Result:
    """Take back the published numbers: the published evaluator falls over here."""
    result.result_score, result.metrics, result.error = None, {"error": reason}, reason
    result.items = [item | {"status": "not scored", "score": None} for item in result.items]
    return result


def _settings(job: Job) -> tuple[float, Rule]:
    config = job.rubric.metric_config
    threshold, rule = config.get("iou_threshold", _DEFAULT_IOU), config.get("node_matching", "iou")
    if isinstance(threshold, bool) or not isinstance(threshold, float | int):
        raise CapsuleFault(
            f"evaluation_rubric.yaml: metric_config.iou_threshold: expected a number, got "
            f"{threshold!r}"
        )
    if rule not in get_args(Rule):
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.node_matching: expected one of "
            f"{', '.join(get_args(Rule))}, got {rule!r}"
        )
    return float(threshold), rule


def _reference_lineage(file: SubmittedFile, job: Job) -> Lineage:
    try:
        lineage = parse_lineage(read_text(file, job.limits.for_references()))
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault
    if not len(lineage):
        raise CapsuleFault(f"evaluation/{file.path}: expected rows of a lineage, found none")
    return lineage


def _reference_movie(file: SubmittedFile, job: Job) -> Movie:
    try:
        return Movie(file, job.limits.for_references())
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault


def _frames(
    truth: Movie, guess: Movie
) -> Iterator[tuple[NDArray[Any] | None, NDArray[Any] | None]]:
    for index in range(max(truth.n_frames, guess.n_frames)):
        try:
            reference = truth.frame(index)
        except SubmissionFault as fault:
            raise CapsuleFault(f"evaluation/{fault}") from fault
        yield reference, guess.frame(index)


def _tracks(matching: Matching, reference: Lineage, predicted: Lineage) -> Tracks:
    edges = (
        find_edges(matching.reference, reference),
        find_edges(matching.predicted, predicted),
    )
    divisions = (
        find_divisions(matching.reference, reference),
        find_divisions(matching.predicted, predicted),
    )
    return Tracks(
        matching=matching,
        lineages=(reference, predicted),
        edges=edges,
        links=compare_edges(matching, *edges),
        divisions=divisions,
        division_score=compare_divisions(matching, *divisions),
    )


def _published(tracks: Tracks, threshold: float) -> Result:
    matching, links, division = tracks.matching, tracks.links, tracks.division_score
    seg, tra = segmentation_accuracy(matching), tracking_accuracy(matching, links)
    lnk = linking_accuracy(links)
    observed, complete = complete_tracks(matching, *tracks.lineages)
    n_tracks, n_complete = int(observed.sum()), int(complete.sum())
    score = round(0.5 * seg + 0.5 * tra, 4)
    metrics = {
        "result_score": score,
        "seg": round(seg, 4),
        "tra": round(tra, 4),
        "lnk": None if lnk is None else round(lnk, 4),
        "div": round(division.f1, 4),
        "div_precision": round(division.precision, 4),
        "div_recall": round(division.recall, 4),
        "ct": round(n_complete / n_tracks, 4) if n_tracks else 0.0,
        "iou_threshold": threshold,
        "gt_nodes": len(matching.reference),
        "pred_nodes": len(matching.predicted),
        "matched_nodes": matching.n_matched,
        "false_negatives": len(matching.reference) - matching.n_matched,
        "false_positives": len(matching.predicted) - matching.n_matched,
        "gt_edges": len(tracks.edges[0]),
        "pred_edges": len(tracks.edges[1]),
        "edges_correct": links.correct,
        "edges_added": links.added,
        "edges_deleted": links.deleted,
        "edges_changed": links.changed,
        "gt_divisions": len(tracks.divisions[0]),
        "pred_divisions": len(tracks.divisions[1]),
        "division_tp": division.true_positive,
        "gt_tracks": n_tracks,
        "pred_tracks": len(tracks.lineages[1]),
        "complete_tracks": n_complete,
        "gt_frames": matching.n_frames,
        "evaluated_frames": matching.n_frames,
    }
    return Result(score, metrics)


def _item(name: str, result: Result) -> dict[str, Any]:
    shown = ("seg", "tra", "lnk", "div", "ct", "gt_nodes", "pred_nodes", "matched_nodes")
    return {
        "item": name,
        "status": "scored",
        "score": result.result_score,
        **{key: result.metrics[key] for key in shown},
        "strict_chota_localised": result.strict,
    }
