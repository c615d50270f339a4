import numpy as np
import pytest

from evals.simulation.optics import bin_mean, camera, gaussian_kernel, gaussian_psf_blur
from evals.simulation.quantise import stream


def test_the_kernel_adds_up_to_exactly_one() -> None:
    for sigma in (0.0, 0.3, 1.1, 7.5):
        assert gaussian_kernel(sigma).sum() == 1.0


def test_a_point_is_spread_to_the_width_of_the_psf() -> None:
    image = np.zeros((81, 81))
    image[40, 40] = 1000.0
    spot = gaussian_psf_blur(image, 3.0)
    offsets = np.arange(81) - 40
    for profile in (spot.sum(axis=0), spot.sum(axis=1)):
        assert profile.sum() == pytest.approx(1000.0)
        variance = (profile * offsets**2).sum() / profile.sum()
        assert np.sqrt(variance) == pytest.approx(3.0, rel=0.01)


def test_each_axis_can_have_a_width_of_its_own() -> None:
    image = np.zeros((9, 41))
    image[4, 20] = 1.0
    spot = gaussian_psf_blur(image, (0, 2.0))
    assert np.flatnonzero(spot.any(axis=1)).tolist() == [4]


def test_no_light_is_lost_at_the_border() -> None:
    image = stream(1).random((20, 30))
    assert gaussian_psf_blur(image, 2.0).sum() == pytest.approx(image.sum())


def test_a_sigma_for_every_axis_is_asked_for() -> None:
    with pytest.raises(ValueError, match="2 axes need as many sigmas, got 3"):
        gaussian_psf_blur(np.zeros((4, 4)), (1.0, 1.0, 1.0))


def test_blocks_are_averaged_to_pixels() -> None:
    image = np.array([[1.0, 3.0, 10.0, 10.0], [5.0, 7.0, 10.0, 30.0]])
    assert bin_mean(image, 2).tolist() == [[4.0, 15.0]]
    assert bin_mean(image, (1, 2)).tolist() == [[2.0, 10.0], [6.0, 20.0]]


def test_blocks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fall into blocks of 2"):
        bin_mean(np.zeros((3, 4)), 2)


@pytest.mark.parametrize("excess", [1.0, np.sqrt(2)])
def test_the_noise_variance_follows_the_mean(excess: float) -> None:
    gain, read = 1.7, 2.0
    for photons in (20.0, 200.0, 2000.0):
        counts = camera(
            np.full((300, 300), photons),
            stream(2, int(photons)),
            read_noise_e=read,
            gain=gain,
            excess_noise=excess,
        )
        expected = gain**2 * (excess**2 * photons + read**2) + 1 / 12
        assert counts.mean() == pytest.approx(100 + gain * photons, rel=0.01)
        assert counts.var() == pytest.approx(expected, rel=0.03)


def test_a_dark_pixel_reads_the_offset() -> None:
    dark = camera(np.zeros((5, 5)), stream(0), read_noise_e=0.0)
    assert dark.dtype == np.uint16
    assert (dark == 100).all()


def test_counts_saturate_at_the_bit_depth() -> None:
    assert camera(np.full((4, 4), 1e6), stream(0), bits=12).min() == 4095


def test_a_mean_that_differs_in_its_last_bit_gives_the_same_picture() -> None:
    photons = np.full((50, 50), np.exp(3.0))
    first = camera(photons, stream(5))
    second = camera(np.nextafter(photons, np.inf), stream(5))
    np.testing.assert_array_equal(first, second)
