"""A graph that breaks its rules is refused wherever one can be given, before a kernel reads memory by it."""

from dataclasses import replace

import numpy as np
import pytest

import gnomon as gn
from gnomon._run import running
from gnomon.affinities import PathGraph
from gnomon.extension import AffineAtlas
from gnomon.geometry import local_jacobians
from gnomon.neighbors import check_graph, compute_neighbors, graph_fault

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)).astype(np.float32)
Y = X[:, :2].astype(np.float64)
GRAPH = compute_neighbors(X, 20)


def altered(name, row, column, value):
    array = getattr(GRAPH, name).copy()
    array[row, column] = value
    return replace(GRAPH, **{name: array})


FAR = altered("indices", 3, 4, 2**30)

BROKEN = {
    "lists": (replace(GRAPH, indices=GRAPH.indices.tolist()), "indices are list, not an array of int32"),
    "int64": (replace(GRAPH, indices=GRAPH.indices.astype(np.int64)), "indices are int64, not an array of int32"),
    "float64": (replace(GRAPH, distances=GRAPH.distances.astype(np.float64)), "distances are float64"),
    "mask of bytes": (replace(GRAPH, mask=np.ones((60, 20), np.uint8)), "mask are uint8, not an array of bool"),
    "mask of one column": (replace(GRAPH, mask=np.ones((60, 1), bool)), r"mask have shape \(60, 1\)"),
    "flat": (replace(GRAPH, indices=GRAPH.indices[:, 0]), r"indices have shape \(60,\)"),
    "no neighbours": (replace(GRAPH, indices=GRAPH.indices[:, :0]), r"indices have shape \(60, 0\)"),
    "far": (FAR, r"row 3 has the neighbour 1073741824, outside of \[0, 60\)"),
    "below": (altered("indices", 3, 4, -1), "row 3 has the neighbour -1, outside"),
    "own": (altered("indices", 3, 4, 3), "row 3 has itself as a neighbour"),
    "twice": (altered("indices", 3, 4, GRAPH.indices[3, 7]), "row 3 has a neighbour twice"),
    "nan": (altered("distances", 3, 4, np.nan), "row 3 has a distance that is negative or NaN"),
    "infinite": (altered("distances", 3, 19, np.inf), "row 3 has an infinite distance where a neighbour exists"),
    "disorder": (altered("distances", 3, 0, 99.0), "row 3 has distances that do not ascend"),
    "all rows": (replace(GRAPH, distances=-GRAPH.distances), "row 0, and 59 more has a distance that is negative"),
    "recall": (replace(GRAPH, recall=2.0), "recall is 2.0"),
    "metric": (replace(GRAPH, metric=None), "metric is NoneType, not text"),
}


@pytest.mark.parametrize(("graph", "fact"), BROKEN.values(), ids=BROKEN)
def test_each_rule_is_asked(graph, fact):
    form = rf"^here: graph must be one that keeps .* \(.*{fact}.*\)\. Make it with"
    with running(name="here"), pytest.raises(ValueError, match=form):
        check_graph(graph, 60)


def test_sound_graphs_pass():
    check_graph(GRAPH, 60)
    mask = np.ones(GRAPH.indices.shape, bool)
    mask[5, 18:] = False
    indices, distances = GRAPH.indices.copy(), GRAPH.distances.copy()
    indices[5, 18:], distances[5, 18:] = indices[5, 17], np.inf  # as absent neighbours are
    assert graph_fault(replace(GRAPH, indices=indices, distances=distances, mask=mask)) == ""


def test_rows_beyond_the_first_block_are_looked_at():
    n = 2**16 + 5
    indices = ((np.arange(n)[:, None] + [1, 2]) % n).astype(np.int32)
    graph = replace(GRAPH, indices=indices, distances=np.ones((n, 2), np.float32))
    assert graph_fault(graph) == ""
    indices[-1, 1] = n - 1
    assert graph_fault(graph) == f"row {n - 1} has itself as a neighbour"


def test_paths_are_not_sought_in_a_broken_graph():
    with pytest.raises(ValueError, match="row 3 has the neighbour 1073741824"):
        PathGraph.of(FAR)


def test_order_is_asked_for_only_where_it_matters():
    check_graph(altered("indices", 3, 4, 3), 60, ordered=False)
    with pytest.raises(ValueError, match="outside of"):
        check_graph(FAR, 60, ordered=False)


ENTRIES = {
    "explain": lambda graph: gn.explain(X, Y, graph=graph),
    "explain_with_features": lambda graph: gn.explain_with_features(X, Y, X[:, 2:], graph=graph),
    "evaluate": lambda graph: gn.evaluate(X, Y, graph=graph),
    "intrinsic_dimension": lambda graph: gn.intrinsic_dimension(X, graph=graph),
    "Map": lambda graph: gn.Map(X, Y, graph=graph),
    "tangent_frames": lambda graph: gn.tangent_frames(X, graph),
    "local_jacobians": lambda graph: local_jacobians(X, Y, graph),
    "AffineAtlas": lambda graph: AffineAtlas(X, Y, graph=graph),
    "counterfactual": lambda graph: gn.counterfactual(
        gn.explain(X, Y), 0, transform=lambda rows: rows[:, :2], position=Y[1], graph=graph
    ),
}


@pytest.mark.parametrize("ask", ENTRIES.values(), ids=ENTRIES)
def test_every_entrance_asks(ask):
    with pytest.raises(ValueError, match="graph must be one that keeps the rules of NeighborGraph"):
        ask(FAR)
    with pytest.raises(ValueError, match=r"60 rows.* and a graph with 40"):
        ask(compute_neighbors(X[:40], 20))
