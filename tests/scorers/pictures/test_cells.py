"""Pictures of nuclei and their cells."""

from __future__ import annotations

import numpy as np

from scorers.pictures.canvas import HIT, MISS
from scorers.pictures.cells import Linked, draw

BODIES = np.zeros((60, 120), np.int64)
BODIES[10:50, 5:45], BODIES[10:50, 75:115] = 1, 2
NUCLEI = np.zeros_like(BODIES)
NUCLEI[25:35, 20:30], NUCLEI[25:35, 90:100] = 1, 2


def count(image: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((image[:60] == colour).all(axis=-1).sum())


def picture(nuclei: np.ndarray, kinds: list[str]) -> np.ndarray:
    cells = Linked(nuclei, BODIES, np.array([1, 2]), np.array(kinds))
    return draw(None, BODIES, cells, 0, 120)


def test_right_cells_are_green() -> None:
    image = picture(NUCLEI, ["hit", "hit"])
    assert count(image, HIT) > 300
    assert count(image, MISS) == 0


def test_a_wrong_link_is_a_red_line_from_the_nucleus_to_the_cell_of_its_id() -> None:
    image = picture(np.array([0, 2, 1])[NUCLEI], ["wrong link", "wrong link"])
    between = image[28:32, 50:70]
    assert (between == MISS).all(axis=-1).any(axis=0).all()


def test_nothing_submitted_leaves_the_reference_over_the_input() -> None:
    empty = np.zeros_like(BODIES)
    cells = Linked(empty, empty, np.zeros(0, np.int64), np.zeros(0, "<U10"))
    ground = np.full((60, 120, 3), 100, np.uint8)
    image = draw(ground, BODIES, cells, 2, 120)
    assert image[0, 0].tolist() == [75, 75, 75]
    assert count(image, (255, 255, 255)) > 200
