import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.errors import SubmissionFault
from scorers.files.kinetics import CORE, METRICS, RIM, TIME, Kinetics, parse_kinetics

MOST = 10_000


def table(heading: list[str], *rows: list[object]) -> Kinetics:
    found = parse_kinetics([heading, *rows], MOST)
    assert found is not None
    return found


def test_all_fitting_columns_feed_one_series_row_by_row() -> None:
    found = table(
        [TIME, "Volume_Nucleus_1", "other", "VOLUME_NUCLEUS_2"],
        [1.0, 10, 0, 20], [0.5, 5, 0, None], [None, 1, 1, 1], [1, "30", 0, "x"],
    )  # fmt: skip
    time, values = found.series("volume_nucleus")
    assert (time.tolist(), values.tolist()) == ([0.5, 1, 1, 1], [5, 10, 20, 30])


@pytest.mark.parametrize(
    ("heading", "metric"),
    [
        ("SurfaceArea_Nucleus_1 (um2)", "surface_area_nucleus"),
        ("surface_area_nucleus", "surface_area_nucleus"),
        ("Normalized_total_Intensity_InnerCore_1", CORE),
        ("x Normalized_Total_InnerCore", CORE),
        (" normalized_total_noncore_2 ", RIM),
    ],
)
def test_columns_are_known_by_parts_of_their_names(heading: str, metric: str) -> None:
    assert [*table([TIME, heading], [0, 1]).values] == [metric]


def test_the_exact_name_of_time_goes_before_others() -> None:
    found = table(["time since anaphase", TIME.upper(), "volume_nucleus"], [5, 1, 2])
    assert found.time.tolist() == [1]
    assert table(["Time_after_anaphase_min", "volume_nucleus"], [5, 2]).time.tolist() == [5]


@pytest.mark.parametrize("name", ["Time Point", "frame", "time_point", "TimePoint"])
def test_onset_is_the_frame_nearest_to_time_zero_and_of_equals_the_first(name: str) -> None:
    heading = [TIME, name, "volume_nucleus"]
    rows = [[-0.5, 7, 1], [0.5, 8, 1], [0.0, None, 1]]
    assert table(heading, *rows).onset == 7
    assert table(heading, [0.6, 9, 1]).onset is None


def test_without_frames_there_is_no_onset() -> None:
    assert table([TIME, "volume_nucleus"], [0, 1]).onset is None


@pytest.mark.parametrize(
    "rows", [[], [[]], [[TIME, "x"]], [["time", "volume_nucleus"]], [[None, 5.0]]]
)
def test_other_tables_are_none_of_kinetics(rows: list[list[object]]) -> None:
    assert parse_kinetics(rows, MOST) is None


def test_a_table_of_too_many_values_is_refused() -> None:
    heading = [TIME, *["volume_nucleus"] * 200]
    with pytest.raises(SubmissionFault, match="more than"):
        parse_kinetics([heading, *[[0]] * 100], MOST)


CELLS = (
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["1e9", "nan"])
)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.lists(CELLS, max_size=5), max_size=8))
def test_whatever_cells_hold_series_are_finite(rows: list[list[object]]) -> None:
    found = table([TIME, "frame", "volume_nucleus_1", "volume_nucleus_2"], *rows)
    for metric in METRICS:
        assert all(np.isfinite(part).all() for part in found.series(metric))
    assert found.onset is None or math.isfinite(found.onset)
