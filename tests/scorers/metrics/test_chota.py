"""CHOTA on movies worked out by hand, and against the reference implementation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from scorers.metrics import chota as module
from scorers.metrics.chota import chota
from scorers.metrics.ctc import (
    compare_edges,
    find_edges,
    linking_accuracy,
    segmentation_accuracy,
    tracking_accuracy,
)
from scorers.metrics.lineage import parse_lineage
from scorers.metrics.nodes import match_frames

REAL = Path(__file__).parents[2] / "data" / "real"
MOVIE = ([1, 1, 0, 0], [1, 1, 0, 0], [2, 0, 3, 0], [2, 0, 3, 0])
LINEAGE = "1 0 1 0\n2 2 3 1\n3 2 3 1"


def scored(strip, guess=MOVIE, lineage=LINEAGE, truth=MOVIE, truth_lineage=LINEAGE):
    matching = match_frames(zip(strip(*truth), strip(*guess), strict=True))
    return chota(matching, parse_lineage(truth_lineage), parse_lineage(lineage))


def test_a_movie_against_itself_scores_one(strip) -> None:
    assert scored(strip).score == 1.0


def test_names_of_tracks_do_not_matter(strip) -> None:
    renamed = ([7, 7, 0, 0], [7, 7, 0, 0], [9, 0, 8, 0], [9, 0, 8, 0])
    assert scored(strip, renamed, "7 0 1 0\n9 2 3 7\n8 2 3 7").score == 1.0


def test_an_empty_prediction_scores_zero(strip) -> None:
    value = scored(strip, ([0] * 4,) * 4)
    assert (value.score, value.detection, value.association, value.n) == (0.0, 0.0, 0.0, 6)


def test_nothing_against_nothing_scores_one(strip) -> None:
    empty = ([0],)
    assert scored(strip, empty, "", empty, "").score == 1.0


def test_a_missing_mother_spoils_her_branch(strip) -> None:
    # Relatives of 1: 6 nodes, of 2 and 3: 4 each. Without a mother each track stands alone.
    value = scored(strip, lineage="1 0 1 0\n2 2 3 0\n3 2 3 0")
    association = (2 * 2 / 6 + 2 * 2 / 4 + 2 * 2 / 4) / 6
    assert value.detection == 1.0
    assert value.association == pytest.approx(association)
    assert value.score == pytest.approx(math.sqrt(association))


def test_a_broken_track_counts_by_the_jaccard_of_its_parts(strip) -> None:
    truth, guess = ([1],) * 4, ([1], [1], [1], [2])
    value = scored(strip, guess, "1 0 2 0\n2 3 3 0", truth, "1 0 3 0")
    assert value.association == pytest.approx((3 * 3 / 4 + 1 / 4) / 4)


def test_a_false_object_costs_detection_only(strip) -> None:
    truth, guess = (
        ([1, 0],) * 2,
        (
            [
                1,
                0,
            ],
            [1, 5],
        ),
    )
    value = scored(strip, guess, "1 0 1 0\n5 1 1 0", truth, "1 0 1 0")
    assert value.detection == pytest.approx(2 / 3)
    assert value.association == 1.0


def test_objects_that_the_lineage_does_not_list_are_tracks_of_their_own(strip) -> None:
    truth = ([1],) * 4
    assert scored(strip, truth, "9 0 0 0", truth, "1 0 3 0").association == pytest.approx(1 / 4)


def test_objects_outside_the_span_of_their_track_stand_alone(strip) -> None:
    truth = ([1],) * 4
    value = scored(strip, truth, "1 1 4 0", truth, "1 0 3 0")  # frames counted from one
    assert value.association == pytest.approx((3 * 3 / 4 + 1 / 4) / 4)


def test_mothers_that_go_round_in_a_circle_are_no_mothers(strip) -> None:
    truth = ([1, 2],) * 2
    value = scored(strip, truth, "1 0 1 2\n2 0 1 1", truth, "1 0 1 0\n2 0 1 0")
    assert value.score == 1.0


def test_one_label_a_frame_linked_by_parents_is_one_track(strip) -> None:
    truth, guess = ([1],) * 4, ([1], [2], [3], [4])
    value = scored(strip, guess, "1 0 0 0\n2 1 1 1\n3 2 2 2\n4 3 3 3", truth, "1 0 3 0")
    assert value.score == 1.0


def grown(rng: np.random.Generator, n_frames: int = 12) -> dict[int, list[int]]:
    """Grow a random lineage {track: [start, end, parent]} of at most 40 tracks a frame."""
    tracks = {label: [0, n_frames - 1, 0] for label in (1, 2, 3)}
    for frame in range(1, n_frames):
        alive = [k for k, (start, end, _) in tracks.items() if start < frame <= end]
        for label in alive:
            draw = rng.random()
            if draw < 0.2 and len(alive) < 36:
                tracks[label][1] = frame - 1
                for _ in range(int(rng.integers(0, 4))):
                    tracks[max(tracks) + 1] = [frame, n_frames - 1, label]
    return tracks


def text(tracks: dict[int, list[int]]) -> str:
    return "\n".join(f"{k} {a} {b} {p}" for k, (a, b, p) in tracks.items())


class Case:
    """Two grown lineages as movies in which some of the cells lie in the same places."""

    def __init__(self, seed: int, *, false_objects: bool) -> None:
        rng = np.random.default_rng(seed)
        self.tracks = grown(rng), grown(rng)
        self.labels: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.mapped: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.frames = []
        for frame in range(12):
            truth, guess = (self._present(side, frame) for side in (0, 1))
            places = rng.permutation(100)[: len(truth)]
            shared = min(len(truth), len(guess))
            if false_objects:
                shared = (shared + 1) // 2
            else:
                guess = guess[:shared]
            elsewhere = 100 + np.arange(len(guess) - shared)
            planes = np.zeros((2, 200), np.int32)
            planes[0, places] = truth
            planes[1, np.concatenate([places[:shared], elsewhere])] = guess
            for side, labels in enumerate((truth, guess)):
                self.labels[side].append(labels)
                self.mapped[side].append(labels[:shared])
            self.frames.append((planes[:1], planes[1:]))
        self._trim()

    def _present(self, side: int, frame: int) -> np.ndarray:
        tracks = self.tracks[side]
        return np.array([k for k, (a, b, _) in tracks.items() if a <= frame <= b], int)

    def _trim(self) -> None:
        """Make the predicted lineage agree with what the frames hold, as the library demands."""
        tracks = self.tracks[1]
        for label in list(tracks):
            seen = [f for f, present in enumerate(self.labels[1]) if label in present]
            if not seen:
                del tracks[label]
                continue
            tracks[label][:2] = [seen[0], seen[-1]]
        for row in tracks.values():
            if row[2] not in tracks or tracks[row[2]][1] >= row[0]:
                row[2] = 0

    def table(self, side: int) -> np.ndarray:
        """Return a lineage as rows of track, start, end, parent."""
        return np.array([[k, *row] for k, row in self.tracks[side].items()])


@pytest.mark.parametrize("seed", range(12))
def test_the_value_is_that_of_the_reference_implementation(seed: int, monkeypatch) -> None:
    library = pytest.importorskip("ctc_metrics.metrics", reason="needs py-ctcmetrics")
    monkeypatch.setattr(module, "_AT_ONCE", [7, 60, 1 << 21][seed % 3])
    case = Case(seed, false_objects=True)
    matching = match_frames(case.frames)
    assert matching.n_matched == sum(map(len, case.mapped[0]))
    ours = chota(matching, parse_lineage(text(case.tracks[0])), parse_lineage(text(case.tracks[1])))
    theirs = library.chota(case.table(0), case.table(1), *case.labels, *case.mapped)
    assert ours.score == pytest.approx(theirs["CHOTA"], abs=1e-12)
    assert 0 < ours.score < 1


@pytest.mark.parametrize("seed", range(6))
def test_seg_tra_and_lnk_are_the_library_s_where_no_object_is_false(seed: int) -> None:
    library = pytest.importorskip("ctc_metrics.metrics", reason="needs py-ctcmetrics")
    from ctc_metrics.utils.representations import count_acyclic_graph_correction_operations

    case = Case(seed, false_objects=False)
    matching = match_frames(case.frames)
    edges = (
        find_edges(matching.reference, parse_lineage(text(case.tracks[0]))),
        find_edges(matching.predicted, parse_lineage(text(case.tracks[1]))),
    )
    links = compare_edges(matching, *edges)
    counted = count_acyclic_graph_correction_operations(
        case.table(0), case.table(1), *case.labels, *case.mapped
    )
    assert tracking_accuracy(matching, links) == pytest.approx(library.tra(**counted)[0])
    assert linking_accuracy(links) == pytest.approx(library.lnk(**counted))
    overlaps = [np.ones(len(labels)) for labels in case.mapped[0]]
    assert segmentation_accuracy(matching) == pytest.approx(library.seg(case.labels[0], overlaps))


def test_real_markers_score_what_the_reference_implementation_gives() -> None:
    import tifffile

    folder = REAL / "nuclei-tracking-ctc"
    truth = [tifffile.imread(path) for path in sorted((folder / "01_GT" / "TRA").glob("*.tif"))]
    guess = [tifffile.imread(path) for path in sorted((folder / "01_ERR_SEG").glob("*.tif"))]
    frames: dict[int, list[int]] = {}
    for frame, plane in enumerate(guess):
        for label in np.unique(plane[plane > 0]).tolist():
            frames.setdefault(label, []).append(frame)
    table = {label: [seen[0], seen[-1], 0] for label, seen in frames.items()}
    reference = (folder / "01_GT" / "TRA" / "man_track.txt").read_text(encoding="utf-8")
    matching = match_frames(zip(truth, guess, strict=True), rule="coverage")
    value = chota(matching, parse_lineage(reference), parse_lineage(text(table)))
    assert value.score == pytest.approx(0.6709048250, abs=1e-9)  # py-ctcmetrics 1.3.3


@pytest.mark.parametrize("seed", range(3))
def test_taking_objects_out_of_the_truth_never_raises_the_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tracks = grown(rng, 8)
    lineage = parse_lineage(text(tracks))
    frames = []
    for frame in range(8):
        labels = [k for k, (a, b, _) in tracks.items() if a <= frame <= b]
        frames.append(np.array([labels], int))
    nodes = [(f, k) for f, plane in enumerate(frames) for k in np.unique(plane)]
    scores = [1.0]
    guess = [plane.copy() for plane in frames]
    for index in rng.permutation(len(nodes)):
        frame, label = nodes[index]
        guess[frame][guess[frame] == label] = 0
        scores.append(chota(match_frames(zip(frames, guess, strict=True)), lineage, lineage).score)
    assert all(np.diff(scores) <= 1e-12)
    assert scores[-1] == 0.0
