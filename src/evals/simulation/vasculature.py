"""The geometry of a microvascular network: a mesh of capillaries fed and drained by trees.

The mesh is what is left of the edges of a Voronoi tessellation once hardly any node has more than
three of them; such meshes have the statistics of brain capillaries (Smith et al. 2019, Frontiers in
Physiology 10: 233). Shortest ways from some of the nodes to an arteriole or a venule make up the
trees, whose calibre follows Murray's law: the cube of a parent's radius is the sum of the cubes of
its daughters'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Indices = NDArray[np.int64]

MURRAY_EXPONENT = 3
_FINE = 2.0**-12
# Tissue made round the volume, so that the mesh does not know where the volume ends.
_MARGIN_UM = 60.0
# One cell of the tessellation for this much tissue gives about 1 m of vessel per mm³.
_CELL_UM3 = 130_000.0
_MOST_BRANCHES = 3
# A tree enters the volume for this much of its upper face (arterioles and venules together).
_UM2_PER_TREE = 24_000.0
_TERMINALS = 0.1
_STEP_UM = 0.5
_THINNEST_UM, _THICKEST_UM = 1.6, 14.0


@dataclass(frozen=True)
class Network:
    """Vessels as straight edges between nodes, before they are given bends.

    Attributes
    ----------
    nodes
        (N, 3) places (z, y, x) in µm; the volume begins at 0.
    edges
        (E, 2) rows of `nodes`.
    terminals
        (E,) number of ways to a tree's root that run through an edge; 0 for the mesh.
    radius_um
        (E,) outer radius.
    """

    nodes: Values
    edges: Indices
    terminals: Indices
    radius_um: Values


@dataclass(frozen=True)
class Vessels:
    """A network as points close together on its centre lines, sorted by stain.

    Attributes
    ----------
    place_um
        (P, 3) places (z, y, x); the volume begins at 0.
    radius_um
        (P,) outer radius.
    stain
        (P,) how strongly the wall is stained, 1 on average.
    """

    place_um: Values
    radius_um: Values
    stain: Values


def grow_network(rng: np.random.Generator, size_um: Sequence[float]) -> Network:
    """Grow a network in and round a volume.

    Parameters
    ----------
    rng
        Random stream of the geometry.
    size_um
        Size of the volume along z, y, x.
    """
    nodes, edges = _mesh(rng, np.asarray(size_um, dtype=np.float64))
    edges = _pruned(edges, len(nodes), rng.random(len(edges)))
    terminals = _ways(rng, nodes, edges, np.asarray(size_um, dtype=np.float64))
    # Outer radii of capillaries: 2 to 3 µm.
    capillary = np.exp(np.log(2.3) + 0.13 * rng.standard_normal(len(edges)))
    tree = 2.35 * np.cbrt(terminals)
    radius = np.where(terminals > 0, tree, capillary)
    return Network(nodes, edges, terminals, quantise(np.clip(radius, _THINNEST_UM, _THICKEST_UM)))


def bend(rng: np.random.Generator, network: Network, size_um: Sequence[float]) -> Vessels:
    """Give every edge its bends, a calibre that changes along it, and a stain.

    Parameters
    ----------
    rng
        Random stream.
    network
        What `grow_network` returned.
    size_um
        Size of the volume; points that lie far outside of it are left out.
    """
    start, end = (network.nodes[network.edges[:, side]] for side in (0, 1))
    span = end - start
    length = np.sqrt((span**2).sum(axis=1))
    count = len(span)
    # Two bows and two waves across the edge; wide vessels run straighter.
    slack = 0.095 * length / np.sqrt(network.radius_um / 2.35)
    push = rng.standard_normal((3, count, 3)) * (slack * [[1.0], [0.55], [0.3]])[..., None]
    stain = np.clip(np.exp(0.22 * rng.standard_normal(count)), 0.625, 1.5)
    phase, swing = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.02, 0.10, count)
    samples = np.ceil(1.35 * length / _STEP_UM).astype(np.int64) + 2
    owner = np.repeat(np.arange(count), samples)
    first = np.repeat(np.cumsum(samples) - samples, samples)
    t = (np.arange(len(owner)) - first) / (samples[owner] - 1)
    place = start[owner] + t[:, None] * span[owner]
    for order, offset in enumerate(push, start=1):
        place = place + np.sin(order * np.pi * t)[:, None] * offset[owner]
    waves = 2 * np.pi * length[owner] / 25.0
    radius = network.radius_um[owner] * (1 + swing[owner] * np.sin(waves * t + phase[owner]))
    near = ((place > -_THICKEST_UM - 8) & (place < np.asarray(size_um) + _THICKEST_UM + 8)).all(1)
    # The bright ones last: where vessels meet, the brighter wall is seen.
    order_of = np.argsort(quantise(stain)[owner[near]], kind="stable")
    return Vessels(
        place_um=quantise(place[near], _FINE)[order_of],
        radius_um=quantise(radius[near], _FINE)[order_of],
        stain=quantise(stain[owner[near]])[order_of],
    )


def _mesh(rng: np.random.Generator, size_um: Values) -> tuple[Values, Indices]:
    """Return nodes and edges of a tessellation of the volume and its margin."""
    from scipy.spatial import Voronoi

    # The cells beyond the margin are open; they get a margin of their own.
    low, high = -2 * np.full(3, _MARGIN_UM), size_um + 2 * _MARGIN_UM
    count = round(float(np.prod(high - low)) / _CELL_UM3)
    seeds = quantise(low + rng.random((4 * count, 3)) * (high - low))
    # Of four candidates the ones with most room: cells of more even size than by chance alone.
    seeds = _spread(seeds, count)
    found = Voronoi(seeds)
    corners = quantise(found.vertices, _FINE)
    pairs = [
        np.stack([ring, np.roll(ring, 1)], axis=1)
        for ring in (np.asarray(corner) for corner in found.ridge_vertices)
        if ring.min() >= 0
    ]
    edges = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
    inside = np.asarray(((corners > -_MARGIN_UM) & (corners < size_um + _MARGIN_UM)).all(axis=1))
    edges = edges[inside[edges].all(axis=1)]
    # Numbered by place, so that no library's order of corners matters.
    used = np.unique(edges)
    used = used[np.lexsort(corners[used].T)]
    number = np.zeros(len(corners), np.int64)
    number[used] = np.arange(len(used))
    renumbered = np.sort(number[edges], axis=1)
    return _joined(corners[used], renumbered[np.lexsort(renumbered.T[::-1])])


def _spread(points: Values, count: int) -> Values:
    """Thin points until about `count` are left, those too close to an earlier one first."""
    from evals.simulation.scatter import keep_apart

    low, high = 0.0, 200.0
    for _ in range(12):
        middle = (low + high) / 2
        if int(keep_apart(points, middle).sum()) > count:
            low = middle
        else:
            high = middle
    return points[keep_apart(points, low)]


def _joined(nodes: Values, edges: Indices, shortest_um: float = 12.0) -> tuple[Values, Indices]:
    """Draw the ends of very short edges together: real branch points lie apart."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    span = nodes[edges[:, 1]] - nodes[edges[:, 0]]
    short = (span**2).sum(axis=1) < shortest_um**2
    pairs = edges[short]
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(nodes),) * 2)
    _, group = connected_components(graph, directed=False)
    share = np.bincount(group)
    centres = np.stack([np.bincount(group, axis) / share for axis in nodes.T], axis=1)
    joined = np.unique(np.sort(group[edges], axis=1), axis=0)
    return quantise(centres, _FINE), joined[joined[:, 0] != joined[:, 1]].astype(np.int64)


def _pruned(edges: Indices, count: int, priority: Values) -> Indices:
    """Remove edges until hardly a node has more than three, and none is cut off by that."""
    kept = np.ones(len(edges), dtype=bool)
    for _ in range(40):
        degree = np.bincount(edges[kept].ravel(), minlength=count)[edges]
        over = (degree > _MOST_BRANCHES).sum(axis=1)
        wanted = kept & (over > 0) & (degree > 2).all(axis=1)
        if not wanted.any():
            break
        # Edges that relieve both ends go first; of those at one node only one at a time.
        rank = priority + over
        best = np.zeros(count)
        for side in (0, 1):
            np.maximum.at(best, edges[wanted, side], rank[wanted])
        kept[wanted & (rank >= best[edges].max(axis=1))] = False
    return edges[kept]


def _ways(rng: np.random.Generator, nodes: Values, edges: Indices, size_um: Values) -> Indices:
    """Count for each edge the ways from terminals to the nearest tree's root that use it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra
    from scipy.spatial import cKDTree

    span = nodes[edges[:, 1]] - nodes[edges[:, 0]]
    length = quantise(np.sqrt((span**2).sum(axis=1)), _FINE)
    ends = np.concatenate([edges, edges[:, ::-1]])
    shape = (len(nodes),) * 2
    graph = coo_array((np.tile(length, 2), (ends[:, 0], ends[:, 1])), shape=shape).tocsr()
    trees = max(2, round(float(size_um[1] * size_um[2]) / _UM2_PER_TREE))
    entry = rng.uniform(0.1, 0.9, (trees, 3)) * size_um
    entry[:, 0] = -_MARGIN_UM
    roots = np.unique(cKDTree(nodes).query(quantise(entry))[1])
    _, before, _ = dijkstra(graph, indices=roots, min_only=True, return_predecessors=True)
    at = np.flatnonzero(rng.random(len(nodes)) < _TERMINALS)
    used = np.zeros(len(nodes), np.int64)
    while len(at):
        at = at[before[at] >= 0]
        np.add.at(used, at, 1)
        at = before[at].astype(np.int64)
    # The edge between a node and the one before it on the way from the root.
    low, high = edges.T
    return np.where(before[high] == low, used[high], np.where(before[low] == high, used[low], 0))
