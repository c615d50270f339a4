import numpy as np
import pytest

from evals.simulation.emitters import pixel_shares, shine
from evals.simulation.quantise import stream


def test_all_light_arrives_and_round_its_point() -> None:
    image = shine((41, 41), np.array([[20.3, 18.6]]), 500.0, 1.2)
    y, x = np.indices(image.shape)
    assert image.sum() == pytest.approx(500, rel=1e-3)
    assert (image * y).sum() / image.sum() == pytest.approx(20.3, abs=2e-3)
    assert (image * x).sum() / image.sum() == pytest.approx(18.6, abs=2e-3)
    # The square of a pixel adds 1/12 to the variance.
    spread = (image * (x - 18.6) ** 2).sum() / image.sum()
    assert spread == pytest.approx(1.2**2 + 1 / 12, rel=0.01)


def test_points_add_up_in_their_planes() -> None:
    place = stream(1).uniform(-3, 20, (50, 2))
    photons, sigma = np.arange(50.0), np.linspace(0.7, 2, 50)
    plane = np.arange(50) % 3
    movie = shine((3, 16, 18), place, photons, sigma, plane)
    for index in range(3):
        own = plane == index
        alone = shine((16, 18), place[own], photons[own], sigma[own])
        assert movie[index] == pytest.approx(alone, abs=1e-3)


def test_half_of_a_spot_on_the_edge_is_lost() -> None:
    assert shine((30, 30), np.array([[-0.5, 15.0]]), 100.0, 1.5).sum() == pytest.approx(
        50, rel=1e-3
    )


def test_shares_are_exact_binary_fractions() -> None:
    shares = pixel_shares(np.arange(-6.0, 7.0), np.array(1.1))
    assert (shares * 2.0**24 == np.rint(shares * 2.0**24)).all()
    assert shares.sum() == pytest.approx(1, abs=1e-6)


def test_a_spot_needs_a_width() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        shine((5, 5), np.zeros((1, 2)), 1.0, 0.0)


def test_no_points_give_no_light() -> None:
    assert not shine((5, 5), np.zeros((0, 2)), 1.0, 1.0).any()
