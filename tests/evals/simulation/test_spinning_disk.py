from __future__ import annotations

import numpy as np
import pytest

from evals.simulation.condensates import Droplets
from evals.simulation.nuclei3d import each_nucleus, place_nuclei
from evals.simulation.optics import bin_mean, gaussian_psf_blur
from evals.simulation.quantise import stream
from evals.simulation.spinning_disk import Exposure, Optics, expose, focus, stain, tops

OPTICS = Optics((16, 90, 90), (0.5, 0.2, 0.2), 2, (1.3, 0.4))
NOTHING = Droplets(np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64))


def beads(*places: tuple[float, float, float]) -> Droplets:
    count = len(places)
    return Droplets(np.array(places), np.full(count, 0.2), np.zeros(count, np.int64))


def seen(droplets: Droplets) -> np.ndarray:
    nuclei = place_nuclei(stream(1, 0), OPTICS.size_um, 3.2)
    stains, _ = stain(nuclei, np.zeros(len(nuclei)), droplets, OPTICS, 1, 1)
    return focus(stains[1], OPTICS)


def test_nuclei_touch_and_fill_about_half_of_the_field() -> None:
    nuclei = place_nuclei(stream(3, 0), (9.0, 60.0, 60.0), 3.2)
    cover = np.zeros((300, 300), np.int64)
    for _, window, rho in each_nucleus(nuclei, (18, 300, 300), (0.5, 0.2, 0.2)):
        cover[window[1:]] += (rho < 1).any(axis=0)
    assert 0.45 < (cover > 0).mean() < 0.8
    assert 0.001 < (cover > 1).mean() < 0.12


def test_nuclei_have_the_volume_of_their_ellipsoids() -> None:
    nuclei = place_nuclei(stream(3, 0), (9.0, 40.0, 40.0), 3.2)
    step = (0.25, 0.2, 0.2)
    volume = np.array(
        [
            (rho < 1).sum() * np.prod(step)
            for _, _, rho in each_nucleus(nuclei, (36, 200, 200), step)
        ]
    )
    middle = (np.abs(nuclei.centre_um[:, 1:] - 20) < 14).all(axis=1)
    assert volume[middle] == pytest.approx(nuclei.volume_um3[middle], rel=0.12)


def test_a_bead_is_as_wide_as_the_point_spread() -> None:
    light = seen(beads((4.0, 9.1, 9.1)))
    peak = np.unravel_index(light.argmax(), light.shape)
    for axis, (fwhm, step) in enumerate(((1.3, 0.5), (0.4, 0.2), (0.4, 0.2))):
        line = np.take(np.moveaxis(light, axis, -1).reshape(-1, light.shape[axis]), 0, axis=0)
        index = tuple(slice(None) if k == axis else p for k, p in enumerate(peak))
        line = light[index]
        fine = np.interp(np.linspace(0, len(line) - 1, 4000), np.arange(len(line)), line)
        wide = (fine > fine.max() / 2).sum() * (len(line) - 1) / 4000 * step
        # The bead is 0.4 µm wide itself, a voxel as wide as its step.
        assert wide == pytest.approx(np.sqrt(fwhm**2 + 0.3**2 + step**2), rel=0.2)


def test_slabs_of_planes_make_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = stream(4).random(OPTICS.fine_shape, dtype=np.float32)
    sigma = [f / 2.3548 / s for f, s in zip((1.3, 0.4, 0.4), OPTICS.fine_um, strict=True)]
    whole = bin_mean(gaussian_psf_blur(samples, sigma), 2)
    monkeypatch.setattr("evals.simulation.spinning_disk._SLAB_SAMPLES", 180 * 180 * 3)
    np.testing.assert_array_equal(focus(samples, OPTICS), whole)


def test_droplets_too_close_share_a_top_and_others_have_their_own() -> None:
    near = beads((4.0, 9.0, 9.0), (4.0, 9.0, 9.2))
    far = beads((4.0, 9.0, 9.0), (4.0, 9.0, 10.6))
    top, _ = tops(seen(near), near, OPTICS)
    assert len(set(top[top >= 0].tolist())) == 1
    top, height = tops(seen(far), far, OPTICS)
    assert (top >= 0).all()
    assert top[0] != top[1]
    assert height[0] == pytest.approx(height[1], rel=0.2)


def test_haze_and_bleaching_change_the_light_as_told() -> None:
    light = np.zeros((10, 64, 64), np.float32)
    light[5] = 10
    plain = Exposure(1000.0, 0.0, 0.0, 0.0)
    wide = Exposure(1000.0, 0.0, 0.5, 0.0)
    hazy, clear = (
        np.stack(list(expose(light, exposure, OPTICS, stream(1)))).astype(float)
        for exposure in (wide, plain)
    )
    # A tenth of the planes glows, half of that is haze, half a count an electron.
    assert (hazy - clear)[0].mean() == pytest.approx(0.5 * 0.5 * 1000, rel=0.02)
    even = np.ones((10, 32, 32), np.float32)
    faded = np.stack(list(expose(even, Exposure(1000.0, 0.0, 0.0, 0.4), OPTICS, stream(1))))
    mean = faded.mean(axis=(1, 2)) - 100
    assert mean[-1] / mean[0] == pytest.approx(1 - 0.4 * 0.9, rel=0.02)
