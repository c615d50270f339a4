from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.rubric.checks import tracks
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.rubric.checks.scene import Scene
    from tests.scorers.rubric.checks.conftest import MakeScene

ASKED = (
    asks("*_RES.tif", "instance labels", multi=False),
    asks("*track*.txt", id="tracking_lineage", multi=False),
)
# Track 1 divides into 3 and 4 after two frames of four; 2 lasts.
LINEAGE = "1 0 1 0\n2 0 3 0\n3 2 3 1\n4 2 3 1\n"


def movie() -> np.ndarray:
    frames = np.zeros((4, 30, 30), np.uint16)
    frames[:2, 4:12, 4:10] = 1
    frames[2:, 4:8, 4:10] = 3
    frames[2:, 8:12, 4:10] = 4
    for at in range(4):
        frames[at, 18:24, 5 + at : 12 + at] = 2
    return frames


def write(out: Path, frames: np.ndarray, lineage: str | None = LINEAGE) -> None:
    tifffile.imwrite(out / "a_RES.tif", frames, photometric="minisblack")
    if lineage is not None:
        (out / "res_track.txt").write_text(lineage, encoding="utf-8")


def timed(scene: MakeScene, **told: str) -> Scene:
    return scene(*ASKED, temporal_dimension="time-lapse", **told)


def test_what_is_followed_is_counted_by_label() -> None:
    found = tracks.follow(movie())
    assert found.label.tolist() == [1, 2, 3, 4]
    assert found.first.tolist() == [0, 0, 2, 2]
    assert found.last.tolist() == [1, 3, 3, 3]
    assert (found.continued, found.in_place, found.covered, found.gaps) == (6, 6, 6, 0)


def test_ids_that_stay_with_their_objects_pass(out: Path, scene: MakeScene) -> None:
    write(out, movie())
    assert tracks.persistent_ids(timed(scene)).verdict == "pass"


def test_ids_that_start_anew_in_each_frame_fail(out: Path, scene: MakeScene) -> None:
    frames = movie()
    write(out, np.where(frames > 0, frames + 10 * np.arange(4, dtype=np.uint16)[:, None, None], 0))
    assert tracks.persistent_ids(timed(scene)).verdict == "fail"


def test_ids_that_change_places_with_others_fail(out: Path, scene: MakeScene) -> None:
    frames = np.where(movie() == 2, 2, np.minimum(movie(), 1)).astype(np.uint16)
    frames[1::2] = np.array([0, 2, 1], np.uint16)[frames[1::2]]
    write(out, frames)
    assert tracks.persistent_ids(timed(scene)).verdict == "fail"


def test_ids_that_go_where_nothing_was_may_be_fast(out: Path, scene: MakeScene) -> None:
    frames = np.zeros((3, 30, 30), np.uint8)
    for at in range(3):
        frames[at, 5, 9 * at] = 1
    write(out, frames)
    assert tracks.persistent_ids(timed(scene)).verdict == "unknown"


def test_an_empty_movie_and_no_movie_decide_nothing(out: Path, scene: MakeScene) -> None:
    checks = (tracks.persistent_ids, tracks.lineage_matches_masks, tracks.gaps_bridged)
    assert {check(timed(scene)).verdict for check in checks} == {"unknown"}
    write(out, np.zeros((4, 9, 9), np.uint8))
    opened = timed(scene)
    assert {check(opened).verdict for check in checks} == {"unknown"}


@pytest.mark.parametrize("kind", [np.uint64, np.int64])
def test_labels_of_any_whole_type_are_followed(
    out: Path, scene: MakeScene, kind: type[np.integer]
) -> None:
    write(out, movie().astype(kind))
    assert tracks.persistent_ids(timed(scene)).verdict == "pass"
    write(out, np.where(movie() > 0, movie().astype(kind) + kind(2**40), kind(0)))
    assert tracks.persistent_ids(timed(scene)).verdict == "pass"


def test_labels_below_0_are_none(out: Path, scene: MakeScene) -> None:
    write(out, -movie().astype(np.int16))
    assert tracks.persistent_ids(timed(scene)).verdict == "unknown"


def test_a_single_frame_is_no_movie(out: Path, scene: MakeScene) -> None:
    write(out, movie()[0])
    assert tracks.persistent_ids(timed(scene)).verdict == "unknown"


def test_a_lineage_of_the_same_tracks_passes(out: Path, scene: MakeScene) -> None:
    write(out, movie())
    finding = tracks.lineage_matches_masks(timed(scene))
    assert finding.verdict == "pass"
    assert finding.says.startswith("4 of 4 labels")


@pytest.mark.parametrize("lineage", ["", "1 1 2 0\n2 1 4 0\n3 3 4 1\n4 3 4 1\n", "nan inf x 0\n",
                                     LINEAGE + "9 0 3 0\n"])  # fmt: skip
def test_a_lineage_of_other_tracks_or_frames_fails(
    out: Path, scene: MakeScene, lineage: str
) -> None:
    write(out, movie(), lineage)
    assert tracks.lineage_matches_masks(timed(scene)).verdict == "fail"


def test_a_task_without_lineage_has_none_to_compare(scene: MakeScene) -> None:
    assert tracks.lineage_matches_masks(scene(ASKED[0])).verdict == "not_applicable"


def test_mothers_with_two_daughters_are_divisions(out: Path, scene: MakeScene) -> None:
    write(out, movie())
    finding = tracks.divisions(timed(scene))
    assert finding.verdict == "pass"
    assert finding.says.startswith("1 of 4 tracks")


def test_no_division_fails_where_cells_are_said_to_divide(out: Path, scene: MakeScene) -> None:
    write(out, movie(), "1 0 1 0\n2 0 3 0\n3 2 3 0\n4 2 3 0\n")
    assert tracks.divisions(timed(scene)).verdict == "unknown"
    assert tracks.divisions(timed(scene, instruction="Cells divide.")).verdict == "fail"


def test_daughters_that_begin_before_the_mother_ends_are_none(out: Path, scene: MakeScene) -> None:
    write(out, movie(), "1 0 3 0\n3 2 3 1\n4 2 3 1\n")
    assert tracks.divisions(timed(scene)).verdict == "unknown"


def test_a_label_that_returns_bridges_a_gap(out: Path, scene: MakeScene) -> None:
    frames = movie()
    frames[1][frames[1] == 2] = 0
    write(out, frames)
    assert tracks.gaps_bridged(timed(scene)).verdict == "pass"
    write(out, movie())
    assert tracks.gaps_bridged(timed(scene)).verdict == "unknown"


def test_a_table_of_tracks_is_weak_unless_no_id_lasts(out: Path, scene: MakeScene) -> None:
    table = out / "tracks.csv"
    table.write_text("track_id,frame\n1,0\n1,1\n2,0\n2,3\n", encoding="utf-8")
    opened = timed(scene)
    assert tracks.persistent_ids(opened).verdict == "unknown"
    assert tracks.gaps_bridged(opened).verdict == "pass"
    table.write_text("track_id,frame\n1,0\n2,1\n3,nan\n", encoding="utf-8")
    assert tracks.persistent_ids(timed(scene)).verdict == "fail"
