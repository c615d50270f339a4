import numpy as np
import pytest
from skimage.color import rgb2hed

from evals.simulation.quantise import stream
from evals.simulation.stain import EOSIN, HEMATOXYLIN, transmit, vary_vector


def test_light_falls_exponentially_with_the_dye() -> None:
    amount = np.array([[0.0, 1.0, 2.0]])
    red, green, blue = transmit({HEMATOXYLIN: amount}, white=(1.0, 0.9, 1.0))
    assert red[0] == pytest.approx(np.exp([-0.0, -0.65, -1.3]), abs=1e-4)
    assert green[0] == pytest.approx(0.9 * np.exp([-0.0, -0.7, -1.4]), abs=1e-4)
    assert blue[0, 2] == pytest.approx(np.exp(-0.58), abs=1e-4)


def test_colour_deconvolution_finds_the_dyes_again() -> None:
    rng = stream(1)
    amounts = {HEMATOXYLIN: rng.uniform(0, 1, (40, 40)), EOSIN: rng.uniform(0, 1, (40, 40))}
    unmixed = rgb2hed(np.moveaxis(transmit(amounts), 0, -1))
    for channel, amount in enumerate(amounts.values()):
        correlation = np.corrcoef(unmixed[..., channel].ravel(), amount.ravel())[0, 1]
        assert correlation > 0.999


def test_a_varied_stain_stays_near_and_of_unit_length() -> None:
    moved = vary_vector(stream(2), HEMATOXYLIN, 0.03)
    assert moved != HEMATOXYLIN
    assert np.linalg.norm(moved) == pytest.approx(1, abs=1e-3)
    assert np.abs(np.subtract(moved, HEMATOXYLIN)).max() < 0.12
