"""Neighbours found elsewhere, in the forms in which other libraries give them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph

from gnomon.exceptions import NeighborsWarning
from gnomon.neighbors import NeighborGraph, as_neighbor_graph, compute_neighbors, read_graph, read_neighbors

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
DISTANCES, INDICES = NearestNeighbors(n_neighbors=8).fit(X).kneighbors(X)  # the row itself comes first


class Index:
    """What the index of pynndescent looks like from outside."""

    def __init__(self, neighbor_graph):
        self.neighbor_graph = neighbor_graph


FORMS = {
    "pair": (INDICES, DISTANCES),
    "list": [INDICES.tolist(), DISTANCES.tolist()],
    "with index": (INDICES, DISTANCES.astype(np.float32), object()),
    "without itself": (INDICES[:, 1:], DISTANCES[:, 1:]),
    "unsorted": (INDICES[:, ::-1], DISTANCES[:, ::-1]),
    "index": Index((INDICES.astype(np.int32), DISTANCES.astype(np.float32))),
    "sparse": kneighbors_graph(X, 7, mode="distance"),
    "sparse, unsorted": sp.coo_array(kneighbors_graph(X, 7, mode="distance")),
    "transformer": KNeighborsTransformer(n_neighbors=7).fit_transform(X),  # stores the diagonal
    "graph": compute_neighbors(X, 7),
    "told squares": as_neighbor_graph(INDICES, DISTANCES**2, values="squared"),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same_graph(form):
    expected, found = compute_neighbors(X, 7), read_graph(FORMS[form], len(X))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-5)
    assert found.mask is None


def test_a_sound_graph_is_taken_as_it_is():
    graph = compute_neighbors(X, 7)
    assert read_graph(graph, len(X)) is graph


def test_cosines_become_distances():
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = rows @ rows.T
    order = np.argsort(-cosines, axis=1)[:, :8]
    found = as_neighbor_graph(order, np.take_along_axis(cosines, order, axis=1), values="cosine")
    expected = compute_neighbors(X, 7, metric="cosine")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, atol=1e-6)


def test_what_is_missing_in_a_table_of_cosines_is_no_neighbour_and_nan_is_refused():
    with pytest.warns(NeighborsWarning, match="1 rows have fewer than 2"):
        graph = as_neighbor_graph([[1, 2], [0, -1], [0, 1]], [[0.5, 0.2], [0.5, -3.4e38], [0.2, 0.1]], values="cosine")
    np.testing.assert_array_equal(graph.mask, [[True, True], [True, False], [True, True]])
    with pytest.raises(ValueError, match="1 are NaN"):
        as_neighbor_graph([[1, 2], [0, 2], [0, 1]], [[0.5, 0.2], [0.5, np.nan], [0.2, 0.1]], values="cosine")
    with pytest.raises(ValueError, match=r"cosines must be at most 1 \(the largest is 7\)\. Scale rows to length 1"):
        as_neighbor_graph([[1, 2], [0, 2], [0, 1]], [[7, 1], [1, 1], [1, 1]], values="cosine")


def test_inner_products_are_told_from_distances_by_the_rows_themselves():
    products = X @ X.T / np.square(X).sum(axis=1).max()
    np.fill_diagonal(products, 1.0)
    order = np.argsort(-products, axis=1)[:, :8]
    values = np.take_along_axis(products, order, axis=1)
    with pytest.raises(ValueError, match=r"120 of 120 rows are farther from themselves .* values='cosine'"):
        as_neighbor_graph(order, np.abs(values))


def test_an_index_that_lost_its_graph_says_so():
    class Compressed:
        @property
        def neighbor_graph(self):
            raise ValueError("Compressed indexes do not have neighbor graph information.")

    with pytest.raises(ValueError, match=r"an index that knows its graph \(Compressed .*compressed=False"):
        read_neighbors(Compressed(), 120, "precomputed_knn")


class OnDevice:
    def __array__(self, *_args, **_kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ((DISTANCES, INDICES), ValueError, r"scikit-learn and faiss return distances first: swap them"),
        ((INDICES,), ValueError, r"a tuple \(indices, distances\) \(found a tuple of 1\)"),
        ((None, None, None), ValueError, r"Leave knn out to have neighbours searched"),
        ((INDICES[:9], DISTANCES[:9]), ValueError, r"in \[0, 9\), or -1"),
        ((INDICES[:, :0], DISTANCES[:, :0]), ValueError, r"two tables of one shape"),
        ((OnDevice(), DISTANCES), TypeError, r"indices of knn must be a table of numbers \(Implicit .*to the host"),
        ((INDICES.astype(str), DISTANCES), TypeError, r"a table of numbers \(found ndarray of <U"),
        (kneighbors_graph(X[:60], 3, mode="distance"), ValueError, r"X with 120 rows and knn with 60 must be of"),
        (sp.csr_array((120, 3)), ValueError, r"knn of shape \(120, 3\) must be square"),
        (sp.csr_array((120, 120)), ValueError, r"of the neighbours of rows \(it stores none\)"),
        (sp.eye_array(120), ValueError, r"it stores none"),
        (
            sp.coo_array(([1.0, 2.0], ([3, 3], [4, 4])), shape=(120, 120)),
            ValueError,
            r"one entry for each pair \(row 3 stores an entry twice\)",
        ),
        (-kneighbors_graph(X, 3, mode="distance"), ValueError, r"distances must be >= 0"),
        (
            {"connectivities_key": "connectivities"},
            TypeError,
            r"\(found dict\)\. Of an AnnData .*obsp\[\"distances\"\]",
        ),
        (np.zeros((120, 120)), TypeError, r"For the distances of all pairs use metric='precomputed'"),
        ("knn", TypeError, r"knn must be a tuple \(indices, distances\), a sparse matrix .* \(found str\)"),
        (
            NeighborGraph(np.zeros((120, 1), np.int32), np.zeros((120, 1), np.float32)),
            ValueError,
            r"row 0 has itself as a neighbour",
        ),
    ],
)
def test_what_is_no_graph_is_refused(given, error, text):
    with pytest.raises(error, match=text):
        read_graph(given, 120, "knn")


def test_distinct_rows_have_the_neighbours_of_all_their_copies():
    table = np.concatenate([X, X[:30], X[:10]])
    copies = np.concatenate([np.arange(120), np.arange(30), np.arange(10)])
    many = read_neighbors(compute_neighbors(table, 40), len(table), "precomputed_knn").of_distinct_rows(copies)
    found, expected = many.graph(9), compute_neighbors(X, 9)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_of_the_distances_that_copies_were_given_the_smallest_counts():
    given = read_neighbors(([[1, 2], [2, 3], [3, 0], [2, 1]], [[0, 5], [4, 6], [1, 5], [1, 6]]), 4, "precomputed_knn")
    found = given.of_distinct_rows(np.array([0, 0, 1, 2])).graph(2)
    np.testing.assert_array_equal(found.indices, [[1, 2], [2, 0], [1, 0]])
    np.testing.assert_array_equal(found.distances, [[4, 6], [1, 5], [1, 6]])


def test_rows_that_know_only_their_copies_are_refused():
    given = read_neighbors(([[1], [0], [3], [2]], [[0.0], [0.0], [0.0], [0.0]]), 4, "precomputed_knn")
    with pytest.raises(ValueError, match="rows have no neighbours but their copies"):
        given.of_distinct_rows(np.array([0, 0, 1, 1]))


def test_neighbours_found_elsewhere_are_taken_over():
    X = np.random.default_rng(2).standard_normal((80, 3))
    expected = compute_neighbors(X, 6)
    distances, indices = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(X)
    shuffled = np.random.default_rng(3).permuted(np.arange(7)[None].repeat(80, 0), axis=1)
    graph = as_neighbor_graph(
        np.take_along_axis(indices, shuffled, 1), np.take_along_axis(distances, shuffled, 1), metric="euclidean"
    )
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_allclose(graph.distances, expected.distances, rtol=1e-5)
    assert (graph.metric, graph.mask) == ("euclidean", None)


def test_self_may_be_missing_in_some_rows():
    graph = as_neighbor_graph(
        [[0, 1, 2], [2, 0, 1], [0, 1, 3], [3, 2, 1]], [[0, 1, 2], [1, 3, 0], [1, 2, 3], [0, 1, 2]]
    )
    np.testing.assert_array_equal(graph.indices, [[1, 2], [2, 0], [0, 1], [2, 1]])
    assert graph.mask is None


def test_missing_neighbours_are_masked_and_never_used_as_indices():
    with pytest.warns(NeighborsWarning, match="2 rows have fewer than 2 neighbours"):
        graph = as_neighbor_graph([[1, -1], [0, 2], [1, 0]], [[1.0, np.nan], [1, 2], [1, np.inf]])
    np.testing.assert_array_equal(graph.indices, [[1, 1], [0, 2], [1, 1]])
    np.testing.assert_array_equal(graph.mask, [[True, False], [True, True], [True, False]])


@pytest.mark.parametrize(
    ("indices", "distances", "error", "text"),
    [
        ([[1, 1], [0, 2], [0, 1]], [[1, 1]] * 3, ValueError, r"different rows \(1 rows repeat a neighbour, first: 0\)"),
        (
            [[1, 3], [0, 2], [0, 1]],
            [[1, 1]] * 3,
            ValueError,
            r"in \[0, 3\), or -1 for none \(1 are not, first in row 0",
        ),
        ([[1, -2], [0, 2], [0, 1]], [[1, 1]] * 3, ValueError, r"in \[0, 3\), or -1"),
        ([[1, 2], [0, 2], [0, 1]], [[1, -1]] * 3, ValueError, r"distances must be >= 0"),
        ([[1, 2], [0, 2], [0, 1]], [[1, np.nan]] * 3, ValueError, r"3 are NaN"),
        ([[1, 2], [0, 2], [0, 1]], [[1, 1]] * 2, ValueError, r"two tables of one shape"),
        ([[0], [1], [2]], [[0]] * 3, ValueError, r"other rows than the row itself"),
        ([[1.0, 2.0], [0, 2], [0, 1]], [[1, 1]] * 3, TypeError, r"must be integers"),
    ],
)
def test_invalid_neighbours_are_refused(indices, distances, error, text):
    with pytest.raises(error, match=text):
        as_neighbor_graph(indices, distances)
