import numpy as np
import pytest
from scipy import ndimage

from evals.simulation.golgi import MARGIN_PX, Golgi, Section, draw_section
from evals.simulation.quantise import stream
from evals.simulation.ranks import spearman

RADIUS_PX = 50.0


@pytest.fixture(scope="module")
def sections() -> list[Section]:
    return [draw_section(stream(4, k), RADIUS_PX, Golgi(16, 0.12, 110)) for k in range(6)]


def test_a_cell_has_the_wanted_size_and_lies_whole_in_its_picture(sections: list[Section]) -> None:
    for section in sections:
        assert section.inside.sum() == pytest.approx(np.pi * RADIUS_PX**2, rel=0.1)
        border = section.inside.copy()
        border[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX] = False
        assert not border.any()


def test_the_golgi_is_a_small_bright_part_of_the_cell_in_one_place(
    sections: list[Section],
) -> None:
    for section in sections:
        light = np.where(section.inside, section.golgi, 0)
        bright = light > 0.5 * np.percentile(light[section.inside], 99.5)
        assert 0.01 < bright.sum() / section.inside.sum() < 0.15
        spread = np.std(np.nonzero(bright), axis=1)
        assert (spread < 0.35 * RADIUS_PX).all()


def test_compartments_agree_with_the_marker_in_their_order(sections: list[Section]) -> None:
    names = ("secretory", "reticulum", "patches")
    means = [
        np.mean([spearman(s.golgi[s.inside], getattr(s, name)[s.inside]) for s in sections])
        for name in names
    ]
    assert means[0] > 0.75
    assert 0.25 < means[1] < 0.6
    assert abs(means[2]) < 0.15


def test_the_other_cell_does_not_touch_this_one(sections: list[Section]) -> None:
    for section in sections:
        near = ndimage.binary_dilation(section.inside, iterations=3)
        assert section.beyond[near].max() < 0.1


def test_nothing_is_finer_than_the_lens(sections: list[Section]) -> None:
    for section in sections:
        step = np.abs(np.diff(section.golgi, axis=1)).max()
        # An edge blurred by 1.25 px rises by at most 0.32 of its height from pixel to pixel.
        assert step < 0.4 * section.golgi.max()
