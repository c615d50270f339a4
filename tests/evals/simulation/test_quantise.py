import numpy as np
import pytest

from evals.simulation.quantise import quantise, stream


def test_values_land_on_the_nearest_step() -> None:
    assert quantise([0.0, 0.3, 0.51, -0.26], 0.25).tolist() == [0.0, 0.25, 0.5, -0.25]


def test_differences_in_the_last_bits_vanish() -> None:
    values = np.exp(np.linspace(-3, 8, 5000))
    other = np.nextafter(values, np.inf)
    assert (values != other).all()
    np.testing.assert_array_equal(quantise(values), quantise(other))


def test_a_step_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="step of the grid must be positive, got 0"):
        quantise([1.0], 0)


def test_a_stream_is_named_by_its_seed_and_keys() -> None:
    draws = [stream(*names).random() for names in ((0,), (0, 0), (0, 1), (1, 0))]
    assert len(set(draws)) == 4
    assert stream(0, 1).random() == draws[2]
