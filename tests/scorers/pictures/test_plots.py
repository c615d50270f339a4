"""Numbers at the axes of plots."""

from __future__ import annotations

import pytest

from scorers.pictures.plots import figure


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.12345, "0.123"),
        (-437.2, "-437"),
        (1258.4, "1258"),
        (-12_345.6, "-12346"),
        (1_260_000.0, "1e+06"),
    ],
)
def test_a_number_at_an_axis_fits_beside_the_plot(value: float, shown: str) -> None:
    assert figure(value) == shown
    assert len(shown) <= 6
