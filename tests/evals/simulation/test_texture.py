import numpy as np
import pytest

from evals.simulation.quantise import stream
from evals.simulation.texture import bent_lines, debris, enlarge, illumination, smooth_noise


@pytest.mark.parametrize("sigma", [1.2, 3.0, 20.0])
def test_smooth_noise_has_mean_zero_and_about_unit_variance(sigma: float) -> None:
    fields = [smooth_noise(stream(k), (200, 260), sigma) for k in range(12)]
    assert fields[0].shape == (200, 260)
    assert np.mean(fields) == pytest.approx(0, abs=0.25)
    assert np.std(fields) == pytest.approx(1, abs=0.2)


def test_smooth_noise_keeps_its_width() -> None:
    field = smooth_noise(stream(9), (400, 400), 4.0)
    # The correlation of white noise blurred by sigma falls to exp(-1/4) at a distance of sigma.
    correlation = np.corrcoef(field[:, 4:].ravel(), field[:, :-4].ravel())[0, 1]
    assert correlation == pytest.approx(np.exp(-0.25), abs=0.06)


def test_enlarging_interpolates_between_samples() -> None:
    corners = np.array([[0.0, 4.0], [8.0, 12.0]], dtype=np.float32)
    assert enlarge(corners, 2).tolist() == [[0.0, 2.0], [4.0, 6.0]]


def test_the_vignette_is_brightest_inside_and_falls_off() -> None:
    light = illumination(stream(1), (90, 120), 0.3)
    y, x = np.unravel_index(light.argmax(), light.shape)
    assert 25 < y < 65
    assert 35 < x < 85
    assert light.max() == pytest.approx(1.0, abs=1e-3)
    assert 0.6 < light.min() < 0.95


def test_debris_is_smaller_than_a_cell() -> None:
    dirt = debris(stream(2), (200, 200), specks=30, fibres=0)
    assert 0 < np.count_nonzero(dirt) < 30 * np.pi * 3.7**2


def test_lines_reach_no_further_than_told() -> None:
    lines = bent_lines(stream(3), (100, 100), np.array([[50.0, 50.0]]), 20.0, 2)
    row, column = np.nonzero(lines)
    assert lines.shape == (200, 200)
    assert row.size > 10
    assert (abs(row - 100) <= 41).all()
    assert (abs(column - 100) <= 41).all()
