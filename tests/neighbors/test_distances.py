"""Distances between all rows, of given pairs of rows, and matrices of distances that were given."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from gnomon._run import running
from gnomon.exceptions import DataWarning
from gnomon.neighbors import compute_neighbors, cross_distances, distance_matrix, pair_distances
from gnomon.neighbors.euclidean import Points, as_values

rng = np.random.default_rng(0)
X = rng.normal(size=(1100, 6)).astype(np.float32)
CLOSE = cdist(X[:40], X[:40])


@pytest.mark.parametrize(
    ("metric", "form"),
    [
        *((metric, np.asarray) for metric in ("euclidean", "cosine", "manhattan", "chebyshev")),
        *((metric, sp.csr_array) for metric in ("euclidean", "cosine", "manhattan")),
    ],
)
def test_matrices_hold_the_distances_of_all_pairs(metric, form):
    matrix, unit = distance_matrix(form(X), metric=metric)
    expected = pairwise_distances(X.astype(np.float64), metric=metric)
    np.testing.assert_allclose(unit * matrix, expected, rtol=1e-5, atol=2e-7 * expected.max())
    np.testing.assert_array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert 0.5 < matrix.max() <= 1.0


@pytest.mark.parametrize("factor", [1e-30, 1e-9, 1e30, 1e150])
def test_units_far_from_one_lose_nothing(factor):
    rows = X[:600].astype(np.float64)
    for metric in ("euclidean", "manhattan"):
        matrix, unit = distance_matrix(rows * factor, metric=metric)
        plain, plain_unit = distance_matrix(rows, metric=metric)
        np.testing.assert_allclose(matrix * (unit / factor), plain * plain_unit, rtol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", lambda a, b: float(abs(a[0] - b[0]))])
def test_a_row_of_distances_depends_on_its_row_alone(metric):
    together = cross_distances(X[:50], X[50:120], metric=metric)
    alone = np.concatenate([cross_distances(X[i : i + 1], X[50:120], metric=metric) for i in range(50)])
    assert together.tobytes() == alone.tobytes()


def test_f61_a_complete_sparse_matrix_is_a_dense_one():
    dense = distance_matrix(CLOSE, metric="precomputed")
    rows, columns = np.nonzero(~np.eye(40, dtype=bool))
    entries = CLOSE.copy()
    entries[0, 1] = entries[1, 0] = 0.0  # stored zeros are distances of zero
    complete = sp.csr_array((CLOSE[rows, columns], (rows, columns)), shape=(40, 40))
    np.testing.assert_array_equal(distance_matrix(complete, metric="precomputed")[0], dense[0])
    with (
        running(name="W"),
        pytest.raises(ValueError, match=r"^W: a sparse distance matrix must be complete \(2 of 1560 entries"),
    ):
        distance_matrix(sp.csr_array(entries), metric="precomputed")


def test_f57_f58_f59_rounding_is_mended():
    rough = CLOSE + 1e-7 * rng.uniform(-1, 1, size=CLOSE.shape)
    rough[3, 4] = rough[4, 3] = -1e-7
    np.fill_diagonal(rough, 5.0)
    with pytest.warns(DataWarning, match=r"the diagonal of the distances is not 0 for \d+ of \d+ rows"):
        matrix, _ = distance_matrix(rough, metric="precomputed")
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[3, 4] == 0.0
    assert not matrix.diagonal().any()
    assert rough[3, 4] == -1e-7  # the input is not changed


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda D: D[:, :30], r"a distance matrix of shape \(40, 30\) must be square"),
        (lambda D: np.where(D[2, 3] == D, -1.0, D), r"distances must be >= 0 \(the smallest is -1\)"),
        (lambda D: np.triu(D), r"a distance matrix must be symmetric \(the largest gap is .*, at row \d+ and column"),
        (lambda D: np.where(D[2, 3] == D, np.nan, D), r"distances must be finite \(nan at row 2 and column 3\)"),
        (lambda D: np.where(D[2, 3] == D, np.inf, D), r"distances must be finite \(inf at row 2 and column 3\)"),
    ],
)
def test_f57_f58_f60_f66_what_is_no_distance_matrix_is_refused(change, text):
    with running(name="W"), pytest.raises(ValueError, match=f"^W: {text}"):
        distance_matrix(change(CLOSE), metric="precomputed")


def test_metrics_without_a_value_are_refused():
    with pytest.raises(ValueError, match="metric='magic' must be a callable or one of"):
        cross_distances(X[:3], X[:3], metric="magic")
    with pytest.raises(
        ValueError,
        match=r"metric='<lambda>' must be a number >= 0 for all rows \(nan between row 0 of A and row 0 of B\)",
    ):
        cross_distances(X[:3], X[:3], metric=lambda a, b: float("nan"))
    with pytest.raises(ValueError, match=r"metric_params=.* must be empty for metric='euclidean'"):
        cross_distances(X[:3], X[:3], metric_params={"p": 3})


def test_a_matrix_beyond_the_memory_is_refused_before_it_is_made():
    rows = np.broadcast_to(np.zeros((1, 1), dtype=np.float32), (3_000_000, 1))
    with (
        running(name="W"),
        pytest.raises(MemoryError, match=r"^W: X of 3,000,000 rows must be .* 3000000 x 3000000 pairs take 36,000 GB"),
    ):
        distance_matrix(rows)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    X[rng.random(X.shape) < 0.3] = 0.0
    others = np.array([rng.permutation(np.delete(np.arange(60), i))[:9] for i in range(60)], dtype=np.int32)
    return X, others


def expected(X, others, metric):
    return np.take_along_axis(cdist(X, X, metric), others.astype(np.intp), axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "l2", "cosine", "manhattan", "chebyshev", "canberra"])
def test_distances_equal_those_of_scipy(metric, dtype, table):
    X, others = table[0].astype(dtype), table[1]
    found = pair_distances(X, others, metric=metric)
    names = {"manhattan": "cityblock", "l2": "euclidean"}
    np.testing.assert_allclose(found, expected(X, others, names.get(metric, metric)), rtol=1e-5, atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("dtype", "unit"),
    [(np.float32, 1.0), (np.float64, 1.0), (np.float64, 1e150), (np.float64, 1e-150), (np.uint8, 1.0)],
)
def test_distances_have_the_bits_of_ranked_candidates_for_any_number_of_threads(dtype, unit):
    rng = np.random.default_rng(2)
    X = (rng.integers(0, 256, size=(90, 37)) if dtype == np.uint8 else unit * rng.normal(size=(90, 37))).astype(dtype)
    points = Points.of(as_values(X))
    assert (points.bytes is not None) == (dtype == np.uint8)
    others = np.array([rng.permutation(90)[:11] for _ in range(90)], dtype=np.int32)
    indices, ranked = points.rank(others, 11)
    expected = np.empty_like(ranked)
    for row, (near, away) in enumerate(zip(indices, ranked, strict=True)):
        at = {int(j): distance for j, distance in zip(near, away, strict=True)}
        expected[row] = [at[int(j)] for j in others[row]]
    for n_threads in (1, 2):
        with running(n_threads=n_threads):
            np.testing.assert_array_equal(points.distances_to(others), expected)
    twice = np.repeat(others[:, :2], 2, axis=1)  # a row may be asked for more than once
    np.testing.assert_array_equal(points.distances_to(twice), np.repeat(expected[:, :2], 2, axis=1))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_have_the_distances_of_dense_ones(metric, table):
    X, others = table
    found = pair_distances(sp.csr_array(X), others, metric=metric)
    np.testing.assert_allclose(found, pair_distances(X, others, metric=metric), rtol=1e-4, atol=1e-6)


def test_a_callable_and_its_parameters_are_used(table):
    X, others = table

    def weighted(a, b, factor):
        return factor * np.abs(a - b).max()

    found = pair_distances(X, others, metric=weighted, metric_params={"factor": 3.0})
    np.testing.assert_allclose(found, 3.0 * expected(X, others, "chebyshev"), rtol=1e-6)


def test_precomputed_distances_are_looked_up_and_what_is_not_stored_is_far(table):
    X, others = table
    D = cdist(X, X)
    D[0, others[0, 0]] = 0.0
    rows, columns = np.nonzero(~np.eye(60, dtype=bool))
    stored = sp.csr_array((D[rows, columns], (rows, columns)), shape=(60, 60))
    wanted = np.take_along_axis(D, others.astype(np.intp), axis=1).astype(np.float32)
    np.testing.assert_array_equal(pair_distances(D, others, metric="precomputed"), wanted)
    np.testing.assert_array_equal(pair_distances(stored, others, metric="precomputed"), wanted)
    hidden = sp.csr_array(stored.multiply(stored > 2.0))
    found = pair_distances(hidden, others, metric="precomputed")
    np.testing.assert_array_equal(np.isinf(found), wanted <= 2.0)


def test_distances_are_those_of_the_neighbour_search():
    X = np.random.default_rng(1).normal(size=(300, 20)).astype(np.float32) + 100
    graph = compute_neighbors(X, 12)
    np.testing.assert_array_equal(pair_distances(X, graph.indices), graph.distances)


def test_no_others_and_wrong_others(table):
    X, others = table
    assert pair_distances(X, others[:, :0]).shape == (60, 0)
    with pytest.raises(ValueError, match=r"others must be row numbers in \[0, 60\)"):
        pair_distances(X, others + 30)
    with pytest.raises(ValueError, match=r"others of shape \(59, 9\) must be of 60 rows"):
        pair_distances(X, others[1:])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev", "periodic"])
def test_sparse_rows_measured_together_are_as_far_apart_as_one_by_one(metric):
    """Of columns beyond one panel, stored often enough to be summed over all columns, to the last bit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 1100)) * (rng.random((40, 1100)) < rng.uniform(0.2, 0.6, size=(40, 1)))
    sparse = sp.csr_array(np.clip(X, -2.0, 2.0))
    others = ((np.arange(40)[:, None] + np.arange(21)) % 40).astype(np.int32)  # a set of sixteen, and five
    params = {"period": 5.0} if metric == "periodic" else None
    found = pair_distances(sparse, others, metric=metric, metric_params=params)
    for j in range(others.shape[1]):
        alone = pair_distances(sparse, others[:, j : j + 1].copy(), metric=metric, metric_params=params)
        np.testing.assert_array_equal(found[:, j : j + 1], alone)
    dense = pair_distances(sparse.toarray(), others, metric=metric, metric_params=params)
    np.testing.assert_allclose(found, dense, rtol=1e-6)
