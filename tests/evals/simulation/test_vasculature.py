from __future__ import annotations

import numpy as np
import pytest

from evals.simulation.quantise import stream
from evals.simulation.tubes import Grid, Tubes
from evals.simulation.vasculature import Network, Vessels, bend, grow_network

SIZE = (200.0, 240.0, 240.0)


@pytest.fixture(scope="module")
def network() -> Network:
    return grow_network(stream(3, 0), SIZE)


@pytest.fixture(scope="module")
def vessels(network: Network) -> Vessels:
    return bend(stream(3, 1), network, SIZE)


def spans(network: Network) -> np.ndarray:
    return network.nodes[network.edges[:, 1]] - network.nodes[network.edges[:, 0]]


def test_there_is_about_one_metre_of_vessel_per_cubic_millimetre(network: Network) -> None:
    middle = network.nodes[network.edges].mean(axis=1)
    inside = ((middle > 0) & (middle < SIZE)).all(axis=1)
    length = np.sqrt((spans(network)[inside] ** 2).sum(axis=1)).sum()
    assert 0.75e-3 < length / np.prod(SIZE) < 1.25e-3


def test_hardly_a_node_inside_has_more_than_three_vessels(network: Network) -> None:
    degree = np.bincount(network.edges.ravel(), minlength=len(network.nodes))
    inside = ((network.nodes > 0) & (network.nodes < SIZE)).all(axis=1)
    assert (degree[inside] > 3).mean() < 0.02
    assert (degree[inside] == 3).mean() > 0.6
    assert degree[inside].min() >= 2


def test_the_cubes_of_radii_add_up_where_ways_of_a_tree_meet(network: Network) -> None:
    tree = network.terminals > 0
    np.testing.assert_allclose(
        network.radius_um[tree] ** 3 / network.terminals[tree],
        2.35**3,
        rtol=0.03,
    )
    # No way is lost at a node: to the root leads what came from the ends, and what begins there.
    flow = np.zeros((len(network.nodes), 2))
    for side in (0, 1):
        np.maximum.at(flow[:, 0], network.edges[:, side], network.terminals)
        np.add.at(flow[:, 1], network.edges[:, side], network.terminals)
    begun = 2 * flow[:, 0] - flow[:, 1]
    assert set(np.unique(begun[flow[:, 0] > 0])) >= {0, 1}
    assert tree.any()
    assert network.radius_um.max() > 1.5 * np.median(network.radius_um)


def test_capillaries_are_four_to_six_micrometres_wide(network: Network) -> None:
    wide = 2 * network.radius_um[network.terminals == 0]
    assert 4.2 < np.median(wide) < 5.2
    assert np.percentile(wide, 2) > 3.2


def test_bends_make_vessels_longer_by_a_tenth_or_so(network: Network, vessels: Vessels) -> None:
    middle = network.nodes[network.edges].mean(axis=1)
    inside = ((middle > 0) & (middle < SIZE)).all(axis=1)
    straight = np.sqrt((spans(network)[inside] ** 2).sum(axis=1)).sum()
    there = ((vessels.place_um > 0) & (vessels.place_um < SIZE)).all(axis=1)
    # Points are at most half a µm apart.
    assert there.sum() * 0.5 > straight
    assert 0.6 <= vessels.stain.min() <= vessels.stain.max() <= 1.5
    assert (np.diff(vessels.stain) >= 0).all()


def test_a_tube_is_hollow_and_its_mask_is_not() -> None:
    x = np.arange(0, 40, 0.4)
    place = np.stack([np.full_like(x, 10.0), np.full_like(x, 12.0), x], axis=1)
    tubes = Tubes(Vessels(place, np.full(len(x), 4.0), np.ones(len(x))))
    grid = Grid((48, 80), 0.5)
    light, mask = tubes.light(10.0, grid), tubes.mask(10.0, grid)
    assert light[24, 40] == pytest.approx(0.25)
    assert light[24 + 7, 40] == 1
    assert mask[:, 40].sum() == pytest.approx(8 / 0.5, abs=1)
    assert not tubes.mask(14.1, grid).any()
    assert tubes.mask(13.0, grid)[:, 40].sum() * 0.5 == pytest.approx(2 * np.sqrt(7), abs=1)
