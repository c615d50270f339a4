import numpy as np

from scorers.pictures.canvas import FALSE_HIT, HIT, MISS, SPLIT
from scorers.pictures.lines import Lines, draw

NOTHING = np.zeros((0, 2), np.intp)


def _row(row: int, columns: range) -> np.ndarray:
    return np.array([(row, column) for column in columns])


def test_each_kind_of_line_has_its_colour_where_it_lies() -> None:
    lines = Lines((40, 50), _row(5, range(50)), _row(20, range(50)), _row(30, range(50)))

    picture = draw(None, lines, 50)

    for row, colour in ((5, HIT), (20, MISS), (30, FALSE_HIT)):
        assert (picture[row] == colour).all()
    assert not picture[10].any()


def test_lines_stay_lines_when_the_picture_is_enlarged() -> None:
    picture = draw(None, Lines((20, 20), _row(10, range(20)), NOTHING, NOTHING), 80)

    assert (picture[40:43] == HIT).all()


def test_gaps_are_in_a_circle() -> None:
    lines = Lines((100, 100), NOTHING, NOTHING, NOTHING)

    picture = draw(np.ones((100, 100)), lines, 100, rings=[(50.0, 50.0)])

    assert (picture[:100] == SPLIT).all(axis=-1).any()
    assert not (picture[50, 50] == SPLIT).all()
